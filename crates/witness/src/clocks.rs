//! C11 happens-before by vector clocks, for unordered races. Releasing operations leave a clock, acquiring ones take it up.

use crate::access::Access;
use ir::Order;
use rustc_hash::FxHashMap;
use trace::{EventId, ThreadId};

/// For each thread the number of its last event that is known.
#[derive(Clone, Debug, Default)]
struct Clock(FxHashMap<ThreadId, u64>);

impl Clock {
    fn join(&mut self, other: &Clock) {
        for (&thread, &n) in &other.0 {
            let known = self.0.entry(thread).or_default();
            *known = n.max(*known);
        }
    }
}

/// What passes a clock on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Carrier {
    /// A lock (its last exclusive section), or a semaphore.
    Object(u64),
    /// The read sections of a rwlock.
    Readers(u64),
    /// A round of a barrier.
    Round(u64, u64),
    /// A signal or broadcast.
    Signal(EventId),
    /// An atomic location.
    Atomic(u64),
}

#[derive(Clone, Debug, Default)]
struct Known {
    now: Clock,
    /// What relaxed reads have seen; an acquire fence takes it up.
    relaxed: Clock,
    /// The clock at the last release fence.
    fenced: Clock,
}

/// The happens-before relation of a run.
#[derive(Clone, Debug, Default)]
pub struct Clocks {
    threads: FxHashMap<ThreadId, Known>,
    carriers: FxHashMap<Carrier, Clock>,
}

impl Clocks {
    pub fn tick(&mut self, event: EventId) {
        self.threads.entry(event.thread).or_default().now.0.insert(event.thread, event.n);
    }

    /// Whether a thread knows of an event of another.
    pub fn knows(&self, thread: ThreadId, event: EventId) -> bool {
        let known = self.threads.get(&thread).and_then(|known| known.now.0.get(&event.thread));
        known.is_some_and(|&n| n >= event.n)
    }

    pub fn fork(&mut self, parent: ThreadId, child: ThreadId) {
        let now = self.threads.entry(parent).or_default().now.clone();
        self.threads.entry(child).or_default().now = now;
    }

    pub fn join(&mut self, parent: ThreadId, child: ThreadId) {
        let last = self.threads.entry(child).or_default().now.clone();
        self.threads.entry(parent).or_default().now.join(&last);
    }

    pub fn take(&mut self, thread: ThreadId, carrier: Carrier) {
        if let Some(left) = self.carriers.get(&carrier) {
            self.threads.entry(thread).or_default().now.join(left);
        }
    }

    pub fn leave(&mut self, thread: ThreadId, carrier: Carrier) {
        let now = self.threads.entry(thread).or_default().now.clone();
        self.carriers.entry(carrier).or_default().join(&now);
    }

    pub fn fence(&mut self, thread: ThreadId, order: Order) {
        let known = self.threads.entry(thread).or_default();
        if order.acquires() {
            let seen = std::mem::take(&mut known.relaxed);
            known.now.join(&seen);
        }
        if order.releases() {
            known.fenced = known.now.clone();
        }
    }

    /// An atomic access. A write starts a release sequence anew, a read-modify-write continues it.
    pub fn atomic(&mut self, access: &Access, order: Order) {
        let carrier = Carrier::Atomic(access.address);
        let known = self.threads.entry(access.event.thread).or_default();
        let before = self.carriers.get(&carrier).cloned();
        if let Some(left) = before.as_ref().filter(|_| access.kind.reads()) {
            match order.acquires() {
                true => known.now.join(left),
                false => known.relaxed.join(left),
            }
        }
        if access.kind.writes() {
            let mut left = if order.releases() { known.now.clone() } else { known.fenced.clone() };
            if let Some(before) = before.filter(|_| access.kind.reads()) {
                left.join(&before);
            }
            self.carriers.insert(carrier, left);
        }
    }
}
