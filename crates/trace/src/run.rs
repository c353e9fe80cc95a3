//! A trace: what ran, its threads, events, schedule and outcome.

use crate::{AllocationId, Choice, Event, EventId, Location, ThreadId};
use ir::{GlobalId, ShapeId, SiteId};
use schedule::{Schedule, Segment};
use serde::{Deserialize, Serialize};

/// What ran, and how: enough to refuse a trace that belongs to another program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Origin {
    /// The subject's name: the path of the model program or of the binary.
    pub subject: String,
    /// [`ir::Program::fingerprint`] of its IR.
    pub fingerprint: u64,
    /// The strategy, in the words of the command line.
    pub strategy: String,
    /// What was logged.
    pub logging: Logging,
}

/// Which events a trace keeps. All are counted, whatever is kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Logging {
    /// All of them.
    Everything,
    /// Synchronisation, threads, allocation and failures only.
    Synchronisation,
    /// Those, and all accesses of these globals.
    Globals(Vec<GlobalId>),
    /// Those, and all accesses of memory that more than one thread touches.
    Shared,
    /// Synchronisation, and everything from the `from`-th to before the `to`-th event of the whole run, counted from 0.
    Window {
        /// First.
        from: u64,
        /// End.
        to: u64,
    },
    /// All of them, but not what they read and wrote: a value is only the number of the write that it comes from, among those of its
    /// location, and 0 is what was there before them. So it is with traces of other tools.
    WithoutValues,
}

impl Logging {
    /// Whether no event is missing.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        matches!(self, Logging::Everything | Logging::WithoutValues)
    }
}

/// A thread of the run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ThreadInfo {
    /// Its identity.
    pub id: ThreadId,
    /// What people call it: the name in the source, or function and number.
    pub name: String,
    /// The event that forked it; `None` if it existed from the start.
    pub forked_by: Option<EventId>,
}

/// A piece of memory of the run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Allocation {
    /// Its number, the index into [`Trace::allocations`].
    pub id: AllocationId,
    /// Where it comes from.
    pub origin: AllocationOrigin,
    /// What its elements look like, if that is known.
    pub shape: Option<ShapeId>,
    /// Its size.
    pub bytes: u64,
    /// Where it began in this run: values that point into it are numbers from here on.
    pub address: u64,
}

/// Where a piece of memory comes from; the same in every schedule in which the owner's path is the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum AllocationOrigin {
    /// A global variable.
    Global(GlobalId),
    /// The heap.
    Heap {
        /// The event that allocated it.
        by: EventId,
        /// The instruction that did.
        site: SiteId,
    },
    /// The stack of a thread.
    Stack {
        /// Whose.
        thread: ThreadId,
        /// How many allocations it had made before.
        earlier: u64,
        /// The instruction that made it.
        site: SiteId,
    },
    /// A thread's own copy of a global variable.
    ThreadLocal {
        /// Whose.
        thread: ThreadId,
        /// Which variable.
        global: GlobalId,
    },
    /// What lies on the stack of a thread and has no name.
    StackOf(ThreadId),
    /// Memory that nobody is known to have allocated: a page, by its address.
    Page(u64),
}

/// A point where the running thread changes (or starts): from here `thread` runs until its `until`-th event is
/// done.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Switch {
    /// Who runs.
    pub thread: ThreadId,
    /// Up to and with which of its events.
    pub until: u64,
    /// The instruction of that event, if it was logged.
    pub site: Option<SiteId>,
    /// Who could have run.
    pub enabled: Vec<ThreadId>,
}

/// What ends a process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum FaultKind {
    /// An access through the null address, or close to it.
    NullAccess,
    /// An access outside every allocation, or across the end of one.
    OutOfBounds,
    /// An access to memory that was given back.
    UseAfterFree,
    /// Memory given back twice.
    DoubleFree,
    /// `free` of something that is not the start of heap memory.
    InvalidFree,
    /// A write to a constant.
    WriteToConstant,
    /// Division or remainder by zero.
    DivisionByZero,
    /// Unlock of a lock that nobody holds.
    UnlockOfUnlocked,
    /// Unlock of a lock that another thread holds.
    UnlockByNonOwner,
    /// A wait on a condition variable without holding the mutex.
    WaitWithoutMutex,
    /// A synchronisation operation on memory that holds no such object, or an access to the memory of one.
    WrongObject,
    /// A join of something that is no thread.
    NotAThread,
    /// A call through an address that is no function, or of the wrong kind.
    NotAFunction,
    /// An allocation of a size that cannot be: negative, or larger than any.
    AllocationTooLarge,
    /// More threads, calls, allocations or computation between two events than the machine goes along with. Says nothing
    /// about the program.
    MachineLimit,
    /// Control reached a place that the program promised never to reach.
    Unreachable,
    /// The processor refused an access (`SIGSEGV`).
    SegmentationFault,
    /// The processor refused an access to memory that is there (`SIGBUS`).
    BusError,
    /// The processor refused to compute (`SIGFPE`).
    ArithmeticError,
    /// The processor met what is no instruction (`SIGILL`).
    IllegalInstruction,
    /// A trap for a debugger (`SIGTRAP`).
    Trap,
    /// The program called `abort` (`SIGABRT`).
    Abort,
    /// Another signal ended the process.
    OtherSignal,
}

impl FaultKind {
    /// What happened, in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            FaultKind::NullAccess => "access through the null address",
            FaultKind::OutOfBounds => "access out of bounds",
            FaultKind::UseAfterFree => "use after free",
            FaultKind::DoubleFree => "double free",
            FaultKind::InvalidFree => "free of something that is not the start of heap memory",
            FaultKind::WriteToConstant => "write to a constant",
            FaultKind::DivisionByZero => "division by zero",
            FaultKind::UnlockOfUnlocked => "unlock of a lock that is not held",
            FaultKind::UnlockByNonOwner => "unlock of a lock that another thread holds",
            FaultKind::WaitWithoutMutex => "wait without holding the mutex",
            FaultKind::WrongObject => "operation on memory that holds no such object",
            FaultKind::NotAThread => "join of something that is no thread",
            FaultKind::NotAFunction => "call of something that is no such function",
            FaultKind::AllocationTooLarge => "allocation too large",
            FaultKind::MachineLimit => "the machine's limit on threads, calls, allocations or computation",
            FaultKind::Unreachable => "control reached an unreachable place",
            FaultKind::SegmentationFault => "segmentation fault (SIGSEGV)",
            FaultKind::BusError => "bus error (SIGBUS)",
            FaultKind::ArithmeticError => "arithmetic error (SIGFPE)",
            FaultKind::IllegalInstruction => "illegal instruction (SIGILL)",
            FaultKind::Trap => "trap (SIGTRAP)",
            FaultKind::Abort => "abort (SIGABRT)",
            FaultKind::OtherSignal => "ended by a signal",
        }
    }
}

/// What a blocked thread waits for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum WaitsFor {
    /// A lock, held by these threads.
    Lock {
        /// Which.
        object: Location,
        /// Who holds it.
        held_by: Vec<ThreadId>,
    },
    /// A signal.
    Condition {
        /// Of which condition variable.
        object: Location,
    },
    /// A token.
    Semaphore {
        /// Of which semaphore.
        object: Location,
    },
    /// More threads at a barrier.
    Barrier {
        /// Which.
        object: Location,
        /// How many have come in this round.
        arrived: u64,
        /// How many must.
        parties: u64,
    },
    /// The end of a thread.
    Join {
        /// Which.
        thread: ThreadId,
    },
    /// The end of another thread's exclusive block.
    Exclusive {
        /// Whose.
        thread: ThreadId,
    },
    /// Somebody who wakes it at a word of memory (a futex).
    Word {
        /// Which word.
        object: Location,
    },
    /// Another value in memory: it goes round a loop until somebody writes one.
    Change {
        /// Where.
        object: Location,
    },
}

/// A thread that cannot go on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct BlockedThread {
    /// Which.
    pub thread: ThreadId,
    /// At which instruction.
    pub site: SiteId,
    /// What it waits for.
    pub waits_for: WaitsFor,
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Outcome {
    /// All threads ended.
    Completed {
        /// The final value of each shared variable and observed local, by name.
        state: Vec<(String, String)>,
        /// Whether the final condition's formula held, if there is one.
        condition: Option<bool>,
    },
    /// An assertion did not hold.
    AssertionFailed {
        /// Which.
        event: EventId,
        /// Where.
        site: SiteId,
    },
    /// The program did what ends a process.
    Fault {
        /// Which event.
        event: EventId,
        /// Where.
        site: SiteId,
        /// What.
        kind: FaultKind,
    },
    /// Nobody could go on.
    Deadlock {
        /// Who waits for what.
        blocked: Vec<BlockedThread>,
    },
    /// An assumption did not hold: the run is not one of those that are asked about.
    Discarded {
        /// Which thread stopped.
        thread: ThreadId,
        /// At which assumption.
        site: SiteId,
    },
    /// A loop went round more often than its bound.
    BoundExceeded {
        /// Which thread stopped.
        thread: ThreadId,
        /// At which loop.
        site: SiteId,
    },
    /// The limit on the number of events was reached.
    LimitReached {
        /// The limit.
        events: u64,
    },
    /// The file ends before the run does.
    Truncated,
    /// The process exited.
    Exited {
        /// With this status.
        status: i32,
    },
}

/// One recorded run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Trace {
    /// What ran, and how.
    pub origin: Origin,
    /// Its threads, in the order of their creation.
    pub threads: Vec<ThreadInfo>,
    /// Its memory.
    pub allocations: Vec<Allocation>,
    /// The events that were kept, in their total order.
    pub events: Vec<Event>,
    /// The schedule: all switches.
    pub switches: Vec<Switch>,
    /// The schedule: the other choices, in order.
    pub choices: Vec<Choice>,
    /// How it ended.
    pub outcome: Outcome,
}

impl Trace {
    /// The schedule that the run followed.
    #[must_use]
    pub fn schedule(&self) -> Schedule {
        Schedule {
            fingerprint: Some(self.origin.fingerprint),
            spurious: self.choices.contains(&Choice::Spurious),
            segments: (self.switches.iter())
                .map(|switch| Segment { thread: switch.thread, until: switch.until, site: switch.site })
                .collect(),
            choices: self.choices.clone(),
        }
    }

    /// What people call a thread.
    #[must_use]
    pub fn thread_name(&self, thread: ThreadId) -> String {
        let info = self.threads.iter().find(|info| info.id == thread);
        info.map_or_else(|| thread.to_string(), |info| info.name.clone())
    }

    /// Leaves the places of their forks out of the names of threads where they can be told apart without:
    /// `worker (bank.c:88) #2` becomes `worker #2`.
    pub fn shorten_thread_names(&mut self) {
        let short = |name: &str| match (name.find(" ("), name.rfind(") ")) {
            (Some(open), Some(close)) if open < close => format!("{}{}", &name[..open], &name[close + 1..]),
            _ => name.to_owned(),
        };
        let shortened: Vec<String> = self.threads.iter().map(|info| short(&info.name)).collect();
        let mut distinct = shortened.clone();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() == shortened.len() {
            for (info, name) in self.threads.iter_mut().zip(shortened) {
                info.name = name;
            }
        }
    }
}
