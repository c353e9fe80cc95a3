//! Slices: a window of a concurrent trace program as a concurrent trace program of its own
//! (docs/design/engines.md, "Long traces").
//!
//! Long traces are looked at through windows: the recorded run is kept up to a *cut*, and only what follows is put in a new order. Behind
//! the cut all values are known, so memory begins with what it held then, reads before the cut are constants, and semaphores have the
//! tokens that they had. What is still open at the cut goes into the slice as its *past*: acquires of locks that are held, waits that
//! nobody has woken, arrivals at barriers. These are its first events; they have happened already, in this order.
//!
//! A prefix of the recorded run is always feasible, so what a slice shows is real. What it does not show may still be feasible with
//! another beginning.

use crate::{
    Ctp, Event, EventIndex, Expr, ExprId, Expressions, Failing, Kind, Location, LocationId, Object, Read,
    ReadId, Rebuild, Thread,
};
use ir::SyncKind;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use trace::{EventKind, ThreadId};

/// Looks at a concurrent trace program once, so that slices of it are cheap.
pub struct Slices<'c> {
    ctp: &'c Ctp,
    /// For each expression the last read that it depends on, counted from 1; 0 for none.
    latest: Vec<u32>,
    /// For each location the writes of the recorded run: which event, and what; `None` if that is not known.
    contents: Vec<Vec<(EventIndex, Option<u128>)>>,
    /// For each semaphore by how much its tokens have changed since the start, behind which event.
    tokens: BTreeMap<trace::Location, Vec<(EventIndex, i64)>>,
    /// What is open before the events that are a multiple of [`Slices::EVERY`].
    opens: Vec<Open>,
    /// Where the run can be cut: nobody is between being woken and going on, or alone in an exclusive block.
    quiet: Vec<bool>,
}

/// What is open at some point of the recorded run.
#[derive(Clone, Debug, Default)]
struct Open {
    /// Acquires that are not released, waits that are not over, arrivals of rounds that are not complete; in recorded order.
    events: Vec<EventIndex>,
    /// Threads that have been woken, or whose round is complete, and that have not gone on.
    leaving: Vec<ThreadId>,
    exclusive: bool,
}

impl<'c> Slices<'c> {
    const EVERY: usize = 512;

    /// Looks at all events.
    #[must_use]
    pub fn new(ctp: &'c Ctp) -> Slices<'c> {
        let expressions = &ctp.expressions;
        let mut latest = vec![0_u32; expressions.len()];
        for n in 0..expressions.len() {
            let expr = expressions.get(ExprId::new(n));
            let own = if let Expr::Read(read) = expr { read.0 + 1 } else { 0 };
            latest[n] = expr.operands().map(|operand| latest[operand.index()]).fold(own, u32::max);
        }
        let mut slices = Slices {
            ctp,
            latest,
            contents: vec![vec![]; ctp.locations.len()],
            tokens: BTreeMap::new(),
            opens: vec![],
            quiet: Vec::with_capacity(ctp.events.len() + 1),
        };
        let mut open = Open::default();
        for at in (0..ctp.events.len()).map(EventIndex::new) {
            if at.index().is_multiple_of(Self::EVERY) {
                slices.opens.push(open.clone());
            }
            slices.quiet.push(open.leaving.is_empty() && !open.exclusive);
            slices.take_note(at);
            open.step(ctp, at);
        }
        slices.quiet.push(open.leaving.is_empty() && !open.exclusive);
        slices
    }

    fn take_note(&mut self, at: EventIndex) {
        let ctp = self.ctp;
        let happened =
            |when: Option<ExprId>| when.is_none_or(|when| ctp.expressions.recorded(when) == Some(1));
        let event = ctp.event(at);
        for target in event.kind.access().into_iter().flat_map(|access| &access.targets) {
            for write in target.writes.iter().filter(|write| happened(target.when) && happened(write.when)) {
                self.contents[write.location.index()].push((at, ctp.expressions.recorded(write.value)));
            }
        }
        match event.kind {
            Kind::Other(EventKind::Release { semaphore }) => self.count(semaphore, at, 1),
            Kind::Other(
                EventKind::Acquire { semaphore } | EventKind::TryAcquire { semaphore, acquired: true },
            ) => self.count(semaphore, at, -1),
            _ => {}
        }
    }

    fn count(&mut self, semaphore: trace::Location, at: EventIndex, by: i64) {
        let changes = self.tokens.entry(semaphore).or_default();
        let before = changes.last().map_or(0, |&(_, change)| change);
        changes.push((at, before + by));
    }

    /// The latest place at or before an event where the run can be cut.
    #[must_use]
    pub fn cut_before(&self, at: EventIndex) -> EventIndex {
        let at = at.index().min(self.quiet.len() - 1);
        EventIndex::new((0..=at).rev().find(|&n| self.quiet[n]).unwrap_or(0))
    }

    /// What is open before an event.
    fn open(&self, at: EventIndex) -> Open {
        let from = at.index() / Self::EVERY;
        let mut open = self.opens.get(from).cloned().unwrap_or_default();
        (from * Self::EVERY..at.index()).for_each(|n| open.step(self.ctp, EventIndex::new(n)));
        open
    }

    /// What is open at a cut: acquires that are not released, waits that nobody has woken, arrivals of rounds that are not complete.
    #[must_use]
    pub fn open_at(&self, cut: EventIndex) -> Vec<EventIndex> {
        self.open(cut).events
    }

    /// How many tokens a semaphore has at a cut.
    #[must_use]
    pub fn tokens_at(&self, semaphore: trace::Location, cut: EventIndex) -> i64 {
        let start = self.ctp.objects.get(&semaphore).map_or(0, |object| object.count);
        let changes = self.tokens.get(&semaphore).map_or(&[][..], Vec::as_slice);
        let before = changes.partition_point(|&(event, _)| event < cut).checked_sub(1);
        i64::try_from(start).unwrap_or(i64::MAX).saturating_add(before.map_or(0, |last| changes[last].1))
    }

    /// Whether an expression depends on reads before a cut only.
    #[must_use]
    pub fn is_before(&self, expr: ExprId, cut: EventIndex) -> bool {
        let latest = self.latest[expr.index()];
        latest == 0 || self.ctp.reads[latest as usize - 1].event < cut
    }

    /// What a location holds before an event in the recorded run; `None` if that is not known.
    #[must_use]
    pub fn content(&self, location: LocationId, at: EventIndex) -> Option<u128> {
        let writes = &self.contents[location.index()];
        match writes.partition_point(|&(write, _)| write < at).checked_sub(1) {
            Some(last) => writes[last].1,
            None => {
                let initial = self.ctp.location(location).initial?;
                self.ctp.expressions.recorded(initial)
            }
        }
    }

    /// The events from `from` (a place where the run can be cut) up to before `to`, with what is open before them.
    #[must_use]
    pub fn slice(&self, from: EventIndex, to: EventIndex) -> Ctp {
        let ctp = self.ctp;
        let mut past = self.open(from).events;
        past.extend(self.freed_before(from, to));
        past.sort_unstable();
        past.dedup();
        let window = (from.index()..to.index()).map(EventIndex::new);
        let chosen: Vec<EventIndex> = past.iter().copied().chain(window).collect();
        let mut renamer = Renamer::new(self, from, &chosen);
        let mut threads: Vec<Thread> = (ctp.threads.iter())
            .map(|thread| Thread { events: vec![], name: thread.name.clone(), ..*thread })
            .collect();
        let mut by_id = FxHashMap::default();
        let mut freed: BTreeMap<_, Vec<EventIndex>> = BTreeMap::new();
        let mut events: Vec<Event> = vec![];
        for (n, &old) in chosen.iter().enumerate() {
            let new = EventIndex::new(n);
            let mut event = ctp.event(old).clone();
            renamer.rename(&mut event.kind);
            threads[event.thread.index()].events.push(new);
            if !event.silent {
                by_id.insert(event.id, new);
            }
            if let Kind::Other(EventKind::Free { allocation: Some(allocation) }) = event.kind {
                freed.entry(allocation).or_default().push(new);
            }
            events.push(event);
        }
        let objects = self.objects(&events, from);
        let failing = ctp.failing.iter().filter(|failing| from <= failing.branch && failing.branch < to);
        let moved = |old: EventIndex| EventIndex::new(old.index() - from.index() + past.len());
        let failing = failing.map(|failing| Failing { branch: moved(failing.branch), ..*failing }).collect();
        let Renamer { mut expressions, reads, locations, .. } = renamer;
        let locations = locations
            .into_iter()
            .map(|(old, initial)| {
                let location = ctp.location(old).clone();
                let initial = initial.map(|bits| expressions.int(location.width(), bits));
                Location { initial, ..location }
            })
            .collect();
        Ctp {
            expressions,
            threads,
            events,
            reads,
            locations,
            objects,
            freed,
            failing,
            transactions: vec![],
            original_events: ctp.original_events,
            rebuild: Rebuild::default(),
            compiled: ctp.compiled,
            past: past.len(),
            settled: vec![],
            phantoms: vec![],
            standing: vec![],
            rounds: vec![],
            guards: FxHashMap::default(),
            by_id,
        }
    }

    /// Frees before the cut of memory that the window may access.
    fn freed_before(&self, from: EventIndex, to: EventIndex) -> Vec<EventIndex> {
        let ctp = self.ctp;
        if ctp.freed.is_empty() {
            return vec![];
        }
        let accesses = (from.index()..to.index()).filter_map(|n| ctp.events[n].kind.access());
        let targets = accesses.flat_map(|access| access.targets.iter().map(|target| target.place.allocation));
        let targets: FxHashSet<_> = targets.collect();
        let frees = targets.into_iter().filter_map(|allocation| ctp.freed.get(&allocation)).flatten();
        frees.copied().filter(|&free| free < from).collect()
    }

    /// The objects of some events, semaphores with the tokens that they have at the cut.
    fn objects(&self, events: &[Event], from: EventIndex) -> BTreeMap<trace::Location, Object> {
        let mut objects = BTreeMap::new();
        for event in events {
            let Kind::Other(
                EventKind::Acquire { semaphore: at }
                | EventKind::TryAcquire { semaphore: at, .. }
                | EventKind::Release { semaphore: at }
                | EventKind::TokenCount { semaphore: at, .. }
                | EventKind::BarrierArrive { barrier: at, .. }
                | EventKind::BarrierLeave { barrier: at, .. },
            ) = event.kind
            else {
                continue;
            };
            let Some(&object) = self.ctp.objects.get(&at) else { continue };
            objects.entry(at).or_insert_with(|| {
                let count = match object.kind {
                    Some(SyncKind::Barrier) => object.count,
                    _ => u64::try_from(self.tokens_at(at, from)).unwrap_or(0),
                };
                Object { count, ..object }
            });
        }
        objects
    }
}

impl Open {
    /// Takes an event of the recorded run into account.
    fn step(&mut self, ctp: &Ctp, at: EventIndex) {
        let event = ctp.event(at);
        let (Kind::Other(kind), thread) = (&event.kind, event.id.thread) else { return };
        let own = |other: &EventIndex| ctp.event(*other).id.thread == thread;
        let other = |n: &EventIndex| match &ctp.event(*n).kind {
            Kind::Other(kind) => Some(kind.clone()),
            _ => None,
        };
        match *kind {
            EventKind::Lock { .. } | EventKind::TryLock { acquired: Some(_), .. } => self.events.push(at),
            EventKind::Unlock { object, .. } => self.release(ctp, thread, object),
            EventKind::WaitBegin { mutex, .. } => {
                mutex.into_iter().for_each(|mutex| self.release(ctp, thread, mutex));
                self.events.push(at);
            }
            EventKind::StopWaiting { .. } => {
                self.events.retain(|n| !(own(n) && matches!(other(n), Some(EventKind::WaitBegin { .. }))));
                self.leaving.push(thread);
            }
            EventKind::WaitEnd { mutex, .. } => {
                self.events.retain(|n| !(own(n) && matches!(other(n), Some(EventKind::WaitBegin { .. }))));
                self.leaving.retain(|&leaving| leaving != thread);
                // Its mutex is held again, from here.
                if mutex.is_some() {
                    self.events.push(at);
                }
            }
            EventKind::Signal { woken: Some(woken), .. } => self.leaving.push(woken),
            EventKind::Broadcast { condition, .. } => {
                for n in &self.events {
                    if matches!(other(n), Some(EventKind::WaitBegin { condition: of, .. }) if of == condition)
                    {
                        self.leaving.push(ctp.event(*n).id.thread);
                    }
                }
            }
            EventKind::BarrierArrive { barrier, round } => {
                self.events.push(at);
                let here = |n: &EventIndex| matches!(other(n), Some(EventKind::BarrierArrive { barrier: of, round: r }) if (of, r) == (barrier, round));
                let arrived = self.events.iter().filter(|n| here(n)).count() as u64;
                if ctp.objects.get(&barrier).is_some_and(|object| arrived >= object.count) {
                    let threads = self.events.iter().filter(|n| here(n)).map(|n| ctp.event(*n).id.thread);
                    self.leaving.extend(threads);
                    self.events.retain(|n| !here(n));
                }
            }
            EventKind::BarrierLeave { .. } => self.leaving.retain(|&leaving| leaving != thread),
            EventKind::ExclusiveBegin => self.exclusive = true,
            EventKind::ExclusiveEnd => self.exclusive = false,
            _ => {}
        }
    }

    /// The last acquire of a lock by a thread is over.
    fn release(&mut self, ctp: &Ctp, thread: ThreadId, lock: trace::Location) {
        let last = self.events.iter().rposition(|&n| {
            let event = ctp.event(n);
            event.id.thread == thread
                && matches!(
                    event.kind,
                    Kind::Other(
                        EventKind::Lock { object, .. }
                            | EventKind::TryLock { object, .. }
                            | EventKind::WaitEnd { mutex: Some(object), .. }
                    ) if object == lock
                )
        });
        if let Some(last) = last {
            self.events.remove(last);
        }
    }
}

/// Copies events into a slice: with new names for reads, locations and expressions.
struct Renamer<'s> {
    slices: &'s Slices<'s>,
    from: EventIndex,
    expressions: Expressions,
    known: FxHashMap<ExprId, ExprId>,
    reads: Vec<Read>,
    new_reads: FxHashMap<ReadId, ReadId>,
    first_read: u32,
    locations: Vec<(LocationId, Option<u128>)>,
    new_locations: FxHashMap<LocationId, LocationId>,
}

impl<'s> Renamer<'s> {
    fn new(slices: &'s Slices<'s>, from: EventIndex, chosen: &[EventIndex]) -> Renamer<'s> {
        let ctp = slices.ctp;
        let mut renamer = Renamer {
            slices,
            from,
            expressions: Expressions::default(),
            known: FxHashMap::default(),
            reads: vec![],
            new_reads: FxHashMap::default(),
            first_read: u32::MAX,
            locations: vec![],
            new_locations: FxHashMap::default(),
        };
        let new: FxHashMap<EventIndex, EventIndex> =
            chosen.iter().enumerate().map(|(n, &old)| (old, EventIndex::new(n))).collect();
        for &old in chosen {
            for target in ctp.event(old).kind.access().into_iter().flat_map(|access| &access.targets) {
                for &read in &target.reads {
                    let described = ctp.read(read).clone();
                    let location = renamer.location(described.location);
                    let source = described.source.and_then(|source| new.get(&source).copied());
                    renamer.new_reads.insert(read, ReadId::new(renamer.reads.len()));
                    renamer.first_read = renamer.first_read.min(read.0);
                    renamer.reads.push(Read { event: new[&old], location, source, ..described });
                }
            }
        }
        for n in 0..renamer.reads.len() {
            if let Some(when) = renamer.reads[n].when {
                renamer.reads[n].when = Some(renamer.expression(when));
            }
        }
        renamer
    }

    fn location(&mut self, old: LocationId) -> LocationId {
        if let Some(&new) = self.new_locations.get(&old) {
            return new;
        }
        let new = LocationId::new(self.locations.len());
        self.new_locations.insert(old, new);
        self.locations.push((old, self.slices.content(old, self.from)));
        new
    }

    fn rename(&mut self, kind: &mut Kind) {
        kind.for_each_expr(&mut |id| *id = self.expression(*id));
        let access = match kind {
            Kind::Read(access) | Kind::Write(access) | Kind::Update(access) => access,
            Kind::CompareExchange { access, .. } => access,
            _ => return,
        };
        for target in &mut access.targets {
            target.reads.iter_mut().for_each(|read| *read = self.new_reads[&*read]);
            target.writes.iter_mut().for_each(|write| write.location = self.location(write.location));
        }
    }

    /// The expression of the slice: what depends only on reads before it is a constant.
    fn expression(&mut self, root: ExprId) -> ExprId {
        let old = &self.slices.ctp.expressions;
        let mut work = vec![root];
        while let Some(&id) = work.last() {
            if self.known.contains_key(&id) {
                work.pop();
                continue;
            }
            let (expr, width) = (old.get(id), old.width(id));
            // A decision is a function of its hole, whose value is not recorded.
            let is_before = self.slices.latest[id.index()] <= self.first_read && old.recorded(id).is_some();
            let new = match expr {
                _ if is_before => self.expressions.int(width, old.recorded(id).unwrap_or(0)),
                Expr::Read(read) => match self.new_reads.get(&read) {
                    Some(&new) => self.expressions.read(new, width, old.recorded(id).unwrap_or(0)),
                    None => self.expressions.int(width, old.recorded(id).unwrap_or(0)),
                },
                Expr::Hole => self.expressions.hole(width),
                Expr::Unknown => self.expressions.unknown(width),
                Expr::Any(_) => self.expressions.any(width),
                Expr::Const(bits) => self.expressions.int(width, bits),
                _ => {
                    let missing = expr.operands().filter(|operand| !self.known.contains_key(operand));
                    let missing: Vec<ExprId> = missing.collect();
                    if !missing.is_empty() {
                        work.extend(missing);
                        continue;
                    }
                    let new = self.expressions.operation(expr.renamed(|operand| self.known[&operand]), width);
                    match self.expressions.recorded(new).filter(|_| !self.expressions.is_symbolic(new)) {
                        Some(bits) => self.expressions.int(width, bits),
                        None => new,
                    }
                }
            };
            self.known.insert(id, new);
            work.pop();
        }
        self.known[&root]
    }
}
