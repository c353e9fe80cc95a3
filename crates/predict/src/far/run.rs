//! A run of the concurrent trace program with plain numbers, from a cut of the recorded run on.

use ctp::{Access, Ctp, EventIndex, Expr, ExprId, Kind, LocationId, ReadId, Slices, ThreadIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use trace::{AllocationId, Choice, EventId, EventKind, Location, LockMode, ThreadId, WakeReason};

/// The state of the run.
pub struct Run<'c> {
    ctp: &'c Ctp,
    slices: &'c Slices<'c>,
    from: EventIndex,
    same_values: bool,
    stopped: Vec<bool>,
    /// Per thread: its next event, as a place in its list.
    next: Vec<usize>,
    contents: FxHashMap<LocationId, Option<u128>>,
    /// What reads behind the cut have seen, and values of expressions once some read saw something else.
    seen: FxHashMap<ReadId, u128>,
    values: FxHashMap<ExprId, Option<u128>>,
    differs: bool,
    locks: FxHashMap<Location, Vec<(ThreadId, LockMode)>>,
    tokens: FxHashMap<Location, i64>,
    /// Who waits for a condition; who has been woken.
    waiting: FxHashMap<Location, Vec<ThreadId>>,
    woken: FxHashSet<ThreadId>,
    arrived: FxHashMap<Location, u64>,
    freed: FxHashSet<AllocationId>,
    ended: FxHashSet<ThreadId>,
    exclusive: Option<ThreadId>,
    order: Vec<EventId>,
    choices: Vec<Choice>,
}

impl<'c> Run<'c> {
    /// The state of the recorded run at a cut.
    pub fn new(ctp: &'c Ctp, slices: &'c Slices<'c>, from: EventIndex, same_values: bool) -> Run<'c> {
        let next = ctp.threads.iter().map(|thread| thread.events.partition_point(|&at| at < from)).collect();
        let mut run = Run {
            ctp,
            slices,
            from,
            same_values,
            stopped: vec![false; ctp.threads.len()],
            next,
            contents: FxHashMap::default(),
            seen: FxHashMap::default(),
            values: FxHashMap::default(),
            differs: false,
            locks: FxHashMap::default(),
            tokens: FxHashMap::default(),
            waiting: FxHashMap::default(),
            woken: FxHashSet::default(),
            arrived: FxHashMap::default(),
            freed: FxHashSet::default(),
            ended: FxHashSet::default(),
            exclusive: None,
            order: vec![],
            choices: vec![],
        };
        for at in slices.open_at(from) {
            let thread = ctp.event(at).id.thread;
            if let Kind::Other(kind) = &ctp.event(at).kind {
                match *kind {
                    EventKind::Lock { object, mode, .. } | EventKind::TryLock { object, mode, .. } => {
                        run.locks.entry(object).or_default().push((thread, mode));
                    }
                    EventKind::WaitEnd { mutex: Some(mutex), .. } => {
                        run.locks.entry(mutex).or_default().push((thread, LockMode::Mutex));
                    }
                    EventKind::WaitBegin { condition, .. } => {
                        run.waiting.entry(condition).or_default().push(thread);
                    }
                    EventKind::BarrierArrive { barrier, .. } => *run.arrived.entry(barrier).or_default() += 1,
                    _ => {}
                }
            }
        }
        for (thread, &next) in ctp.threads.iter().zip(&run.next) {
            if next == thread.events.len() && next > 0 {
                run.ended.insert(thread.id);
            }
        }
        run.freed.extend(
            ctp.freed.iter().filter(|(_, frees)| frees.iter().any(|&free| free < from)).map(|f| *f.0),
        );
        run
    }

    /// The events that were done behind the cut, and the choices.
    pub fn done(self) -> (Vec<EventId>, Vec<Choice>) {
        (self.order, self.choices)
    }

    pub fn stop(&mut self, thread: ThreadIndex) {
        self.stopped[thread.index()] = true;
    }

    pub fn stop_all_but(&mut self, threads: &[ThreadIndex]) {
        for n in (0..self.stopped.len()).filter(|&n| !threads.contains(&ThreadIndex::new(n))) {
            self.stopped[n] = true;
        }
    }

    pub fn resume(&mut self, thread: ThreadIndex) {
        self.stopped[thread.index()] = false;
    }

    /// All events from one up to before another, in recorded order; a thread that cannot do its event stops.
    pub fn go_on(&mut self, from: EventIndex, to: EventIndex) {
        for at in (from.index()..to.index()).map(EventIndex::new) {
            let thread = self.ctp.event(at).thread;
            if !self.stopped[thread.index()] && !self.step(at) {
                self.stop(thread);
            }
        }
    }

    /// Whether the next event of its thread is this one.
    pub fn stands_before(&self, at: EventIndex) -> bool {
        let thread = self.ctp.event(at).thread;
        let mut ahead = self.ctp.thread(thread).events[self.next[thread.index()]..].iter();
        !self.stopped[thread.index()] && ahead.next() == Some(&at)
    }

    /// Does the next event of a thread, if it can be done and comes out as recorded.
    pub fn step_of(&mut self, thread: ThreadIndex) -> bool {
        let next = self.ctp.thread(thread).events.get(self.next[thread.index()]).copied();
        next.is_some_and(|next| self.step(next))
    }

    /// Does an event, if it is its thread's next, can be done, and comes out as recorded.
    pub fn step(&mut self, at: EventIndex) -> bool {
        let event = self.ctp.event(at);
        let possible = self.stands_before(at)
            && self.exclusive.is_none_or(|owner| owner == event.id.thread)
            && self.is_forked(event.thread)
            && self.perform(at);
        if possible {
            self.next[event.thread.index()] += 1;
            if !event.silent {
                self.order.push(event.id);
            }
        }
        possible
    }

    fn is_forked(&self, thread: ThreadIndex) -> bool {
        let fork = self.ctp.thread(thread).forked_by.and_then(|fork| self.ctp.find(fork));
        fork.is_none_or(|fork| {
            let parent = self.ctp.event(fork).thread;
            let events = &self.ctp.thread(parent).events;
            events.partition_point(|&at| at <= fork) <= self.next[parent.index()]
        })
    }

    fn perform(&mut self, at: EventIndex) -> bool {
        let event = self.ctp.event(at);
        match &event.kind {
            Kind::Read(access) | Kind::Write(access) | Kind::Update(access) => self.access(access, None),
            Kind::CompareExchange { access, equal, success } => self.access(access, Some((*equal, *success))),
            Kind::Branch { as_recorded: condition, .. }
            | Kind::Assume { condition }
            | Kind::Require { condition, .. }
            | Kind::Assert { condition, .. }
            | Kind::Pin { holds: condition, .. } => self.value(*condition) == Some(1),
            Kind::Fence(_) => true,
            Kind::Other(kind) => self.synchronise(event.id.thread, kind),
        }
    }

    fn access(&mut self, access: &Access, outcome: Option<(ExprId, bool)>) -> bool {
        let mut hit = false;
        for target in &access.targets {
            let here = target.when.is_none_or(|when| self.value(when) == Some(1));
            hit |= here;
            if here && self.freed.contains(&target.place.allocation) {
                return false;
            }
            for &read in &target.reads {
                let described = self.ctp.read(read);
                let happens = here && described.when.is_none_or(|when| self.value(when) == Some(1));
                let value = if happens { self.content(described.location) } else { Some(0) };
                let Some(value) = value else { return false };
                if value != described.recorded {
                    if self.same_values {
                        return false;
                    }
                    self.differs = true;
                }
                self.seen.insert(read, value);
            }
        }
        if !hit || access.hits.is_some_and(|hits| self.value(hits) != Some(1)) {
            return false;
        }
        if let Some((equal, success)) = outcome
            && self.value(equal) != Some(u128::from(success))
        {
            return false;
        }
        for target in &access.targets {
            let here = target.when.is_none_or(|when| self.value(when) == Some(1));
            for write in target.writes.iter().filter(|_| here) {
                if write.when.is_none_or(|when| self.value(when) == Some(1)) {
                    let value = self.value(write.value);
                    self.contents.insert(write.location, value);
                }
            }
        }
        true
    }

    fn content(&mut self, location: LocationId) -> Option<u128> {
        let (slices, from) = (self.slices, self.from);
        *self.contents.entry(location).or_insert_with(|| slices.content(location, from))
    }

    /// The value of an expression now.
    fn value(&mut self, root: ExprId) -> Option<u128> {
        let expressions = &self.ctp.expressions;
        if !self.differs || !expressions.is_symbolic(root) {
            return expressions.recorded(root);
        }
        let mut work = vec![root];
        while let Some(&id) = work.last() {
            if self.values.contains_key(&id) {
                work.pop();
                continue;
            }
            let expr = expressions.get(id);
            let value = match expr {
                Expr::Read(read) => self.seen.get(&read).copied().or(expressions.recorded(id)),
                _ if !expressions.is_symbolic(id) || self.slices.is_before(id, self.from) => {
                    expressions.recorded(id)
                }
                _ => {
                    let missing = expr.operands().filter(|operand| !self.values.contains_key(operand));
                    let missing: Vec<ExprId> = missing.collect();
                    if !missing.is_empty() {
                        work.extend(missing);
                        continue;
                    }
                    let known = |operand| self.values.get(&operand).copied().flatten();
                    expressions.value_of(expr, expressions.width(id), known)
                }
            };
            self.values.insert(id, value);
            work.pop();
        }
        self.values.get(&root).copied().flatten()
    }

    /// Whether a thread that waits for a condition has been woken.
    pub fn is_woken(&self, thread: ThreadIndex) -> bool {
        self.woken.contains(&self.ctp.thread(thread).id)
    }

    /// Whether these one-bit expressions would be 1 if these of their reads were done now.
    pub fn comes_out(&mut self, conditions: &[ExprId], reads: &[ReadId]) -> bool {
        let now: FxHashMap<ReadId, Option<u128>> =
            reads.iter().map(|&read| (read, self.content(self.ctp.read(read).location))).collect();
        let value = |read: ReadId| match now.get(&read) {
            Some(&content) => content,
            None => self.seen.get(&read).copied().or(Some(self.ctp.read(read).recorded)),
        };
        conditions.iter().all(|&condition| self.ctp.expressions.evaluate(condition, value) == Some(1))
    }

    fn is_free(&self, lock: Location, thread: ThreadId, mode: LockMode) -> bool {
        let holders = self.locks.get(&lock).map_or(&[][..], Vec::as_slice);
        holders
            .iter()
            .all(|&(holder, held)| holder == thread || (held == LockMode::Read && mode == LockMode::Read))
    }

    fn synchronise(&mut self, thread: ThreadId, kind: &EventKind) -> bool {
        match *kind {
            EventKind::Lock { object, mode, .. } => {
                let free = self.is_free(object, thread, mode);
                self.locks.entry(object).or_default().extend(free.then_some((thread, mode)));
                free
            }
            EventKind::TryLock { object, mode, acquired } => {
                let free = self.is_free(object, thread, mode);
                self.locks
                    .entry(object)
                    .or_default()
                    .extend((free && acquired.is_some()).then_some((thread, mode)));
                free == acquired.is_some()
            }
            EventKind::Unlock { object, .. } => self.release(object, thread),
            EventKind::WaitBegin { condition, mutex } => {
                self.waiting.entry(condition).or_default().push(thread);
                mutex.is_none_or(|mutex| self.release(mutex, thread))
            }
            EventKind::StopWaiting { condition, reason } => {
                let waiting = self.waiting.entry(condition).or_default();
                let before = waiting.len();
                waiting.retain(|&waiter| waiter != thread);
                self.choices.push(if reason == WakeReason::Spurious {
                    Choice::Spurious
                } else {
                    Choice::Expire
                });
                self.woken.insert(thread);
                waiting.len() < before
            }
            EventKind::WaitEnd { mutex, .. } => {
                let free = mutex.is_none_or(|mutex| self.is_free(mutex, thread, LockMode::Mutex));
                let possible = free && self.woken.remove(&thread);
                if let Some(mutex) = mutex.filter(|_| possible) {
                    self.locks.entry(mutex).or_default().push((thread, LockMode::Mutex));
                }
                possible
            }
            EventKind::Signal { condition, woken } => {
                let waiting = self.waiting.entry(condition).or_default();
                let chosen = waiting.iter().copied().find(|&waiter| Some(waiter) == woken);
                let chosen = chosen.or(waiting.first().copied());
                if waiting.len() > 1 {
                    self.choices.extend(chosen.map(Choice::Wake));
                }
                waiting.retain(|&waiter| Some(waiter) != chosen);
                self.woken.extend(chosen);
                true
            }
            EventKind::Broadcast { condition, .. } => {
                self.woken.extend(self.waiting.remove(&condition).unwrap_or_default());
                true
            }
            EventKind::Acquire { semaphore } => self.take(semaphore),
            EventKind::TryAcquire { semaphore, acquired: true } => self.take(semaphore),
            EventKind::TryAcquire { semaphore, acquired: false } => *self.tokens(semaphore) == 0,
            EventKind::TokenCount { semaphore, value } => i64::try_from(value) == Ok(*self.tokens(semaphore)),
            EventKind::Release { semaphore } => {
                *self.tokens(semaphore) += 1;
                true
            }
            EventKind::BarrierArrive { barrier, .. } => {
                *self.arrived.entry(barrier).or_default() += 1;
                true
            }
            EventKind::BarrierLeave { barrier, .. } => {
                // Rounds are recorded ones as long as as many arrive; whatever else is not looked into.
                let parties = self.ctp.objects.get(&barrier).map_or(1, |object| object.count.max(1));
                self.arrived.get(&barrier).is_some_and(|arrived| arrived.is_multiple_of(parties))
            }
            EventKind::Join { child } => {
                let n = self.ctp.threads.iter().position(|thread| thread.id == child);
                n.is_none_or(|n| {
                    self.next[n] == self.ctp.threads[n].events.len() || self.ended.contains(&child)
                })
            }
            EventKind::Free { allocation: Some(allocation) } => self.freed.insert(allocation),
            EventKind::ExclusiveBegin => {
                self.exclusive = Some(thread);
                true
            }
            EventKind::ExclusiveEnd => {
                self.exclusive = None;
                true
            }
            EventKind::Fault { .. } => false,
            _ => true,
        }
    }

    fn release(&mut self, lock: Location, thread: ThreadId) -> bool {
        let holders = self.locks.entry(lock).or_default();
        let held = holders.iter().rposition(|&(holder, _)| holder == thread);
        held.is_some_and(|held| {
            holders.remove(held);
            true
        })
    }

    fn tokens(&mut self, semaphore: Location) -> &mut i64 {
        let (slices, from) = (self.slices, self.from);
        self.tokens.entry(semaphore).or_insert_with(|| slices.tokens_at(semaphore, from))
    }

    fn take(&mut self, semaphore: Location) -> bool {
        let tokens = self.tokens(semaphore);
        let possible = *tokens > 0;
        *tokens -= i64::from(possible);
        possible
    }
}
