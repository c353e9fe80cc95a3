//! Transactions: marked ones, and inferred ones where none is marked (docs/design/candidates.md,
//! "Transactions").
//!
//! While the trace is walked, [`Marks`] takes note of boundaries, of activations of functions and of critical sections; at the
//! end [`Marks::transactions`] makes transactions of them. A critical section belongs to the innermost activation that contains
//! both its ends, so that a guard object of C++ counts for the function that has it. In `locks` mode the sections of one lock in
//! one activation are one transaction, from the first acquire to the last release: that is where a check and the act that relies
//! on it fall apart. A wait ends a transaction, because whoever waits wants others to come between.

use crate::{Atomic, ThreadIndex, Transaction, TransactionOrigin};
use ir::FunctionId;
use rustc_hash::FxHashMap;
use trace::{Event, EventKind, Location};

/// What was noted.
#[derive(Debug, Default)]
pub struct Marks {
    threads: Vec<ThreadMarks>,
    marked: Vec<Transaction>,
    activations: Vec<Transaction>,
    sections: Vec<Section>,
}

#[derive(Debug, Default)]
struct ThreadMarks {
    /// Open marked transactions: how deep, and where the outermost began.
    depth: u32,
    begun: u64,
    /// Activations, innermost last: serial number, function if it counts, first event.
    activations: Vec<(u64, Option<FunctionId>, u64)>,
    serial: u64,
    /// Locks that are held: lock, how often, where it was acquired, the activation then; `outermost` if no other was held.
    held: Vec<Held>,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    lock: Location,
    times: u32,
    from: u64,
    activations: usize,
    activation: u64,
    outermost: bool,
}

/// A critical section, or the part of one before or behind a wait.
#[derive(Clone, Copy, Debug)]
struct Section {
    thread: ThreadIndex,
    lock: Location,
    activation: u64,
    from: u64,
    to: u64,
    /// A wait ended it, so the next one is not merged with it.
    waits: bool,
}

impl Marks {
    fn thread(&mut self, thread: ThreadIndex) -> &mut ThreadMarks {
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, ThreadMarks::default);
        }
        &mut self.threads[thread.index()]
    }

    /// A function begins; `named` if its activation counts as a transaction in `functions` mode.
    pub fn enter(&mut self, thread: ThreadIndex, named: Option<FunctionId>, from: u64) {
        let marks = self.thread(thread);
        marks.serial += 1;
        let serial = marks.serial;
        marks.activations.push((serial, named, from));
    }

    /// The innermost function ends, its last event being `to`.
    pub fn leave(&mut self, thread: ThreadIndex, to: u64) {
        if let Some((_, named, from)) = self.thread(thread).activations.pop() {
            self.activation(thread, named, from, to);
        }
    }

    fn activation(&mut self, thread: ThreadIndex, named: Option<FunctionId>, from: u64, to: u64) {
        if let Some(function) = named.filter(|_| from < to) {
            self.activations.push(Transaction {
                thread,
                from,
                to,
                origin: TransactionOrigin::Function(function),
            });
        }
    }

    /// An event that may be a boundary.
    pub fn event(&mut self, thread: ThreadIndex, event: &Event) {
        let n = event.id.n;
        match event.kind {
            EventKind::TransactionBegin => {
                let marks = self.thread(thread);
                marks.depth += 1;
                if marks.depth == 1 {
                    marks.begun = n;
                }
            }
            EventKind::TransactionEnd => {
                let marks = self.thread(thread);
                marks.depth = marks.depth.saturating_sub(1);
                if marks.depth == 0 {
                    let from = marks.begun;
                    self.marked.push(Transaction { thread, from, to: n, origin: TransactionOrigin::Marked });
                }
            }
            EventKind::Lock { object, .. } | EventKind::TryLock { object, acquired: Some(_), .. } => {
                self.acquire(thread, object, n);
            }
            EventKind::Unlock { object, .. } => self.release(thread, object, n, false),
            EventKind::WaitBegin { mutex, .. } => {
                // All sections that are open end here: others are wanted between.
                let held: Vec<Location> = self.thread(thread).held.iter().map(|held| held.lock).collect();
                for lock in held {
                    self.cut(thread, lock, n);
                }
                if let Some(mutex) = mutex {
                    self.release(thread, mutex, n, true);
                }
            }
            EventKind::WaitEnd { mutex, .. } => {
                if let Some(mutex) = mutex {
                    self.acquire(thread, mutex, n);
                }
                for held in &mut self.thread(thread).held {
                    held.from = held.from.max(n);
                }
            }
            _ => {}
        }
    }

    fn acquire(&mut self, thread: ThreadIndex, lock: Location, n: u64) {
        let marks = self.thread(thread);
        if let Some(held) = marks.held.iter_mut().find(|held| held.lock == lock) {
            held.times += 1;
            return;
        }
        let outermost = marks.held.is_empty();
        let activation = marks.activations.last().map_or(0, |&(serial, ..)| serial);
        let activations = marks.activations.len();
        marks.held.push(Held { lock, times: 1, from: n, activations, activation, outermost });
    }

    fn release(&mut self, thread: ThreadIndex, lock: Location, n: u64, waits: bool) {
        let marks = self.thread(thread);
        let Some(at) = marks.held.iter().position(|held| held.lock == lock) else { return };
        marks.held[at].times -= 1;
        if marks.held[at].times > 0 {
            return;
        }
        let held = marks.held.remove(at);
        if !waits {
            self.section(thread, held, n, false);
        }
    }

    /// A wait ends the part of a section up to here.
    fn cut(&mut self, thread: ThreadIndex, lock: Location, n: u64) {
        if let Some(&held) = self.thread(thread).held.iter().find(|held| held.lock == lock) {
            self.section(thread, held, n, true);
        }
    }

    fn section(&mut self, thread: ThreadIndex, held: Held, to: u64, waits: bool) {
        if !held.outermost {
            return;
        }
        let marks = self.thread(thread);
        // The innermost activation that has been there all the time.
        let common = marks.activations.len().min(held.activations);
        let still = marks.activations[..common].iter().rev().find(|&&(serial, ..)| serial <= held.activation);
        let activation = still.map_or(0, |&(serial, ..)| serial);
        self.sections.push(Section { thread, lock: held.lock, activation, from: held.from, to, waits });
    }

    /// The thread has no more events; what is open ends with its last one.
    pub fn finish(&mut self, thread: ThreadIndex, last: u64) {
        let marks = self.thread(thread);
        if marks.depth > 0 {
            let from = marks.begun;
            self.marked.push(Transaction { thread, from, to: last, origin: TransactionOrigin::Marked });
        }
        while !self.thread(thread).activations.is_empty() {
            self.leave(thread, last);
        }
    }

    /// The transactions, ordered by thread and beginning.
    pub fn transactions(self, atomic: Atomic) -> Vec<Transaction> {
        let mut transactions = match (atomic, self.marked.is_empty()) {
            (_, false) | (Atomic::Marked, _) => self.marked,
            (Atomic::Functions, _) => self.activations,
            (Atomic::Locks, _) => merged(self.sections),
        };
        transactions.sort_by_key(|transaction| (transaction.thread, transaction.from, transaction.to));
        transactions
    }
}

/// The sections of one lock in one activation as one transaction.
fn merged(sections: Vec<Section>) -> Vec<Transaction> {
    let mut open: FxHashMap<(ThreadIndex, u64, Location), Transaction> = FxHashMap::default();
    let mut transactions = vec![];
    for section in sections {
        let Section { thread, lock, activation, from, to, waits } = section;
        let key = (thread, activation, lock);
        let merged = open.entry(key).or_insert(Transaction {
            thread,
            from,
            to,
            origin: TransactionOrigin::Lock(lock),
        });
        merged.to = to;
        if waits {
            transactions.extend(open.remove(&key));
        }
    }
    transactions.extend(open.into_values());
    transactions
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::SiteId;
    use trace::{AllocationId, EventId, LockMode, ThreadId, WakeReason};

    const T: ThreadIndex = ThreadIndex(0);

    fn lock(n: u32) -> Location {
        Location { allocation: AllocationId(n), offset: 0 }
    }

    fn run(events: Vec<EventKind>) -> Vec<(u64, u64)> {
        let mut marks = Marks::default();
        marks.enter(T, None, 1);
        let last = events.len() as u64;
        for (n, kind) in (1..).zip(events) {
            let id = EventId { thread: ThreadId::MAIN, n };
            marks.event(T, &Event { id, site: SiteId(0), kind });
        }
        marks.finish(T, last);
        marks.transactions(Atomic::Locks).iter().map(|t| (t.from, t.to)).collect()
    }

    fn take(n: u32) -> EventKind {
        EventKind::Lock { object: lock(n), mode: LockMode::Mutex, depth: 1 }
    }

    fn give(n: u32) -> EventKind {
        EventKind::Unlock { object: lock(n), mode: LockMode::Mutex, depth: 0 }
    }

    #[test]
    fn sections_of_one_lock_are_one_transaction_and_inner_locks_are_none() {
        let events = vec![take(1), take(2), give(2), give(1), take(1), give(1), take(3), give(3)];
        assert_eq!(run(events), [(1, 6), (7, 8)]);
    }

    #[test]
    fn a_wait_ends_a_transaction() {
        let begin = EventKind::WaitBegin { condition: lock(9), mutex: Some(lock(1)) };
        let end =
            EventKind::WaitEnd { condition: lock(9), mutex: Some(lock(1)), reason: WakeReason::Spurious };
        assert_eq!(run(vec![take(1), begin, end, give(1)]), [(1, 2), (3, 4)]);
    }

    #[test]
    fn marked_transactions_leave_no_room_for_inferred_ones() {
        let events =
            vec![EventKind::TransactionBegin, take(1), give(1), EventKind::TransactionEnd, take(1), give(1)];
        assert_eq!(run(events), [(1, 4)]);
        assert_eq!(run(vec![EventKind::TransactionBegin, take(1)]), [(1, 2)]);
    }

    #[test]
    fn a_section_that_a_called_function_opens_belongs_to_the_caller_that_sees_it_closed() {
        let mut marks = Marks::default();
        let event = |marks: &mut Marks, n, kind| {
            let id = EventId { thread: ThreadId::MAIN, n };
            marks.event(T, &Event { id, site: SiteId(0), kind });
        };
        marks.enter(T, None, 1);
        for n in [1, 4] {
            marks.enter(T, Some(FunctionId(1)), n);
            event(&mut marks, n, take(1));
            marks.leave(T, n);
            marks.enter(T, Some(FunctionId(2)), n + 1);
            event(&mut marks, n + 1, give(1));
            marks.leave(T, n + 1);
        }
        marks.finish(T, 5);
        let transactions = marks.transactions(Atomic::Locks);
        assert_eq!(transactions.iter().map(|t| (t.from, t.to)).collect::<Vec<_>>(), [(1, 5)]);
    }
}
