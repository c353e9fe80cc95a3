//! Memory accesses as races and transactions see them.

use super::decision::Decision;
use crate::Machine;
use crate::code::Code;
use crate::enabled::Readiness;
use crate::memory::Block;
use crate::state::{Phase, State};
use ir::Width;
use subject::answers::Point;
use trace::{AccessKind, Event, EventId, EventKind, ThreadId};

/// One access. The address is the machine's own, which is the same in every schedule.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Access {
    pub event: EventId,
    pub site: ir::SiteId,
    pub kind: Kind,
    pub atomic: bool,
    pub address: u64,
    pub bytes: u64,
    /// The content before and after, if it is an integer of at most eight bytes.
    pub before: Option<u64>,
    pub after: Option<u64>,
    /// For a read that only decides: what.
    pub decides: Option<Decision>,
}

/// [`AccessKind`] with an order, so that sets of accesses have one form.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    Read,
    Write,
    Update,
}

impl From<AccessKind> for Kind {
    fn from(kind: AccessKind) -> Kind {
        match kind {
            AccessKind::Read => Kind::Read,
            AccessKind::Write => Kind::Write,
            AccessKind::Update => Kind::Update,
        }
    }
}

impl Kind {
    pub fn access(self) -> AccessKind {
        match self {
            Kind::Read => AccessKind::Read,
            Kind::Write => AccessKind::Write,
            Kind::Update => AccessKind::Update,
        }
    }
}

impl Access {
    /// The access of an event, if it is one.
    pub fn of(machine: &Machine, state: &State, event: &Event, before: u64) -> Option<Access> {
        let (kind, location, bytes, order) = event.kind.access()?;
        let (before, after) = match event.kind {
            EventKind::Read { value, .. } => (Some(value), Some(value)),
            EventKind::Write { value, .. } => (Some(before), Some(value)),
            EventKind::Update { old, new, .. } => (Some(old), Some(new)),
            EventKind::CompareExchange { old, new, success, .. } => {
                (Some(old), Some(if success { new } else { old }))
            }
            _ => (None, None),
        };
        let address = state.memory.address_of(location);
        let decides = match event.kind {
            EventKind::Read { .. } => Decision::of(machine, state, event.id.thread),
            _ => None,
        };
        let (event, site, kind, atomic) = (event.id, event.site, kind.into(), order.is_some());
        Some(Access { event, site, kind, atomic, address, bytes, before, after, decides })
    }

    /// What a free does to others, as ThreadSanitizer has it: it writes all of the memory that it gives back.
    pub fn of_free(state: &State, event: &Event) -> Option<Access> {
        let EventKind::Free { allocation: Some(allocation) } = event.kind else { return None };
        let block = state.memory.blocks.iter().find(|block| block.allocation == allocation)?;
        Some(Access::freeing(event.id, event.site, block))
    }

    fn freeing(event: EventId, site: ir::SiteId, block: &Block) -> Access {
        let (address, bytes) = (block.base, block.bytes);
        let (kind, atomic) = (Kind::Write, false);
        Access { event, site, kind, atomic, address, bytes, before: None, after: None, decides: None }
    }

    pub fn overlaps(&self, other: &Access) -> bool {
        self.address < other.address + other.bytes && other.address < self.address + self.bytes
    }

    pub fn conflicts(&self, other: &Access) -> bool {
        self.overlaps(other) && (self.kind.access().writes() || other.kind.access().writes())
    }

    /// What the answers call this access; numbers only where they mean the same in all runs.
    pub fn point(&self, numbered: bool) -> Point {
        let n = numbered.then_some(self.event.n);
        Point { thread: self.event.thread, n, site: self.site }
    }

    pub fn write_key(&self, key: &mut Vec<u64>) {
        key.extend([self.event.thread.code(), self.event.n, u64::from(self.site.0), self.kind as u64]);
        key.extend([self.address, self.bytes, u64::from(self.atomic)]);
        key.extend([self.before.unwrap_or(0), self.after.unwrap_or(0)]);
        match &self.decides {
            Some(decision) => decision.write_key(key),
            None => key.push(0),
        }
    }
}

/// The access that thread `t` is about to make, if its next event is one and it can do it now.
pub fn pending(machine: &Machine, state: &State, t: usize) -> Option<Access> {
    if machine.readiness(state, t) != Readiness::Ready {
        return None;
    }
    let thread = &state.threads[t];
    let frame = thread.top();
    let value = |source| thread.value(frame, source);
    let halfway = matches!(thread.phase, Phase::Copying(_));
    if !halfway && !matches!(thread.phase, Phase::Ready) {
        return None;
    }
    let bytes = |width: Width| u64::from(width.bytes());
    let (kind, atomic, address, bytes) = match &machine.code(frame.function).code[frame.at as usize] {
        Code::Load { bytes, pointer, order, .. } => {
            (Kind::Read, order.is_some(), value(*pointer), u64::from(*bytes))
        }
        Code::Store { bytes, pointer, order, .. } => {
            (Kind::Write, order.is_some(), value(*pointer), u64::from(*bytes))
        }
        Code::Update { width, pointer, .. } => (Kind::Update, true, value(*pointer), bytes(*width)),
        Code::CompareExchange { width, pointer, expected, .. } => {
            let address = value(*pointer);
            let (place, _) = machine.layout().locate(&state.memory, address, bytes(*width), true).ok()?;
            let equal = state.memory.load(place, bytes(*width) as u8) == value(*expected);
            (if equal { Kind::Update } else { Kind::Read }, true, address, bytes(*width))
        }
        Code::MemoryCopy { into, bytes, .. } if halfway => (Kind::Write, false, value(*into), value(*bytes)),
        Code::MemoryCopy { from, bytes, .. } => (Kind::Read, false, value(*from), value(*bytes)),
        Code::MemorySet { into, bytes, .. } => (Kind::Write, false, value(*into), value(*bytes)),
        Code::Free { pointer } => {
            let base = value(*pointer);
            let block =
                state.memory.blocks.iter().find(|block| block.base == base && block.heap && !block.freed)?;
            return Some(Access::freeing(thread.next_event(), machine.site(state, t), block));
        }
        _ => return None,
    };
    machine.layout().locate(&state.memory, address, bytes, kind != Kind::Read).ok()?;
    let (event, site) = (thread.next_event(), machine.site(state, t));
    Some(Access { event, site, kind, atomic, address, bytes, before: None, after: None, decides: None })
}

/// Whether two accesses of different threads race if nothing orders them.
pub fn is_race(a: &Access, b: &Access) -> bool {
    let threads: (ThreadId, ThreadId) = (a.event.thread, b.event.thread);
    threads.0 != threads.1 && a.conflicts(b) && !(a.atomic && b.atomic)
}
