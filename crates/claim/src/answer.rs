//! Answers of engines (docs/design/engines.md, "Answers"): feasible with a witness, infeasible because, or
//! unknown because. Never silently.

use schedule::{Schedule, Segment};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;
use trace::{Choice, EventId, EventKind, Location, ThreadId, Trace};

/// A prefix of a run in a new order (docs/design/feasibility.md, "Prefixes").
///
/// Each entry of `order` stands for itself and, right before it, for all events of its thread up to it that have not run yet:
/// so an engine lists only the events that it knows of, or only the last of each stretch.
///
/// Of a long trace much is often kept as recorded. Then `recorded` says up to where, and `order` and `choices` are only what
/// follows; [`Witness::whole`] writes it out.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Witness {
    /// All events of the trace up to and with this one come first, as recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<EventId>,
    /// The events, in their total order; those of one thread go up.
    pub order: Vec<EventId>,
    /// What settles the events that leave something open (which of several waiters a signal wakes, how an unsignalled wait
    /// ends), in the order in which they come.
    pub choices: Vec<Choice>,
}

impl Witness {
    /// The same with what is kept as recorded written out.
    #[must_use]
    pub fn whole(&self, trace: &Trace) -> Witness {
        let Some(until) = self.recorded else { return self.clone() };
        let kept = trace.events.iter().position(|event| event.id == until).map_or(0, |at| at + 1);
        let kept = &trace.events[..kept];
        let mut done: BTreeMap<ThreadId, u64> = BTreeMap::new();
        let (mut waiting, mut chosen): (BTreeMap<Location, u32>, usize) = (BTreeMap::new(), 0);
        for event in kept {
            done.insert(event.id.thread, event.id.n);
            // What left a choice open: a signal with several waiters, and a wait that nobody signalled.
            match event.kind {
                EventKind::WaitBegin { condition, .. } => *waiting.entry(condition).or_default() += 1,
                EventKind::Signal { condition, woken: Some(_) } => {
                    let waiting = waiting.entry(condition).or_default();
                    chosen += usize::from(*waiting > 1);
                    *waiting = waiting.saturating_sub(1);
                }
                EventKind::Broadcast { condition, .. } => _ = waiting.remove(&condition),
                EventKind::StopWaiting { condition, .. } => {
                    chosen += 1;
                    let waiting = waiting.entry(condition).or_default();
                    *waiting = waiting.saturating_sub(1);
                }
                _ => {}
            }
        }
        let order = kept.iter().map(|event| event.id).collect();
        let recorded = Witness { recorded: None, order, choices: vec![] };
        let new = self.order.iter().filter(|event| done.get(&event.thread).is_none_or(|&n| n < event.n));
        Witness {
            recorded: None,
            order: recorded.stretches().chain(new.copied()).collect(),
            choices: trace.choices[..chosen.min(trace.choices.len())]
                .iter()
                .chain(&self.choices)
                .copied()
                .collect(),
        }
    }

    /// Lets the thread of this event go on up to it, behind what it does here: by events that nobody else notices.
    pub fn go_on_until(&mut self, event: EventId) {
        match self.order.iter().rposition(|id| id.thread == event.thread) {
            Some(at) if self.order[at].n < event.n => self.order.insert(at + 1, event),
            None if event.n > 0 => self.order.push(event),
            _ => {}
        }
    }

    /// The stretches that one thread runs: each up to and with this event.
    pub fn stretches(&self) -> impl Iterator<Item = EventId> {
        let next = self.order.iter().skip(1).map(|event| Some(event.thread)).chain([None]);
        self.order
            .iter()
            .zip(next)
            .filter(|&(event, next)| Some(event.thread) != next)
            .map(|(event, _)| *event)
    }

    /// The schedule that it is.
    #[must_use]
    pub fn schedule(&self) -> Schedule {
        Schedule {
            segments: self
                .stretches()
                .map(|event| Segment { thread: event.thread, until: event.n, site: None })
                .collect(),
            spurious: self.choices.contains(&Choice::Spurious),
            choices: self.choices.clone(),
            ..Schedule::default()
        }
    }

    /// How often another thread goes on.
    #[must_use]
    pub fn switches(&self) -> usize {
        self.stretches().count().saturating_sub(1)
    }
}

/// What an engine says of a candidate.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Answer {
    /// Some schedule shows it: this one.
    Feasible(Witness),
    /// No schedule of the recorded thread paths shows it, for these reasons together.
    Infeasible(Vec<Because>),
    /// It could not be decided.
    Unknown(Unknown),
}

/// One part of the reason why a candidate is infeasible: the core of the proof, in terms of the trace.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Because {
    /// The order of the thread's own steps between two events.
    ProgramOrder {
        /// The earlier one.
        first: EventId,
        /// The later one.
        second: EventId,
    },
    /// A thread's events follow its fork.
    Fork(EventId),
    /// A join follows the thread's end.
    Join(EventId),
    /// A lock: the section that begins here excludes others.
    Lock(EventId),
    /// A wait needs a signal.
    Wait(EventId),
    /// A semaphore needs a token.
    Semaphore(EventId),
    /// A barrier needs all its parties.
    Barrier(EventId),
    /// A block that excludes all other threads.
    Exclusive(EventId),
    /// A branch, an assumption or the outcome of a compare-exchange must be as recorded.
    Branch(EventId),
    /// The value that an event reads.
    Value(EventId),
    /// In all schedules the two events make no difference to each other: guarded independence (AV §3).
    Independent {
        /// One.
        first: EventId,
        /// The other.
        second: EventId,
    },
    /// What was discarded by a filter, in its words.
    Filter(String),
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Unknown {
    /// The time was over.
    Time(Duration),
    /// So many conflicts were reached.
    Conflicts(u64),
    /// So much memory, in bytes, was used.
    Memory(u64),
    /// So many states were looked at.
    States(u64),
    /// No run shows it in which each read sees what it saw; one in which some read sees something else may.
    OtherValues,
    /// No run shows it in which locks are taken in the recorded order and each read sees the write that it saw.
    NotPreserved,
    /// Another planner was asked, and failed; how, in words.
    Planner(String),
    /// It is about values, or about all threads, and the engine decides only about orders of events.
    NotAsked,
    /// It was interrupted.
    Interrupted,
    /// It would be infeasible, but only because values were taken as recorded at these events.
    Pinned(Vec<EventId>),
    /// It is infeasible in a window of the trace that is not all of it: so many events.
    Window(u64),
    /// A run was claimed without regard to data, and the subject did not follow it.
    NotFollowed,
    /// The trace does not have what the question needs.
    NotInTrace(String),
    /// A witness was found, and the independent checker refused it, for this reason: a fault of ours.
    Refused(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::ThreadId;

    #[test]
    fn stretches_end_where_the_thread_changes() {
        let [a, b] = [0, 1].map(|n| ThreadId::MAIN.child(n).unwrap());
        let event = |thread, n| EventId { thread, n };
        let order = vec![event(a, 1), event(a, 4), event(b, 2), event(a, 5), event(a, 6)];
        let witness = Witness { order, ..Witness::default() };
        assert_eq!(witness.stretches().collect::<Vec<_>>(), [event(a, 4), event(b, 2), event(a, 6)]);
        assert_eq!((witness.switches(), Witness::default().switches()), (2, 0));
    }
}
