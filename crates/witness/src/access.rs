//! Accesses as they happened in the claimed order, and guarded independence (AV §3).

use crate::decision::Decision;
use trace::{AccessKind, Event, EventId, EventKind};

/// One access.
#[derive(Clone, Debug)]
pub struct Access {
    pub event: EventId,
    pub kind: AccessKind,
    pub atomic: bool,
    /// It gives the memory back: a write of all of it for races, no access of a transaction.
    pub frees: bool,
    pub address: u64,
    pub bytes: u64,
    /// The content before and after, if it is an integer of at most eight bytes.
    pub before: Option<u64>,
    pub after: Option<u64>,
    /// For a read that only decides: what.
    pub decides: Option<Decision>,
    /// Which transaction of its thread it is in.
    pub transaction: Option<u64>,
}

impl Access {
    pub fn overlaps(&self, other: &Access) -> bool {
        self.address < other.address + other.bytes && other.address < self.address + self.bytes
    }

    /// Whether the two race if nothing orders them.
    pub fn races(&self, other: &Access) -> bool {
        self.event.thread != other.event.thread
            && self.overlaps(other)
            && (self.kind.writes() || other.kind.writes())
            && !(self.atomic && other.atomic)
    }

    /// Whether it read something else than the recorded event did.
    pub fn saw_another(&self, recorded: &Event) -> bool {
        let seen = match recorded.kind {
            EventKind::Read { value, .. } => Some(value),
            EventKind::Update { old, .. } | EventKind::CompareExchange { old, .. } => Some(old),
            _ => return false,
        };
        self.kind.reads() && self.before != seen
    }

    /// Whether the order of this access and a later one makes no difference: the guard c_G of AV §3, x being the content
    /// before this one. Rule 4a for a read and a write, 4b for two writes, 4c for a read that only decides.
    pub fn is_independent_of(&self, later: &Access) -> bool {
        if (self.address, self.bytes) != (later.address, later.bytes) {
            return false; // in part only: not a case of the rules
        }
        let (Some(x), Some(mine), Some(theirs)) = (self.before, self.after, later.after) else {
            return false;
        };
        let same = |read: &Access, written: u64| {
            let decided = |value| read.decides.as_ref().and_then(|decision| decision.outcome(value));
            x == written || decided(x).is_some_and(|outcome| decided(written) == Some(outcome))
        };
        let (one, other) = (self.kind, later.kind);
        (!(one.reads() && other.writes()) || same(self, theirs))
            && (!(one.writes() && other.reads()) || same(later, mine))
            && (!(one.writes() && other.writes()) || mine == theirs)
    }
}

/// The bytes that a recorded access saw, or wrote if it only wrote.
pub fn content(kind: &EventKind) -> Vec<u8> {
    let number = |value: u64, bytes: u8| value.to_le_bytes()[..usize::from(bytes.min(8))].to_vec();
    match kind {
        EventKind::Read { value, bytes, .. } | EventKind::Write { value, bytes, .. } => {
            number(*value, *bytes)
        }
        EventKind::Update { old, bytes, .. } | EventKind::CompareExchange { old, bytes, .. } => {
            number(*old, *bytes)
        }
        EventKind::ReadBytes { content, .. } | EventKind::WriteBytes { content, .. } => content.to_vec(),
        _ => vec![],
    }
}

/// The bytes that a recorded read-modify-write has written.
pub fn written(kind: &EventKind) -> Vec<u8> {
    match kind {
        EventKind::Update { new, bytes, .. }
        | EventKind::CompareExchange { new, bytes, success: true, .. } => {
            new.to_le_bytes()[..usize::from((*bytes).min(8))].to_vec()
        }
        _ => vec![],
    }
}

/// The integer that some bytes are.
pub fn number(content: &[u8]) -> u128 {
    content.iter().take(16).rev().fold(0, |value, &byte| value << 8 | u128::from(byte))
}
