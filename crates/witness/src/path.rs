//! The recorded path of each thread: the instruction of each event, and how it came out.

use rustc_hash::FxHashMap;
use trace::{Event, EventKind, ThreadId, Trace, WakeReason};

/// The part of an event that decides how its thread goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Nothing: values that were read decide later, in branches.
    Plain,
    /// The successor of a branch.
    Branch(u32),
    /// A try or a compare-and-exchange succeeded.
    Success(bool),
    /// A wait was over without a signal.
    Stopped,
    /// A wait ended, and not because its time was over.
    Signalled(bool),
    /// So many tokens were counted.
    Tokens(u64),
}

impl Outcome {
    /// How a recorded event came out.
    pub fn of(kind: &EventKind) -> Outcome {
        match kind {
            EventKind::Branch { taken } => Outcome::Branch(*taken),
            EventKind::CompareExchange { success, .. } => Outcome::Success(*success),
            EventKind::TryLock { acquired, .. } => Outcome::Success(acquired.is_some()),
            EventKind::TryAcquire { acquired, .. } => Outcome::Success(*acquired),
            EventKind::StopWaiting { .. } => Outcome::Stopped,
            EventKind::WaitEnd { reason, .. } => Outcome::Signalled(*reason != WakeReason::Expired),
            EventKind::TokenCount { value, .. } => Outcome::Tokens(*value),
            _ => Outcome::Plain,
        }
    }
}

/// The recorded events of each thread, in order.
pub struct Paths<'t> {
    threads: FxHashMap<ThreadId, Vec<&'t Event>>,
}

impl<'t> Paths<'t> {
    pub fn of(trace: &'t Trace) -> Paths<'t> {
        let mut threads: FxHashMap<ThreadId, Vec<&Event>> = FxHashMap::default();
        for event in &trace.events {
            threads.entry(event.id.thread).or_default().push(event);
        }
        Paths { threads }
    }

    /// The event of a thread that comes after so many others.
    pub fn event(&self, thread: ThreadId, after: usize) -> Option<&'t Event> {
        self.threads.get(&thread)?.get(after).copied()
    }
}
