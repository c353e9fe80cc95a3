//! Where a run along a witness first went otherwise than the recorded one, and by what: code that is not followed.
//!
//! The independent checker has run the program's own code along the witness, with what outside code did taken as recorded. So if the program
//! does something else, a call that left it came out otherwise: it gave another result, wrote something else into memory, or did not
//! come back. That is what is looked for, first in the thread that did not get where it should.

use claim::{Cause, Outside, Witness};
use rustc_hash::{FxHashMap, FxHashSet};
use subject::{Departure, Run};
use trace::{Event, EventId, EventKind, Location, ThreadId, Trace};

/// What a run that did not do what a witness says owes that to, if it can be told.
pub fn cause(recorded: &Trace, run: &Run, witness: &Witness) -> Option<Cause> {
    let known: FxHashMap<EventId, &Event> = recorded.events.iter().map(|event| (event.id, event)).collect();
    let departed = match run.departure {
        Some(Departure::NotEnabled { thread, done, .. }) => Some((thread, done)),
        Some(Departure::OtherInstruction { thread, n, .. }) => Some((thread, n)),
        _ => None,
    };
    let mut until: FxHashMap<ThreadId, u64> = FxHashMap::default();
    for event in &witness.order {
        until.insert(event.thread, event.n);
    }
    let unseen = unseen_reads(recorded);
    let mut memory = Memory::default();
    let mut causes: Vec<Cause> = vec![];
    for event in &run.trace.events {
        let unexplained = memory.take(event);
        let in_prefix = until.get(&event.id.thread).is_some_and(|&last| event.id.n <= last);
        let Some(before) = known.get(&event.id).filter(|_| in_prefix) else { continue };
        if before.site != event.site {
            continue;
        }
        // Something else than the last write, or what nobody had written in the recorded run either.
        let foreign = unexplained && (unseen.contains(&event.id) || memory.knows);
        let outside = match (&before.kind, &event.kind) {
            (EventKind::External { result: a }, EventKind::External { result: b }) if a != b => {
                Outside::Result { recorded: *a, seen: *b }
            }
            (EventKind::WriteBytes { content: a, .. }, EventKind::WriteBytes { content: b, .. })
                if a != b =>
            {
                Outside::Memory
            }
            (EventKind::Read { value: a, .. }, EventKind::Read { value: b, .. }) if a != b && foreign => {
                Outside::Memory
            }
            _ => continue,
        };
        causes.push(Cause { event: event.id, site: event.site, outside });
    }
    let own = departed.and_then(|(thread, n)| {
        causes.iter().rev().find(|cause| cause.event.thread == thread && cause.event.n <= n).cloned()
    });
    let did_not_come_back = || {
        let Some(Departure::NotEnabled { thread, done, .. }) = run.departure else { return None };
        let next = EventId { thread, n: done + 1 };
        let event = known.get(&next).filter(|event| is_outside(&event.kind))?;
        Some(Cause { event: next, site: event.site, outside: Outside::DidNotComeBack })
    };
    own.or_else(did_not_come_back).or_else(|| causes.first().cloned())
}

/// Whether code outside the program decides when an event comes, or what it does.
fn is_outside(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::External { .. }
            | EventKind::System { .. }
            | EventKind::WriteBytes { .. }
            | EventKind::ReadBytes { .. }
    )
}

/// Reads of a run that found what nobody in the trace had written.
fn unseen_reads(trace: &Trace) -> FxHashSet<EventId> {
    let mut memory = Memory::default();
    (trace.events.iter()).filter(|event| memory.take(event)).map(|event| event.id).collect()
}

/// What the events of a run have left in memory, byte by byte.
#[derive(Default)]
struct Memory {
    bytes: FxHashMap<Location, u8>,
    /// Whether the last read was of bytes that are known.
    knows: bool,
}

impl Memory {
    /// Goes on by an event; true if it read something else than what is there, or what nobody knows.
    fn take(&mut self, event: &Event) -> bool {
        match &event.kind {
            EventKind::Read { location, bytes, value, .. } => {
                let read = &value.to_le_bytes()[..usize::from(*bytes)];
                let known: Option<Vec<u8>> =
                    (0..read.len()).map(|at| self.bytes.get(&behind(*location, at)).copied()).collect();
                self.knows = known.is_some();
                let unexplained = known.is_none_or(|known| known != read);
                self.put(*location, read);
                return unexplained;
            }
            EventKind::Write { location, bytes, value, .. }
            | EventKind::Update { location, bytes, new: value, .. }
            | EventKind::CompareExchange { location, bytes, new: value, success: true, .. } => {
                self.put(*location, &value.to_le_bytes()[..usize::from(*bytes)]);
            }
            EventKind::WriteBytes { location, content } => self.put(*location, content),
            _ => {}
        }
        false
    }

    fn put(&mut self, location: Location, content: &[u8]) {
        for (at, &byte) in content.iter().enumerate() {
            self.bytes.insert(behind(location, at), byte);
        }
    }
}

fn behind(location: Location, at: usize) -> Location {
    Location { offset: location.offset + at as u64, ..location }
}
