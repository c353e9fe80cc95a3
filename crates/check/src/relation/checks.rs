//! The checks of a model as constraints: empty, irreflexive, acyclic; and when a flag is raised.

use super::{Evaluator, Value};
use crate::Result;
use crate::cat::{CheckKind, Expr, ExprKind};
use crate::graph::{Graph, Relation};
use solver::{Bool, Point};
use std::collections::BTreeMap;

impl Evaluator {
    /// When a flag is raised.
    pub(super) fn raised(&mut self, kind: CheckKind, negated: bool, expr: &Expr) -> Result<Bool> {
        let scope = self.names.len();
        let relation = self.relation(expr, scope, true)?;
        let bad: Vec<Bool> = match kind {
            CheckKind::Empty => relation.values().copied().collect(),
            CheckKind::Irreflexive => diagonal(&relation),
            CheckKind::Acyclic => diagonal(&self.closure(relation, true)?),
        };
        let fails = self.graph.unfolding.solver.or(&bad)?;
        // `flag ~empty e` is raised when e is not empty, `flag empty e` when it is.
        if negated { Ok(fails) } else { self.not(fails) }
    }

    pub(super) fn check(&mut self, kind: CheckKind, expr: &Expr, rule: Bool) -> Result<()> {
        let scope = self.names.len();
        // A relation is acyclic if its closure is irreflexive, and the other way round.
        let (kind, expr) = match (&expr.kind, kind) {
            (ExprKind::Plus(inner), CheckKind::Acyclic | CheckKind::Irreflexive) => {
                (CheckKind::Acyclic, &**inner)
            }
            _ => (kind, expr),
        };
        let bad: Vec<((usize, usize), Bool)> = match kind {
            CheckKind::Acyclic => {
                let relation = self.relation(expr, scope, false)?;
                return self.acyclic(&relation, rule);
            }
            CheckKind::Empty => match self.value(expr, scope, false)? {
                Value::Relation(relation) => relation.into_iter().collect(),
                Value::Set(set) => set.into_iter().map(|(n, literal)| ((n, n), literal)).collect(),
            },
            CheckKind::Irreflexive => {
                let relation = self.relation(expr, scope, false)?;
                relation.into_iter().filter(|((i, j), _)| i == j).collect()
            }
        };
        for ((i, j), literal) in bad {
            let counts = [rule, self.graph.counts(i), self.graph.counts(j), literal];
            let both = self.and(&counts)?;
            let none = self.not(both)?;
            self.graph.unfolding.solver.assert(none)?;
        }
        Ok(())
    }

    /// No cycle: there are points in time for all nodes so that each pair goes forward.
    fn acyclic(&mut self, relation: &Relation, rule: Bool) -> Result<()> {
        let mut points = BTreeMap::new();
        for (&(i, j), &literal) in relation {
            let counts = [rule, self.graph.counts(i), self.graph.counts(j), literal];
            let when = self.and(&counts)?;
            if i == j {
                let none = self.not(when)?;
                self.graph.unfolding.solver.assert(none)?;
                continue;
            }
            let mut point = |n: usize, graph: &mut Graph| -> Result<Point> {
                Ok(match points.get(&n) {
                    Some(&point) => point,
                    None => {
                        let point = graph.unfolding.solver.point()?;
                        points.insert(n, point);
                        point
                    }
                })
            };
            let (p, q) = (point(i, &mut self.graph)?, point(j, &mut self.graph)?);
            self.graph.unfolding.solver.before_if(when, p, q)?;
        }
        Ok(())
    }
}

fn diagonal(relation: &Relation) -> Vec<Bool> {
    relation.iter().filter(|((i, j), _)| i == j).map(|(_, &literal)| literal).collect()
}
