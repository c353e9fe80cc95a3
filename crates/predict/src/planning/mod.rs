//! The engines `plan` and `lockset` (docs/design/engines.md; PLAN §4, §5): candidates as planning problems
//! behind a cut of the recorded run.
//!
//! Both keep the recorded run up to a cut and look for a plan behind it; if there is none, the cut moves back, until the problem is all of the
//! trace. `plan` keeps what reads see, so its runs are real ones (PLAN Theorems 1 and 2), and that there is no plan says nothing of runs with
//! other values. `lockset` ignores data, as Penelope does: its runs are claims until the subject has followed them, but where not even such a
//! run exists there is none at all.

mod cut;

use crate::windows::last_before;
use claim::{Answer, Because, Candidate, Unknown, Witness};
use ctp::{Ctp, EventIndex, Kind, Slices};
use cut::{MOST_EVENTS, cuts};
use encode::Interrupter;
use ir::Program;
use plan::{Data, Goal, Limits, Outcome, Outside, Problem, Until};
use std::borrow::Cow;
use std::time::Instant;
use trace::{EventId, EventKind, Trace};
use witness::Refusal;

/// How the engines work.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The limits of one problem.
    pub limits: Limits,
    /// Then all is to be over.
    pub until: Option<Instant>,
    /// By which another thread ends the search.
    pub interrupter: Interrupter,
    /// Another planner than ours, which is given the problems as PDDL.
    pub planner: Option<Outside>,
}

/// Decides candidates of one concurrent trace program by planning.
pub struct Planning<'c> {
    program: &'c Program,
    trace: &'c Trace,
    ctp: &'c Ctp,
    slices: Slices<'c>,
    data: Data,
    options: Options,
}

/// What came of one candidate so far.
enum Found {
    /// Runs that may show it, the likeliest first.
    Runs(Vec<Witness>),
    /// None.
    Answer(Answer),
}

impl<'c> Planning<'c> {
    /// The engine `plan`: each read sees what it saw.
    #[must_use]
    pub fn plan(program: &'c Program, trace: &'c Trace, ctp: &'c Ctp, options: Options) -> Planning<'c> {
        Planning { program, trace, ctp, slices: Slices::new(ctp), data: Data::Values, options }
    }

    /// The engine `lockset`: data are ignored.
    #[must_use]
    pub fn lockset(program: &'c Program, trace: &'c Trace, ctp: &'c Ctp, options: Options) -> Planning<'c> {
        // What it gives away it gives away for speed: no other planner is asked.
        let options = Options { planner: None, ..options };
        Planning { data: Data::Ignored, ..Planning::plan(program, trace, ctp, options) }
    }

    /// Decides candidates; `decided` is told of each answer. What `lockset` says to be feasible is a claim.
    pub fn answer_all(&self, candidates: &[Candidate], decided: &mut dyn FnMut(&Answer)) -> Vec<Answer> {
        // Others are given PLAN's own problem.
        let until = if self.options.planner.is_some() { Until::Between } else { Until::After };
        let mut found: Vec<Found> = candidates.iter().map(|one| self.search(one, until)).collect();
        if self.data != Data::Ignored {
            self.judge(candidates, &mut found);
        }
        if self.data != Data::Ignored && until == Until::After {
            // PLAN's plans end with f, and the program is then run on to e2: that may come out well with other values too.
            let open = |(_, found): &(&Candidate, &Found)| {
                matches!(found, Found::Answer(Answer::Unknown(Unknown::OtherValues)))
            };
            let more: Vec<usize> = (candidates.iter().zip(&found).enumerate())
                .filter(|(_, pair)| open(pair) && matches!(pair.0, Candidate::Atomicity { .. }))
                .map(|(n, _)| n)
                .collect();
            let asked: Vec<Candidate> = more.iter().map(|&n| candidates[n].clone()).collect();
            let mut continued: Vec<Found> =
                asked.iter().map(|one| self.search(one, Until::Between)).collect();
            self.judge(&asked, &mut continued);
            for (n, continued) in more.into_iter().zip(continued) {
                found[n] = continued;
            }
        }
        let answers = found.into_iter().map(|found| match found {
            Found::Runs(mut runs) if !runs.is_empty() => Answer::Feasible(runs.swap_remove(0)),
            Found::Runs(_) => Answer::Unknown(Unknown::OtherValues),
            Found::Answer(answer) => answer,
        });
        let answers: Vec<Answer> = answers.collect();
        answers.iter().for_each(decided);
        answers
    }

    /// Has the runs checked by somebody who knows neither problem nor plan, and keeps the first of each candidate that is accepted.
    fn judge(&self, candidates: &[Candidate], found: &mut [Found]) {
        let mut asked: Vec<(&Candidate, &Witness)> = vec![];
        for (candidate, found) in candidates.iter().zip(&*found) {
            if let Found::Runs(runs) = found {
                asked.extend(runs.iter().map(|run| (candidate, run)));
            }
        }
        let rules = witness::Rules::of(self.trace);
        let results = witness::check_all(self.program, self.trace, rules, &asked);
        let mut results = results.unwrap_or_else(|refusal| vec![Err(refusal); asked.len()]).into_iter();
        for found in found {
            let Found::Runs(runs) = found else { continue };
            let checked: Vec<Result<(), Refusal>> = results.by_ref().take(runs.len()).collect();
            let accepted = checked.iter().position(Result::is_ok);
            *found = match accepted {
                Some(n) => Found::Runs(vec![runs.swap_remove(n)]),
                None => Found::Answer(Answer::Unknown(Unknown::OtherValues)),
            };
        }
    }

    /// Looks for runs behind one cut after another.
    fn search(&self, candidate: &Candidate, until: Until) -> Found {
        let not = |unknown: Unknown| Found::Answer(Answer::Unknown(unknown));
        let Some(goal) = Goal::of(candidate, until) else { return not(Unknown::NotAsked) };
        let events: Option<Vec<EventIndex>> =
            candidate.events().into_iter().map(|id| self.ctp.find(id)).collect();
        let Some(events) = events else {
            return not(Unknown::NotInTrace("an event that others can notice".to_owned()));
        };
        // Events that lie further apart than any window are not asked about.
        let mut last = Unknown::Window(MOST_EVENTS as u64);
        for (from, to) in cuts(self.ctp, &self.slices, &events) {
            if self.options.interrupter.is_set() {
                return not(Unknown::Interrupted);
            }
            if self.options.until.is_some_and(|until| Instant::now() >= until) {
                return not(Unknown::Time(std::time::Duration::ZERO));
            }
            let is_all = from.index() == 0 && to.index() == self.ctp.events.len();
            let window = match is_all {
                true => Cow::Borrowed(self.ctp),
                false => Cow::Owned(self.slices.slice(from, to)),
            };
            let data = if self.options.planner.is_some() { Data::Writers } else { self.data };
            let mut problem = Problem::new(&window, &goal, data);
            let outcome = match &self.options.planner {
                None => {
                    problem.trim();
                    problem.solve(self.options.limits).0
                }
                Some(planner) => match planner.solve(&problem) {
                    Ok(outcome) => outcome,
                    Err(error) => return not(Unknown::Planner(error.to_string())),
                },
            };
            match outcome {
                Outcome::Plan(plan) => {
                    let witness = Witness { recorded: last_before(self.ctp, from), ..problem.witness(&plan) };
                    return Found::Runs(self.ended(candidate, witness, until));
                }
                Outcome::None if is_all => return self.proved(candidate),
                Outcome::None => last = Unknown::Window((to.index() - from.index()) as u64),
                Outcome::Limit(states) => last = Unknown::States(states as u64),
            }
        }
        not(last)
    }

    /// What it means that the whole trace has no plan.
    fn proved(&self, candidate: &Candidate) -> Found {
        // Two accesses that are never both next may still be ordered by nothing.
        let is_exact = !matches!(candidate, Candidate::UnorderedRace { .. });
        Found::Answer(match self.data == Data::Ignored && is_exact {
            true => Answer::Infeasible(vec![Because::Filter(
                "synchronisation alone leaves no such order of the recorded events".to_owned(),
            )]),
            false => Answer::Unknown(Unknown::OtherValues),
        })
    }

    /// What follows a plan, so that it shows its candidate.
    fn ended(&self, candidate: &Candidate, witness: Witness, until: Until) -> Vec<Witness> {
        let with = |last: &[EventId]| {
            let mut run = witness.clone();
            for &id in last.iter().filter(|id| id.n > 0) {
                let done = |done: &&EventId| done.thread == id.thread;
                let is_done = run.order.iter().rev().find(done).is_some_and(|done| done.n >= id.n);
                run.order.extend((!is_done).then_some(id));
            }
            run
        };
        let before = |id: &EventId| self.ctp.before(*id);
        match candidate {
            Candidate::CoEnabledRace { .. } | Candidate::Deadlock(_) => {
                // What nobody notices lies between the last event of a thread and where it stands.
                vec![with(&candidate.events().iter().map(before).collect::<Vec<_>>())]
            }
            Candidate::UnorderedRace { first, second } if gives_back(self.ctp, *first) => {
                vec![with(&[*second, *first])]
            }
            Candidate::UnorderedRace { first, second } => {
                vec![with(&[*first, *second]), with(&[*second, *first])]
            }
            Candidate::Atomicity { between, after, .. } if until == Until::Between => {
                // e1's thread goes on to e2; or f's has to leave its sections first.
                let released = self.released_after(*between);
                let mut runs = vec![with(&[*after])];
                runs.extend(released.map(|release| with(&[release, *after])));
                runs
            }
            _ => vec![witness],
        }
    }

    /// The event by which a thread has left all locks that it holds at one of its events.
    fn released_after(&self, id: EventId) -> Option<EventId> {
        let at = self.ctp.find(id)?;
        let events = &self.ctp.thread(self.ctp.event(at).thread).events;
        let behind = events.partition_point(|&event| event <= at);
        let is_own = |open: &EventIndex| self.ctp.event(*open).id.thread == id.thread;
        let mut held = self.slices.open_at(at).iter().filter(|open| is_own(open)).count();
        for &event in &events[behind..] {
            match self.ctp.event(event).kind {
                Kind::Other(EventKind::Lock { .. }) => held += 1,
                Kind::Other(EventKind::Unlock { .. }) => {
                    held = held.saturating_sub(1);
                    if held == 0 {
                        return Some(self.ctp.event(event).id);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

/// Whether an event gives memory back: what races with it must come first, since memory is not accessed after that.
pub(crate) fn gives_back(ctp: &Ctp, id: EventId) -> bool {
    let kind = ctp.find(id).map(|at| &ctp.event(at).kind);
    matches!(kind, Some(Kind::Other(EventKind::Free { .. })))
}
