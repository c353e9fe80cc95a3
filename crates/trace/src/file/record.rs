//! Records: what a trace is a stream of, and how they are encoded.

use crate::{Allocation, Choice, Event, EventId, EventKind, Outcome, Switch, ThreadId, ThreadInfo};
use ir::SiteId;
use serde::{Deserialize, Serialize};

/// One piece of a trace. Threads and allocations come before everything that names them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Record {
    /// A thread.
    Thread(ThreadInfo),
    /// A piece of memory.
    Allocation(Allocation),
    /// An event.
    Event(Event),
    /// A switch.
    Switch(Switch),
    /// Another choice of the schedule.
    Choice(Choice),
    /// How the run ended.
    Outcome(Outcome),
}

/// A record that is not copied.
#[derive(Clone, Copy)]
pub(crate) enum RecordRef<'r> {
    Thread(&'r ThreadInfo),
    Allocation(&'r Allocation),
    Event(&'r Event),
    Switch(&'r Switch),
    Choice(&'r Choice),
    Outcome(&'r Outcome),
}

impl<'r> From<&'r Record> for RecordRef<'r> {
    fn from(record: &'r Record) -> RecordRef<'r> {
        match record {
            Record::Thread(thread) => RecordRef::Thread(thread),
            Record::Allocation(allocation) => RecordRef::Allocation(allocation),
            Record::Event(event) => RecordRef::Event(event),
            Record::Switch(switch) => RecordRef::Switch(switch),
            Record::Choice(choice) => RecordRef::Choice(choice),
            Record::Outcome(outcome) => RecordRef::Outcome(outcome),
        }
    }
}

/// A record as it stands in the file. The number of an event is given as its distance from the thread's
/// event before it, nearly always 1: that halves the file (`cargo bench -p threadbare-trace`).
#[derive(Serialize)]
pub(super) enum Encoded<'r> {
    Thread(&'r ThreadInfo),
    Allocation(&'r Allocation),
    Event { thread: ThreadId, step: u64, site: SiteId, kind: &'r EventKind },
    Switch(&'r Switch),
    Choice(&'r Choice),
    Outcome(&'r Outcome),
}

impl<'r> Encoded<'r> {
    /// `last` is the number of the thread's event before, if this is an event.
    pub(super) fn new(record: RecordRef<'r>, last: u64) -> Encoded<'r> {
        match record {
            RecordRef::Thread(thread) => Encoded::Thread(thread),
            RecordRef::Allocation(allocation) => Encoded::Allocation(allocation),
            RecordRef::Event(Event { id, site, kind }) => {
                Encoded::Event { thread: id.thread, step: id.n.wrapping_sub(last), site: *site, kind }
            }
            RecordRef::Switch(switch) => Encoded::Switch(switch),
            RecordRef::Choice(choice) => Encoded::Choice(choice),
            RecordRef::Outcome(outcome) => Encoded::Outcome(outcome),
        }
    }
}

/// [`Encoded`], on the way back.
#[derive(Deserialize)]
pub(super) enum Decoded {
    Thread(ThreadInfo),
    Allocation(Allocation),
    Event { thread: ThreadId, step: u64, site: SiteId, kind: EventKind },
    Switch(Switch),
    Choice(Choice),
    Outcome(Outcome),
}

impl Decoded {
    /// The record; `last` gives the number of a thread's event before.
    pub(super) fn record(self, last: impl FnOnce(ThreadId) -> u64) -> Record {
        match self {
            Decoded::Thread(thread) => Record::Thread(thread),
            Decoded::Allocation(allocation) => Record::Allocation(allocation),
            Decoded::Event { thread, step, site, kind } => {
                // A sum that wraps gives a number that is not above `last`, which is then refused.
                let n = last(thread).wrapping_add(step);
                Record::Event(Event { id: EventId { thread, n }, site, kind })
            }
            Decoded::Switch(switch) => Record::Switch(switch),
            Decoded::Choice(choice) => Record::Choice(choice),
            Decoded::Outcome(outcome) => Record::Outcome(outcome),
        }
    }
}
