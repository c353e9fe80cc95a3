//! Unserializable interleavings of transactions.
//!
//! While a thread is inside a transaction, its own accesses and those of all other threads are kept in order.
//! At each access e2 of the thread, every earlier access e1 of the same transaction and every remote access f
//! after e1, all of one location, are looked at: three nested loops over what happened, as the definition has
//! it (docs/design/candidates.md, "Atomicity violations").

use super::access::Access;
use crate::Machine;
use subject::answers::Triple;
use trace::{AccessKind, Event, EventKind, ThreadId};

/// The open transactions of a run, each with the accesses since it began.
#[derive(Clone, Debug, Default)]
pub struct Transactions {
    open: Vec<Open>,
}

#[derive(Clone, Debug)]
struct Open {
    thread: ThreadId,
    /// A transaction inside another belongs to the outer one.
    depth: u32,
    accesses: Vec<Access>,
}

impl Transactions {
    /// Takes note of an event; gives the triples that it completes.
    pub fn event(
        &mut self,
        machine: &Machine,
        event: &Event,
        access: Option<&Access>,
        numbered: bool,
    ) -> Vec<(Triple, u64)> {
        let thread = event.id.thread;
        match event.kind {
            EventKind::TransactionBegin => self.begin(thread),
            EventKind::TransactionEnd => self.end(thread),
            _ => {}
        }
        let mut triples = vec![];
        if let Some(access) = access {
            if let Some(own) = self.open.iter().find(|open| open.thread == thread) {
                triples = own.completed_by(machine, access, numbered);
            }
            self.open.iter_mut().for_each(|open| open.accesses.push(access.clone()));
        }
        triples
    }

    /// How many accesses it holds.
    pub fn accesses(&self) -> usize {
        self.open.iter().map(|open| open.accesses.len()).sum()
    }

    fn begin(&mut self, thread: ThreadId) {
        match self.open.iter_mut().find(|open| open.thread == thread) {
            Some(outer) => outer.depth += 1,
            None => {
                self.open.push(Open { thread, depth: 1, accesses: vec![] });
                self.open.sort_unstable_by_key(|open| open.thread);
            }
        }
    }

    fn end(&mut self, thread: ThreadId) {
        if let Some(open) = self.open.iter_mut().find(|open| open.thread == thread) {
            open.depth -= 1;
        }
        self.open.retain(|open| open.depth > 0);
    }

    pub fn write_key(&self, key: &mut Vec<u64>) {
        key.push(self.open.len() as u64);
        for open in &self.open {
            key.extend([open.thread.code(), u64::from(open.depth), open.accesses.len() as u64]);
            open.accesses.iter().for_each(|access| access.write_key(key));
        }
    }
}

impl Open {
    fn completed_by(&self, machine: &Machine, after: &Access, numbered: bool) -> Vec<(Triple, u64)> {
        let mut triples = vec![];
        for (at, before) in self.accesses.iter().enumerate() {
            if before.event.thread != self.thread || !before.overlaps(after) {
                continue;
            }
            for between in &self.accesses[at + 1..] {
                let remote = between.event.thread != self.thread;
                let one_location = between.overlaps(before) && between.overlaps(after);
                if remote
                    && one_location
                    && is_unserializable(before.kind.access(), between.kind.access(), after.kind.access())
                    && !are_independent(machine, before, between)
                    && !are_independent(machine, between, after)
                {
                    let point = |access: &Access| access.point(numbered);
                    let triple =
                        Triple { before: point(before), between: point(between), after: point(after) };
                    triples.push((triple, between.address));
                }
            }
        }
        triples
    }
}

/// Guarded independence (AV §3): whether the guard c_G holds, with the values of this run, so that the order of the two
/// makes no difference. The value that the guard calls x is the one that the location held before the first of the two:
///
/// - a read and a write of e (rule 4a): x = e;
/// - two writes of e1 and e2 (rule 4b): e1 = e2;
/// - a read that only decides and a write of e (rule 4c): x and e decide the same way;
/// - a read-modify-write is a read and a write, and all guards that apply must hold.
///
/// Rules 1 to 3 (no common variable, other element, other pointee) do not come up: the two access one location here.
fn are_independent(machine: &Machine, first: &Access, second: &Access) -> bool {
    if (first.address, first.bytes) != (second.address, second.bytes) {
        return false; // they overlap in part only: not a case of the rules
    }
    let (Some(x), Some(first_after), Some(second_after)) = (first.before, first.after, second.after) else {
        return false;
    };
    let (one, other) = (first.kind.access(), second.kind.access());
    // Whether a read makes no difference between x and what is written.
    let same = |read: &Access, written: u64| {
        let decided = |value| read.decides.as_ref().and_then(|decision| decision.outcome(machine, value));
        x == written || decided(x).is_some_and(|outcome| decided(written) == Some(outcome))
    };
    let read_write = !(one.reads() && other.writes()) || same(first, second_after);
    let write_read = !(one.writes() && other.reads()) || same(second, first_after);
    let write_write = !(one.writes() && other.writes()) || first_after == second_after;
    read_write && write_read && write_write
}

/// Whether an interleaving of three accesses of one location is unserializable: R-W-R, W-W-R, R-W-W, W-R-W and W-W-W
/// are, the other three of the eight are not (AV §3, PLAN §3.2). A read-modify-write counts as both.
fn is_unserializable(before: AccessKind, between: AccessKind, after: AccessKind) -> bool {
    between.writes() || (before.writes() && after.writes())
}
