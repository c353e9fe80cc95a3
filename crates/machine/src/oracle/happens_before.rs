//! C11 happens-before, and the accesses that it does not order.
//!
//! Each thread has a vector clock. Releasing operations leave a copy at the object, acquiring ones take it up: fork and
//! join, locks, waits and signals, semaphores (an acquire takes up all releases so far, as ThreadSanitizer has it),
//! barriers, atomics with their orders, and fences. Two conflicting accesses race if neither's clock knows the other.

use super::access::{Access, is_race};
use ir::Order;
use std::collections::BTreeMap;
use subject::answers::Race;
use trace::{Event, EventId, EventKind, Location, LockMode, ThreadId, WakeReason};

/// For each thread the number of its last event that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Clock(BTreeMap<ThreadId, u64>);

impl Clock {
    fn join(&mut self, other: &Clock) {
        for (&thread, &n) in &other.0 {
            let known = self.0.entry(thread).or_default();
            *known = n.max(*known);
        }
    }

    fn knows(&self, event: EventId) -> bool {
        self.0.get(&event.thread).is_some_and(|&n| n >= event.n)
    }

    fn write_key(&self, key: &mut Vec<u64>) {
        key.push(self.0.len() as u64);
        self.0.iter().for_each(|(thread, &n)| key.extend([thread.code(), n]));
    }
}

#[derive(Clone, Debug, Default)]
struct ThreadClocks {
    now: Clock,
    /// What relaxed reads have seen; an acquire fence takes it up.
    seen_relaxed: Clock,
    /// The clock at the last release fence; relaxed writes leave it.
    fenced: Clock,
}

/// What a synchronisation object or an atomic location passes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Carrier {
    /// Left by the release of a mutex or of a write section, or by a semaphore's releases.
    Object(Location),
    /// Left by the releases of read sections.
    Readers(Location),
    /// Left by the arrivals of a round.
    Round(Location, u64),
    /// Left by a signal or broadcast.
    Signal(EventId),
    /// Left by a release write, or by the read-modify-writes that continue it.
    Atomic(u64),
}

/// The happens-before relation of a run so far, and its accesses.
#[derive(Clone, Debug, Default)]
pub struct HappensBefore {
    threads: BTreeMap<ThreadId, ThreadClocks>,
    carriers: BTreeMap<Carrier, Clock>,
    /// All accesses so far that a later one could race with, as a set: their order is in the clocks.
    accesses: std::collections::BTreeSet<Access>,
}

impl HappensBefore {
    /// Takes note of an event; gives the races of its access with earlier ones.
    pub fn event(&mut self, event: &Event, access: Option<&Access>, numbered: bool) -> Vec<(Race, u64)> {
        let me = event.id.thread;
        self.threads.entry(me).or_default().now.0.insert(me, event.id.n);
        self.synchronise(event, access);
        let Some(access) = access else { return vec![] };
        let now = &self.threads[&me].now;
        let races =
            self.accesses.iter().filter(|earlier| is_race(earlier, access) && !now.knows(earlier.event));
        let races = races.map(|earlier| {
            let race = Race::new(earlier.point(numbered), access.point(numbered));
            (race, earlier.address.max(access.address))
        });
        let races = races.collect();
        // Values play no part in happens-before.
        self.accesses.insert(Access { before: None, after: None, decides: None, ..access.clone() });
        races
    }

    /// Forgets the accesses that all live threads know of: whatever comes later comes from one of them, or from a thread
    /// that one of them forks, and happens after.
    pub fn forget<I: Iterator<Item = ThreadId>>(&mut self, live: impl Fn() -> I) {
        let threads = &self.threads;
        let knows = |thread, event| threads.get(&thread).is_some_and(|clocks| clocks.now.knows(event));
        self.accesses.retain(|access| !live().all(|thread| knows(thread, access.event)));
    }

    /// How many accesses it holds.
    pub fn accesses(&self) -> usize {
        self.accesses.len()
    }

    fn synchronise(&mut self, event: &Event, access: Option<&Access>) {
        let me = event.id.thread;
        match event.kind {
            EventKind::Fork { child } => {
                let now = self.threads[&me].now.clone();
                self.threads.entry(child).or_default().now = now;
            }
            EventKind::Join { child } => {
                let last = self.threads.get(&child).map(|child| child.now.clone()).unwrap_or_default();
                self.threads.entry(me).or_default().now.join(&last);
            }
            EventKind::Lock { object, mode, .. } | EventKind::TryLock { object, mode, acquired: Some(_) } => {
                self.take(me, Carrier::Object(object));
                if mode == LockMode::Write {
                    self.take(me, Carrier::Readers(object));
                }
            }
            EventKind::Unlock { object, mode: LockMode::Read, .. } => {
                self.leave(me, Carrier::Readers(object))
            }
            EventKind::Unlock { object, .. } => self.leave(me, Carrier::Object(object)),
            EventKind::WaitBegin { mutex: Some(mutex), .. } => self.leave(me, Carrier::Object(mutex)),
            EventKind::WaitEnd { mutex, reason, .. } => {
                if let Some(mutex) = mutex {
                    self.take(me, Carrier::Object(mutex));
                }
                if let WakeReason::Signal(by) = reason {
                    self.take(me, Carrier::Signal(by));
                }
            }
            EventKind::Signal { woken: Some(_), .. } => self.leave(me, Carrier::Signal(event.id)),
            EventKind::Broadcast { woken, .. } if woken > 0 => self.leave(me, Carrier::Signal(event.id)),
            EventKind::Acquire { semaphore } | EventKind::TryAcquire { semaphore, acquired: true } => {
                self.take(me, Carrier::Object(semaphore));
            }
            EventKind::Release { semaphore } => self.leave(me, Carrier::Object(semaphore)),
            EventKind::BarrierArrive { barrier, round } => self.leave(me, Carrier::Round(barrier, round)),
            EventKind::BarrierLeave { barrier, round } => self.take(me, Carrier::Round(barrier, round)),
            EventKind::Fence { order } => self.fence(me, order),
            _ => {}
        }
        if let (Some(access), Some((_, _, _, Some(order)))) = (access, event.kind.access()) {
            self.atomic(me, access, order);
        }
    }

    fn fence(&mut self, me: ThreadId, order: Order) {
        let clocks = self.threads.entry(me).or_default();
        if order.acquires() {
            let seen = std::mem::take(&mut clocks.seen_relaxed);
            clocks.now.join(&seen);
        }
        if order.releases() {
            clocks.fenced = clocks.now.clone();
        }
    }

    fn atomic(&mut self, me: ThreadId, access: &Access, order: Order) {
        let carrier = Carrier::Atomic(access.address);
        let kind = access.kind.access();
        let clocks = self.threads.entry(me).or_default();
        if kind.reads()
            && let Some(left) = self.carriers.get(&carrier)
        {
            match order.acquires() {
                true => clocks.now.join(left),
                false => clocks.seen_relaxed.join(left),
            }
        }
        if kind.writes() {
            let mut left = if order.releases() { clocks.now.clone() } else { clocks.fenced.clone() };
            // A plain atomic write starts anew, a read-modify-write continues what was there.
            if kind.reads()
                && let Some(before) = self.carriers.get(&carrier)
            {
                left.join(before);
            }
            self.carriers.insert(carrier, left);
        }
    }

    fn take(&mut self, me: ThreadId, carrier: Carrier) {
        if let Some(left) = self.carriers.get(&carrier) {
            self.threads.entry(me).or_default().now.join(left);
        }
    }

    fn leave(&mut self, me: ThreadId, carrier: Carrier) {
        let now = self.threads.entry(me).or_default().now.clone();
        self.carriers.entry(carrier).or_default().join(&now);
    }

    pub fn write_key(&self, key: &mut Vec<u64>) {
        key.push(self.threads.len() as u64);
        for (thread, clocks) in &self.threads {
            key.push(thread.code());
            [&clocks.now, &clocks.seen_relaxed, &clocks.fenced].into_iter().for_each(|c| c.write_key(key));
        }
        key.push(self.carriers.len() as u64);
        for (carrier, clock) in &self.carriers {
            let (tag, a, b) = match *carrier {
                Carrier::Object(at) => (0, u64::from(at.allocation.0), at.offset),
                Carrier::Readers(at) => (1, u64::from(at.allocation.0), at.offset),
                Carrier::Round(at, round) => (2 + (round << 8), u64::from(at.allocation.0), at.offset),
                Carrier::Signal(event) => (3, event.thread.code(), event.n),
                Carrier::Atomic(address) => (4, address, 0),
            };
            key.extend([tag, a, b]);
            clock.write_key(key);
        }
        key.push(self.accesses.len() as u64);
        self.accesses.iter().for_each(|access| access.write_key(key));
    }
}
