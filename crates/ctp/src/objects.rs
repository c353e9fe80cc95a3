//! Synchronisation objects: what the program says of them, or, in compiled code, what the recorded run shows.

use crate::Object;
use ir::{Initial, Program, SyncKind};
use std::collections::BTreeMap;
use trace::{AllocationOrigin, EventKind, Location, LockMode, Trace};

/// All objects that the events of a trace name.
pub fn objects(program: &Program, trace: &Trace) -> BTreeMap<Location, Object> {
    let mut seen: BTreeMap<Location, Seen> = BTreeMap::new();
    for event in &trace.events {
        match event.kind {
            EventKind::Lock { object, mode, depth } | EventKind::Unlock { object, mode, depth } => {
                seen.entry(object).or_default().lock(mode, depth);
            }
            EventKind::TryLock { object, mode, acquired } => {
                seen.entry(object).or_default().lock(mode, acquired.unwrap_or(0));
            }
            EventKind::WaitBegin { condition, mutex, .. } | EventKind::WaitEnd { condition, mutex, .. } => {
                seen.entry(condition).or_default().kind = Some(SyncKind::Condition);
                if let Some(mutex) = mutex {
                    seen.entry(mutex).or_default().lock(LockMode::Mutex, 1);
                }
            }
            EventKind::StopWaiting { condition, .. }
            | EventKind::Signal { condition, .. }
            | EventKind::Broadcast { condition, .. } => {
                seen.entry(condition).or_default().kind = Some(SyncKind::Condition);
            }
            EventKind::Acquire { semaphore } | EventKind::TryAcquire { semaphore, acquired: true } => {
                seen.entry(semaphore).or_default().tokens(-1);
            }
            EventKind::Release { semaphore } => seen.entry(semaphore).or_default().tokens(1),
            EventKind::TryAcquire { semaphore, acquired: false } => {
                seen.entry(semaphore).or_default().counted(0);
            }
            EventKind::TokenCount { semaphore, value } => seen.entry(semaphore).or_default().counted(value),
            EventKind::BarrierArrive { barrier, round } => {
                let seen = seen.entry(barrier).or_default();
                seen.kind = Some(SyncKind::Barrier);
                *seen.arrivals.entry(round).or_default() += 1;
            }
            _ => {}
        }
    }
    seen.into_iter()
        .map(|(at, seen)| (at, said(program, trace, at).unwrap_or_else(|| seen.object())))
        .collect()
}

/// What the program says of an object.
fn said(program: &Program, trace: &Trace, at: Location) -> Option<Object> {
    let AllocationOrigin::Global(global) = trace.allocations.get(at.allocation.0 as usize)?.origin else {
        return None;
    };
    match program.globals.get(global.index())?.initial {
        Initial::Sync { kind, count } => Some(Object { kind: Some(kind), count, count_is_known: true }),
        _ => None,
    }
}

/// What a run shows of an object.
#[derive(Default)]
struct Seen {
    kind: Option<SyncKind>,
    /// Tokens now, the start being 0, and the fewest so far.
    tokens: i64,
    fewest: i64,
    /// Tokens at the start, if the run tells.
    start: Option<i64>,
    arrivals: BTreeMap<u64, u64>,
}

impl Seen {
    fn lock(&mut self, mode: LockMode, depth: u32) {
        self.kind = match (mode, self.kind) {
            (LockMode::Mutex, Some(SyncKind::RecursiveMutex)) => Some(SyncKind::RecursiveMutex),
            (LockMode::Mutex, _) if depth > 1 => Some(SyncKind::RecursiveMutex),
            (LockMode::Mutex, _) => Some(SyncKind::Mutex),
            (LockMode::Read | LockMode::Write, _) => Some(SyncKind::RwLock),
        };
    }

    fn tokens(&mut self, by: i64) {
        self.kind = Some(SyncKind::Semaphore);
        self.tokens += by;
        self.fewest = self.fewest.min(self.tokens);
    }

    fn counted(&mut self, value: u64) {
        self.kind = Some(SyncKind::Semaphore);
        let start = i64::try_from(value).unwrap_or(i64::MAX).saturating_sub(self.tokens);
        self.start.get_or_insert(start);
    }

    fn object(&self) -> Object {
        let (count, known) = match self.kind {
            Some(SyncKind::Semaphore) => (self.start.unwrap_or(-self.fewest), self.start.is_some()),
            // A round that was followed by another was complete.
            Some(SyncKind::Barrier) => {
                let most = self.arrivals.values().max().map_or(0, |&most| most as i64);
                (most, self.arrivals.len() > 1)
            }
            _ => (0, true),
        };
        Object { kind: self.kind, count: u64::try_from(count).unwrap_or(0), count_is_known: known }
    }
}
