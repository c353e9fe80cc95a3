//! What the steps of a run leave behind: who holds what, who waits for what. As much of it as says whether a thread can go on.

use rustc_hash::FxHashMap;
use trace::{Choice, EventKind, Location, LockMode, ThreadId};

/// Where an object is: the same number in every run.
pub type At = u64;

/// A lock, or what is like one.
#[derive(Clone, Debug, Default)]
struct Lock {
    owner: Option<ThreadId>,
    readers: Vec<ThreadId>,
}

/// A thread that waits at a condition variable, or at a word of memory.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    pub condition: At,
    pub mutex: Option<At>,
    /// Somebody has woken it, or it waits no longer.
    pub woken: bool,
}

/// What is known of a program besides one run: how many tokens a semaphore has in the beginning, and how many threads meet at a barrier.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// At least so many, and whether there are no more.
    pub tokens: FxHashMap<At, (i64, bool)>,
    pub parties: FxHashMap<At, u64>,
}

/// Whether a thread can go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Can {
    Yes,
    No,
    /// It depends on how many tokens there are, of which too little is known.
    Ask(At),
}

impl Can {
    fn when(condition: bool) -> Can {
        if condition { Can::Yes } else { Can::No }
    }
}

/// The state between two steps.
#[derive(Clone, Debug, Default)]
pub struct State {
    locks: FxHashMap<At, Lock>,
    waiting: FxHashMap<ThreadId, Waiting>,
    /// Tokens more than in the beginning.
    tokens: FxHashMap<At, i64>,
    /// How many threads have come to a barrier, in all rounds.
    arrived: FxHashMap<At, u64>,
    /// The barrier that a thread has come to, and how many had come before it.
    at_barrier: FxHashMap<ThreadId, (At, u64)>,
    forked: Vec<ThreadId>,
    ended: Vec<ThreadId>,
    exclusive: Option<(ThreadId, u32)>,
    /// What is in memory, where that is known: by address and size.
    values: FxHashMap<(u64, u8), u64>,
}

/// The address that stands in the location of an object of an event whose objects have been named by their addresses ([`named`]).
fn at(object: Location) -> At {
    object.offset
}

/// The event with its objects named by their addresses, which are the same in every run.
pub fn named(kind: &EventKind, address: impl Fn(Location) -> u64) -> EventKind {
    let place =
        |location: Location| Location { allocation: trace::AllocationId(0), offset: address(location) };
    let mut kind = kind.clone();
    match &mut kind {
        EventKind::Lock { object, .. }
        | EventKind::TryLock { object, .. }
        | EventKind::Unlock { object, .. } => *object = place(*object),
        EventKind::WaitBegin { condition, mutex } | EventKind::WaitEnd { condition, mutex, .. } => {
            *condition = place(*condition);
            *mutex = mutex.map(place);
        }
        EventKind::StopWaiting { condition, .. }
        | EventKind::Signal { condition, .. }
        | EventKind::Broadcast { condition, .. } => *condition = place(*condition),
        EventKind::Acquire { semaphore }
        | EventKind::TryAcquire { semaphore, .. }
        | EventKind::Release { semaphore }
        | EventKind::TokenCount { semaphore, .. } => *semaphore = place(*semaphore),
        EventKind::BarrierArrive { barrier, .. } | EventKind::BarrierLeave { barrier, .. } => {
            *barrier = place(*barrier);
        }
        EventKind::Read { location, .. }
        | EventKind::Write { location, .. }
        | EventKind::Update { location, .. }
        | EventKind::CompareExchange { location, .. }
        | EventKind::ReadBytes { location, .. }
        | EventKind::WriteBytes { location, .. } => *location = place(*location),
        _ => {}
    }
    kind
}

impl State {
    /// The wait that a thread is in.
    pub fn waits(&self, thread: ThreadId) -> Option<Waiting> {
        self.waiting.get(&thread).copied()
    }

    /// What ends the wait of a thread for a signal or for others at a barrier, as an event.
    pub fn waits_as(&self, thread: ThreadId) -> Option<EventKind> {
        let place = |offset| Location { allocation: trace::AllocationId(0), offset };
        if let Some(waiting) = self.waits(thread) {
            let (condition, mutex) = (place(waiting.condition), waiting.mutex.map(place));
            return Some(EventKind::WaitEnd { condition, mutex, reason: trace::WakeReason::Expired });
        }
        let &(barrier, _) = self.at_barrier.get(&thread)?;
        Some(EventKind::BarrierLeave { barrier: place(barrier), round: 0 })
    }

    /// Those who wait to be woken there, in order.
    pub fn waiters(&self, condition: At) -> Vec<ThreadId> {
        let waits = |(_, waiting): &(&ThreadId, &Waiting)| waiting.condition == condition && !waiting.woken;
        let mut waiters: Vec<ThreadId> =
            self.waiting.iter().filter(waits).map(|(&thread, _)| thread).collect();
        waiters.sort_unstable();
        waiters
    }

    pub fn has_forked(&self, thread: ThreadId) -> bool {
        self.forked.contains(&thread)
    }

    pub fn has_ended(&self, thread: ThreadId) -> bool {
        self.ended.contains(&thread)
    }

    /// Whether only one thread can go on for now.
    pub fn is_exclusive(&self) -> bool {
        self.exclusive.is_some()
    }

    fn owner(&self, object: At) -> Option<ThreadId> {
        self.locks.get(&object).and_then(|lock| lock.owner)
    }

    fn is_free(&self, object: At, mode: LockMode) -> bool {
        let Some(lock) = self.locks.get(&object) else { return true };
        lock.owner.is_none() && (mode == LockMode::Read || lock.readers.is_empty())
    }

    fn tokens(&self, counts: &Counts, semaphore: At) -> (i64, bool) {
        let more = self.tokens.get(&semaphore).copied().unwrap_or(0);
        let (least, exact) = counts.tokens.get(&semaphore).copied().unwrap_or((0, false));
        (least + more, exact)
    }

    /// The round of a barrier in which a thread comes that so many have come before, and how many are needed for it to be complete.
    fn round(counts: &Counts, barrier: At, before: u64) -> (u64, u64) {
        let parties = counts.parties.get(&barrier).copied().unwrap_or(u64::MAX).max(1);
        let round = before / parties;
        (round, (round + 1).saturating_mul(parties))
    }

    /// Whether a thread that stands before an event can do it.
    pub fn can(&self, counts: &Counts, thread: ThreadId, next: &EventKind) -> Can {
        if self.exclusive.is_some_and(|(holder, _)| holder != thread) {
            return Can::No;
        }
        match *next {
            EventKind::Lock { object, mode, depth } => {
                let own = depth > 1 && self.owner(at(object)) == Some(thread);
                let reads = depth > 1 && mode == LockMode::Read;
                Can::when(own || reads || self.is_free(at(object), mode))
            }
            EventKind::WaitEnd { mutex, .. } => {
                let woken = self.waits(thread).is_some_and(|waiting| waiting.woken);
                Can::when(woken && mutex.is_none_or(|mutex| self.is_free(at(mutex), LockMode::Mutex)))
            }
            EventKind::StopWaiting { .. } => {
                Can::when(self.waits(thread).is_some_and(|waiting| !waiting.woken))
            }
            EventKind::Acquire { semaphore } => match self.tokens(counts, at(semaphore)) {
                (1.., _) => Can::Yes,
                (_, true) => Can::No,
                (_, false) => Can::Ask(at(semaphore)),
            },
            EventKind::BarrierLeave { .. } => match self.at_barrier.get(&thread) {
                Some(&(barrier, before)) => {
                    let (_, needed) = State::round(counts, barrier, before);
                    Can::when(self.arrived.get(&barrier).copied().unwrap_or(0) >= needed)
                }
                None => Can::No,
            },
            EventKind::Join { child } => Can::when(self.has_ended(child)),
            _ => Can::Yes,
        }
    }

    /// The event that a thread does which stood before such an event in another state: what it does may depend on that, and whom it wakes.
    pub fn here(
        &self,
        counts: &Counts,
        thread: ThreadId,
        next: &EventKind,
        choice: Option<Choice>,
    ) -> (EventKind, Vec<ThreadId>) {
        let mut woken = vec![];
        let mut kind = next.clone();
        match &mut kind {
            EventKind::TryLock { object, mode, acquired } => {
                let own = acquired.is_some_and(|depth| depth > 1) && self.owner(at(*object)) == Some(thread);
                *acquired = (own || self.is_free(at(*object), *mode)).then_some(acquired.unwrap_or(1));
            }
            EventKind::TryAcquire { semaphore, acquired } => {
                *acquired = self.tokens(counts, at(*semaphore)).0 > 0;
            }
            EventKind::Signal { condition, woken: whom } => {
                let waiters = self.waiters(at(*condition));
                *whom = match choice {
                    Some(Choice::Wake(chosen)) => Some(chosen),
                    _ => waiters.first().copied(),
                };
                woken.extend(*whom);
            }
            EventKind::Broadcast { condition, woken: count } => {
                woken = self.waiters(at(*condition));
                *count = woken.len() as u32;
            }
            EventKind::BarrierArrive { barrier, round } => {
                let before = self.arrived.get(&at(*barrier)).copied().unwrap_or(0);
                *round = State::round(counts, at(*barrier), before).0;
            }
            EventKind::BarrierLeave { round, .. } => {
                if let Some(&(barrier, before)) = self.at_barrier.get(&thread) {
                    *round = State::round(counts, barrier, before).0;
                }
            }
            EventKind::CompareExchange { location, bytes, old, expected, success, .. } => {
                match self.values.get(&(location.offset, *bytes)) {
                    Some(&value) => (*old, *success) = (value, value == *expected),
                    // It may write.
                    None => *success = true,
                }
            }
            _ => {}
        }
        (kind, woken)
    }

    /// A thread does an event, which is as it is in this state ([`State::here`]), and wakes these.
    pub fn step(&mut self, thread: ThreadId, kind: &EventKind, woken: &[ThreadId]) {
        for waiter in woken {
            if let Some(waiting) = self.waiting.get_mut(waiter) {
                waiting.woken = true;
            }
        }
        if kind.access().is_some_and(|(access, ..)| access.writes()) {
            self.write(kind);
        }
        match *kind {
            EventKind::Lock { object, mode, .. } | EventKind::TryLock { object, mode, acquired: Some(_) } => {
                let lock = self.locks.entry(at(object)).or_default();
                match mode {
                    LockMode::Read => lock.readers.push(thread),
                    _ => lock.owner = Some(thread),
                }
            }
            EventKind::Unlock { object, mode, depth } => {
                let lock = self.locks.entry(at(object)).or_default();
                match mode {
                    LockMode::Read => {
                        if let Some(at) = lock.readers.iter().position(|&reader| reader == thread) {
                            lock.readers.swap_remove(at);
                        }
                    }
                    _ if depth == 0 => lock.owner = None,
                    _ => {}
                }
            }
            EventKind::WaitBegin { condition, mutex } => {
                let mutex = mutex.map(at);
                self.waiting.insert(thread, Waiting { condition: at(condition), mutex, woken: false });
                if let Some(lock) = mutex.and_then(|mutex| self.locks.get_mut(&mutex)) {
                    lock.owner = None;
                }
            }
            EventKind::StopWaiting { .. } => {
                if let Some(waiting) = self.waiting.get_mut(&thread) {
                    waiting.woken = true;
                }
            }
            EventKind::WaitEnd { mutex, .. } => {
                self.waiting.remove(&thread);
                if let Some(mutex) = mutex {
                    self.locks.entry(at(mutex)).or_default().owner = Some(thread);
                }
            }
            EventKind::Acquire { semaphore } | EventKind::TryAcquire { semaphore, acquired: true } => {
                *self.tokens.entry(at(semaphore)).or_default() -= 1;
            }
            EventKind::Release { semaphore } => *self.tokens.entry(at(semaphore)).or_default() += 1,
            EventKind::BarrierArrive { barrier, .. } => {
                let arrived = self.arrived.entry(at(barrier)).or_default();
                self.at_barrier.insert(thread, (at(barrier), *arrived));
                *arrived += 1;
            }
            EventKind::BarrierLeave { .. } => {
                self.at_barrier.remove(&thread);
            }
            EventKind::Fork { child } => self.forked.push(child),
            EventKind::End => self.ended.push(thread),
            EventKind::ExclusiveBegin => {
                let depth = self.exclusive.map_or(0, |(_, depth)| depth);
                self.exclusive = Some((thread, depth + 1));
            }
            EventKind::ExclusiveEnd => {
                self.exclusive =
                    self.exclusive.filter(|(_, depth)| *depth > 1).map(|(of, depth)| (of, depth - 1));
            }
            _ => {}
        }
    }

    /// What is in memory is known only where it was written in one piece.
    fn write(&mut self, kind: &EventKind) {
        let Some((_, location, bytes, _)) = kind.access() else { return };
        let (start, end) = (location.offset, location.offset.saturating_add(bytes));
        self.values.retain(|&(at, size), _| at >= end || at.saturating_add(u64::from(size)) <= start);
        let written = match *kind {
            EventKind::Write { bytes, value, .. } => Some((bytes, value)),
            // What an update writes depends on what it reads: as recorded, or not known.
            EventKind::CompareExchange { bytes, old, expected, new, .. } if old == expected => {
                Some((bytes, new))
            }
            _ => None,
        };
        if let Some((bytes, value)) = written {
            self.values.insert((start, bytes), value);
        }
    }
}
