//! Questions to a model.

use crate::error::{Error, Result};
use crate::linearize;
use crate::model::Model;
use crate::order::{At, Point};
use crate::solver::Solver;
use crate::structure::{Location, Matching, Source};
use crate::terms::eval::Evaluator;
use crate::terms::{Bool, Bv};

/// The model of the last query.
pub struct Solution<'a> {
    solver: &'a Solver,
    model: &'a Model,
}

impl<'a> Solution<'a> {
    pub(crate) fn new(solver: &'a Solver, model: &'a Model) -> Self {
        Solution { solver, model }
    }

    /// Whether a Boolean term holds.
    pub fn holds(&self, term: Bool) -> Result<bool> {
        let term = self.solver.own_bool(term)?;
        Ok(Evaluator::new(&self.solver.bank, self.model).bool(term))
    }

    /// The value of a bit-vector term.
    pub fn value(&self, term: Bv) -> Result<u128> {
        let term = self.solver.own_bv(term)?;
        Ok(Evaluator::new(&self.solver.bank, self.model).bv(term))
    }

    /// The values of many terms; computes shared parts once.
    pub fn values(&self, terms: &[Bv]) -> Result<Vec<u128>> {
        let mut eval = Evaluator::new(&self.solver.bank, self.model);
        terms.iter().map(|&t| Ok(eval.bv(self.solver.own_bv(t)?))).collect()
    }

    /// Whether one point is before another in the order of the model.
    pub fn before(&self, first: Point, second: Point) -> Result<bool> {
        let (a, b) = (self.solver.own_point(first)?, self.solver.own_point(second)?);
        Ok(self.model.before(a, b))
    }

    /// The given points (typically those of a prefix) in the order of the model.
    pub fn order(&self, points: &[Point]) -> Result<Vec<Point>> {
        let mut keyed = Vec::with_capacity(points.len());
        for &point in points {
            keyed.push((self.model.key(self.solver.own_point(point)?), point));
        }
        keyed.sort_unstable_by_key(|&(key, _)| key);
        Ok(keyed.into_iter().map(|(_, point)| point).collect())
    }

    /// The given points in an order that satisfies everything too, values being as in the model, with few
    /// switches between chains. It may differ from the model where the model's order was an arbitrary choice, but not
    /// on the order literals of assertions and assumptions, nor on which write a read reads from.
    pub fn order_with_few_switches(&self, points: &[Point]) -> Result<Vec<Point>> {
        let wanted: Vec<At> = points.iter().map(|&p| self.solver.own_point(p)).collect::<Result<_>>()?;
        let sequence = self.solver.reduce(self.model, &wanted);
        let kept: rustc_hash::FxHashSet<At> = wanted.into_iter().collect();
        let owner = self.solver.owner;
        Ok(sequence.into_iter().filter(|at| kept.contains(at)).map(|at| Point { at, owner }).collect())
    }

    /// Where a read of a location got its value; `None` if it did not happen.
    pub fn source(&self, location: Location, read: usize) -> Result<Option<Source>> {
        if location.owner != self.solver.owner {
            return Err(Error::Foreign);
        }
        let mut eval = Evaluator::new(&self.solver.bank, self.model);
        let place = &self.solver.problem.locations[location.index];
        let Some(read) = place.reads.get(read).filter(|r| eval.bool(r.when)) else { return Ok(None) };
        Ok(place.source(self.model, &mut eval, read))
    }

    /// Which giver serves the n-th taker of a matching; `None` if it took nothing.
    pub fn giver(&self, matching: Matching, taker: usize) -> Result<Option<usize>> {
        if matching.owner != self.solver.owner {
            return Err(Error::Foreign);
        }
        let mut eval = Evaluator::new(&self.solver.bank, self.model);
        let takers = &self.solver.problem.matchings[matching.index].takers;
        let served = takers.get(taker).filter(|t| eval.bool(t.when)).map(|t| &t.served_by);
        Ok(served.and_then(|s| s.iter().position(|&b| eval.bool(b))))
    }

    /// How often neighbours of the sequence lie on different chains.
    pub fn switches(sequence: &[Point]) -> usize {
        let sequence: Vec<At> = sequence.iter().map(|p| p.at).collect();
        linearize::switches(&sequence)
    }
}
