//! All that was declared, as plain data: what is exported, and what a model is verified against.

use crate::model::Model;
use crate::order::At;
use crate::structure::Source;
use crate::terms::eval::{Evaluator, Leaves};
use crate::terms::{Bank, BoolRef, BvRef};

pub(crate) struct WriteDecl {
    pub(crate) at: At,
    pub(crate) value: BvRef,
    pub(crate) when: BoolRef,
}

pub(crate) struct ReadDecl {
    pub(crate) at: At,
    pub(crate) value: BvRef,
    pub(crate) when: BoolRef,
    pub(crate) likely: Option<Source>,
}

pub(crate) struct LocationDecl {
    pub(crate) initial: Option<BvRef>,
    pub(crate) writes: Vec<WriteDecl>,
    pub(crate) reads: Vec<ReadDecl>,
}

#[derive(Clone, Copy)]
pub(crate) struct SectionDecl {
    pub(crate) begin: At,
    pub(crate) end: Option<At>,
    pub(crate) when: BoolRef,
    pub(crate) shared: bool,
}

pub(crate) struct TakerDecl {
    pub(crate) at: At,
    pub(crate) after: Option<At>,
    pub(crate) when: BoolRef,
    /// For each giver the variable that says that it serves this taker.
    pub(crate) served_by: Vec<BoolRef>,
}

pub(crate) struct GiverDecl {
    pub(crate) at: Option<At>,
    pub(crate) many: bool,
    pub(crate) when: BoolRef,
}

pub(crate) struct MatchingDecl {
    pub(crate) takers: Vec<TakerDecl>,
    pub(crate) givers: Vec<GiverDecl>,
}

#[derive(Default)]
pub(crate) struct Problem {
    pub(crate) fixed: Vec<(At, At)>,
    pub(crate) edges_when: Vec<(BoolRef, At, At)>,
    pub(crate) locations: Vec<LocationDecl>,
    pub(crate) exclusions: Vec<Vec<SectionDecl>>,
    pub(crate) matchings: Vec<MatchingDecl>,
    /// Assertions, with how many scopes were open.
    pub(crate) assertions: Vec<(BoolRef, usize)>,
}

impl Problem {
    /// Checks a model against everything that was declared, by its total order and plain arithmetic.
    pub(crate) fn verify(&self, bank: &Bank, model: &Model) -> Result<(), String> {
        let mut eval = Evaluator::new(bank, model);
        for &(term, _) in &self.assertions {
            if !eval.bool(term) {
                return Err(format!("assertion {term:?} is false"));
            }
        }
        for &(a, b) in &self.fixed {
            if !model.before(a, b) {
                return Err(format!("fixed edge {a:?} {b:?} is broken"));
            }
        }
        for &(condition, a, b) in &self.edges_when {
            if eval.bool(condition) && !model.before(a, b) {
                return Err(format!("conditional edge {a:?} {b:?} is broken"));
            }
        }
        self.locations.iter().try_for_each(|l| l.verify(model, &mut eval))?;
        self.exclusions.iter().try_for_each(|s| verify_exclusion(s, model, &mut eval))?;
        self.matchings.iter().try_for_each(|m| m.verify(model, &mut eval))
    }
}

impl LocationDecl {
    /// The source of a read that happens: the last write before it that happens.
    pub(crate) fn source<L: Leaves>(
        &self,
        model: &Model,
        eval: &mut Evaluator<'_, L>,
        read: &ReadDecl,
    ) -> Option<Source> {
        let mut source: Option<usize> = None;
        for (i, write) in self.writes.iter().enumerate() {
            let later = source.is_none_or(|s| model.before(self.writes[s].at, write.at));
            if later && model.before(write.at, read.at) && eval.bool(write.when) {
                source = Some(i);
            }
        }
        source.map(Source::Write).or(self.initial.map(|_| Source::Initial))
    }

    fn verify<L: Leaves>(&self, model: &Model, eval: &mut Evaluator<'_, L>) -> Result<(), String> {
        for read in &self.reads {
            let value = eval.bv(read.value);
            if !eval.bool(read.when) {
                if value != 0 {
                    return Err(format!("absent read at {:?} has the value {value}", read.at));
                }
                continue;
            }
            let written = match self.source(model, eval, read) {
                Some(Source::Write(i)) => eval.bv(self.writes[i].value),
                Some(Source::Initial) => self.initial.map_or(0, |t| eval.bv(t)),
                None => return Err(format!("read at {:?} has no source", read.at)),
            };
            if written != value {
                return Err(format!("read at {:?} has {value}, written was {written}", read.at));
            }
        }
        Ok(())
    }
}

fn verify_exclusion<L: Leaves>(
    sections: &[SectionDecl],
    model: &Model,
    eval: &mut Evaluator<'_, L>,
) -> Result<(), String> {
    let there: Vec<&SectionDecl> = sections.iter().filter(|s| eval.bool(s.when)).collect();
    for (i, a) in there.iter().enumerate() {
        for b in &there[..i] {
            let ends = |x: &SectionDecl, y: &SectionDecl| x.end.is_some_and(|end| model.before(end, y.begin));
            let may_overlap = a.shared && b.shared;
            if !(may_overlap || ends(a, b) || ends(b, a)) {
                return Err(format!("sections at {:?} and {:?} overlap", a.begin, b.begin));
            }
        }
    }
    Ok(())
}

impl MatchingDecl {
    fn verify<L: Leaves>(&self, model: &Model, eval: &mut Evaluator<'_, L>) -> Result<(), String> {
        let mut used = vec![0; self.givers.len()];
        for taker in self.takers.iter() {
            let mut served = false;
            for (g, giver) in self.givers.iter().enumerate() {
                if !eval.bool(taker.served_by[g]) {
                    continue;
                }
                used[g] += 1;
                served = true;
                let in_time = giver.at.is_none_or(|at| {
                    model.before(at, taker.at) && taker.after.is_none_or(|a| model.before(a, at))
                });
                if !in_time || !eval.bool(giver.when) {
                    return Err(format!("taker at {:?} is served by one that cannot", taker.at));
                }
            }
            if eval.bool(taker.when) && !served {
                return Err(format!("taker at {:?} is not served", taker.at));
            }
        }
        match self.givers.iter().zip(used).position(|(g, n)| n > 1 && !g.many) {
            Some(g) => Err(format!("giver {g} serves more than one")),
            None => Ok(()),
        }
    }
}
