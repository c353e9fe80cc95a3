//! A run that has come to its end, and what is asked about it.

use super::harmless::Asked;
use super::permitted;
use super::{Options, Search};
use crate::Error;
use crate::paths::{Combination, OPTIONS, Paths, is_compiled};
use crate::traced::Sites;
use claim::Property;
use ctp::{Ctp, IsNoticed, Phantoms};
use ir::Program;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use trace::{BlockedThread, Event, Outcome, ThreadId, Trace};

/// What two runs have in common that consist of the same events: the decisions of each thread and how far it came.
pub type Class = (Combination, Vec<(ThreadId, u64)>);

/// A run that has come to its end.
pub struct Ended {
    pub trace: Trace,
    pub class: Class,
}

impl Ended {
    pub fn new(program: &Program, trace: Trace) -> Result<Ended, Error> {
        let mut last: BTreeMap<ThreadId, u64> = BTreeMap::new();
        last.extend(trace.events.iter().map(|event| (event.id.thread, event.id.n)));
        let paths = match is_compiled(program) {
            true => paths(program, &trace, &Ctp::build(program, &trace, &OPTIONS)?),
            false => Paths::of(&trace, 0),
        };
        Ok(Ended { class: (paths.decisions, last.into_iter().collect()), trace })
    }
}

/// The paths of a run. Traces of compiled programs do not have their branches: the concurrent trace program knows which way they went.
fn paths(program: &Program, trace: &Trace, ctp: &Ctp) -> Paths {
    match is_compiled(program) {
        true => Paths::of_ctp(ctp, &trace.outcome),
        false => Paths::of(trace, 0),
    }
}

impl<S> Search<'_, S> {
    /// All that is asked about a run.
    pub(super) fn asked(&mut self, trace: &Trace, stuck: Vec<BlockedThread>) -> Result<Asked, Error> {
        // Of a run in which somebody goes round, prediction does not know that it may do so for ever.
        let spins = self.options.spins && self.options.properties.contains(&Property::Deadlock);
        let sites = Sites::new(self.program, spins);
        let is_noticed = |event: &Event| sites.is_noticed(event);
        let rounds: Option<IsNoticed<'_>> = spins.then_some(&is_noticed);
        let how = ctp::Options { settled: true, ..self.options.ctp };
        let ctp = Ctp::build_standing(self.program, trace, 0, &how, rounds)?;
        let abstraction = match self.abstraction(trace, &ctp)? {
            Some(ctp) => {
                self.explored.phantoms += ctp.phantoms.len() as u64;
                let paths = paths(self.program, trace, &ctp);
                Some((ctp, paths))
            }
            None => None,
        };
        let asserts = self.options.properties.contains(&Property::Assertion);
        let paths = paths(self.program, trace, &ctp);
        Ok(Asked { ctp, abstraction, paths, stuck, asserts })
    }

    /// CTP⁺ of a run: with phantom edges where they say enough.
    fn abstraction(&self, trace: &Trace, ctp: &Ctp) -> Result<Option<Ctp>, Error> {
        let Options { properties, spins, ctp: how, phantoms, .. } = self.options;
        let whole = matches!(trace.outcome, Outcome::Completed { .. } | Outcome::Exited { .. });
        if !whole || !phantoms || !permitted::some(properties, trace, ctp) {
            return Ok(None);
        }
        // Which branches have phantom edges depends on what those before them may write, so what each may do is known only then. With every branch that is refused there are
        // fewer.
        let mut refused = FxHashSet::default();
        loop {
            let phantoms = Phantoms { branches: &self.branches, refused: &refused };
            let abstraction = Ctp::build_abstraction(self.program, trace, how, phantoms)?;
            if abstraction.phantoms.is_empty() {
                return Ok(None);
            }
            let more =
                permitted::refused(properties, *spins, &self.branches, self.program, trace, &abstraction);
            match more {
                None => return Ok(None),
                Some(more) if more.is_empty() => return Ok(Some(abstraction)),
                Some(more) => refused.extend(more),
            }
        }
    }
}
