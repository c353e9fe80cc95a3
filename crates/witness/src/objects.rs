//! Synchronisation objects, by address.

use crate::address;
use ir::{Initial, Program, SyncKind};
use rustc_hash::FxHashMap;
use trace::{EventKind, Location, ThreadId, Trace};

/// The state of one object.
#[derive(Clone, Debug)]
pub enum Object {
    Mutex { recursive: bool, owner: Option<ThreadId>, depth: u32 },
    RwLock { writer: Option<ThreadId>, readers: Vec<(ThreadId, u32)> },
    Condition,
    Semaphore { tokens: u64 },
    Barrier { parties: u64, arrived: u64, round: u64 },
}

impl Object {
    pub fn new(kind: SyncKind, count: u64) -> Object {
        match kind {
            SyncKind::Mutex | SyncKind::RecursiveMutex => {
                Object::Mutex { recursive: kind == SyncKind::RecursiveMutex, owner: None, depth: 0 }
            }
            SyncKind::RwLock => Object::RwLock { writer: None, readers: vec![] },
            SyncKind::Condition => Object::Condition,
            SyncKind::Semaphore => Object::Semaphore { tokens: count },
            SyncKind::Barrier => Object::Barrier { parties: count, arrived: 0, round: 0 },
        }
    }

    /// Who holds this lock.
    pub fn holders(&self) -> Vec<ThreadId> {
        match self {
            Object::Mutex { owner, .. } => owner.iter().copied().collect(),
            Object::RwLock { writer, readers } => {
                writer.iter().copied().chain(readers.iter().map(|&(reader, _)| reader)).collect()
            }
            _ => vec![],
        }
    }
}

/// All objects at the start: those that the program declares; in compiled code those that the trace uses, with the fewest tokens
/// and parties that its events need.
pub fn initial(program: &Program, trace: &Trace) -> FxHashMap<u64, Object> {
    let mut objects = FxHashMap::default();
    for (n, global) in program.globals.iter().enumerate() {
        if let Initial::Sync { kind, count } = global.initial {
            let base = address::of_global(ir::GlobalId::new(n));
            for offset in (0..program.shape_bytes(global.shape)).step_by(SyncKind::BYTES as usize) {
                objects.insert(base + offset, Object::new(kind, count));
            }
        }
    }
    if program.threads.is_empty() {
        used(trace, &mut objects);
    }
    objects
}

fn used(trace: &Trace, objects: &mut FxHashMap<u64, Object>) {
    let at = |place: Location| {
        trace.allocations.get(place.allocation.0 as usize).map_or(0, |a| a.address.wrapping_add(place.offset))
    };
    let mut tokens: FxHashMap<u64, (i64, i64)> = FxHashMap::default();
    let mut rounds: FxHashMap<(u64, u64), u64> = FxHashMap::default();
    for event in &trace.events {
        let mut lock = |place, mode, deep: bool| {
            let kind = match mode {
                trace::LockMode::Mutex => SyncKind::Mutex,
                _ => SyncKind::RwLock,
            };
            let object = objects.entry(at(place)).or_insert_with(|| Object::new(kind, 0));
            if let Object::Mutex { recursive, .. } = object {
                *recursive |= deep;
            }
        };
        match event.kind {
            EventKind::Lock { object, mode, depth } => lock(object, mode, depth > 1),
            EventKind::TryLock { object, mode, acquired } => lock(object, mode, acquired > Some(1)),
            EventKind::Unlock { object, mode, .. } => lock(object, mode, false),
            EventKind::WaitBegin { condition, .. }
            | EventKind::Signal { condition, .. }
            | EventKind::Broadcast { condition, .. } => {
                objects.entry(at(condition)).or_insert(Object::Condition);
            }
            EventKind::Acquire { semaphore } | EventKind::TryAcquire { semaphore, acquired: true } => {
                let (now, fewest) = tokens.entry(at(semaphore)).or_default();
                *now -= 1;
                *fewest = (*fewest).min(*now);
            }
            EventKind::Release { semaphore } => tokens.entry(at(semaphore)).or_default().0 += 1,
            EventKind::TokenCount { semaphore, value } => {
                let (now, fewest) = tokens.entry(at(semaphore)).or_default();
                *fewest = (*fewest).min(*now - i64::try_from(value).unwrap_or(0));
            }
            EventKind::BarrierArrive { barrier, round } => {
                *rounds.entry((at(barrier), round)).or_default() += 1
            }
            _ => {}
        }
    }
    for (at, (_, fewest)) in tokens {
        objects.insert(at, Object::Semaphore { tokens: fewest.unsigned_abs() });
    }
    for ((at, _), count) in rounds {
        match objects.entry(at).or_insert(Object::Barrier { parties: 0, arrived: 0, round: 0 }) {
            Object::Barrier { parties, .. } => *parties = (*parties).max(count),
            other => *other = Object::Barrier { parties: count, arrived: 0, round: 0 },
        }
    }
}
