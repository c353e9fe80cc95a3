//! Any subject as one that is walked step by step ([`Steps`]): a compiled program cannot be taken back to an earlier point, but it can be run again.
//!
//! There is always one whole run that begins with the steps made so far. A step that comes next in it costs nothing; another one is
//! a new run, whose schedule is the steps so far and that one, and behind them those that the search will want. What a thread that has not come to its turn
//! would do is its next event in the run: it depends on nothing but what the thread itself has seen. Whether it could do it
//! earlier, or in another order of the same steps, is computed from what the steps do to locks, conditions and the like (`state`); where that does not say it,
//! the program is run and asked. So a class of equivalent schedules costs about one run.
//!
//! What is computed is held against what the subject says: who was enabled at each switch, and whether a run followed its schedule. If they differ, the
//! search says that it may have missed something.

mod asked;
mod recorded;
mod spin;
mod state;

use crate::paths::outside;
use asked::done_along;
pub(crate) use recorded::Sites;
use recorded::{Next, Recorded, Step, footprint};
use spin::add_reads;
pub(crate) use spin::quiet_repeats;
use state::{Can, Counts, State};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use subject::{Footprint, Move, RunError, Schedule, Segment, Steps, Strategy, Subject};
use trace::{BlockedThread, Choice, EventId, EventKind, Logging, Outcome, ThreadId, Trace};

/// A thread gets so many events behind the steps that are wanted before others have their turn all the same: it may be waiting in a loop.
const PATIENCE: u32 = 1024;

/// The same, where threads are known to wait in loops.
const IMPATIENCE: u32 = 16;

/// A subject that is walked step by step.
pub struct Traced<'s, S: Subject> {
    subject: &'s S,
    sites: Sites<'s>,
    /// A run that begins with the steps made so far.
    run: Rc<Recorded>,
    made: usize,
    expected: Vec<Move>,
    /// Along this, more or less.
    about: Schedule,
    known: RefCell<Known>,
}

/// What is found out on the way.
struct Known {
    counts: Counts,
    /// What threads would do that a run has cut off, for the present run.
    cut: Vec<(ThreadId, Option<Next>)>,
    /// Runs that were made, for whatever reason.
    runs: u64,
    incomplete: BTreeSet<String>,
    error: Option<RunError>,
}

impl<'s, S: Subject> Traced<'s, S> {
    /// Before the first step.
    ///
    /// # Errors
    /// If the subject cannot be run.
    pub fn new(subject: &'s S) -> Result<Traced<'s, S>, RunError> {
        Traced::begin(subject, Sites::new(subject.program(), false))
    }

    /// The same, but a loop iteration without effect blocks its thread until something that it read has changed.
    ///
    /// # Errors
    /// If the subject cannot be run.
    pub fn recognising_spins(subject: &'s S) -> Result<Traced<'s, S>, RunError> {
        Traced::begin(subject, Sites::new(subject.program(), true))
    }

    fn begin(subject: &'s S, sites: Sites<'s>) -> Result<Traced<'s, S>, RunError> {
        let run = subject.run(&Strategy::RoundRobin { quantum: PATIENCE }, &Logging::Everything)?;
        let mut counts = Counts::default();
        let error = endless(&run.trace);
        let run = Rc::new(Recorded::new(run, 0, &sites, &mut counts));
        let known = Known { counts, cut: vec![], runs: 1, incomplete: BTreeSet::new(), error };
        let traced = Traced {
            subject,
            sites,
            run,
            made: 0,
            expected: vec![],
            about: Schedule::default(),
            known: RefCell::new(known),
        };
        traced.hold_against_subject();
        Ok(traced)
    }

    /// The present run, which goes on behind the steps made so far.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.run.trace
    }

    /// How often the subject was run.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.known.borrow().runs
    }

    /// Why the search may have missed something.
    #[must_use]
    pub fn incomplete(&self) -> BTreeSet<String> {
        self.known.borrow().incomplete.clone()
    }

    /// Why the subject could not be run any more, if that is so.
    #[must_use]
    pub fn error(&self) -> Option<RunError> {
        self.known.borrow().error.clone()
    }

    fn missed(&self, why: impl Into<String>) {
        self.known.borrow_mut().incomplete.insert(why.into());
    }

    /// The state behind the first `steps` steps of the run.
    fn state(&self, steps: usize) -> State {
        let mut state = State::default();
        let counts = &self.known.borrow().counts;
        for step in &self.run.steps[..steps] {
            if let Some(kind) = &step.kind {
                let (kind, woken) = state.here(counts, step.made.thread, kind, step.made.choice);
                state.step(step.made.thread, &kind, &woken);
            }
        }
        state
    }

    /// The step that a thread does next which has done those of its steps that lie before `before` and `more` others.
    fn next_step(&self, thread: ThreadId, before: usize, more: usize) -> Option<&Step> {
        let own = self.run.own(thread);
        let done = own.partition_point(|&step| step < before) + more;
        own.get(done).map(|&step| &self.run.steps[step])
    }

    /// The schedule of the first `steps` steps, and then of `moves`.
    fn schedule(&self, steps: usize, moves: &[Move]) -> Schedule {
        let mut schedule = self.schedule_of(&(0..steps).collect::<Vec<_>>());
        let mut more: Vec<ThreadId> = vec![];
        for made in moves {
            let done = more.iter().filter(|&&thread| thread == made.thread).count();
            more.push(made.thread);
            let next = self.next_step(made.thread, steps, done);
            schedule.choices.extend(made.choice);
            append(
                &mut schedule,
                made.thread,
                next.map_or_else(|| self.done(made.thread) + 1, |step| step.n),
            );
            if next.is_none() {
                // How far it is to its next step nobody knows; it goes on by itself until it has made it.
                break;
            }
        }
        schedule
    }

    /// A schedule that goes on along what is expected, as far as that is behind it. If it is not possible, the run goes on otherwise.
    fn going_on(&self, mut schedule: Schedule) -> Schedule {
        for segment in &self.about.segments {
            if segment.until > done_along(&schedule, segment.thread) {
                append(&mut schedule, segment.thread, segment.until);
            }
        }
        if self.about.choices.starts_with(&schedule.choices) {
            schedule.choices.clone_from(&self.about.choices);
        }
        schedule
    }

    /// The schedule of some steps of the run.
    fn schedule_of(&self, steps: &[usize]) -> Schedule {
        let mut schedule = Schedule::default();
        for step in steps.iter().map(|&step| &self.run.steps[step]) {
            schedule.choices.extend(step.made.choice);
            append(&mut schedule, step.made.thread, step.n);
        }
        schedule
    }

    /// How many events a thread has in the run.
    fn done(&self, thread: ThreadId) -> u64 {
        let own = self.run.trace.switches.iter().rev().find(|switch| switch.thread == thread);
        own.map_or(0, |switch| switch.until)
    }

    /// Every way on of a thread, with what it touches; `next` is what it would do.
    fn ways(
        &self,
        state: &State,
        thread: ThreadId,
        next: &Next,
        ask: &dyn Fn() -> Schedule,
    ) -> Vec<(Move, Footprint)> {
        let touches = |kind: &EventKind, choice: Option<Choice>| {
            let counts = &self.known.borrow().counts;
            let (kind, woken) = state.here(counts, thread, kind, choice);
            (Move { thread, choice }, footprint(state, thread, &kind, &woken, next.first, &self.run.trace))
        };
        let mut kind = next.kind.clone();
        if let Some(waiting) = state.waits(thread) {
            let at = |offset| trace::Location { allocation: trace::AllocationId(0), offset };
            let (condition, mutex) = (at(waiting.condition), waiting.mutex.map(at));
            let reason = trace::WakeReason::Expired;
            if !waiting.woken {
                let stops = EventKind::StopWaiting { condition, reason };
                let timed = self.sites.is_timed(next.site);
                return if timed { vec![touches(&stops, Some(Choice::Expire))] } else { vec![] };
            }
            kind = EventKind::WaitEnd { condition, mutex, reason };
        }
        let can = state.can(&self.known.borrow().counts, thread, &kind);
        let can = match can {
            Can::Ask(semaphore) => self.count_tokens(semaphore, thread, &ask()),
            can => can == Can::Yes,
        };
        match &kind {
            _ if !can => vec![],
            EventKind::Signal { condition, .. } => match state.waiters(condition.offset) {
                waiters if waiters.len() > 1 => {
                    waiters.into_iter().map(|waiter| touches(&kind, Some(Choice::Wake(waiter)))).collect()
                }
                _ => vec![touches(&kind, None)],
            },
            kind => vec![touches(kind, None)],
        }
    }

    /// Whether a thread is there, and has not ended.
    fn lives(&self, state: &State, thread: ThreadId) -> bool {
        !state.has_ended(thread) && (state.has_forked(thread) || self.run.fork(thread).is_none())
    }

    /// What a thread would do behind the first `steps` steps, and `more` of its own besides.
    fn next(&self, thread: ThreadId, steps: usize, more: usize) -> Option<Next> {
        match self.next_step(thread, steps, more) {
            Some(step) => Some(self.next_of(step)),
            None => self.cut_off(thread),
        }
    }

    fn next_of(&self, step: &Step) -> Next {
        let first =
            self.run.own(step.made.thread).first().is_some_and(|&first| self.run.steps[first].n == step.n);
        // The end of the process is nothing that a thread would have to wait for.
        let kind = step.kind.clone().unwrap_or(EventKind::Landing);
        Next { kind, site: step.site, first, round: None }
    }

    /// Holds what is computed of who can go on against what the subject said of it, at each switch of the run.
    fn hold_against_subject(&self) {
        let run = &self.run;
        let mut done: Vec<(ThreadId, u64)> = vec![];
        // Who was stopped by the schedule has not come to where it would have to wait.
        let mut stopped: BTreeSet<ThreadId> = BTreeSet::new();
        for (n, switch) in run.trace.switches.iter().enumerate() {
            let made =
                |step: &Step| done.iter().any(|&(thread, n)| thread == step.made.thread && step.n <= n);
            let steps = run.steps.iter().take_while(|step| made(step)).count();
            let state = self.state(steps);
            let others =
                switch.enabled.iter().filter(|&thread| *thread != switch.thread && !stopped.contains(thread));
            for &thread in others {
                let Some(step) = self.next_step(thread, steps, 0) else { continue };
                // Something that nobody notices may come first.
                let so_far = done.iter().find(|(one, _)| *one == thread).map_or(0, |&(_, n)| n);
                if step.n > so_far + 1 {
                    continue;
                }
                let next = self.next_of(step);
                let wakes_up = state.waits(thread).is_some_and(|waiting| !waiting.woken);
                if !wakes_up && self.ways(&state, thread, &next, &|| self.schedule(steps, &[])).is_empty() {
                    self.missed("a thread could go on though nothing of the run says so: a fault of ours");
                }
            }
            done.retain(|(thread, _)| *thread != switch.thread);
            done.push((switch.thread, switch.until));
            match n < run.followed {
                true => stopped.insert(switch.thread),
                false => stopped.remove(&switch.thread),
            };
        }
        if run.trace.switches.is_empty() || self.subject.program().threads.is_empty() {
            self.known.borrow_mut().incomplete.extend(outside::outside(self.subject.program(), &run.trace));
        }
    }
}

/// A run that does not come to an end, though everybody has turns, is one of a program that cannot be gone through.
fn endless(trace: &Trace) -> Option<RunError> {
    let is_cut = matches!(trace.outcome, Outcome::LimitReached { .. } | Outcome::Truncated);
    is_cut.then(|| RunError::NotRun("a run was cut at a limit: it may never come to an end".to_owned()))
}

/// Adds that a thread goes on until its `n`-th event.
fn append(schedule: &mut Schedule, thread: ThreadId, until: u64) {
    match schedule.segments.last_mut() {
        Some(last) if last.thread == thread => last.until = last.until.max(until),
        _ => schedule.segments.push(Segment { thread, until, site: None }),
    }
}

impl<S: Subject> Steps for Traced<'_, S> {
    fn steps(&self) -> usize {
        self.made
    }

    fn back_to(&mut self, steps: usize) {
        self.made = self.made.min(steps);
    }

    fn expect(&mut self, moves: Vec<Move>) {
        self.expected = moves;
        self.about = Schedule::default();
    }

    fn expect_about(&mut self, schedule: Schedule) {
        self.about = schedule;
    }

    fn moves(&self) -> Vec<Move> {
        if self.made >= self.run.steps.len() || self.known.borrow().error.is_some() {
            return vec![];
        }
        let state = self.state(self.made);
        let order = self.order(self.made, &[]);
        let mut moves = vec![];
        for thread in self.run.threads().filter(|&thread| self.lives(&state, thread)) {
            if self.only_waits(&order, thread) {
                continue;
            }
            // The end of the process comes as its thread's next step does.
            if let Some(Step { kind: None, made, .. }) = self.next_step(thread, self.made, 0) {
                moves.push(*made);
                continue;
            }
            if let Some(next) = self.next(thread, self.made, 0) {
                let ways = self.ways(&state, thread, &next, &|| self.schedule(self.made, &[]));
                moves.extend(ways.into_iter().map(|(made, _)| made));
            }
        }
        // What the time decided, and no schedule, comes when it came.
        let expired = Some(self.run.steps[self.made].made).filter(|made| made.choice == Some(Choice::Expire));
        moves.extend(expired.filter(|made| !moves.contains(made)));
        moves.sort_by_key(|made| made.thread);
        moves
    }

    fn make(&mut self, made: Move) -> Footprint {
        let mut expected = std::mem::take(&mut self.expected);
        if expected.first() != Some(&made) {
            expected = vec![made];
        }
        if self.run.steps.get(self.made).is_none_or(|step| step.made != made) {
            let mut schedule = self.schedule(self.made, &expected);
            // How far it is to a step that the run does not have nobody knows.
            if expected.len() == 1 && self.next_step(made.thread, self.made, 0).is_some() {
                schedule = self.going_on(schedule);
            }
            let Some(recorded) = self.record(schedule) else {
                return Footprint::everything();
            };
            let same = |(one, other): (&Step, &Step)| one.made == other.made && one.n == other.n;
            let begins = recorded.steps.iter().zip(&self.run.steps[..self.made]).all(same)
                && recorded.steps.get(self.made).is_some_and(|step| step.made == made);
            if !begins {
                self.known.borrow_mut().error.get_or_insert(RunError::NotRun(
                    "a run that was made again did not begin as it did before".to_owned(),
                ));
                return Footprint::everything();
            }
            self.run = Rc::new(recorded);
            self.known.borrow_mut().cut.clear();
            self.hold_against_subject();
        }
        self.expected = expected.split_off(1);
        self.made += 1;
        (*self.run.steps[self.made - 1].footprint).clone()
    }

    fn last(&self) -> Option<EventId> {
        let at = self.made.checked_sub(1)?;
        let thread = self.run.steps[at].made.thread;
        // With what nobody notices behind it, up to the thread's next step.
        let n = match self.next_step(thread, at + 1, 0) {
            Some(next) => next.n - 1,
            None => self.done(thread),
        };
        Some(EventId { thread, n: n.max(self.run.steps[at].n) })
    }

    fn ways_after(&self, steps: usize, moves: &[Move], thread: ThreadId) -> Vec<(Move, Footprint)> {
        let mut state = self.state(steps);
        let mut more: Vec<ThreadId> = vec![];
        let count = |more: &[ThreadId], of: ThreadId| more.iter().filter(|&&one| one == of).count();
        for (at, made) in moves.iter().enumerate() {
            if self.only_waits(&self.order(steps, &moves[..at]), made.thread) {
                return vec![];
            }
            let Some(next) = self.next(made.thread, steps, count(&more, made.thread)) else { return vec![] };
            let ways = self.ways(&state, made.thread, &next, &|| self.schedule(steps, &moves[..at]));
            if !ways.iter().any(|(way, _)| way == made) {
                return vec![];
            }
            let kind = match made.choice {
                Some(Choice::Expire) => match state.waits(made.thread) {
                    Some(waiting) => EventKind::StopWaiting {
                        condition: trace::Location {
                            allocation: trace::AllocationId(0),
                            offset: waiting.condition,
                        },
                        reason: trace::WakeReason::Expired,
                    },
                    None => next.kind,
                },
                _ => next.kind,
            };
            let (kind, woken) = state.here(&self.known.borrow().counts, made.thread, &kind, made.choice);
            state.step(made.thread, &kind, &woken);
            more.push(made.thread);
        }
        let round = self.round_behind(&self.order(steps, moves), thread);
        if !self.lives(&state, thread) || round.as_ref().is_some_and(|&(_, same)| same) {
            return vec![];
        }
        if let Some(Step { kind: None, made, footprint, .. }) =
            self.next_step(thread, steps, count(&more, thread))
        {
            return vec![(*made, (**footprint).clone())];
        }
        let Some(next) = self.next(thread, steps, count(&more, thread)) else { return vec![] };
        let mut ways = self.ways(&state, thread, &next, &|| self.schedule(steps, moves));
        if let Some((round, _)) = round {
            ways.iter_mut().for_each(|(_, touches)| add_reads(touches, thread, &round));
        }
        ways
    }

    /// Races are predicted from the runs.
    fn meet(&mut self, _step: usize, _moves: &[Move], _thread: ThreadId) {}

    fn look(&mut self) {}

    fn blocked(&self) -> Vec<BlockedThread> {
        match &self.run.trace.outcome {
            Outcome::Deadlock { blocked } if self.made == self.run.steps.len() => blocked.clone(),
            _ => vec![],
        }
    }

    fn pending(&self) -> Vec<(ThreadId, Footprint)> {
        let steps = self.made;
        let state = self.state(steps);
        let order = self.order(steps, &[]);
        let mut pending = vec![];
        for thread in self.run.threads().filter(|&thread| self.lives(&state, thread)) {
            let mut touches = Footprint::default();
            if let Some((round, true)) = self.round_behind(&order, thread) {
                add_reads(&mut touches, thread, &round);
                pending.push((thread, touches));
                continue;
            }
            let ends = self.run.own(thread).last().is_some_and(|&step| self.run.steps[step].kind.is_none());
            let Some(next) = (if ends { None } else { self.next(thread, steps, 0) }) else { continue };
            match state.waits(thread) {
                Some(waiting) if !waiting.woken && !self.sites.is_timed(next.site) => {
                    touches.add_waiting(thread)
                }
                _ => {
                    let (kind, woken) = state.here(&self.known.borrow().counts, thread, &next.kind, None);
                    touches = footprint(&state, thread, &kind, &woken, next.first, &self.run.trace);
                }
            }
            pending.push((thread, touches));
        }
        pending
    }

    fn complete(&mut self) {
        let (order, ended) = (self.order(self.made, &[]), self.made == self.run.steps.len());
        if !ended && self.run.threads().any(|thread| self.only_waits(&order, thread)) {
            self.missed("a thread waits in a loop for what never comes");
        }
    }
}
