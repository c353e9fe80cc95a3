//! Declaring constraints about points: they are checked and kept, and encoded when a query needs them.

use crate::error::{Error, Result};
use crate::order::At;
use crate::problem::{GiverDecl, LocationDecl, MatchingDecl, ReadDecl, SectionDecl, TakerDecl, WriteDecl};
use crate::solver::Solver;
use crate::structure::{Giver, Location, Matching, Read, Section, Taker, Write};
use crate::terms::{Bool, BoolRef, Bv, BvNode};

impl Solver {
    /// Declares a location of memory with all its writes and reads. Each read that happens gets the value of the
    /// last write before it that happens, or the initial value; without an initial value, it must have a write.
    /// A read that does not happen has the value zero.
    ///
    /// Writes are best listed in recorded order: the search tries that order first.
    pub fn location(&mut self, initial: Option<Bv>, writes: &[Write], reads: &[Read]) -> Result<Location> {
        let width = reads.first().map(|r| r.value).or(initial).or(writes.first().map(|w| w.value));
        let all =
            initial.into_iter().chain(writes.iter().map(|w| w.value)).chain(reads.iter().map(|r| r.value));
        for value in all {
            self.own_bv(value)?;
            if let Some(first) = width.filter(|w| w.width() != value.width()) {
                return Err(Error::MixedWidths { left: first.width(), right: value.width() });
            }
        }
        let mut decl = LocationDecl { initial: initial.map(|v| v.term), writes: vec![], reads: vec![] };
        let mut points = rustc_hash::FxHashSet::default();
        for write in writes {
            let (at, when) = (self.own_point(write.at)?, self.own_bool(write.when)?);
            if !points.insert(at) {
                return Err(Error::SamePoint(write.at));
            }
            decl.writes.push(WriteDecl { at, value: write.value.term, when });
        }
        let mut values = rustc_hash::FxHashSet::default();
        for read in reads {
            let (at, when) = (self.own_point(read.at)?, self.own_bool(read.when)?);
            let value = read.value.term;
            let is_var = matches!(self.bank.bv_node(value), BvNode::Var(_));
            if !is_var || self.encoded.read_values.contains(&value) || !values.insert(value) {
                return Err(Error::ReadValue);
            }
            decl.reads.push(ReadDecl { at, value, when, likely: read.likely });
        }
        self.encoded.read_values.extend(values);
        self.problem.locations.push(decl);
        Ok(Location { index: self.problem.locations.len() - 1, owner: self.owner })
    }

    /// Of any two of these sections that happen and are not both shared, one ends before the other begins.
    /// Best listed in recorded order.
    pub fn exclude(&mut self, sections: &[Section]) -> Result<()> {
        let mut decl = Vec::with_capacity(sections.len());
        for section in sections {
            let begin = self.own_point(section.begin)?;
            let end = section.end.map(|p| self.own_point(p)).transpose()?;
            if let (Some(at), Some(end)) = (section.end, end)
                && !self.fixed.before(begin, end)
            {
                return Err(Error::Backwards(section.begin, at));
            }
            decl.push(SectionDecl { begin, end, when: self.own_bool(section.when)?, shared: section.shared });
        }
        self.problem.exclusions.push(decl);
        Ok(())
    }

    /// Each taker that happens is served by a giver that happens, before it and after its `after`; a giver
    /// serves one taker, unless it is marked `many`.
    pub fn matching(&mut self, takers: &[Taker], givers: &[Giver]) -> Result<Matching> {
        let mut decl = MatchingDecl { takers: vec![], givers: vec![] };
        for giver in givers {
            let at = giver.at.map(|p| self.own_point(p)).transpose()?;
            decl.givers.push(GiverDecl { at, many: giver.many, when: self.own_bool(giver.when)? });
        }
        for taker in takers {
            let at = self.own_point(taker.at)?;
            let after = taker.after.map(|p| self.own_point(p)).transpose()?;
            let when = self.own_bool(taker.when)?;
            let served_by = decl.givers.iter().map(|giver| self.service(at, after, giver)).collect();
            decl.takers.push(TakerDecl { at, after, when, served_by });
        }
        self.problem.matchings.push(decl);
        Ok(Matching { index: self.problem.matchings.len() - 1, owner: self.owner })
    }

    /// A variable for "this giver serves that taker", or false when the fixed order forbids it.
    fn service(&mut self, at: At, after: Option<At>, giver: &GiverDecl) -> BoolRef {
        let impossible = giver.at.is_some_and(|g| {
            self.fixed.reaches(at, g) || after.is_some_and(|after| self.fixed.reaches(g, after))
        });
        if impossible { BoolRef::FALSE } else { self.bank.bool_var() }
    }

    /// The literal that says that a giver serves a taker.
    pub fn serves(&self, matching: Matching, taker: usize, giver: usize) -> Result<Option<Bool>> {
        if matching.owner != self.owner {
            return Err(Error::Foreign);
        }
        let takers = &self.problem.matchings[matching.index].takers;
        let term = takers.get(taker).and_then(|t| t.served_by.get(giver));
        Ok(term.map(|&t| self.own(t)))
    }
}
