//! The events of an unfolded program: MM's operations, each with its path predicate.
//!
//! Synchronisation objects are words of memory here, and operations on them are atomic updates of these words: a lock
//! reads "free" and writes its owner, a semaphore counts, a condition variable has one bit for each thread that waits. So
//! one story, who reads what from whom, tells it all, and a memory model needs to say only what such updates order.

use crate::rule::Rule;
use crate::unfold::value::Sources;
use ir::{CheckKind, Order, Position, SiteId, id};
use serde::{Deserialize, Serialize};
use solver::{Bool, Bv};

id!(
    /// An event, by its place in [`crate::Unfolding::events`].
    EventId
);
id!(
    /// A thread, by its place in [`crate::Unfolding::threads`].
    ThreadIndex
);
id!(
    /// A cell of memory that no access splits, or a word of a synchronisation object.
    CellId
);
id!(
    /// A block that is meant to be atomic, once for each time that it is entered.
    BlockId
);

/// What an event does.
#[derive(Clone, Debug)]
pub enum Action {
    /// The thread begins.
    Begin,
    /// The thread ends.
    End,
    /// A read of shared memory.
    Read,
    /// A write.
    Write,
    /// An atomic read-modify-write; one that fails writes nothing.
    Update,
    /// A fence.
    Fence,
    /// A branch on this condition.
    Branch(Bool),
    /// The begin of an atomic block.
    Enter(BlockId),
    /// Its end.
    Exit(BlockId),
    /// A thread is started.
    Fork(ThreadIndex),
    /// A thread is waited for: which one, and when it is that one.
    Join(Vec<(ThreadIndex, Bool)>),
    /// An operation on a synchronisation object, by its word.
    Sync(&'static str),
    /// Heap memory is given back.
    Free,
    /// A condition that must hold here.
    Check(Check),
}

/// A condition that must hold at some point of a thread.
#[derive(Clone, Debug)]
pub struct Check {
    /// What it is if it does not; `None` is a fault.
    pub kind: Option<CheckKind>,
    /// The condition.
    pub holds: Bool,
    /// What goes wrong, in words.
    pub what: &'static str,
}

/// One cell that an event accesses, if it does.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Which.
    pub cell: CellId,
    /// Whether it does: the event happens, and its address is this cell.
    pub when: Bool,
    /// The value that it reads: a variable of its own.
    pub read: Option<Bv>,
    /// What it writes, and whether.
    pub write: Option<(Bv, Bool)>,
}

/// What synchronisation passes on from one thread to another: the vector clocks of happens-before as relations.
#[derive(Clone, Debug)]
pub enum Carrier {
    /// From releases of a lock, a semaphore, or a write section to later acquires.
    Object(CellId),
    /// From ends of read sections to later write sections.
    Readers(CellId),
    /// From arrivals at a barrier to those who leave the same round.
    Round(CellId, Bv),
    /// From a signal or broadcast to the ends of the waits that it ends: one bit for each thread.
    Signal(CellId, Bv),
}

/// One event.
#[derive(Clone, Debug)]
pub struct Event {
    /// Whose.
    pub thread: ThreadIndex,
    /// What it does.
    pub action: Action,
    /// Whether it happens: its path predicate, and the thread has come so far.
    pub happens: Bool,
    /// What it accesses.
    pub accesses: Vec<Access>,
    /// What must hold if it happens.
    pub requires: Vec<(Rule, Bool)>,
    /// What it passes on, and when.
    pub leaves: Vec<(Carrier, Bool)>,
    /// What it takes up, and when.
    pub takes: Vec<(Carrier, Bool)>,
    /// Its memory order, if it is atomic.
    pub order: Option<Order>,
    /// The memory order of a compare-and-exchange that fails.
    pub failure_order: Option<Order>,
    /// Its instruction.
    pub site: Option<SiteId>,
    /// Where that stands.
    pub position: Option<Position>,
    /// Its label in the source.
    pub label: Option<Box<str>>,
    /// The atomic block that it belongs to.
    pub block: Option<BlockId>,
    /// The reads that decide whether it happens.
    pub control: Sources,
    /// The reads that its address depends on.
    pub address: Sources,
    /// The reads that what it writes depends on.
    pub data: Sources,
}

impl Event {
    /// Whether it works on synchronisation objects.
    #[must_use]
    pub fn is_sync(&self) -> bool {
        matches!(
            self.action,
            Action::Sync(_) | Action::Fork(_) | Action::Join(_) | Action::Begin | Action::End
        )
    }

    /// Whether it accesses memory of the program.
    #[must_use]
    pub fn is_access(&self) -> bool {
        matches!(self.action, Action::Read | Action::Write | Action::Update | Action::Free)
    }
}
