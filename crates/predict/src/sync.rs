//! The engine `sync`: races and deadlocks that preserve synchronisation (Mathur, Pavlogiannis, Viswanathan, POPL 2021; Tunç et al., PLDI 2023).
//!
//! A sync-preserving run is a part of the recorded run in recorded order: whoever takes a lock second took it second before, and each read
//! sees the write that it saw. So the question is only which part. The *closure* of where the threads are to stand is the smallest set
//! of events that has, with each event, what comes before it in its thread, its fork, the write that it reads from and what it joins, and with
//! two sections of one lock the end of the first. If the closure contains none of the events that are to be next, it is the witness.
//!
//! Objects other than plain mutexes keep the recorded order of all their operations, which is sound. What an event needs besides locks is
//! computed once, in time linear in the trace; a candidate then takes time in the number of threads and locks, not of events. The engine is
//! sound, and incomplete: that it finds nothing says nothing.

use crate::planning::gives_back;
use crate::windows::last_before;
use claim::{Answer, Candidate, Deadlock, Property, Unknown, Witness};
use ctp::{Access, Ctp, EventIndex, Kind};
use rustc_hash::{FxHashMap, FxHashSet};
use trace::{Choice, EventId, EventKind, Location, LockMode, ThreadId, WakeReason};

/// How many events of each thread, as places in the threads' lists.
type Clock = Vec<u32>;

/// A section of a mutex: its acquire, and its release if there is one.
type Section = (EventIndex, Option<EventIndex>);

/// Decides races and circles of locks of one concurrent trace program.
pub struct Sync<'c> {
    ctp: &'c Ctp,
    /// For each event what must have been done before its thread goes on behind it, locks left aside; its own thread up to it included.
    clocks: Vec<Clock>,
    /// For each event its place in its thread's list.
    places: Vec<u32>,
    /// The sections of each plain mutex, by thread and in order: the acquire, and the release if there is one.
    sections: FxHashMap<Location, Vec<Vec<Section>>>,
    /// What settled the events that left a choice open; it does so again, since condition variables keep their order.
    choices: FxHashMap<EventIndex, Choice>,
    /// Some thread excludes all others for a while, which this engine does not look into.
    has_exclusive: bool,
}

impl<'c> Sync<'c> {
    /// Looks at the trace once.
    #[must_use]
    pub fn new(ctp: &'c Ctp) -> Sync<'c> {
        let plain = plain_mutexes(ctp);
        let mut places = vec![0; ctp.events.len()];
        for thread in &ctp.threads {
            thread.events.iter().enumerate().for_each(|(n, at)| places[at.index()] = n as u32);
        }
        let is_exclusive = |event: &ctp::Event| matches!(event.kind, Kind::Other(EventKind::ExclusiveBegin));
        let mut sync = Sync {
            ctp,
            clocks: Vec::with_capacity(ctp.events.len()),
            places,
            sections: FxHashMap::default(),
            choices: choices(ctp),
            has_exclusive: ctp.events.iter().any(is_exclusive),
        };
        sync.set_clocks(&plain);
        sync.set_sections(&plain);
        sync
    }

    fn set_clocks(&mut self, plain: &FxHashSet<Location>) {
        let ctp = self.ctp;
        let threads = ctp.threads.len();
        let numbers: FxHashMap<ThreadId, usize> =
            ctp.threads.iter().enumerate().map(|(n, thread)| (thread.id, n)).collect();
        let mut now: Vec<Clock> = vec![vec![0; threads]; threads];
        let mut last_of: FxHashMap<Location, Clock> = FxHashMap::default();
        for at in (0..ctp.events.len()).map(EventIndex::new) {
            let event = ctp.event(at);
            let me = event.thread.index();
            let mut clock = std::mem::take(&mut now[me]);
            if self.places[at.index()] == 0
                && let Some(fork) = ctp.threads[me].forked_by.and_then(|fork| ctp.find(fork))
            {
                join(&mut clock, &self.clocks[fork.index()]);
            }
            for target in event.kind.access().into_iter().flat_map(|access| &access.targets) {
                for source in target.reads.iter().filter_map(|&read| ctp.read(read).source) {
                    join(&mut clock, &self.clocks[source.index()]);
                }
            }
            if let Kind::Other(EventKind::Join { child }) = &event.kind
                && let Some(&child) = numbers.get(child)
                && let Some(&last) = ctp.threads[child].events.last()
            {
                join(&mut clock, &self.clocks[last.index()]);
            }
            clock[me] = self.places[at.index()] + 1;
            for object in objects(&event.kind).into_iter().flatten().filter(|object| !plain.contains(object))
            {
                let last = last_of.entry(object).or_insert_with(|| vec![0; threads]);
                join(&mut clock, last);
                last.clone_from(&clock);
            }
            now[me] = clock.clone();
            self.clocks.push(clock);
        }
    }

    fn set_sections(&mut self, plain: &FxHashSet<Location>) {
        let ctp = self.ctp;
        for (n, thread) in ctp.threads.iter().enumerate() {
            for &at in &thread.events {
                let Kind::Other(kind) = &ctp.event(at).kind else { continue };
                let of = |object: Location| plain.contains(&object).then_some(object);
                match *kind {
                    EventKind::Lock { object, depth: 1, .. } => {
                        let Some(object) = of(object) else { continue };
                        let all =
                            self.sections.entry(object).or_insert_with(|| vec![vec![]; ctp.threads.len()]);
                        all[n].push((at, None));
                    }
                    EventKind::Unlock { object, depth: 0, .. } => {
                        let all = of(object).and_then(|object| self.sections.get_mut(&object));
                        if let Some((_, release)) = all.and_then(|all| all[n].last_mut()) {
                            *release = Some(at);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Decides a candidate: feasible, or not found.
    #[must_use]
    pub fn answer(&self, candidate: &Candidate) -> Answer {
        let (events, then): (Vec<EventId>, bool) = match candidate {
            Candidate::CoEnabledRace { first, second } => (vec![*first, *second], false),
            Candidate::UnorderedRace { first, second } if gives_back(self.ctp, *first) => {
                (vec![*second, *first], true)
            }
            Candidate::UnorderedRace { first, second } => (vec![*first, *second], true),
            Candidate::Deadlock(Deadlock::Circle(events)) => (events.clone(), false),
            _ => return Answer::Unknown(Unknown::NotAsked),
        };
        if self.has_exclusive {
            return Answer::Unknown(Unknown::NotPreserved);
        }
        let found: Option<Vec<EventIndex>> = events.iter().map(|&id| self.ctp.find(id)).collect();
        let Some(found) = found else {
            return Answer::Unknown(Unknown::NotInTrace("an event that others can notice".to_owned()));
        };
        let is_race = candidate.property() == Property::Race;
        if is_race && !matches!(found[..], [a, b] if self.conflict(a, b)) {
            return Answer::Unknown(Unknown::NotPreserved);
        }
        match self.closure(&found) {
            Some(closure) => Answer::Feasible(self.witness(&closure, &events, then)),
            None => Answer::Unknown(Unknown::NotPreserved),
        }
    }

    /// Whether two events surely conflict where they are in the recorded run. Whether a compare-and-exchange writes, what it finds there says.
    fn conflict(&self, a: EventIndex, b: EventIndex) -> bool {
        let (one, other) = (&self.ctp.event(a).kind, &self.ctp.event(b).kind);
        let writes = |kind: &Kind| matches!(kind, Kind::Write(_) | Kind::Update(_));
        match (one.access(), other.access()) {
            (Some(x), Some(y)) => {
                x.recorded.allocation == y.recorded.allocation
                    && x.recorded.offset < y.recorded.offset + y.bytes
                    && y.recorded.offset < x.recorded.offset + x.bytes
                    && (writes(one) || writes(other))
            }
            (Some(access), None) => frees(other, access),
            (None, Some(access)) => frees(one, access),
            (None, None) => false,
        }
    }

    /// The closure of all that comes before these events in their threads; `None` if it contains one of them, or cannot be.
    fn closure(&self, stand: &[EventIndex]) -> Option<Clock> {
        let ctp = self.ctp;
        let mut closure: Clock = vec![0; ctp.threads.len()];
        for &at in stand {
            let (thread, place) = (ctp.event(at).thread.index(), self.places[at.index()] as usize);
            match place.checked_sub(1) {
                Some(before) => {
                    join(&mut closure, &self.clocks[ctp.threads[thread].events[before].index()]);
                }
                None => {
                    let fork = ctp.threads[thread].forked_by.and_then(|fork| ctp.find(fork));
                    fork.into_iter().for_each(|fork| join(&mut closure, &self.clocks[fork.index()]));
                }
            }
        }
        loop {
            let mut grown = closure.clone();
            for sections in self.sections.values() {
                // The last section of each thread that has begun; all but the last of them must be over.
                let begun = sections.iter().enumerate().filter_map(|(thread, own)| {
                    let inside =
                        |&(acquire, _): &(EventIndex, _)| self.places[acquire.index()] < closure[thread];
                    own.partition_point(inside).checked_sub(1).map(|last| own[last])
                });
                let begun: Vec<Section> = begun.collect();
                let latest = begun.iter().map(|&(acquire, _)| acquire).max();
                for &(acquire, release) in &begun {
                    if Some(acquire) != latest {
                        join(&mut grown, &self.clocks[release?.index()]);
                    }
                }
            }
            let is_inside = |&at: &EventIndex| self.places[at.index()] < grown[ctp.event(at).thread.index()];
            if stand.iter().any(is_inside) {
                return None;
            }
            if grown == closure {
                return Some(closure);
            }
            closure = grown;
        }
    }

    /// The events of a closure in recorded order. What all threads have done from the beginning on is kept as recorded.
    fn witness(&self, closure: &Clock, events: &[EventId], then: bool) -> Witness {
        let ctp = self.ctp;
        // The first event that is left out, and the last that is not.
        let threads = ctp.threads.iter().zip(closure);
        let left_out = threads.clone().filter_map(|(thread, &done)| thread.events.get(done as usize)).min();
        let last = threads.filter_map(|(thread, &done)| thread.events.get((done as usize).checked_sub(1)?));
        let (cut, end) = (left_out.map_or(ctp.events.len(), |at| at.index()), last.max());
        let inside = |at: &usize| self.places[*at] < closure[ctp.events[*at].thread.index()];
        let rest = (cut..end.map_or(cut, |at| at.index() + 1)).filter(inside);
        let rest: Vec<EventIndex> = rest.map(EventIndex::new).collect();
        let heard = rest.iter().map(|&at| ctp.event(at)).filter(|event| !event.silent);
        let mut witness = Witness {
            recorded: last_before(ctp, EventIndex::new(cut)),
            order: heard.map(|event| event.id).collect(),
            choices: rest.iter().filter_map(|at| self.choices.get(at).copied()).collect(),
        };
        let before = |id: &EventId| ctp.before(*id);
        let last: Vec<EventId> = if then { events.to_vec() } else { events.iter().map(before).collect() };
        for id in last.into_iter().filter(|id| id.n > 0) {
            let of = |done: &&EventId| done.thread == id.thread;
            let is_done = witness.order.iter().rev().find(of).is_some_and(|done| done.n >= id.n);
            witness.order.extend((!is_done).then_some(id));
        }
        witness
    }
}

/// Whether an event gives back what is accessed.
fn frees(kind: &Kind, access: &Access) -> bool {
    let freed = Some(access.recorded.allocation);
    matches!(kind, Kind::Other(EventKind::Free { allocation }) if *allocation == freed)
}

/// The choices of the recorded run, by the events that they settled.
fn choices(ctp: &Ctp) -> FxHashMap<EventIndex, Choice> {
    let mut choices = FxHashMap::default();
    let mut waiting: FxHashMap<Location, u32> = FxHashMap::default();
    for (n, event) in ctp.events.iter().enumerate() {
        let at = EventIndex::new(n);
        let Kind::Other(kind) = &event.kind else { continue };
        match *kind {
            EventKind::WaitBegin { condition, .. } => *waiting.entry(condition).or_default() += 1,
            EventKind::Signal { condition, woken: Some(woken) } => {
                let waiting = waiting.entry(condition).or_default();
                if *waiting > 1 {
                    choices.insert(at, Choice::Wake(woken));
                }
                *waiting = waiting.saturating_sub(1);
            }
            EventKind::Broadcast { condition, .. } => _ = waiting.remove(&condition),
            EventKind::StopWaiting { condition, reason } => {
                let spurious = reason == WakeReason::Spurious;
                choices.insert(at, if spurious { Choice::Spurious } else { Choice::Expire });
                let waiting = waiting.entry(condition).or_default();
                *waiting = waiting.saturating_sub(1);
            }
            _ => {}
        }
    }
    choices
}

fn join(clock: &mut Clock, other: &Clock) {
    clock.iter_mut().zip(other).for_each(|(own, other)| *own = (*own).max(*other));
}

/// Mutexes that are only ever locked and unlocked: no tries, and no waits on condition variables.
fn plain_mutexes(ctp: &Ctp) -> FxHashSet<Location> {
    let (mut plain, mut others) = (FxHashSet::default(), FxHashSet::default());
    for event in &ctp.events {
        let Kind::Other(kind) = &event.kind else { continue };
        match *kind {
            EventKind::Lock { object, mode: LockMode::Mutex, .. } => _ = plain.insert(object),
            EventKind::Unlock { mode: LockMode::Mutex, .. } => {}
            _ => others.extend(objects(&event.kind).into_iter().flatten()),
        }
    }
    plain.retain(|object| !others.contains(object));
    plain
}

/// The synchronisation objects, and the memory that is given back, that an event is about.
fn objects(kind: &Kind) -> [Option<Location>; 2] {
    let Kind::Other(kind) = kind else { return [None; 2] };
    match *kind {
        EventKind::Lock { object, .. }
        | EventKind::TryLock { object, .. }
        | EventKind::Unlock { object, .. } => [Some(object), None],
        EventKind::WaitBegin { condition, mutex } | EventKind::WaitEnd { condition, mutex, .. } => {
            [Some(condition), mutex]
        }
        EventKind::StopWaiting { condition: object, .. }
        | EventKind::Signal { condition: object, .. }
        | EventKind::Broadcast { condition: object, .. }
        | EventKind::Acquire { semaphore: object }
        | EventKind::TryAcquire { semaphore: object, .. }
        | EventKind::Release { semaphore: object }
        | EventKind::TokenCount { semaphore: object, .. }
        | EventKind::BarrierArrive { barrier: object, .. }
        | EventKind::BarrierLeave { barrier: object, .. } => [Some(object), None],
        _ => [None; 2],
    }
}
