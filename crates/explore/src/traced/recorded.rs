//! A run of a subject, cut into steps.

use super::spin::{Rounds, Seen, add_reads, rounds};
use super::state::{At, Counts, State, named};
use crate::paths::{is_compiled, outside};
use ir::{Op, Program, SiteId, SiteIndex, SyncOp};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::rc::Rc;
use subject::{Footprint, Move, Run};
use trace::{
    BlockedThread, Choice, Event, EventKind, Location, LockMode, Outcome, ThreadId, Trace, WaitsFor,
    WakeReason,
};

/// A step of a run: an event that others can notice, or the end of the process.
#[derive(Clone, Debug)]
pub struct Step {
    pub made: Move,
    /// What is done, with objects named by their addresses; `None` if it is the end of the process.
    pub kind: Option<EventKind>,
    pub site: SiteId,
    /// The number of the event.
    pub n: u64,
    pub footprint: Rc<Footprint>,
}

/// What a thread would do behind the end of a run.
#[derive(Clone, Debug)]
pub struct Next {
    pub kind: EventKind,
    pub site: SiteId,
    /// It is the first that the thread does.
    pub first: bool,
    /// What the thread has read in the round without effect that it has just gone.
    pub round: Option<Rc<[Seen]>>,
}

/// A run.
#[derive(Debug)]
pub struct Recorded {
    pub trace: Trace,
    pub steps: Vec<Step>,
    /// For each thread its steps, and its fork if it has one.
    own: FxHashMap<ThreadId, Vec<usize>>,
    /// What threads that something kept from going on would do, if it is known.
    pub blocked: FxHashMap<ThreadId, Next>,
    /// Threads that have ended without anybody noticing it.
    pub over: FxHashSet<ThreadId>,
    /// So many segments of it are those of a schedule.
    pub followed: usize,
    /// Where threads have gone round without effect, if that is looked for.
    pub rounds: Rounds,
}

/// What a program says about its instructions.
pub struct Sites<'p> {
    program: &'p Program,
    index: SiteIndex,
    /// Somebody may wait for the end of a thread.
    joins: bool,
    /// Loops that only wait are recognised.
    pub spins: bool,
}

impl<'p> Sites<'p> {
    pub fn new(program: &'p Program, spins: bool) -> Sites<'p> {
        let all = program.functions.iter().flat_map(|function| &function.blocks);
        let joins = |op: &Op| matches!(op, Op::Sync { op: SyncOp::Join, .. });
        // Compiled programs do so by what they call.
        let joins =
            is_compiled(program) || all.flat_map(|block| &block.instructions).any(|one| joins(&one.op));
        Sites { program, index: SiteIndex::new(program), joins, spins }
    }

    fn op(&self, site: SiteId) -> Option<&'p Op> {
        self.index.op(self.program, site)
    }

    /// The function outside the program that is called there.
    fn called(&self, site: SiteId) -> Option<&'p str> {
        self.index.called(self.program, site)
    }

    /// Whether a schedule decides that the wait there ends by itself.
    pub fn is_timed(&self, site: SiteId) -> bool {
        self.index.is_timed_wait(self.program, site)
    }

    fn lock_mode(&self, site: SiteId) -> LockMode {
        match self.op(site) {
            Some(Op::Sync { op: SyncOp::ReadLock, .. }) => LockMode::Read,
            Some(Op::Sync { op: SyncOp::WriteLock, .. }) => LockMode::Write,
            _ if self.called(site).is_some_and(|name| name.contains("rdlock")) => LockMode::Read,
            _ => LockMode::Mutex,
        }
    }

    /// Whether somebody else can notice an event.
    pub fn is_noticed(&self, event: &Event) -> bool {
        match event.kind {
            // What a known function does to memory and objects are events of their own.
            EventKind::External { .. } => {
                let unknown = self.called(event.site).is_some_and(|name| outside::unknown(name).is_some());
                unknown && !self.is_timed(event.site)
            }
            EventKind::End => self.joins,
            ref kind => kind.may_be_visible(),
        }
    }
}

impl Recorded {
    /// Cuts a run, which followed so many segments of a schedule, into its steps. What it shows of objects is added to what is known of them.
    pub fn new(run: Run, followed: usize, sites: &Sites<'_>, counts: &mut Counts) -> Recorded {
        let trace = run.trace;
        count(&trace, counts);
        let rounds = if sites.spins { rounds(sites.program, &trace, sites) } else { Rounds::default() };
        let mut cut = Cut {
            trace: &trace,
            sites,
            rounds: &rounds,
            state: State::default(),
            steps: vec![],
            own: FxHashMap::default(),
        };
        let mut over = FxHashSet::default();
        for event in &trace.events {
            if sites.is_noticed(event) {
                cut.step(event);
            } else if event.kind == EventKind::End {
                over.insert(event.id.thread);
            }
        }
        if matches!(trace.outcome, Outcome::Exited { .. }) {
            cut.end();
        }
        let standing = match &trace.outcome {
            Outcome::Deadlock { blocked } => &blocked[..],
            _ => &[],
        };
        let blocked = standing.iter().filter_map(|one| Some((one.thread, cut.next(one)?))).collect();
        let Cut { steps, own, .. } = cut;
        Recorded { trace, steps, own, blocked, over, followed, rounds }
    }

    /// A thread's steps.
    pub fn own(&self, thread: ThreadId) -> &[usize] {
        self.own.get(&thread).map_or(&[], Vec::as_slice)
    }

    /// What a thread does, or would do, that has done so many events: what it sees before that is the same in all runs.
    pub fn next(&self, thread: ThreadId, done: u64) -> Option<Next> {
        let mut own = self.own(thread).iter().map(|&step| &self.steps[step]);
        let first = own.clone().next().map(|step| step.n);
        match own.find(|step| step.n > done) {
            Some(step) => {
                let first = first == Some(step.n);
                let last =
                    self.own(thread).iter().map(|&step| self.steps[step].n).take_while(|&n| n <= done).last();
                let round = last.and_then(|last| self.rounds.get(&(thread, last))).cloned();
                Some(Next { kind: step.kind.clone()?, site: step.site, first, round })
            }
            None => self.blocked.get(&thread).cloned(),
        }
    }

    /// All threads of the run.
    pub fn threads(&self) -> impl Iterator<Item = ThreadId> {
        self.trace.threads.iter().map(|thread| thread.id)
    }

    /// The steps that all that a thread has done comes after, with it, in order; and what others need to leave the sections that they are in then.
    pub fn causes_of(&self, thread: ThreadId) -> Vec<usize> {
        let mut causes = BTreeSet::new();
        let last = self.own(thread).last().copied().or_else(|| self.fork(thread));
        last.into_iter().for_each(|last| self.add_causes(&mut causes, last));
        loop {
            let is_new = |end: &usize| !causes.contains(end);
            let ends: Vec<usize> =
                self.ends_of_sections(&causes, thread).into_iter().filter(is_new).collect();
            if ends.is_empty() {
                return causes.into_iter().collect();
            }
            ends.into_iter().for_each(|end| self.add_causes(&mut causes, end));
        }
    }

    /// Adds a step and all that it comes after.
    fn add_causes(&self, causes: &mut BTreeSet<usize>, last: usize) {
        let mut new = vec![last];
        for at in (0..last).rev() {
            let step = &self.steps[at];
            let is_cause = |&later: &usize| {
                let later = &self.steps[later];
                later.made.thread == step.made.thread || later.footprint.conflicts(&step.footprint)
            };
            if new.iter().any(is_cause) {
                new.push(at);
            }
        }
        causes.extend(new);
    }

    /// Where others than a thread leave the sections that they are in behind these steps.
    fn ends_of_sections(&self, steps: &BTreeSet<usize>, thread: ThreadId) -> Vec<usize> {
        let mut open: FxHashMap<(ThreadId, Location), usize> = FxHashMap::default();
        for &at in steps {
            let Step { made, kind: Some(kind), .. } = &self.steps[at] else { continue };
            taken(kind).into_iter().for_each(|lock| _ = open.insert((made.thread, lock), at));
            given_back(kind).into_iter().for_each(|lock| _ = open.remove(&(made.thread, lock)));
        }
        let end = |(&(of, lock), &begin): (&(ThreadId, Location), &usize)| {
            let gives = |at: &usize| self.steps[*at].kind.as_ref().and_then(given_back) == Some(lock);
            self.own(of).iter().copied().find(|at| *at > begin && gives(at))
        };
        open.iter().filter(|((of, _), _)| *of != thread).filter_map(end).collect()
    }

    /// The step that forked a thread.
    pub fn fork(&self, thread: ThreadId) -> Option<usize> {
        let forks = |step: &Step| step.kind == Some(EventKind::Fork { child: thread });
        self.steps.iter().position(forks)
    }
}

/// The lock that an event takes.
fn taken(kind: &EventKind) -> Option<Location> {
    match *kind {
        EventKind::Lock { object, .. } | EventKind::TryLock { object, acquired: Some(_), .. } => Some(object),
        EventKind::WaitEnd { mutex, .. } => mutex,
        _ => None,
    }
}

/// The lock that an event gives back.
fn given_back(kind: &EventKind) -> Option<Location> {
    match *kind {
        EventKind::Unlock { object, depth: 0, .. } => Some(object),
        EventKind::WaitBegin { mutex, .. } => mutex,
        _ => None,
    }
}

pub fn address(trace: &Trace, location: Location) -> u64 {
    let allocation = trace.allocations.get(location.allocation.0 as usize);
    allocation.map_or(0, |allocation| allocation.address).wrapping_add(location.offset)
}

/// What a run shows about semaphores and barriers: the most tokens that were missing at once, and who meets.
fn count(trace: &Trace, counts: &mut Counts) {
    let mut tokens: FxHashMap<At, i64> = FxHashMap::default();
    let mut rounds: FxHashMap<(At, u64), u64> = FxHashMap::default();
    let least = |counts: &mut Counts, at: At, tokens: i64, exact: bool| {
        let known = counts.tokens.entry(at).or_insert((0, false));
        *known = (known.0.max(tokens), known.1 || exact);
    };
    for event in &trace.events {
        match event.kind {
            EventKind::Acquire { semaphore } | EventKind::TryAcquire { semaphore, acquired: true } => {
                let at = address(trace, semaphore);
                let now = tokens.entry(at).or_default();
                *now -= 1;
                least(counts, at, -*now, false);
            }
            EventKind::TryAcquire { semaphore, acquired: false } => {
                let at = address(trace, semaphore);
                least(counts, at, -tokens.get(&at).copied().unwrap_or(0), true);
            }
            EventKind::TokenCount { semaphore, value } => {
                let at = address(trace, semaphore);
                let value = i64::try_from(value).unwrap_or(i64::MAX);
                least(counts, at, value.saturating_sub(tokens.get(&at).copied().unwrap_or(0)), true);
            }
            EventKind::Release { semaphore } => *tokens.entry(address(trace, semaphore)).or_default() += 1,
            EventKind::BarrierArrive { barrier, round } => {
                *rounds.entry((address(trace, barrier), round)).or_default() += 1;
            }
            EventKind::BarrierLeave { barrier, round } => {
                let at = address(trace, barrier);
                counts.parties.entry(at).or_insert(rounds.get(&(at, round)).copied().unwrap_or(1));
            }
            _ => {}
        }
    }
    if let Outcome::Deadlock { blocked } = &trace.outcome {
        for one in blocked {
            match one.waits_for {
                WaitsFor::Semaphore { object } => {
                    let at = address(trace, object);
                    least(counts, at, -tokens.get(&at).copied().unwrap_or(0), true);
                }
                WaitsFor::Barrier { object, parties, .. } => {
                    counts.parties.insert(address(trace, object), parties);
                }
                _ => {}
            }
        }
    }
}

/// A run that is being cut.
struct Cut<'t, 'p> {
    trace: &'t Trace,
    sites: &'t Sites<'p>,
    rounds: &'t Rounds,
    state: State,
    steps: Vec<Step>,
    own: FxHashMap<ThreadId, Vec<usize>>,
}

impl Cut<'_, '_> {
    fn step(&mut self, event: &Event) {
        let thread = event.id.thread;
        let kind = named(&event.kind, |location| address(self.trace, location));
        let (choice, woken) = match kind {
            EventKind::Signal { condition, woken: Some(woken) } => {
                let several = self.state.waiters(condition.offset).len() > 1;
                (several.then_some(Choice::Wake(woken)), vec![woken])
            }
            EventKind::Broadcast { condition, .. } => (None, self.state.waiters(condition.offset)),
            EventKind::StopWaiting { reason: WakeReason::Spurious, .. } => (Some(Choice::Spurious), vec![]),
            EventKind::StopWaiting { .. } => (Some(Choice::Expire), vec![]),
            _ => (None, vec![]),
        };
        let last = self.own.get(&thread).and_then(|own| own.last());
        let mut footprint = footprint(&self.state, thread, &kind, &woken, last.is_none(), self.trace);
        // Who has gone round without effect goes on because of what has changed since.
        let round = last.and_then(|&last| self.rounds.get(&(thread, self.steps[last].n)));
        round.into_iter().for_each(|round| add_reads(&mut footprint, thread, round));
        self.state.step(thread, &kind, &woken);
        let made = Move { thread, choice };
        self.push(Step {
            made,
            kind: Some(kind),
            site: event.site,
            n: event.id.n,
            footprint: Rc::new(footprint),
        });
    }

    /// The process ends by what a thread does behind its last event: `main`, as long as it has not ended itself.
    fn end(&mut self) {
        let main = ThreadId::MAIN;
        let last = self.trace.switches.last().map_or(main, |switch| switch.thread);
        let thread = if self.state.has_ended(main) { last } else { main };
        let own = self.trace.switches.iter().rev().find(|switch| switch.thread == thread);
        let n = own.map_or(0, |switch| switch.until);
        let made = Move { thread, choice: None };
        let footprint = Rc::new(Footprint::everything());
        self.push(Step { made, kind: None, site: SiteId(0), n, footprint });
    }

    fn push(&mut self, step: Step) {
        self.own.entry(step.made.thread).or_default().push(self.steps.len());
        self.steps.push(step);
    }

    /// What a thread waits for at the end of a run, as an event that it would do.
    fn next(&self, blocked: &BlockedThread) -> Option<Next> {
        let place = |location: Location| Location {
            allocation: trace::AllocationId(0),
            offset: address(self.trace, location),
        };
        let site = blocked.site;
        let waiting = self.state.waits(blocked.thread);
        let at = |offset| Location { allocation: trace::AllocationId(0), offset };
        let kind = match (&blocked.waits_for, waiting) {
            (WaitsFor::Condition { .. } | WaitsFor::Word { .. }, Some(waiting))
            | (WaitsFor::Lock { .. }, Some(waiting)) => EventKind::WaitEnd {
                condition: at(waiting.condition),
                mutex: waiting.mutex.map(at),
                reason: WakeReason::Expired,
            },
            (WaitsFor::Lock { object, .. }, None) => {
                EventKind::Lock { object: place(*object), mode: self.sites.lock_mode(site), depth: 1 }
            }
            (WaitsFor::Semaphore { object }, _) => EventKind::Acquire { semaphore: place(*object) },
            (WaitsFor::Barrier { object, .. }, _) => {
                EventKind::BarrierLeave { barrier: place(*object), round: 0 }
            }
            (WaitsFor::Join { thread }, _) => EventKind::Join { child: *thread },
            _ => return None,
        };
        let first = self.own.get(&blocked.thread).is_none_or(Vec::is_empty);
        Some(Next { kind, site, first, round: None })
    }
}

/// What a thread touches that does an event in a state.
pub fn footprint(
    state: &State,
    thread: ThreadId,
    kind: &EventKind,
    woken: &[ThreadId],
    first: bool,
    trace: &Trace,
) -> Footprint {
    let mut footprint = match state.is_exclusive() || *kind == EventKind::ExclusiveBegin {
        true => Footprint::everything(),
        false => Footprint::default(),
    };
    // Objects and memory are named by their addresses; what is freed still by its number.
    let freed = matches!(kind, EventKind::Free { .. });
    let at = |location: Location| if freed { address(trace, location) } else { location.offset };
    let bytes = |id: trace::AllocationId| trace.allocations.get(id.0 as usize).map_or(1, |one| one.bytes);
    footprint.add(thread, kind, at, bytes, woken);
    if first {
        footprint.add_begin(thread);
    }
    footprint
}
