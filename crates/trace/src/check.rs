//! What must hold inside a trace, whatever the program: checked record by record, on writing and on reading.

use crate::file::RecordRef;
use crate::{AllocationId, AllocationOrigin, BlockedThread, Choice, EventId, EventKind, Location, Outcome};
use crate::{ThreadId, WaitsFor, WakeReason};
use std::collections::HashMap;

/// How a trace contradicts itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Inconsistency {
    /// Bytes that are no record.
    #[error("it holds bytes that are no record")]
    NotARecord,
    /// A thread is defined twice.
    #[error("thread {0} is there twice")]
    ThreadTwice(ThreadId),
    /// A thread is named that is not (yet) defined.
    #[error("thread {0} is named before it is there")]
    NoThread(ThreadId),
    /// The allocations are not numbered one after the other.
    #[error("allocation {found} where {expected} comes next")]
    AllocationNumber {
        /// Its number.
        found: u32,
        /// The number that it should have.
        expected: u32,
    },
    /// An allocation is named that is not (yet) defined.
    #[error("allocation {0} is named before it is there")]
    NoAllocation(u32),
    /// The events of a thread do not go up.
    #[error("event {found} comes after event {after} of its thread")]
    EventOrder {
        /// Which.
        found: EventId,
        /// The number of the event before it, 0 if there is none.
        after: u64,
    },
    /// An access of none or of more than eight bytes, or a value that does not fit its bytes.
    #[error("event {0} has a value that does not fit its bytes")]
    Value(EventId),
    /// The run ended twice.
    #[error("it has two outcomes")]
    OutcomeTwice,
}

/// What is known after the records so far.
#[derive(Default)]
pub(crate) struct Checker {
    /// Each thread with the number of its last event.
    threads: HashMap<ThreadId, u64>,
    allocations: u32,
    outcome: bool,
}

impl Checker {
    /// Whether the next record fits those before it.
    pub(crate) fn check(&mut self, record: RecordRef<'_>) -> Result<(), Inconsistency> {
        match record {
            RecordRef::Thread(thread) => {
                if let Some(by) = thread.forked_by {
                    self.thread(by.thread)?;
                }
                match self.threads.insert(thread.id, 0) {
                    None => Ok(()),
                    Some(_) => Err(Inconsistency::ThreadTwice(thread.id)),
                }
            }
            RecordRef::Allocation(allocation) => {
                let (found, expected) = (allocation.id.0, self.allocations);
                if found != expected {
                    return Err(Inconsistency::AllocationNumber { found, expected });
                }
                self.allocations = self.allocations.saturating_add(1);
                match allocation.origin {
                    AllocationOrigin::Global(_) | AllocationOrigin::Page(_) => Ok(()),
                    AllocationOrigin::Heap { by: EventId { thread, .. }, .. }
                    | AllocationOrigin::Stack { thread, .. }
                    | AllocationOrigin::ThreadLocal { thread, .. }
                    | AllocationOrigin::StackOf(thread) => self.thread(thread),
                }
            }
            RecordRef::Event(event) => {
                let Some(last) = self.threads.get_mut(&event.id.thread) else {
                    return Err(Inconsistency::NoThread(event.id.thread));
                };
                let after = std::mem::replace(last, event.id.n);
                if event.id.n <= after {
                    return Err(Inconsistency::EventOrder { found: event.id, after });
                }
                self.event(event.id, &event.kind)
            }
            RecordRef::Switch(switch) => {
                self.thread(switch.thread)?;
                switch.enabled.iter().try_for_each(|thread| self.thread(*thread))
            }
            RecordRef::Choice(Choice::Wake(thread)) => self.thread(*thread),
            RecordRef::Choice(Choice::Expire | Choice::Spurious) => Ok(()),
            RecordRef::Outcome(outcome) => {
                if std::mem::replace(&mut self.outcome, true) {
                    return Err(Inconsistency::OutcomeTwice);
                }
                self.outcome(outcome)
            }
        }
    }

    /// The number of the thread's last event, 0 if it has none.
    pub(crate) fn last(&self, thread: ThreadId) -> u64 {
        self.threads.get(&thread).copied().unwrap_or(0)
    }

    fn thread(&self, thread: ThreadId) -> Result<(), Inconsistency> {
        if self.threads.contains_key(&thread) { Ok(()) } else { Err(Inconsistency::NoThread(thread)) }
    }

    fn allocation(&self, allocation: AllocationId) -> Result<(), Inconsistency> {
        if allocation.0 < self.allocations { Ok(()) } else { Err(Inconsistency::NoAllocation(allocation.0)) }
    }

    fn location(&self, location: &Location) -> Result<(), Inconsistency> {
        self.allocation(location.allocation)
    }

    fn event(&self, id: EventId, kind: &EventKind) -> Result<(), Inconsistency> {
        let fits = |bytes: u8, values: &[u64]| {
            let fit = match bytes {
                0 | 9.. => false,
                8 => true,
                1..8 => values.iter().all(|value| value >> (8 * u32::from(bytes)) == 0),
            };
            if fit { Ok(()) } else { Err(Inconsistency::Value(id)) }
        };
        match kind {
            EventKind::Read { location, bytes, value, .. }
            | EventKind::Write { location, bytes, value, .. } => {
                fits(*bytes, &[*value])?;
                self.location(location)
            }
            EventKind::Update { location, bytes, old, new, .. } => {
                fits(*bytes, &[*old, *new])?;
                self.location(location)
            }
            EventKind::CompareExchange { location, bytes, old, expected, new, .. } => {
                fits(*bytes, &[*old, *expected, *new])?;
                self.location(location)
            }
            EventKind::ReadBytes { location, .. } | EventKind::WriteBytes { location, .. } => {
                self.location(location)
            }
            EventKind::Fork { child } | EventKind::Join { child } => self.thread(*child),
            EventKind::Lock { object, .. }
            | EventKind::TryLock { object, .. }
            | EventKind::Unlock { object, .. }
            | EventKind::Acquire { semaphore: object }
            | EventKind::TryAcquire { semaphore: object, .. }
            | EventKind::Release { semaphore: object }
            | EventKind::TokenCount { semaphore: object, .. }
            | EventKind::BarrierArrive { barrier: object, .. }
            | EventKind::BarrierLeave { barrier: object, .. }
            | EventKind::StopWaiting { condition: object, .. }
            | EventKind::Broadcast { condition: object, .. } => self.location(object),
            EventKind::WaitBegin { condition, mutex } => {
                mutex.iter().try_for_each(|mutex| self.location(mutex))?;
                self.location(condition)
            }
            EventKind::WaitEnd { condition, mutex, reason } => {
                if let WakeReason::Signal(by) = reason {
                    self.thread(by.thread)?;
                }
                mutex.iter().try_for_each(|mutex| self.location(mutex))?;
                self.location(condition)
            }
            EventKind::Signal { condition, woken } => {
                woken.iter().try_for_each(|thread| self.thread(*thread))?;
                self.location(condition)
            }
            EventKind::Alloc { allocation } => self.allocation(*allocation),
            EventKind::Free { allocation } => {
                allocation.iter().try_for_each(|allocation| self.allocation(*allocation))
            }
            EventKind::Fence { .. }
            | EventKind::Branch { .. }
            | EventKind::End
            | EventKind::Assert { .. }
            | EventKind::Assume
            | EventKind::TransactionBegin
            | EventKind::TransactionEnd
            | EventKind::ExclusiveBegin
            | EventKind::ExclusiveEnd
            | EventKind::External { .. }
            | EventKind::System { .. }
            | EventKind::Entry { .. }
            | EventKind::Landing
            | EventKind::Fault { .. } => Ok(()),
        }
    }

    fn outcome(&self, outcome: &Outcome) -> Result<(), Inconsistency> {
        match outcome {
            Outcome::AssertionFailed { event, .. } | Outcome::Fault { event, .. } => {
                self.thread(event.thread)
            }
            Outcome::Deadlock { blocked } => blocked.iter().try_for_each(|blocked| self.blocked(blocked)),
            Outcome::Discarded { thread, .. } | Outcome::BoundExceeded { thread, .. } => self.thread(*thread),
            Outcome::Completed { .. }
            | Outcome::LimitReached { .. }
            | Outcome::Truncated
            | Outcome::Exited { .. } => Ok(()),
        }
    }

    fn blocked(&self, blocked: &BlockedThread) -> Result<(), Inconsistency> {
        self.thread(blocked.thread)?;
        match &blocked.waits_for {
            WaitsFor::Lock { object, held_by } => {
                held_by.iter().try_for_each(|thread| self.thread(*thread))?;
                self.location(object)
            }
            WaitsFor::Condition { object }
            | WaitsFor::Semaphore { object }
            | WaitsFor::Word { object }
            | WaitsFor::Change { object }
            | WaitsFor::Barrier { object, .. } => self.location(object),
            WaitsFor::Join { thread } | WaitsFor::Exclusive { thread } => self.thread(*thread),
        }
    }
}
