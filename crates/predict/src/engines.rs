//! Several engines on one trace (PLAN §5, "the combination of both approaches"; docs/design/engines.md): the
//! cheap ones first, each asked what those before it have left open. The symbolic engine, which is exact,
//! comes last and is not among these.

use crate::confirm::Replayed;
use crate::planning::{self, Planning};
use crate::sync::Sync;
use claim::{Answer, Candidate, Engine, EngineStatistics, Standing, Unconfirmed, Unknown, Witness};
use ctp::Ctp;
use ir::Program;
use std::time::{Duration, Instant};
use trace::Trace;

/// Who is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Engines {
    /// The symbolic engine alone.
    #[default]
    Symbolic,
    /// Plans in which each read sees what it saw, alone.
    Plan,
    /// Lock-valid runs, which are then run, alone.
    Lockset,
    /// Runs that preserve synchronisation, alone.
    Sync,
    /// All, the cheap ones first.
    All,
}

impl Engines {
    /// The engines other than the symbolic one, in the order in which they are asked. Of a long trace the symbolic engine looks at windows, so one
    /// that takes all of it into account goes first.
    #[must_use]
    pub fn cheap(self, sliced: bool) -> &'static [Engine] {
        match self {
            Engines::Symbolic if sliced => &[Engine::Sync],
            Engines::Symbolic => &[],
            Engines::Plan => &[Engine::Plan],
            Engines::Lockset => &[Engine::Lockset],
            Engines::Sync => &[Engine::Sync],
            Engines::All => &[Engine::Sync, Engine::Plan, Engine::Lockset],
        }
    }

    /// Whether the symbolic engine is asked.
    #[must_use]
    pub fn asks_symbolic(self) -> bool {
        matches!(self, Engines::Symbolic | Engines::All)
    }
}

/// A candidate that was decided, or that nobody else is asked about.
pub(crate) struct Decided {
    pub candidate: Candidate,
    pub answer: Answer,
    pub engine: Engine,
    /// What came of running the subject, if that was needed for the answer.
    pub replayed: Option<Replayed>,
}

/// What the cheap engines came to.
pub(crate) struct Cheap {
    pub decided: Vec<Decided>,
    /// What the symbolic engine is to be asked.
    pub open: Vec<Candidate>,
    pub statistics: Vec<EngineStatistics>,
}

/// What is asked about.
pub(crate) struct Asked<'c> {
    pub program: &'c Program,
    pub trace: &'c Trace,
    pub ctp: &'c Ctp,
    /// The symbolic engine will look at windows of the trace.
    pub is_sliced: bool,
    pub options: planning::Options,
}

/// Asks the cheap engines. `replay` runs the subject, if there is one, along what is only claimed.
pub(crate) fn ask(
    asked: &Asked<'_>,
    engines: Engines,
    candidates: Vec<Candidate>,
    decided: &mut dyn FnMut(&Answer),
    replay: &mut dyn FnMut(&Candidate, &Witness) -> Replayed,
) -> Cheap {
    let mut cheap = Cheap { decided: vec![], open: candidates, statistics: vec![] };
    let order = engines.cheap(asked.is_sliced);
    for (n, &engine) in order.iter().enumerate() {
        let is_last = n + 1 == order.len() && !engines.asks_symbolic();
        let candidates = std::mem::take(&mut cheap.open);
        let mut statistics =
            EngineStatistics { asked: candidates.len() as u64, ..EngineStatistics::of(engine) };
        let start = Instant::now();
        let mut answers = answer_all(asked, engine, &candidates);
        statistics.time = start.elapsed();
        let runs = answers.iter().filter(|answer| matches!(answer, Answer::Feasible(_)));
        statistics.runs = runs.count() as u64;
        let mut replayed: Vec<Option<Replayed>> = vec![None; candidates.len()];
        if engine == Engine::Lockset {
            let start = Instant::now();
            for (n, answer) in answers.iter_mut().enumerate() {
                let Answer::Feasible(witness) = answer else { continue };
                let shown = replay(&candidates[n], witness);
                if is_refused(&shown) {
                    *answer = Answer::Unknown(Unknown::NotFollowed);
                } else {
                    replayed[n] = Some(shown);
                }
            }
            statistics.replay = start.elapsed();
            asked.refuse_departed(&candidates, &mut answers, &mut replayed);
            let followed = answers.iter().filter(|answer| matches!(answer, Answer::Feasible(_)));
            statistics.refused = statistics.runs - followed.count() as u64;
        }
        for ((candidate, answer), replayed) in candidates.into_iter().zip(answers).zip(replayed) {
            statistics.infeasible += u64::from(matches!(answer, Answer::Infeasible(_)));
            if matches!(answer, Answer::Unknown(_)) && !is_last {
                cheap.open.push(candidate);
            } else {
                decided(&answer);
                cheap.decided.push(Decided { candidate, answer, engine, replayed });
            }
        }
        cheap.statistics.push(statistics);
    }
    cheap
}

fn answer_all(asked: &Asked<'_>, engine: Engine, candidates: &[Candidate]) -> Vec<Answer> {
    let Asked { program, trace, ctp, .. } = *asked;
    let planning = match engine {
        Engine::Plan => Planning::plan(program, trace, ctp, asked.options.clone()),
        Engine::Lockset => Planning::lockset(program, trace, ctp, asked.options.clone()),
        Engine::Sync => {
            let sync = Sync::new(ctp);
            let planning::Options { until, interrupter, .. } = &asked.options;
            let answer = |candidate| match () {
                () if interrupter.is_set() => Answer::Unknown(Unknown::Interrupted),
                () if until.is_some_and(|until| Instant::now() >= until) => {
                    Answer::Unknown(Unknown::Time(Duration::ZERO))
                }
                () => sync.answer(candidate),
            };
            return candidates.iter().map(answer).collect();
        }
        Engine::Symbolic => return vec![Answer::Unknown(Unknown::NotAsked); candidates.len()],
    };
    planning.answer_all(candidates, &mut |_| {})
}

/// Whether a claim does not count: the subject was run along it and did not show it.
fn is_refused(replayed: &Replayed) -> bool {
    match &replayed.standing {
        Standing::Confirmed | Standing::Predicted(Unconfirmed::NotReplayed | Unconfirmed::NoSubject) => false,
        Standing::Predicted(_) => true,
    }
}

impl Asked<'_> {
    /// A run that follows a schedule may have left its way before the last event, and then does something else there than was claimed; and
    /// where there is no subject, nothing was run. The checker knows.
    fn refuse_departed(
        &self,
        candidates: &[Candidate],
        answers: &mut [Answer],
        replayed: &mut [Option<Replayed>],
    ) {
        let counts = |run: &Replayed| {
            matches!(run.standing, Standing::Confirmed | Standing::Predicted(Unconfirmed::NoSubject))
        };
        let is_seen = |run: &Option<Replayed>| run.as_ref().is_some_and(counts);
        let seen: Vec<usize> = (0..candidates.len()).filter(|&n| is_seen(&replayed[n])).collect();
        let claims = seen.iter().filter_map(|&n| match &answers[n] {
            Answer::Feasible(witness) => Some((&candidates[n], witness)),
            _ => None,
        });
        let claims: Vec<(&Candidate, &Witness)> = claims.collect();
        let rules = witness::Rules::of(self.trace);
        let checked = witness::check_all(self.program, self.trace, rules, &claims);
        let checked = checked.unwrap_or_else(|refusal| vec![Err(refusal); claims.len()]);
        for (n, result) in seen.into_iter().zip(checked) {
            if result.is_err() {
                answers[n] = Answer::Unknown(Unknown::NotFollowed);
                replayed[n] = None;
            }
        }
    }
}

/// The time that is left for planning.
pub(crate) fn until(share: Option<Duration>) -> Option<Instant> {
    share.map(|share| Instant::now() + share)
}
