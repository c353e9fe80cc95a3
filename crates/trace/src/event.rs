//! Events: one step of one thread that instrumentation sees.

use crate::{FaultKind, ThreadId};
use ir::{Order, SiteId};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The identity of an event: the `n`-th step of a thread, counted from 1, whether or not the steps before it
/// were logged. A blocked acquire counts when it succeeds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct EventId {
    /// Whose step.
    pub thread: ThreadId,
    /// Its number.
    pub n: u64,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.thread, self.n)
    }
}

/// An entry of the trace's table of allocations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct AllocationId(pub u32);

/// A place in memory, never a raw address: bytes from `offset` of an allocation on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Location {
    /// In which allocation.
    pub allocation: AllocationId,
    /// How many bytes into it.
    pub offset: u64,
}

/// How a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum LockMode {
    /// A mutex, plain or recursive.
    Mutex,
    /// A rwlock, together with other readers.
    Read,
    /// A rwlock, alone.
    Write,
}

/// Why a wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum WakeReason {
    /// This signal or broadcast.
    Signal(EventId),
    /// The time was over.
    Expired,
    /// No reason at all.
    Spurious,
}

/// One event.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Event {
    /// Which.
    pub id: EventId,
    /// The static instruction that made it.
    pub site: SiteId,
    /// What happened.
    pub kind: EventKind,
}

/// What happened in an event.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum EventKind {
    /// A read of at most eight bytes.
    Read {
        /// From where.
        location: Location,
        /// How many bytes.
        bytes: u8,
        /// What was read, zero-extended.
        value: u64,
        /// Atomic with this order, or plain.
        order: Option<Order>,
    },
    /// A write of at most eight bytes.
    Write {
        /// To where.
        location: Location,
        /// How many bytes.
        bytes: u8,
        /// What was written, zero-extended.
        value: u64,
        /// Atomic with this order, or plain.
        order: Option<Order>,
    },
    /// An atomic read-modify-write.
    Update {
        /// Where.
        location: Location,
        /// How many bytes.
        bytes: u8,
        /// The value before.
        old: u64,
        /// The value after.
        new: u64,
        /// Its order.
        order: Order,
    },
    /// An atomic compare-and-exchange.
    CompareExchange {
        /// Where.
        location: Location,
        /// How many bytes.
        bytes: u8,
        /// The value before.
        old: u64,
        /// What it was compared with.
        expected: u64,
        /// What was to be written.
        new: u64,
        /// Whether it was written.
        success: bool,
        /// The order that took effect.
        order: Order,
    },
    /// A read of any number of bytes: wide values, the reading half of a copy.
    ReadBytes {
        /// From where.
        location: Location,
        /// What was read.
        content: Box<[u8]>,
    },
    /// A write of any number of bytes: wide values, the writing half of a copy, a fill.
    WriteBytes {
        /// To where.
        location: Location,
        /// What was written.
        content: Box<[u8]>,
    },
    /// A fence.
    Fence {
        /// Its order.
        order: Order,
    },
    /// A branch or switch, with the index of the successor that was taken.
    Branch {
        /// Index into the terminator's successors.
        taken: u32,
    },
    /// A thread was started.
    Fork {
        /// Which.
        child: ThreadId,
    },
    /// A thread's end was awaited and has come.
    Join {
        /// Which.
        child: ThreadId,
    },
    /// The thread ended; its last event.
    End,
    /// A lock was acquired.
    Lock {
        /// Which.
        object: Location,
        /// How.
        mode: LockMode,
        /// How often this thread now holds it.
        depth: u32,
    },
    /// A lock was tried.
    TryLock {
        /// Which.
        object: Location,
        /// How.
        mode: LockMode,
        /// How often this thread now holds it if it was acquired; `None` if it was not.
        acquired: Option<u32>,
    },
    /// A lock was released.
    Unlock {
        /// Which.
        object: Location,
        /// How it was held.
        mode: LockMode,
        /// How often this thread still holds it.
        depth: u32,
    },
    /// A wait began: the mutex is released.
    WaitBegin {
        /// On what.
        condition: Location,
        /// With which mutex.
        mutex: Option<Location>,
    },
    /// A wait that nobody signalled is over: the time has passed, or there was no reason at all. Signals no longer reach
    /// the thread, and it needs the mutex again.
    StopWaiting {
        /// On what.
        condition: Location,
        /// Why; not a signal.
        reason: WakeReason,
    },
    /// A wait ended: the mutex is acquired again.
    WaitEnd {
        /// On what.
        condition: Location,
        /// With which mutex.
        mutex: Option<Location>,
        /// Why.
        reason: WakeReason,
    },
    /// One waiter was woken, if one waited.
    Signal {
        /// On what.
        condition: Location,
        /// Whom.
        woken: Option<ThreadId>,
    },
    /// All waiters were woken.
    Broadcast {
        /// On what.
        condition: Location,
        /// How many.
        woken: u32,
    },
    /// A token was taken.
    Acquire {
        /// From which semaphore.
        semaphore: Location,
    },
    /// A token was taken if there was one.
    TryAcquire {
        /// From which semaphore.
        semaphore: Location,
        /// Whether there was one.
        acquired: bool,
    },
    /// A token was put.
    Release {
        /// Into which semaphore.
        semaphore: Location,
    },
    /// The tokens were counted.
    TokenCount {
        /// Of which semaphore.
        semaphore: Location,
        /// How many.
        value: u64,
    },
    /// The thread arrived at a barrier.
    BarrierArrive {
        /// Which.
        barrier: Location,
        /// The barrier's round, counted from 0.
        round: u64,
    },
    /// The thread left a barrier.
    BarrierLeave {
        /// Which.
        barrier: Location,
        /// The round that was complete.
        round: u64,
    },
    /// Memory was allocated.
    Alloc {
        /// Which.
        allocation: AllocationId,
    },
    /// Memory was given back; `None` for the null address.
    Free {
        /// Which.
        allocation: Option<AllocationId>,
    },
    /// An assertion was evaluated.
    Assert {
        /// Whether it held.
        held: bool,
    },
    /// An assumption was evaluated, and held: a thread whose assumption does not hold stops before it.
    Assume,
    /// A block that is meant to be atomic began.
    TransactionBegin,
    /// It ended.
    TransactionEnd,
    /// A block that excludes all other threads began.
    ExclusiveBegin,
    /// It ended.
    ExclusiveEnd,
    /// Code that is not instrumented was called.
    External {
        /// Its result, zero-extended, 0 if none.
        result: u64,
    },
    /// The thread did what ends the process.
    Fault {
        /// What.
        kind: FaultKind,
    },
    /// A function of the system was called that is no synchronisation; its result follows.
    System {
        /// What it did, in words.
        what: Box<str>,
    },
    /// A function was entered that others may call: by its address, or from code that is not instrumented.
    Entry {
        /// The values of its parameters, zero-extended; 0 for those that are wider than eight bytes.
        parameters: Box<[u64]>,
    },
    /// An exception reached this landing pad.
    Landing,
}

/// Whether an access reads, writes, or both at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum AccessKind {
    /// Only reads.
    Read,
    /// Only writes.
    Write,
    /// Reads and writes, with nothing between.
    Update,
}

impl AccessKind {
    /// Whether it reads.
    #[must_use]
    pub fn reads(self) -> bool {
        self != AccessKind::Write
    }

    /// Whether it writes.
    #[must_use]
    pub fn writes(self) -> bool {
        self != AccessKind::Read
    }
}

/// How many numbers an atomic update of a compiled program has: what it found and what it left.
pub const UPDATE_NUMBERS: u64 = 2;

/// How many numbers a compare-and-exchange of a compiled program has: what it found, what it expected, and what it would leave.
pub const COMPARE_EXCHANGE_NUMBERS: u64 = 3;

impl EventKind {
    /// Whether it accesses some of these bytes.
    #[must_use]
    pub fn touches(&self, location: Location, bytes: u64) -> bool {
        self.access().is_some_and(|(_, own, width, _)| {
            own.allocation == location.allocation
                && own.offset < location.offset.saturating_add(bytes)
                && location.offset < own.offset.saturating_add(width)
        })
    }

    /// What a memory access does and where: kind, location, bytes, order. `None` for other events. A failed
    /// compare-and-exchange is a read.
    #[must_use]
    pub fn access(&self) -> Option<(AccessKind, Location, u64, Option<Order>)> {
        Some(match self {
            EventKind::Read { location, bytes, order, .. } => {
                (AccessKind::Read, *location, u64::from(*bytes), *order)
            }
            EventKind::Write { location, bytes, order, .. } => {
                (AccessKind::Write, *location, u64::from(*bytes), *order)
            }
            EventKind::Update { location, bytes, order, .. } => {
                (AccessKind::Update, *location, u64::from(*bytes), Some(*order))
            }
            EventKind::CompareExchange { location, bytes, success, order, .. } => {
                let kind = if *success { AccessKind::Update } else { AccessKind::Read };
                (kind, *location, u64::from(*bytes), Some(*order))
            }
            EventKind::ReadBytes { location, content } => {
                (AccessKind::Read, *location, content.len() as u64, None)
            }
            EventKind::WriteBytes { location, content } => {
                (AccessKind::Write, *location, content.len() as u64, None)
            }
            _ => return None,
        })
    }

    /// How many numbers of its thread an event has, of which the last is its own: what code does at once may be several units of a log.
    #[must_use]
    pub fn numbers(&self, compiled: bool) -> u64 {
        match self {
            EventKind::Update { .. } if compiled => UPDATE_NUMBERS,
            EventKind::CompareExchange { .. } if compiled => COMPARE_EXCHANGE_NUMBERS,
            _ => 1,
        }
    }

    /// Whether another thread could notice an event of this kind. Which events are visible indeed is known only after
    /// the run; memory that one thread alone has touched, for example, makes no visible ones.
    #[must_use]
    pub fn may_be_visible(&self) -> bool {
        !matches!(
            self,
            EventKind::Branch { .. }
                | EventKind::Fence { .. }
                | EventKind::Alloc { .. }
                | EventKind::Assume
                | EventKind::Assert { held: true }
                | EventKind::TransactionBegin
                | EventKind::TransactionEnd
                | EventKind::Entry { .. }
                | EventKind::Landing
        )
    }

    /// Whether a thread that stands before the event may have to wait for others.
    #[must_use]
    pub fn may_wait(&self) -> bool {
        matches!(
            self,
            EventKind::Lock { .. }
                | EventKind::WaitEnd { .. }
                | EventKind::StopWaiting { .. }
                | EventKind::Acquire { .. }
                | EventKind::BarrierLeave { .. }
                | EventKind::Join { .. }
        )
    }

    /// Whether the event belongs to the recording proper: synchronisation, threads, allocation, failures.
    /// The others (accesses, branches, external results) are a log's.
    #[must_use]
    pub fn is_synchronisation(&self) -> bool {
        !matches!(
            self,
            EventKind::Read { .. }
                | EventKind::Write { .. }
                | EventKind::Update { .. }
                | EventKind::CompareExchange { .. }
                | EventKind::ReadBytes { .. }
                | EventKind::WriteBytes { .. }
                | EventKind::Branch { .. }
                | EventKind::Assume
                | EventKind::Assert { held: true }
                | EventKind::External { .. }
                | EventKind::Entry { .. }
                | EventKind::Landing
        )
    }
}
