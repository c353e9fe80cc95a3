//! The concurrent trace program itself: tables that the events refer to.

use crate::{
    Event, EventIndex, ExprId, Expressions, Kind, LocationId, PinReason, ReadId, Round, ThreadIndex,
};
use ir::{FunctionId, SiteId, SyncKind, Width};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use trace::{AllocationId, EventId, ThreadId};

/// A concurrent trace program: the events of a trace, ordered only by program order, fork and join (AV Def. 1).
#[derive(Clone, Debug)]
pub struct Ctp {
    /// All expressions.
    pub expressions: Expressions,
    /// The threads, in the order of their creation.
    pub threads: Vec<Thread>,
    /// The events in the recorded total order.
    pub events: Vec<Event>,
    /// The reads of single locations.
    pub reads: Vec<Read>,
    /// The locations that more than one thread may access: no access splits one.
    pub locations: Vec<Location>,
    /// The synchronisation objects.
    pub objects: BTreeMap<trace::Location, Object>,
    /// Heap memory that is given back, and by which events; only such as has locations.
    pub freed: BTreeMap<AllocationId, Vec<EventIndex>>,
    /// Branches whose other way is that an assertion fails, in the order of events.
    pub failing: Vec<Failing>,
    /// The transactions.
    pub transactions: Vec<Transaction>,
    /// How many events the trace has.
    pub original_events: usize,
    /// How well the values of the trace were rebuilt.
    pub rebuild: Rebuild,
    /// It is of a compiled program, where some events have more than one number (see [`trace::EventKind::numbers`]).
    pub compiled: bool,
    /// So many of the first events have happened already, in this order: the past of a slice (see [`Slices`](crate::Slices)).
    pub past: usize,
    /// Ways that threads did not take, if it is an abstraction with phantom edges.
    pub phantoms: Vec<Phantom>,
    /// Events that are skipped if a thread takes a phantom edge: one bit, it does not.
    pub guards: FxHashMap<EventIndex, ExprId>,
    /// Events that have not happened: their threads stand before them at the end of the trace.
    pub standing: Vec<Standing>,
    /// Where threads go round without effect, if that was asked for.
    pub rounds: Vec<Round>,
    /// Decisions of compiled code that come out as recorded in all schedules, if that was asked for; those of a thread in program order.
    pub settled: Vec<Settled>,
    pub(crate) by_id: FxHashMap<EventId, EventIndex>,
}

impl Ctp {
    /// The event of the trace with this identity, if it was kept.
    #[must_use]
    pub fn find(&self, id: EventId) -> Option<EventIndex> {
        self.by_id.get(&id).copied()
    }

    /// What a thread has done that stands right before an event.
    #[must_use]
    pub fn before(&self, id: EventId) -> EventId {
        let numbers = match self.find(id).map(|at| &self.event(at).kind) {
            Some(Kind::Update(_)) if self.compiled => trace::UPDATE_NUMBERS,
            Some(Kind::CompareExchange { .. }) if self.compiled => trace::COMPARE_EXCHANGE_NUMBERS,
            _ => 1,
        };
        EventId { n: id.n.saturating_sub(numbers), ..id }
    }

    /// The event of the trace with this identity and the silent ones before it, as far as they were kept.
    pub fn events_at(&self, id: EventId) -> impl Iterator<Item = EventIndex> {
        let thread = self.threads.iter().find(|thread| thread.id == id.thread);
        let events: &[EventIndex] = thread.map_or(&[], |thread| &thread.events);
        let first = events.partition_point(|&event| self.event(event).id.n < id.n);
        events[first..].iter().copied().take_while(move |&event| self.event(event).id.n == id.n)
    }

    /// The assertions of a compiled program that would fail in place of this event, or right behind it if it is a branch itself.
    pub fn failing_at(&self, id: EventId) -> impl Iterator<Item = Failing> {
        self.failing.iter().copied().filter(move |failing| self.event(failing.branch).id == id)
    }

    /// An event.
    #[must_use]
    pub fn event(&self, event: EventIndex) -> &Event {
        &self.events[event.index()]
    }

    /// A read.
    #[must_use]
    pub fn read(&self, read: ReadId) -> &Read {
        &self.reads[read.index()]
    }

    /// A location.
    #[must_use]
    pub fn location(&self, location: LocationId) -> &Location {
        &self.locations[location.index()]
    }

    /// A thread.
    #[must_use]
    pub fn thread(&self, thread: ThreadIndex) -> &Thread {
        &self.threads[thread.index()]
    }
}

/// A thread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Thread {
    /// Its identity.
    pub id: ThreadId,
    /// What people call it.
    pub name: String,
    /// The function that it runs, if it has begun one.
    pub function: Option<FunctionId>,
    /// The event that forked it; `None` if it existed from the start.
    pub forked_by: Option<EventId>,
    /// Its events, in program order.
    pub events: Vec<EventIndex>,
    /// How many events the trace has of it: the number of its last one.
    pub last: u64,
}

/// A read of one location.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Read {
    /// By which event.
    pub event: EventIndex,
    /// Of which location.
    pub location: LocationId,
    /// As wide as the location.
    pub width: Width,
    /// One bit: it happens if its event does; `None` if that is certain. A read that does not happen has the value 0.
    pub when: Option<ExprId>,
    /// The value that it had in the recorded run, 0 if it did not happen.
    pub recorded: u128,
    /// The event that had written that value; `None` if it was the initial one, or if the read did not happen.
    pub source: Option<EventIndex>,
    /// The local variable that the value went into, if it has a name.
    pub local: Option<Box<str>>,
}

/// A piece of memory that more than one thread may access and that no access splits; at most 8 bytes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Location {
    /// Where.
    pub place: trace::Location,
    /// Its address in the recorded run.
    pub address: u64,
    /// How many bytes.
    pub bytes: u32,
    /// What it holds at the start, a constant; `None` if that is not known: a read of it needs a write before it.
    pub initial: Option<ExprId>,
}

impl Location {
    /// Its width.
    #[must_use]
    pub fn width(&self) -> Width {
        crate::expression::bytes_width(self.bytes)
    }
}

/// A synchronisation object.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Object {
    /// Which kind, if the program or its use say so.
    pub kind: Option<SyncKind>,
    /// Tokens of a semaphore or parties of a barrier at the start, 0 for other kinds.
    pub count: u64,
    /// Whether `count` is what the program says; otherwise it is the least that the recorded run needs.
    pub count_is_known: bool,
}

/// A branch whose other way is that an assertion fails: how compiled programs have their assertions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Failing {
    /// The branch.
    pub branch: EventIndex,
    /// The call with which it fails.
    pub site: SiteId,
}

/// A decision that no schedule of these events changes. It may be no such thing in another concurrent trace program, where a thread does what it does not do here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settled {
    /// Whose.
    pub thread: ThreadIndex,
    /// So many events of the thread here come before it.
    pub behind: usize,
    /// The number of the thread's event that it is, or stands before.
    pub before: u64,
    /// Where.
    pub site: SiteId,
    /// The successor, whether a compare-and-exchange succeeds, or the address that control goes to.
    pub outcome: u64,
}

/// A phantom edge (PRUNE §5.1): the thread may go another way at a branch, and goes on behind the merge point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Phantom {
    /// The branch, which is no event of the abstraction: its event of the trace, or if it has none the one that it stands before.
    pub branch: EventId,
    /// Its instruction.
    pub site: SiteId,
    /// Whose.
    pub thread: ThreadIndex,
    /// The last event of the thread before the branch.
    pub after: Option<EventIndex>,
    /// One bit: it is taken, if the thread comes there.
    pub taken: ExprId,
    /// What may be accessed on it.
    pub accesses: Vec<ir::analysis::Access>,
    /// The thread came to the merge point; what may be written on it is written there.
    pub merged: bool,
}

/// An event that its thread stands before at the end of the trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Standing {
    /// Which.
    pub id: EventId,
    /// If it is a fault: where one of these bits is 1, and the memory that it names has not been given back, there is none.
    pub otherwise: Vec<(ExprId, Option<AllocationId>)>,
}

impl Standing {
    pub(crate) fn conditions(&mut self) -> impl Iterator<Item = &mut ExprId> {
        self.otherwise.iter_mut().map(|(condition, _)| condition)
    }
}

/// A block that is meant to be atomic.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Transaction {
    /// Whose.
    pub thread: ThreadIndex,
    /// The number of the first event of the thread that is inside.
    pub from: u64,
    /// The number of the last event of the thread that is inside.
    pub to: u64,
    /// Where it comes from.
    pub origin: TransactionOrigin,
}

/// Why a block counts as a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum TransactionOrigin {
    /// The source says so.
    Marked,
    /// From the first to the last critical section of this lock in one activation of a function.
    Lock(trace::Location),
    /// An activation of this function.
    Function(FunctionId),
    /// From a read of this location to a write of what was computed from it.
    Update(LocationId),
}

impl TransactionOrigin {
    /// Whether it was inferred.
    #[must_use]
    pub fn is_inferred(self) -> bool {
        self != TransactionOrigin::Marked
    }
}

/// How well the values of the trace were rebuilt from the program.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Rebuild {
    /// Values and addresses of accesses that the trace has.
    pub accesses: u64,
    /// Those whose expression gives the recorded value.
    pub rebuilt: u64,
    /// Those that the program does not determine and that are taken as recorded.
    pub taken: u64,
    /// Those whose expression gives another value: faults of ours.
    pub mismatches: u64,
    /// The first such event.
    pub first_mismatch: Option<EventId>,
    /// Pins by reason.
    pub pins: BTreeMap<PinReason, u64>,
    /// How often the trace was walked until the shared locations were closed under what symbolic addresses may hit.
    pub rounds: u32,
}
