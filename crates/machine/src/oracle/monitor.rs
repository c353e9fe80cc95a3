//! What the oracle remembers of a run besides its state.

use super::access::Access;
use super::happens_before::HappensBefore;
use super::paths::Paths;
use super::transactions::Transactions;
use crate::Machine;
use crate::state::State;
use crate::step::Observer;
use subject::answers::{Race, Triple};
use trace::{Event, ThreadId};

/// What one access takes in memory, about.
const ACCESS_BYTES: u64 = 200;

/// The memory of one run.
#[derive(Clone, Debug, Default)]
pub struct Monitor {
    /// Threads that have left the paths of the trace; ordered.
    pub departed: Vec<ThreadId>,
    happens_before: HappensBefore,
    transactions: Transactions,
}

impl Monitor {
    /// An estimate of the memory that it takes, in bytes.
    pub fn bytes(&self) -> u64 {
        (self.happens_before.accesses() + self.transactions.accesses()) as u64 * ACCESS_BYTES
    }

    /// Writes what distinguishes two pasts.
    pub fn write_key(&self, key: &mut Vec<u64>) {
        key.push(self.departed.len() as u64);
        key.extend(self.departed.iter().map(|thread| thread.code()));
        self.happens_before.write_key(key);
        self.transactions.write_key(key);
    }
}

/// Listens to one step, with the memory of its run.
pub struct Watch<'a> {
    pub machine: &'a Machine,
    pub monitor: &'a mut Monitor,
    pub paths: Option<&'a Paths>,
    pub history: bool,
    /// What was found, with the address that it is about.
    pub unordered: Vec<(Race, u64)>,
    pub triples: Vec<(Triple, u64)>,
}

impl Observer for Watch<'_> {
    fn event(&mut self, state: &State, event: Event, before: u64) {
        if let Some(paths) = self.paths
            && !paths.agrees(&event)
        {
            let departed = &mut self.monitor.departed;
            departed.push(event.id.thread);
            departed.sort_unstable();
            departed.dedup();
        }
        if !self.history {
            return;
        }
        let numbered = self.paths.is_some();
        let access = Access::of(self.machine, state, &event, before);
        let freed = Access::of_free(state, &event);
        let live = || state.threads.iter().filter(|thread| !thread.is_over()).map(|thread| thread.id);
        let happens_before = &mut self.monitor.happens_before;
        self.unordered.extend(happens_before.event(&event, access.as_ref().or(freed.as_ref()), numbered));
        happens_before.forget(live);
        self.triples.extend(self.monitor.transactions.event(self.machine, &event, access.as_ref(), numbered));
    }
}
