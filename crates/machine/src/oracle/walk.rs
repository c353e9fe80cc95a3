//! A run that is built step by step and taken back again, for searches that do not go every way ([`subject::Steps`]).
//!
//! Each step leaves the state before it behind, so going back costs nothing and nothing is run twice.

use super::access::{is_race, pending};
use super::end::End;
use super::look::Look;
use super::monitor::{Monitor, Watch};
use crate::Machine;
use crate::enabled::Readiness;
use crate::spin::{Noticed, Quiet, Seen, going_round};
use crate::state::{Phase, State};
use ir::SiteId;
use subject::answers::{Answers, Counts, LimitReached, Race, Triple};
use subject::{Footprint, Move, Schedule, Segment, Steps};
use trace::{BlockedThread, Choice, EventId, EventKind, Outcome, ThreadId};

/// A run of a machine, and what all runs so far have shown.
pub struct Walk<'m> {
    machine: &'m Machine,
    /// Whether unordered races and transactions are looked at.
    history: bool,
    /// Whether loops that only wait are recognised.
    spins: bool,
    now: Point,
    /// The steps so far, each with the point that it was made from.
    made: Vec<(Point, Made)>,
    answers: Answers,
}

#[derive(Clone)]
struct Point {
    state: State,
    monitor: Monitor,
    /// For each thread what it has done since somebody could notice it, if loops that only wait are recognised.
    quiet: Vec<Quiet>,
}

/// A step that was made.
#[derive(Clone, Copy)]
struct Made {
    made: Move,
    until: u64,
    /// The instruction of its last event.
    site: SiteId,
}

impl<'m> Walk<'m> {
    /// A run that has no steps yet. With `history` it also looks at unordered races and transactions.
    #[must_use]
    pub fn new(machine: &'m Machine, history: bool) -> Walk<'m> {
        let state = machine.initial(&mut Look::new(None));
        let now = Point { state, monitor: Monitor::default(), quiet: vec![] };
        let mut walk =
            Walk { machine, history, spins: false, now, made: vec![], answers: Answers::default() };
        let mut now = walk.now.clone();
        for t in 0..now.state.threads.len() {
            walk.run_invisible(&mut now, t, &mut vec![], &mut Default::default());
        }
        walk.now = now;
        walk.name_threads();
        walk
    }

    /// The same, but a loop iteration without effect blocks its thread until something that it read has changed (`spin.rs`).
    #[must_use]
    pub fn recognising_spins(mut self) -> Walk<'m> {
        self.spins = true;
        self.now.quiet = Quiet::of_all(self.machine, &self.now.state);
        self
    }

    /// All threads that wait, if some of them do so by going round.
    fn going_round(&self) -> Option<Vec<BlockedThread>> {
        going_round(self.machine, &self.now.state, &self.now.quiet)
    }

    /// What all runs have shown, `limit` being why there were no more of them.
    #[must_use]
    pub fn into_answers(self, limit: Option<LimitReached>) -> Answers {
        Answers { limit, one_of_each_class: true, ..self.answers }
    }

    /// What all runs have shown so far.
    #[must_use]
    pub fn answers(&self) -> &Answers {
        &self.answers
    }

    /// The schedule of the run as it is now.
    #[must_use]
    pub fn schedule(&self) -> Schedule {
        self.schedule_of(self.made.len(), &[])
    }

    /// How many stretches of one thread the run has.
    fn segments(&self) -> usize {
        let threads = || self.made.iter().map(|(_, made)| made.made.thread);
        let switches = threads().zip(threads().skip(1)).filter(|(one, other)| one != other).count();
        switches + usize::from(!self.made.is_empty())
    }

    /// The answers, of which those with more context switches than this are left out.
    #[must_use]
    pub fn into_bounded_answers(self, limit: Option<LimitReached>, switches: Option<u32>) -> Answers {
        Answers { switches, ..self.into_answers(limit) }
    }

    /// How the run ends, if it ends here.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self.going_round() {
            Some(blocked) => Outcome::Deadlock { blocked },
            None => self.machine.outcome(&self.now.state),
        }
    }

    fn name_threads(&mut self) {
        for thread in &self.now.state.threads {
            let name = || self.machine.thread_name(&self.now.state, thread.id);
            self.answers.threads.entry(thread.id).or_insert_with(name);
        }
    }

    /// Does a thread's next event; `noticed` is told what it is to others.
    fn event(
        &self,
        at: &mut Point,
        t: usize,
        choice: Option<Choice>,
        shown: &mut Vec<Shown>,
        noticed: &mut Noticed,
    ) -> Footprint {
        let (machine, history) = (self.machine, self.history);
        let watch = history.then(|| Watch {
            machine,
            monitor: &mut at.monitor,
            paths: None,
            history,
            unordered: vec![],
            triples: vec![],
        });
        let mut look = Look::new(watch);
        self.machine.step(&mut at.state, t, choice, &mut look);
        noticed.extend(look.noticed);
        if let Some(watch) = look.watch {
            shown.extend(watch.unordered.into_iter().map(|(race, at)| Shown::Unordered(race, at)));
            shown.extend(watch.triples.into_iter().map(|(triple, at)| Shown::Triple(triple, at)));
        }
        look.footprint
    }

    /// Does the invisible events that thread `t` stands before; gives the instruction of the last one.
    fn run_invisible(
        &self,
        at: &mut Point,
        t: usize,
        shown: &mut Vec<Shown>,
        noticed: &mut Noticed,
    ) -> Option<SiteId> {
        let mut last = None;
        while self.machine.readiness(&at.state, t) == Readiness::Ready
            && !self.machine.is_visible(&at.state, t)
        {
            last = Some(self.machine.site(&at.state, t));
            self.event(at, t, None, shown, noticed);
        }
        last
    }

    /// Makes a step of thread `t`: its next event, and the invisible ones behind it and in the threads that it forks.
    fn step(
        &self,
        at: &mut Point,
        t: usize,
        choice: Option<Choice>,
        shown: &mut Vec<Shown>,
    ) -> (Footprint, Made) {
        let threads = at.state.threads.len();
        let first = self.machine.site(&at.state, t);
        // Who has gone round without effect goes on because of what has changed since.
        let round: Vec<Seen> = at.quiet.get(t).map_or(vec![], |quiet| quiet.round().to_vec());
        let mut noticed = Noticed::default();
        let mut footprint = self.event(at, t, choice, shown, &mut noticed);
        add_reads(&mut footprint, at.state.threads[t].id, &round);
        let site = self.run_invisible(at, t, shown, &mut noticed).unwrap_or(first);
        for child in threads..at.state.threads.len() {
            self.run_invisible(at, child, shown, &mut Default::default());
        }
        if self.spins {
            at.quiet[t].step(self.machine, &at.state, t, noticed);
            let children = threads..at.state.threads.len();
            at.quiet.extend(children.map(|child| Quiet::new(self.machine, &at.state, child)));
        }
        let thread = &at.state.threads[t];
        let made = Move { thread: thread.id, choice };
        (footprint, Made { made, until: thread.done, site })
    }

    /// The point after the first `steps` steps and then `moves`, and how these were made, if they are possible.
    fn point_after(&self, steps: usize, moves: &[Move]) -> Option<(Point, Vec<Made>)> {
        let mut at = self.made.get(steps).map_or(&self.now, |(from, _)| from).clone();
        let mut taken = Vec::with_capacity(moves.len());
        for way in moves {
            let t = at.state.thread_index(way.thread)?;
            if !self.ways(&at, t).contains(&way.choice) {
                return None;
            }
            taken.push(self.step(&mut at, t, way.choice, &mut vec![]).1);
        }
        Some((at, taken))
    }

    /// The schedule of the first `steps` steps, and then of `more`.
    fn schedule_of(&self, steps: usize, more: &[Made]) -> Schedule {
        let mut schedule = Schedule {
            fingerprint: Some(self.machine.fingerprint()),
            spurious: self.machine.options().spurious,
            ..Schedule::default()
        };
        for step in self.made[..steps].iter().map(|(_, made)| made).chain(more) {
            schedule.choices.extend(step.made.choice);
            let segment = Segment { thread: step.made.thread, until: step.until, site: Some(step.site) };
            match schedule.segments.last_mut() {
                Some(last) if last.thread == step.made.thread => *last = segment,
                _ => schedule.segments.push(segment),
            }
        }
        schedule
    }

    fn keep(&mut self, shown: Vec<Shown>) {
        if shown.is_empty() {
            return;
        }
        let schedule = self.schedule();
        let segments = schedule.segments.len();
        for shown in shown {
            match shown {
                Shown::Unordered(race, address) => {
                    self.locate((race.first.site, race.second.site), address);
                    Answers::keep(&mut self.answers.unordered, race, segments, || schedule.clone());
                }
                Shown::Triple(triple, address) => {
                    self.locate((triple.before.site, triple.between.site), address);
                    Answers::keep(&mut self.answers.triples, triple, segments, || schedule.clone());
                }
            }
        }
    }

    fn locate(&mut self, sites: (SiteId, SiteId), address: u64) {
        let name = || self.machine.show_place(&self.now.state, address);
        self.answers.locations.entry(sites).or_insert_with(name);
    }

    /// Every way in which thread `t` can go on; none if it would only go round once more.
    fn ways(&self, at: &Point, t: usize) -> Vec<Option<Choice>> {
        match self.spins && at.quiet[t].waits(self.machine, &at.state) {
            true => vec![],
            false => self.machine.ways(&at.state, t),
        }
    }

    /// What thread `t`, which cannot go on, would touch if it could.
    fn blocked(&self, at: &Point, t: usize) -> Footprint {
        let mut footprint = Footprint::default();
        let state = &at.state;
        let thread = &state.threads[t];
        if self.spins && at.quiet[t].waits(self.machine, state) {
            add_reads(&mut footprint, thread.id, at.quiet[t].round());
            return footprint;
        }
        match (&thread.phase, self.machine.blocked_event(state, t)) {
            (Phase::Waiting { woken: None, .. }, _) => footprint.add_waiting(thread.id),
            (_, Some(kind)) => footprint.add(thread.id, &kind, |at| at.offset, |_| 0, &[]),
            (_, None) => {}
        }
        if thread.done == 0 {
            footprint.add_begin(thread.id);
        }
        footprint
    }
}

/// What a step has shown, with the address that it is about.
enum Shown {
    Unordered(Race, u64),
    Triple(Triple, u64),
}

impl Steps for Walk<'_> {
    fn steps(&self) -> usize {
        self.made.len()
    }

    fn back_to(&mut self, steps: usize) {
        if let Some((from, _)) = self.made.drain(steps..).next() {
            self.now = from;
        }
    }

    fn moves(&self) -> Vec<Move> {
        let state = &self.now.state;
        let mut moves = vec![];
        for (t, thread) in state.threads.iter().enumerate() {
            let ways = self.ways(&self.now, t);
            moves.extend(ways.into_iter().map(|choice| Move { thread: thread.id, choice }));
        }
        moves.sort_by_key(|way| way.thread);
        moves
    }

    fn make(&mut self, made: Move) -> Footprint {
        let Some(t) = self.now.state.thread_index(made.thread) else { return Footprint::default() };
        let mut now = self.now.clone();
        let mut shown = vec![];
        let (footprint, made) = self.step(&mut now, t, made.choice, &mut shown);
        let from = std::mem::replace(&mut self.now, now);
        self.answers.steps += self.now.state.events() - from.state.events();
        if self.now.state.threads.len() > from.state.threads.len() {
            self.name_threads();
        }
        self.made.push((from, made));
        self.keep(shown);
        footprint
    }

    fn last(&self) -> Option<EventId> {
        self.made.last().map(|(_, made)| EventId { thread: made.made.thread, n: made.until })
    }

    fn ways_after(&self, steps: usize, moves: &[Move], thread: ThreadId) -> Vec<(Move, Footprint)> {
        let Some((at, _)) = self.point_after(steps, moves) else { return vec![] };
        let Some(t) = at.state.thread_index(thread) else { return vec![] };
        let ways = self.ways(&at, t).into_iter();
        ways.map(|choice| {
            let (footprint, _) = self.step(&mut at.clone(), t, choice, &mut vec![]);
            (Move { thread, choice }, footprint)
        })
        .collect()
    }

    fn look(&mut self) {
        let state = &self.now.state;
        let accesses: Vec<_> =
            (0..state.threads.len()).filter_map(|t| pending(self.machine, state, t)).collect();
        let mut races = vec![];
        for (i, a) in accesses.iter().enumerate() {
            let racing = accesses[i + 1..].iter().filter(|b| is_race(a, b));
            races.extend(
                racing.map(|b| (Race::new(a.point(false), b.point(false)), a.address.max(b.address))),
            );
        }
        let segments = self.segments();
        for (race, address) in races {
            self.locate((race.first.site, race.second.site), address);
            if self.answers.co_enabled.get(&race).is_none_or(|known| known.segments.len() > segments) {
                let schedule = self.schedule();
                self.answers.co_enabled.insert(race, schedule);
            }
        }
    }

    fn meet(&mut self, step: usize, moves: &[Move], thread: ThreadId) {
        let Some(&(_, met)) = self.made.get(step) else { return };
        let Some((at, taken)) = self.point_after(step, moves) else { return };
        let index = |thread| at.state.thread_index(thread);
        let (Some(p), Some(q)) = (index(met.made.thread), index(thread)) else { return };
        let access = |t| pending(self.machine, &at.state, t);
        let (Some(a), Some(b)) = (access(p), access(q)) else { return };
        if is_race(&a, &b) {
            let race = Race::new(a.point(false), b.point(false));
            let name = || self.machine.show_place(&at.state, a.address.max(b.address));
            self.answers.locations.entry((race.first.site, race.second.site)).or_insert_with(name);
            let schedule = self.schedule_of(step, &taken);
            let segments = schedule.segments.len();
            Answers::keep(&mut self.answers.co_enabled, race, segments, || schedule.clone());
        }
    }

    fn blocked(&self) -> Vec<BlockedThread> {
        self.machine.all_blocked(&self.now.state)
    }

    fn pending(&self) -> Vec<(ThreadId, Footprint)> {
        let mut at = self.now.clone();
        (at.state.exclusive, at.state.ending) = (None, None);
        let live = (0..at.state.threads.len()).filter(|&t| !at.state.threads[t].is_over());
        live.map(|t| {
            let footprint = match self.ways(&at, t).first() {
                Some(&choice) => self.step(&mut at.clone(), t, choice, &mut vec![]).0,
                None => self.blocked(&at, t),
            };
            (at.state.threads[t].id, footprint)
        })
        .collect()
    }

    fn complete(&mut self) {
        if let Some(blocked) = self.going_round() {
            self.answers.schedules.add(Counts { deadlocked: 1, ..Counts::default() });
            let schedule = self.schedule();
            let segments = schedule.segments.len();
            Answers::keep(&mut self.answers.deadlocks, blocked, segments, || schedule.clone());
            return;
        }
        let state = &self.now.state;
        let is_ended_or_blocked = |t: usize| {
            matches!(state.threads[t].phase, Phase::Ended)
                || self.machine.readiness(state, t) == Readiness::Blocked
        };
        let unfinished = !(0..state.threads.len()).all(is_ended_or_blocked);
        let end = End::of(self.machine, state, unfinished, false);
        self.answers.schedules.add(end.counts);
        let schedule = self.schedule();
        end.keep(&mut self.answers, schedule.segments.len(), || schedule.clone());
    }
}

/// Adds that a step depends on what was read.
fn add_reads(footprint: &mut Footprint, thread: ThreadId, read: &[Seen]) {
    for seen in read {
        let kind =
            EventKind::Read { location: seen.location, bytes: seen.bytes, value: seen.value, order: None };
        footprint.add(thread, &kind, |_| seen.address, |_| 0, &[]);
    }
    if !read.is_empty() {
        footprint.add_waiting(thread);
    }
}
