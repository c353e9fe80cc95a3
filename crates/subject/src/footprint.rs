//! What a step of a thread touches, and when the order of two steps makes a difference.
//!
//! Two steps of different threads are *independent* if they can be swapped wherever they stand side by side: both orders lead to the
//! same state, and neither lets the other happen or keeps it from happening. Runs that differ only in the order of independent steps
//! are the same for every question that we ask, so one of them is enough. Footprints say more than "independent" needs in places:
//! two steps whose footprints conflict may still be swappable, never the other way round.

use trace::{EventKind, Location, LockMode, ThreadId};

/// A step touches these things.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Footprint {
    touches: Vec<Touch>,
    /// Some event of it may touch other things, or be impossible, if it is done at another point of the run.
    varies: bool,
}

/// One thing, and how it is touched.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Touch {
    /// Everything: the step ends the process, or keeps all others from going on.
    Everything,
    /// Memory from an address on.
    Memory { address: u64, bytes: u64, writes: bool },
    /// A lock, a semaphore, a condition variable or a barrier.
    Object { object: Location, how: How },
    /// The life of a thread: its end, and those who wait for it.
    Life { thread: ThreadId, ends: bool },
    /// The end of a thread's wait: who lets it end, and the thread itself.
    Wake { thread: ThreadId },
}

/// What is done to a synchronisation object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum How {
    /// A mutex or a write section begins or ends.
    Own,
    /// A read section begins or ends.
    Share,
    /// It is seen that somebody owns it, by a try for a read section.
    SeeOwned,
    /// It is seen that it is not free, or how many tokens there are.
    See,
    /// A token is taken.
    Take,
    /// A token is put.
    Put,
    /// A thread joins the waiters, or leaves them by itself.
    Wait,
    /// One waiter or all of them are woken.
    Signal,
    /// Nobody waited.
    SignalNobody,
    /// A thread arrives in this round of a barrier.
    Arrive(u64),
    /// A thread leaves this round.
    Leave(u64),
}

impl How {
    fn conflicts(self, other: How) -> bool {
        use How::{Arrive, Leave, Put, See, SeeOwned, Share, SignalNobody, Wait};
        match (self, other) {
            (Share, Share | SeeOwned) | (SeeOwned, Share) => false,
            (See | SeeOwned, See | SeeOwned) => false,
            (Put, Put) | (Wait, Wait) | (SignalNobody, SignalNobody) => false,
            // Who arrives in one round may do so in any order; who leaves needs all of them.
            (Arrive(one), Arrive(other)) => one != other,
            (Arrive(one), Leave(other)) | (Leave(one), Arrive(other)) => one == other,
            (Leave(_), Leave(_)) => false,
            _ => true,
        }
    }
}

impl Touch {
    fn conflicts(self, other: Touch) -> bool {
        match (self, other) {
            (Touch::Everything, _) | (_, Touch::Everything) => true,
            (
                Touch::Memory { address: a, bytes: n, writes: w },
                Touch::Memory { address: b, bytes: m, writes: v },
            ) => (w || v) && a < b.saturating_add(m) && b < a.saturating_add(n),
            (Touch::Object { object: a, how }, Touch::Object { object: b, how: other }) => {
                a == b && how.conflicts(other)
            }
            (Touch::Life { thread: a, ends }, Touch::Life { thread: b, ends: other }) => {
                a == b && (ends || other)
            }
            (Touch::Wake { thread: a }, Touch::Wake { thread: b }) => a == b,
            _ => false,
        }
    }
}

impl Footprint {
    /// Of a step that the order with every other step makes a difference to.
    #[must_use]
    pub fn everything() -> Footprint {
        Footprint { touches: vec![Touch::Everything], varies: true }
    }

    /// Adds what an event touches. `address` gives the address of memory, which must be the same in every schedule; `bytes` the size of
    /// freed memory; `woken` the threads whose wait a signal or broadcast ends.
    pub fn add(
        &mut self,
        thread: ThreadId,
        kind: &EventKind,
        address: impl Fn(Location) -> u64,
        bytes: impl Fn(trace::AllocationId) -> u64,
        woken: &[ThreadId],
    ) {
        if let Some((access, location, bytes, _)) = kind.access() {
            let address = address(location);
            self.touches.push(Touch::Memory { address, bytes, writes: access.writes() });
            self.varies |= matches!(kind, EventKind::CompareExchange { .. });
            return;
        }
        if !kind.may_be_visible() {
            return;
        }
        self.varies = true;
        let mut object = |object, how| self.touches.push(Touch::Object { object, how });
        match *kind {
            EventKind::Lock { object: at, mode, .. } | EventKind::Unlock { object: at, mode, .. } => {
                object(at, held(mode));
            }
            EventKind::TryLock { object: at, mode, acquired } => match (acquired, mode) {
                (Some(_), mode) => object(at, held(mode)),
                (None, LockMode::Read) => object(at, How::SeeOwned),
                (None, _) => object(at, How::See),
            },
            EventKind::WaitBegin { condition, mutex } => {
                object(condition, How::Wait);
                mutex.into_iter().for_each(|mutex| object(mutex, How::Own));
            }
            EventKind::StopWaiting { condition, .. } => {
                object(condition, How::Wait);
                self.touches.push(Touch::Wake { thread });
            }
            EventKind::WaitEnd { mutex, .. } => {
                mutex.into_iter().for_each(|mutex| object(mutex, How::Own));
                self.touches.push(Touch::Wake { thread });
            }
            EventKind::Signal { condition, .. } | EventKind::Broadcast { condition, .. } => {
                object(condition, if woken.is_empty() { How::SignalNobody } else { How::Signal });
                self.touches.extend(woken.iter().map(|&thread| Touch::Wake { thread }));
            }
            EventKind::Acquire { semaphore } | EventKind::TryAcquire { semaphore, acquired: true } => {
                object(semaphore, How::Take);
            }
            EventKind::TryAcquire { semaphore, acquired: false }
            | EventKind::TokenCount { semaphore, .. } => {
                object(semaphore, How::See);
            }
            EventKind::Release { semaphore } => object(semaphore, How::Put),
            EventKind::BarrierArrive { barrier, round } => object(barrier, How::Arrive(round)),
            EventKind::BarrierLeave { barrier, round } => object(barrier, How::Leave(round)),
            EventKind::Fork { child } => self.touches.push(Touch::Life { thread: child, ends: true }),
            EventKind::Join { child } => self.touches.push(Touch::Life { thread: child, ends: false }),
            EventKind::End => self.touches.push(Touch::Life { thread, ends: true }),
            EventKind::Free { allocation: Some(allocation) } => {
                let address = address(Location { allocation, offset: 0 });
                self.touches.push(Touch::Memory { address, bytes: bytes(allocation), writes: true });
            }
            EventKind::Assert { held: false }
            | EventKind::Fault { .. }
            | EventKind::ExclusiveBegin
            | EventKind::ExclusiveEnd
            | EventKind::External { .. }
            | EventKind::System { .. } => self.touches.push(Touch::Everything),
            // What others cannot notice.
            _ => {}
        }
    }

    /// Adds the wait of a thread that nobody has woken yet.
    pub fn add_waiting(&mut self, thread: ThreadId) {
        self.varies = true;
        self.touches.push(Touch::Wake { thread });
    }

    /// Adds that a thread begins: whoever forks it comes before.
    pub fn add_begin(&mut self, thread: ThreadId) {
        self.varies = true;
        self.touches.push(Touch::Life { thread, ends: false });
    }

    /// Whether the order with another step may make a difference.
    #[must_use]
    pub fn conflicts(&self, other: &Footprint) -> bool {
        self.touches.iter().any(|a| other.touches.iter().any(|b| a.conflicts(*b)))
    }

    /// Whether the step may touch other things, or be impossible, at another point of the run at which its thread stands before it.
    /// Plain accesses of memory do not.
    #[must_use]
    pub fn varies(&self) -> bool {
        self.varies
    }
}

fn held(mode: LockMode) -> How {
    match mode {
        LockMode::Mutex | LockMode::Write => How::Own,
        LockMode::Read => How::Share,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::AllocationId;

    fn thread(n: u64) -> ThreadId {
        ThreadId::MAIN.child(n).expect("few threads")
    }

    fn of(me: u64, kind: EventKind, woken: &[ThreadId]) -> Footprint {
        let mut footprint = Footprint::default();
        footprint.add(thread(me), &kind, |at| at.offset, |_| 8, woken);
        footprint
    }

    fn at(offset: u64) -> Location {
        Location { allocation: AllocationId(0), offset }
    }

    #[test]
    fn accesses_conflict_where_they_overlap_and_one_writes() {
        let read =
            |offset| of(0, EventKind::Read { location: at(offset), bytes: 4, value: 0, order: None }, &[]);
        let write =
            |offset| of(1, EventKind::Write { location: at(offset), bytes: 4, value: 0, order: None }, &[]);
        assert!(read(0).conflicts(&write(3)) && write(3).conflicts(&read(0)));
        assert!(!read(0).conflicts(&write(4)) && !read(0).conflicts(&read(0)));
        let free = of(2, EventKind::Free { allocation: Some(AllocationId(0)) }, &[]);
        assert!(free.conflicts(&read(4)) && !free.conflicts(&read(8)) && free.varies());
        assert!(!read(0).varies() && !write(0).varies());
    }

    #[test]
    fn what_only_looks_at_a_lock_does_not_mind_others_that_look() {
        let lock = of(0, EventKind::Lock { object: at(0), mode: LockMode::Mutex, depth: 1 }, &[]);
        let failed =
            |me| of(me, EventKind::TryLock { object: at(0), mode: LockMode::Mutex, acquired: None }, &[]);
        assert!(lock.conflicts(&failed(1)) && !failed(1).conflicts(&failed(2)));
        let shared = |me| of(me, EventKind::Lock { object: at(0), mode: LockMode::Read, depth: 1 }, &[]);
        let alone = of(1, EventKind::Lock { object: at(0), mode: LockMode::Write, depth: 1 }, &[]);
        assert!(!shared(0).conflicts(&shared(1)) && shared(0).conflicts(&alone));
    }

    #[test]
    fn a_signal_minds_the_wait_that_it_ends_and_no_other() {
        let signal = of(0, EventKind::Signal { condition: at(0), woken: Some(thread(1)) }, &[thread(1)]);
        let nobody = |me| of(me, EventKind::Signal { condition: at(0), woken: None }, &[]);
        let reason = trace::WakeReason::Spurious;
        let end = |me| of(me, EventKind::WaitEnd { condition: at(0), mutex: None, reason }, &[]);
        assert!(signal.conflicts(&end(1)) && !signal.conflicts(&end(2)));
        assert!(!nobody(0).conflicts(&nobody(2)) && signal.conflicts(&nobody(2)));
        let begin = of(3, EventKind::WaitBegin { condition: at(0), mutex: None }, &[]);
        assert!(begin.conflicts(&nobody(0)) && begin.conflicts(&signal));
    }

    #[test]
    fn arrivals_of_one_round_come_in_any_order() {
        let arrive = |me, round| of(me, EventKind::BarrierArrive { barrier: at(0), round }, &[]);
        let leave = |me, round| of(me, EventKind::BarrierLeave { barrier: at(0), round }, &[]);
        assert!(!arrive(0, 1).conflicts(&arrive(1, 1)) && arrive(0, 1).conflicts(&arrive(1, 2)));
        assert!(arrive(0, 1).conflicts(&leave(1, 1)) && !arrive(0, 2).conflicts(&leave(1, 1)));
    }

    #[test]
    fn what_ends_the_process_minds_everything() {
        let failed = of(0, EventKind::Assert { held: false }, &[]);
        assert!(failed.conflicts(&of(1, EventKind::End, &[])));
        assert!(of(0, EventKind::Assert { held: true }, &[]) == Footprint::default());
    }
}
