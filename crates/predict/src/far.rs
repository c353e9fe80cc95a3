//! Candidates whose events lie far apart in a long trace: one thread is held back, and the others go on as recorded as far as they can.
//!
//! That takes time linear in the distance. It is sound (the witness is checked by whoever asked) and incomplete. The thread of the
//! candidate's first event stops there; every other thread goes on in the recorded order, with the values that memory holds *now*, until it
//! is blocked or a branch would come out otherwise: then it stops too. If the other thread of the candidate gets to its event, the
//! way there is a witness.

mod run;

use crate::wakeups::look;
use crate::windows::last_before;
use claim::{Candidate, Deadlock, Witness};
use ctp::{Ctp, EventIndex, Kind, Slices, ThreadIndex};
use encode::Model;
use run::Run;
use trace::{EventId, EventKind};

/// Tries candidates of one trace.
pub struct Far<'c> {
    ctp: &'c Ctp,
    slices: &'c Slices<'c>,
    /// Reads must see what they saw in the recorded run.
    same_values: bool,
}

impl<'c> Far<'c> {
    pub fn new(ctp: &'c Ctp, slices: &'c Slices<'c>, model: Model) -> Far<'c> {
        Far { ctp, slices, same_values: model == Model::Causal }
    }

    /// Schedules that may show a candidate: first those in which only its own threads go on, since they are shorter.
    pub fn witnesses(&self, candidate: &Candidate) -> Vec<Witness> {
        [true, false].into_iter().flat_map(|few| self.with_threads(candidate, few)).collect()
    }

    fn with_threads(&self, candidate: &Candidate, few: bool) -> Vec<Witness> {
        let find = |id: &EventId| self.ctp.find(*id);
        let found = match candidate {
            Candidate::CoEnabledRace { first, second } => match (find(first), find(second)) {
                (Some(a), Some(b)) => vec![self.race(a, b, false, few)],
                _ => vec![],
            },
            Candidate::UnorderedRace { first, second } => match (find(first), find(second)) {
                (Some(a), Some(b)) => vec![self.race(a, b, true, few)],
                _ => vec![],
            },
            // Both stand before what the other one holds.
            Candidate::Deadlock(Deadlock::Circle(events)) => {
                match &events.iter().map(find).collect::<Vec<_>>()[..] {
                    &[Some(a), Some(b)] => vec![self.race(a, b, false, few)],
                    _ => vec![],
                }
            }
            Candidate::Atomicity { before, between, after } => {
                match (find(before), find(between), find(after)) {
                    (Some(e1), Some(f), Some(e2)) => self
                        .places_between(e1, e2)
                        .into_iter()
                        .map(|pause| self.triple(e1, pause, f, e2, few))
                        .collect(),
                    _ => vec![],
                }
            }
            Candidate::Wakeup { wake, .. } if !few => {
                find(wake).map(|wake| self.wakeup(wake)).into_iter().collect()
            }
            _ => vec![],
        };
        found.into_iter().flatten().collect()
    }

    /// A run from the latest cut before an event, which everybody goes along up to there.
    fn start(&self, at: EventIndex) -> (Run<'c>, EventIndex) {
        let from = self.slices.cut_before(at);
        let mut run = Run::new(self.ctp, self.slices, from, self.same_values);
        run.go_on(from, at);
        (run, from)
    }

    fn made(&self, run: Run<'_>, from: EventIndex, last: &[EventId]) -> Witness {
        let (mut order, choices) = run.done();
        for &id in last {
            let is_done =
                order.iter().rev().find(|done| done.thread == id.thread).is_some_and(|done| done.n >= id.n);
            order.extend((!is_done).then_some(id));
        }
        Witness { recorded: last_before(self.ctp, from), order, choices }
    }

    /// Both threads stand before their accesses; `through` if they are then to make them.
    fn race(&self, a: EventIndex, b: EventIndex, through: bool, few: bool) -> Option<Witness> {
        let (first, second) = (a.min(b), a.max(b));
        let (mut run, from) = self.start(first);
        if few {
            run.stop_all_but(&[self.ctp.event(second).thread]);
        }
        run.stop(self.ctp.event(first).thread);
        run.go_on(EventIndex::new(first.index() + 1), second);
        if !run.stands_before(second) {
            return None;
        }
        let (one, other) = (self.ctp.event(first).id, self.ctp.event(second).id);
        // What nobody notices lies between the last event of a thread and where it stands.
        let before = |id: EventId| self.ctp.before(id);
        let mut last: Vec<EventId> = [before(one), before(other)].into_iter().filter(|id| id.n > 0).collect();
        if through {
            // Memory is not accessed after it was given back.
            let frees = matches!(self.ctp.event(first).kind, Kind::Other(EventKind::Free { .. }));
            last = if frees { vec![other, one] } else { vec![one, other] };
        }
        Some(self.made(run, from, &last))
    }

    /// The thread waits, the others go on, and it is woken as soon as it would have to wait again.
    fn wakeup(&self, wake: EventIndex) -> Option<Witness> {
        const MOST: usize = 2_000;
        let look = look(self.ctp, wake)?;
        let thread = self.ctp.event(wake).thread;
        let behind = look.begin.index() + 1;
        let (mut run, from) = self.start(EventIndex::new(behind));
        run.stop(thread);
        let last = self.ctp.events.len().min(behind + MOST);
        for at in behind..last {
            run.go_on(EventIndex::new(at), EventIndex::new(at + 1));
            if run.is_woken(thread) && run.comes_out(&look.conditions, &look.reads) {
                run.resume(thread);
                if run.step(wake) {
                    return Some(self.made(run, from, &[]));
                }
                run.stop(thread);
            }
        }
        None
    }

    /// Where the thread of a transaction may pause between two of its events: behind the first, and where it has released a lock.
    fn places_between(&self, e1: EventIndex, e2: EventIndex) -> Vec<EventIndex> {
        const MOST: usize = 4;
        let events = &self.ctp.thread(self.ctp.event(e1).thread).events;
        let from = events.partition_point(|&at| at <= e1);
        let to = events.partition_point(|&at| at < e2);
        let releases = events[from..to]
            .iter()
            .copied()
            .filter(|&at| matches!(self.ctp.event(at).kind, Kind::Other(EventKind::Unlock { .. })));
        std::iter::once(e1).chain(releases.take(MOST)).collect()
    }

    /// e1, pause, f, e2.
    fn triple(
        &self,
        e1: EventIndex,
        pause: EventIndex,
        f: EventIndex,
        e2: EventIndex,
        few: bool,
    ) -> Option<Witness> {
        let (local, remote) = (self.ctp.event(e1).thread, self.ctp.event(f).thread);
        let first = pause.min(f);
        let (mut run, from) = self.start(first);
        if few {
            run.stop_all_but(&[local, remote]);
        }
        if f > pause {
            if !run.step(pause) {
                return None;
            }
            run.stop(local);
            run.go_on(EventIndex::new(first.index() + 1), f);
            run.step(f).then_some(())?;
        } else {
            run.stop(remote);
            run.go_on(EventIndex::new(first.index() + 1), pause);
            run.step(pause).then_some(())?;
            run.stop(local);
            run.resume(remote);
            run.step(f).then_some(())?;
        }
        run.resume(local);
        self.go_to(&mut run, pause, e2, remote).then(|| self.made(run, from, &[]))
    }

    /// A thread goes on from behind one of its events to another; where it cannot, the other one goes on until it can: it may hold a lock.
    fn go_to(&self, run: &mut Run<'_>, from: EventIndex, to: EventIndex, other: ThreadIndex) -> bool {
        const MOST_HELP: usize = 200;
        let events = &self.ctp.thread(self.ctp.event(to).thread).events;
        let from = events.partition_point(|&at| at <= from);
        let to = events.partition_point(|&at| at <= to);
        let mut help = MOST_HELP;
        events[from..to].iter().all(|&at| {
            while !run.step(at) {
                if help == 0 || !run.step_of(other) {
                    return false;
                }
                help -= 1;
            }
            true
        })
    }
}
