//! What can be seen at the end of a run.

use crate::Machine;
use crate::enabled::in_circles;
use crate::state::{Phase, State};
use ir::SiteId;
use subject::Schedule;
use subject::answers::{Answers, Counts, Failure, FinalState, Point};
use trace::{BlockedThread, FaultKind, Outcome};

/// The end of a run.
pub struct End {
    pub counts: Counts,
    deadlock: Option<Vec<BlockedThread>>,
    failure: Option<Failure>,
    exhausted: Option<SiteId>,
    final_state: Option<FinalState>,
    bounds: Vec<SiteId>,
}

impl End {
    /// Of a state in which nobody goes on. `unfinished`: some thread has stopped for a reason of its own; `numbered`: numbers of
    /// events mean the same in all runs.
    pub fn of(machine: &Machine, state: &State, unfinished: bool, numbered: bool) -> End {
        let outcome = machine.outcome(state);
        let counts = match outcome {
            Outcome::Fault { kind: FaultKind::MachineLimit, .. } => Counts { cut: 1, ..Counts::default() },
            Outcome::AssertionFailed { .. } | Outcome::Fault { .. } => {
                Counts { failed: 1, ..Counts::default() }
            }
            Outcome::Discarded { .. } => Counts { discarded: 1, ..Counts::default() },
            _ if unfinished => Counts { cut: 1, ..Counts::default() },
            Outcome::Deadlock { .. } => Counts { deadlocked: 1, ..Counts::default() },
            _ => Counts { completed: 1, ..Counts::default() },
        };
        // A circle is the deadlock; who else waits for its members is not part of it.
        let all_blocked = machine.all_blocked(state);
        let mut blocked = in_circles(&all_blocked);
        if blocked.is_empty() && !unfinished && state.ending.is_none() && counts.discarded == 0 {
            blocked = all_blocked;
        }
        let mut end = End {
            counts,
            deadlock: (!blocked.is_empty()).then_some(blocked),
            failure: None,
            exhausted: None,
            final_state: None,
            bounds: vec![],
        };
        let failed = |event: trace::EventId, site, fault| {
            let at = Point { thread: event.thread, n: numbered.then_some(event.n), site };
            Some(Failure { at, fault })
        };
        match outcome {
            Outcome::AssertionFailed { event, site } => end.failure = failed(event, site, None),
            Outcome::Fault { site, kind: FaultKind::MachineLimit, .. } => end.exhausted = Some(site),
            Outcome::Fault { event, site, kind } => end.failure = failed(event, site, Some(kind)),
            Outcome::Completed { state: values, condition } if !unfinished => {
                end.final_state = Some(FinalState { values, condition });
            }
            _ => {
                let at_bound = |&t: &usize| matches!(state.threads[t].phase, Phase::BoundReached);
                let bounds = (0..state.threads.len()).filter(at_bound);
                end.bounds = bounds.map(|t| machine.site(state, t)).collect();
            }
        }
        end
    }

    /// Takes it into the answers, with the schedule that led here, which has so many segments.
    pub fn keep(self, answers: &mut Answers, segments: usize, schedule: impl Fn() -> Schedule) {
        if let Some(blocked) = self.deadlock {
            Answers::keep(&mut answers.deadlocks, blocked, segments, &schedule);
        }
        if let Some(failure) = self.failure {
            Answers::keep(&mut answers.failures, failure, segments, &schedule);
        }
        if let Some(site) = self.exhausted {
            Answers::keep(&mut answers.exhausted, site, segments, &schedule);
        }
        if let Some(state) = self.final_state {
            Answers::keep(&mut answers.final_states, state, segments, &schedule);
        }
        for site in self.bounds {
            Answers::keep(&mut answers.bounds, site, segments, &schedule);
        }
    }
}
