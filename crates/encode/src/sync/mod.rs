//! Synchronisation, one file for each primitive (docs/design/feasibility.md).

mod barrier;
mod blocked;
mod condition;
mod exclusive;
mod lock;
mod semaphore;

pub use blocked::Blocked;
pub use condition::Wait;
pub use lock::Section;

use crate::Encoding;
use ctp::{EventIndex, ThreadIndex};
use rustc_hash::FxHashMap;
use solver::{Bool, Result};
use std::collections::BTreeMap;
use trace::Location;

/// What is known of the synchronisation of a trace.
#[derive(Debug, Default)]
pub struct Sync {
    /// Sections of locks, by their beginning in the recorded run.
    pub sections: BTreeMap<Location, Vec<Section>>,
    /// Waits on condition variables.
    pub waits: BTreeMap<Location, Vec<Wait>>,
    /// Signals and broadcasts.
    pub signals: BTreeMap<Location, Vec<EventIndex>>,
    pub broadcasts: BTreeMap<Location, Vec<EventIndex>>,
    /// This signal wakes this wait (its beginning).
    pub wakes: FxHashMap<(EventIndex, EventIndex), Bool>,
    /// Takes and releases of semaphores.
    pub takes: BTreeMap<Location, Vec<(EventIndex, Bool)>>,
    pub releases: BTreeMap<Location, Vec<EventIndex>>,
    /// Arrivals at barriers.
    pub arrivals: BTreeMap<Location, Vec<EventIndex>>,
    /// Blocks that exclude all other threads: whose, from where, to where.
    pub exclusive: Vec<(ThreadIndex, EventIndex, Option<EventIndex>)>,
}

impl Encoding<'_> {
    pub(crate) fn encode_sync(&mut self) -> Result<()> {
        self.encode_locks()?;
        self.encode_conditions()?;
        self.encode_semaphores()?;
        self.encode_barriers()?;
        self.encode_exclusive()
    }

    /// An event happens, and as it did in the recorded run, as far as it has outcomes. A silent one happens as soon as its thread has come there.
    ///
    /// # Errors
    /// As for [`Encoding::ask`].
    pub fn as_recorded(&mut self, event: EventIndex) -> Result<Bool> {
        if self.event(event).silent && self.points[event.index()].is_none() {
            return self.passed_silently(event);
        }
        let inside = self.inside(event);
        match self.departs.get(&event) {
            Some(&departs) => {
                let stays = self.solver.not(departs)?;
                self.solver.and(&[inside, stays])
            }
            None => Ok(inside),
        }
    }

    /// An event happens, and otherwise than in the recorded run.
    ///
    /// # Errors
    /// As for [`Encoding::ask`].
    pub fn departed(&mut self, event: EventIndex) -> Result<Bool> {
        let inside = self.inside(event);
        match self.departs.get(&event) {
            Some(&departs) => self.solver.and(&[inside, departs]),
            None => Ok(self.solver.bool_const(false)),
        }
    }

    /// For each event that may come out otherwise than recorded: it does.
    ///
    /// # Errors
    /// As for [`Encoding::ask`].
    pub fn departures(&mut self) -> Result<Vec<Bool>> {
        let mut events: Vec<EventIndex> = self.departs.keys().copied().collect();
        events.sort_unstable();
        events.into_iter().map(|event| self.departed(event)).collect()
    }
}
