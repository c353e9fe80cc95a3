//! Notes: what the runtime adds to the log between the units of instrumented code.
//!
//! A note begins with a unit whose site is 0: the first word is `n << SITE_BITS`, where n counts the events of the running
//! thread up to and with this note; the second word is the number of bytes of the [`Note`], encoded by postcard, which follows,
//! filled up to whole units. The log begins with notes about `main`; a [`Note::Switch`] says whose units and notes follow.
//! In a log that leaves units out, a [`Note::Gap`] stands before the next unit that is kept.
//! A log without [`Note::End`] was cut off; its tail (`page`) has what was not written yet.

use alloc::{boxed::Box, string::String, vec::Vec};
use serde::{Deserialize, Serialize};

/// A thread, by its code in the tree of forks (`schedule::ThreadId::code`).
pub type Thread = u64;

/// An address.
pub type Address = u64;

/// How a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "as in the trace")]
pub enum Mode {
    Mutex,
    Read,
    Write,
}

/// Why a wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Wake {
    /// By the signal that is this event of this thread.
    Signal(Thread, u64),
    /// The time was over.
    Expired,
    /// No reason.
    Spurious,
}

/// What happened at a synchronisation function, as `trace::EventKind` has it, with addresses in place of locations. Each is an event.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "as in the trace")]
pub enum Step {
    Fork {
        child: Thread,
    },
    Join {
        child: Thread,
    },
    End,
    Lock {
        object: Address,
        mode: Mode,
        depth: u32,
    },
    TryLock {
        object: Address,
        mode: Mode,
        acquired: Option<u32>,
    },
    Unlock {
        object: Address,
        mode: Mode,
        depth: u32,
    },
    WaitBegin {
        condition: Address,
        mutex: Option<Address>,
    },
    StopWaiting {
        condition: Address,
        reason: Wake,
    },
    WaitEnd {
        condition: Address,
        mutex: Option<Address>,
        reason: Wake,
    },
    Signal {
        condition: Address,
        woken: Option<Thread>,
    },
    Broadcast {
        condition: Address,
        woken: u32,
    },
    Acquire {
        semaphore: Address,
    },
    TryAcquire {
        semaphore: Address,
        acquired: bool,
    },
    Release {
        semaphore: Address,
    },
    TokenCount {
        semaphore: Address,
        value: u64,
    },
    BarrierArrive {
        barrier: Address,
        round: u64,
    },
    BarrierLeave {
        barrier: Address,
        round: u64,
    },
    Alloc {
        address: Address,
        bytes: u64,
    },
    Free {
        address: Address,
    },
    TransactionBegin,
    TransactionEnd,
    ExclusiveBegin,
    ExclusiveEnd,
    /// A system function that the runtime takes over and that is no synchronisation: what it did, in words. Its result
    /// follows as that of the call.
    System {
        what: String,
    },
    /// An assertion failed: what it says.
    AssertFailed {
        text: String,
    },
    /// A signal that ends the process, and the address that it is about.
    Fault {
        signal: i32,
        address: Address,
    },
}

/// What a blocked thread waits for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "as in the trace")]
pub enum Waits {
    Lock {
        object: Address,
        held_by: Vec<Thread>,
    },
    Condition {
        object: Address,
    },
    Semaphore {
        object: Address,
    },
    Barrier {
        object: Address,
        arrived: u64,
        parties: u64,
    },
    Join {
        thread: Thread,
    },
    Exclusive {
        thread: Thread,
    },
    /// A word of memory that others must wake it at (`futex`, `std::atomic::wait`).
    Word {
        address: Address,
    },
}

/// A choice of the schedule other than that of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "as in the trace")]
pub enum Choice {
    Wake(Thread),
    Expire,
    Spurious,
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum End {
    /// The process exited.
    Exit {
        /// With this status.
        status: i32,
    },
    /// A signal ended it; the note before says where.
    Signal(i32),
    /// Nobody could go on: each thread, the site at which it stands, what it waits for.
    Deadlock(Vec<(Thread, u32, Waits)>),
    /// The limit on the number of events was reached.
    EventLimit,
    /// The runtime met what it does not do, and says what.
    Unsupported(String),
}

/// What the runtime adds to the log.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Note {
    /// A module was loaded.
    Module {
        /// Its [`Header::id`](crate::Header).
        id: u64,
        /// The number of its first site.
        first: u32,
        /// How many sites it has.
        sites: u32,
        /// Addresses of its globals, 0 where there is none.
        globals: Vec<Address>,
        /// Addresses of its functions, 0 where there is none.
        functions: Vec<Address>,
    },
    /// A thread exists from now on. The event is its parent's `Step::Fork`, which follows.
    Thread {
        /// Which.
        thread: Thread,
        /// Who forked it; nobody for `main`.
        parent: Option<Thread>,
        /// The address of the function that it runs.
        start: Address,
        /// Its stack: lowest address and size.
        stack: (Address, u64),
    },
    /// The running thread changes.
    Switch {
        /// Who runs from now on.
        to: Thread,
        /// How many events it has done.
        done: u64,
        /// Who could run.
        enabled: Vec<Thread>,
    },
    /// A synchronisation event of the running thread, at this site (0: unknown).
    Step(u32, Step),
    /// A choice was made.
    Choice(Choice),
    /// Bytes were read or written at this site; an event.
    Bytes {
        /// Which.
        site: u32,
        /// From where on.
        address: Address,
        /// The bytes.
        content: Box<[u8]>,
    },
    /// The same where all bytes are equal. A reader sees [`Note::Bytes`].
    Fill {
        /// Which.
        site: u32,
        /// From where on.
        address: Address,
        /// Each of the bytes.
        byte: u8,
        /// How many, at most [`MOST_FILLED`].
        count: u32,
    },
    /// Units were left out since the last note or unit.
    Gap,
    /// Input came from outside: which function, and a hash of the bytes. Not an event.
    Input {
        /// The function.
        what: String,
        /// The hash (FNV-1a) of what came.
        hash: u64,
    },
    /// The run departed from the schedule that it was to follow, in words of `schedule::Departure`, encoded by postcard.
    Departure(Vec<u8>),
    /// Memory that more than one thread touched: start and end of each piece, sorted.
    Shared(Vec<(Address, Address)>),
    /// The log reached its limit: no units follow.
    Full,
    /// The last note.
    End {
        /// How the run ended.
        end: End,
        /// How many events each thread did.
        done: Vec<(Thread, u64)>,
        /// How often the baton was handed on.
        hand_overs: u64,
    },
}

impl Note {
    /// Whether the note is an event of the running thread, and counted.
    #[must_use]
    pub fn is_event(&self) -> bool {
        matches!(self, Note::Step(..) | Note::Bytes { .. } | Note::Fill { .. })
    }
}

/// The most bytes of a [`Note::Fill`].
pub const MOST_FILLED: u32 = 1 << 20;
