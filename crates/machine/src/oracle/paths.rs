//! Keeping to the thread paths of a recorded trace.

use ir::SiteId;
use rustc_hash::FxHashMap;
use trace::{Event, EventId, EventKind, ThreadId, Trace, WakeReason};

/// For each thread the path that it took in a trace: the instruction of each event, and how it came out.
#[derive(Debug)]
pub struct Paths {
    threads: FxHashMap<ThreadId, Vec<(SiteId, Decision)>>,
    /// What each event read, if that has to be the same.
    values: Option<FxHashMap<EventId, Seen>>,
}

/// What an event read.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Seen {
    Nothing,
    Value(u64),
    Bytes(Box<[u8]>),
}

impl Seen {
    fn of(kind: &EventKind) -> Seen {
        match kind {
            EventKind::Read { value, .. } => Seen::Value(*value),
            EventKind::Update { old, .. } | EventKind::CompareExchange { old, .. } => Seen::Value(*old),
            EventKind::ReadBytes { content, .. } => Seen::Bytes(content.clone()),
            _ => Seen::Nothing,
        }
    }
}

/// The part of an event that decides how its thread goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Decision {
    /// Nothing was decided; values that were read decide later, in branches.
    None,
    Branch(u32),
    Success(bool),
    Stopped,
    Signalled(bool),
    Tokens(u64),
}

impl Decision {
    fn of(kind: &EventKind) -> Decision {
        match kind {
            EventKind::Branch { taken } => Decision::Branch(*taken),
            EventKind::CompareExchange { success, .. } => Decision::Success(*success),
            EventKind::TryLock { acquired, .. } => Decision::Success(acquired.is_some()),
            EventKind::TryAcquire { acquired, .. } => Decision::Success(*acquired),
            EventKind::StopWaiting { .. } => Decision::Stopped,
            EventKind::WaitEnd { reason, .. } => Decision::Signalled(!matches!(reason, WakeReason::Expired)),
            EventKind::TokenCount { value, .. } => Decision::Tokens(*value),
            _ => Decision::None,
        }
    }
}

impl Paths {
    /// The paths of a trace that has all its events; with what was read on them, if that has to be the same.
    pub fn of(trace: &Trace, same_values: bool) -> Paths {
        let mut threads: FxHashMap<ThreadId, Vec<(SiteId, Decision)>> = FxHashMap::default();
        for event in &trace.events {
            threads.entry(event.id.thread).or_default().push((event.site, Decision::of(&event.kind)));
        }
        let seen = || trace.events.iter().map(|event| (event.id, Seen::of(&event.kind))).collect();
        Paths { threads, values: same_values.then(seen) }
    }

    /// Whether the trace has the event after `done` others of a thread at this instruction.
    pub fn has(&self, thread: ThreadId, done: u64, site: SiteId) -> bool {
        self.at(thread, done).is_some_and(|(known, _)| known == site)
    }

    /// Whether an event came out as in the trace, so that its thread may go on.
    pub fn agrees(&self, event: &Event) -> bool {
        let seen = self.values.as_ref().map(|values| values.get(&event.id));
        seen.is_none_or(|seen| seen == Some(&Seen::of(&event.kind)))
            && self
                .at(event.id.thread, event.id.n - 1)
                .is_some_and(|(_, decision)| decision == Decision::of(&event.kind))
    }

    /// How many events the trace has.
    pub fn events(&self) -> u64 {
        self.threads.values().map(|events| events.len() as u64).sum()
    }

    fn at(&self, thread: ThreadId, done: u64) -> Option<(SiteId, Decision)> {
        self.threads.get(&thread)?.get(done as usize).copied()
    }
}
