//! What the run at hand does not say is found out by others: what a thread would have done whose turn did not come, and how many tokens there are.

use super::recorded::{Next, Recorded, Step};
use super::{IMPATIENCE, PATIENCE, Traced, append, endless};
use subject::{Schedule, Strategy, Subject};
use trace::{Logging, ThreadId};

impl<S: Subject> Traced<'_, S> {
    /// What a thread would do that the run has cut off: it waited, or the process ended before its turn came.
    pub(super) fn cut_off(&self, thread: ThreadId) -> Option<Next> {
        if self.run.over.contains(&thread) {
            return None;
        }
        if let Some(next) = self.run.blocked.get(&thread) {
            return Some(next.clone());
        }
        let known =
            self.known.borrow().cut.iter().find(|(of, _)| *of == thread).map(|(_, next)| next.clone());
        if let Some(known) = known {
            return known;
        }
        let found = |schedule: Schedule| {
            let (run, done) = self.run_on(&schedule, thread)?;
            let next = run.next(thread, done);
            (next.is_some() || run.over.contains(&thread)).then_some(next)
        };
        // What it would do depends only on what it has seen: in a run with nothing but that, least is in its way. If something is there too, that may be
        // over in the run that we have, before the last step, which ended the process.
        let before_the_end = self.run.steps.len().saturating_sub(1);
        let next = (self.waits_for(thread).map(Some))
            .or_else(|| found(self.schedule_of(&self.run.causes_of(thread))))
            .or_else(|| found(self.schedule(before_the_end, &[])));
        // It cannot go on there. If it joins somebody, or takes a lock that is never given back, then all that this could have come before is among
        // its causes.
        let has_semaphores = !self.known.borrow().counts.tokens.is_empty();
        if next.is_none() && has_semaphores && self.known.borrow().error.is_none() {
            self.missed("it is not known what a thread would have done whose turn did not come");
        }
        let next = next.flatten();
        self.known.borrow_mut().cut.push((thread, next.clone()));
        next
    }

    /// What a thread waits for at the end of the run, if that is a signal or the others at a barrier.
    fn waits_for(&self, thread: ThreadId) -> Option<Next> {
        let kind = self.state(self.run.steps.len()).waits_as(thread)?;
        let site = self.run.steps[*self.run.own(thread).last()?].site;
        Some(Next { kind, site, first: false, round: None })
    }

    /// Runs the subject along a schedule, and then a thread, if it can. Gives that run, and how many events the thread has along the schedule.
    fn run_on(&self, schedule: &Schedule, thread: ThreadId) -> Option<(Recorded, u64)> {
        let mut schedule = schedule.clone();
        let done = done_along(&schedule, thread);
        append(&mut schedule, thread, done + 1);
        Some((self.record(schedule)?, done))
    }

    /// Whether a thread can make its next step right behind a schedule.
    fn can_go_on(&self, schedule: &Schedule, thread: ThreadId) -> bool {
        let is_behind = |step: &&Step| step.n > done_along(schedule, step.made.thread);
        let run = self.run_on(schedule, thread);
        run.is_some_and(|(run, _)| {
            run.steps.iter().find(is_behind).is_some_and(|step| step.made.thread == thread)
        })
    }

    /// Runs the subject along a schedule.
    pub(super) fn record(&self, schedule: Schedule) -> Option<Recorded> {
        let followed = schedule.segments.len();
        let quantum = if self.run.rounds.is_empty() { PATIENCE } else { IMPATIENCE };
        let then = Box::new(Strategy::RoundRobin { quantum });
        let run = self.subject.run(&Strategy::Follow { schedule, then }, &Logging::Everything);
        let mut known = self.known.borrow_mut();
        known.runs += 1;
        match run {
            Ok(run) => match endless(&run.trace) {
                None => Some(Recorded::new(run, followed, &self.sites, &mut known.counts)),
                Some(error) => {
                    known.error.get_or_insert(error);
                    None
                }
            },
            Err(error) => {
                known.error.get_or_insert(error);
                None
            }
        }
    }

    /// Whether there is a token, found out by a run. That tells how many there are at least; where there is none it is known how many there are.
    pub(super) fn count_tokens(&self, semaphore: u64, thread: ThreadId, schedule: &Schedule) -> bool {
        let can = self.can_go_on(schedule, thread);
        if !can {
            self.known.borrow_mut().counts.tokens.entry(semaphore).or_insert((0, false)).1 = true;
        }
        can
    }
}

/// How many events a thread has along a schedule.
pub(super) fn done_along(schedule: &Schedule, thread: ThreadId) -> u64 {
    let segments = schedule.segments.iter().filter(|segment| segment.thread == thread);
    segments.map(|segment| segment.until).max().unwrap_or(0)
}
