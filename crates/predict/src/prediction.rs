//! The whole way: from a trace to findings (docs/design/README.md), with the counts of AV Table 1.

use crate::candidates::deadlock::circles;
use crate::candidates::{Wanted, candidates};
use crate::confirm::{Replayed, confirm};
use crate::engines::{self, Asked, Cheap, Decided, Engines};
use crate::filters::{Filter, Filters};
use crate::normal::Normal;
use crate::pattern::{self, PatternError, PatternText};
use crate::places::{Tag, each_place_first, sites, tag};
use crate::planning;
use crate::rearranged::Rearranged;
use crate::symbolic;
use crate::time;
use crate::windows::{Windows, is_sliced};
use claim::{
    Answer, Candidate, Coverage, Deadlock, Engine, EngineStatistics, Finding, Property, Statistics, Unknown,
    Witness,
};
use ctp::{Ctp, CtpError};
use encode::Model;
use ir::{Program, SiteId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::time::Instant;
use subject::Subject;
use trace::{Choice, Logging, Trace};

/// How to predict.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What is looked for, and how much of it.
    pub wanted: Wanted,
    /// How the concurrent trace program is made.
    pub ctp: ctp::Options,
    /// Who decides candidates.
    pub engines: Engines,
    /// How the symbolic engine works.
    pub engine: symbolic::Options,
    /// Another planner than ours, for the engine `plan`.
    pub planner: Option<plan::Outside>,
    /// What the user asks for besides.
    pub patterns: Vec<PatternText>,
    /// Then all is to be over: what is not decided is unknown, and what is not confirmed stays predicted.
    pub until: Option<Instant>,
}

/// Most deadlocks that are enumerated.
const MOST_DEADLOCKS: usize = 100;

/// Most circles of locks at the same instructions that engines are asked about that do not enumerate deadlocks.
const MOST_CIRCLES: usize = 16;

/// What came out.
#[derive(Clone, Debug, Default)]
pub struct Prediction {
    /// What the user is told, the worst first.
    pub findings: Vec<Finding>,
    /// Each candidate with its answer, those that filters discarded included.
    pub answers: Vec<(Candidate, Answer)>,
    /// The numbers.
    pub statistics: Statistics,
    /// What was covered.
    pub coverage: Coverage,
    /// What other engines than the symbolic one have decided, and the runs that they needed for it.
    pub(crate) decided: FxHashMap<Candidate, (Engine, Option<Replayed>)>,
}

/// Why there is no prediction.
#[derive(Debug, thiserror::Error)]
pub enum PredictError {
    /// No concurrent trace program can be made of the trace.
    #[error(transparent)]
    Trace(#[from] CtpError),
    /// The trace cannot be encoded.
    #[error("the trace cannot be encoded: {0}")]
    Encode(#[from] encode::Error),
    /// A pattern speaks of what the trace does not have.
    #[error(transparent)]
    Pattern(#[from] PatternError),
}

/// How far a prediction has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Candidates that are decided.
    pub decided: usize,
    /// All of them.
    pub candidates: usize,
    /// Feasible ones among the decided.
    pub feasible: usize,
}

/// Predicts from a trace, without running anything: all findings are `predicted`. Of a trace without values each shows the recorded events
/// in the order of its witness, since more than that is not known of any run.
///
/// # Errors
/// If the trace does not fit the program, or is too large.
pub fn predict(
    program: &Program,
    trace: &Trace,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<Prediction, PredictError> {
    if trace.origin.logging == Logging::WithoutValues {
        let events = Rearranged::new(trace);
        return run(program, trace, options, progress, |candidate, witness| events.shown(candidate, witness));
    }
    run(program, trace, options, progress, |_, witness| Replayed::not(&witness.whole(trace)))
}

/// Predicts from a trace of a subject and re-runs the subject along the witnesses.
///
/// # Errors
/// As for [`predict`].
pub fn predict_and_confirm(
    subject: &impl Subject,
    trace: &Trace,
    options: &Options,
    normal: &Normal,
    progress: &mut dyn FnMut(Progress),
) -> Result<Prediction, PredictError> {
    let replay = |candidate: &Candidate, witness: &Witness| match options
        .until
        .is_some_and(|until| Instant::now() >= until)
    {
        true => Replayed::not(&witness.whole(trace)),
        false => confirm(subject, trace, candidate, &witness.whole(trace), normal),
    };
    run(subject.program(), trace, options, progress, replay)
}

fn run(
    program: &Program,
    trace: &Trace,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
    mut replay: impl FnMut(&Candidate, &Witness) -> Replayed,
) -> Result<Prediction, PredictError> {
    let mut prediction = Prediction::default();
    let mut options = options.clone();
    if trace.origin.logging == Logging::WithoutValues {
        // Numbers that mean nothing can only be kept.
        options.engine.model = Model::Causal;
        prediction.coverage.same_writes = true;
    }
    let options = &options;
    let start = Instant::now();
    let (ctp, looked_at) = time::build(program, trace, options)?;
    prediction.coverage.events_left_out = (trace.events.len() - looked_at.events.len()) as u64;
    let trace = &*looked_at;
    prediction.statistics.times.build = start.elapsed();
    let mut remaining = prediction.generate(&ctp, options);
    let most = options.wanted.per_place;
    let (patterns, left_out) = pattern::bind(&options.patterns, &ctp, program, trace, most)?;
    remaining.extend(patterns);
    prediction.coverage.left_out += left_out;
    let replay = &mut replay;
    each_place_first(&ctp, &mut remaining);
    if !options.engines.cheap(is_sliced(&ctp, &options.engine)).is_empty() {
        remaining = prediction.ask_cheap(program, trace, &ctp, remaining, options, progress, replay);
    }
    let mut engine = None;
    if options.engines.asks_symbolic() {
        let start = Instant::now();
        let asked = symbolic::Options { total_time: time::for_questions(options), ..options.engine.clone() };
        let engine = engine.insert(Windows::new(program, trace, &ctp, &remaining, asked)?);
        prediction.statistics.times.encode = start.elapsed();
        prediction.solve(engine, remaining, options, progress)?;
    }
    prediction.answers.sort_by(|(a, _), (b, _)| a.cmp(b));
    let start = Instant::now();
    if let Some(engine) = &mut engine {
        prediction.make_small(engine, &ctp)?;
    } else if options.engines == Engines::Plan {
        // A planner looks for any run. The solver, which is asked about what is shown only, has one with few switches.
        let feasible = prediction.answers.iter().filter(|(_, answer)| matches!(answer, Answer::Feasible(_)));
        let feasible: Vec<Candidate> = feasible.map(|(candidate, _)| candidate.clone()).collect();
        let asked = symbolic::Options { total_time: time::for_questions(options), ..options.engine.clone() };
        prediction.make_small(&mut Windows::new(program, trace, &ctp, &feasible, asked)?, &ctp)?;
    }
    // CAM claims more than it knows: what the program thinks of it, the replay says.
    if options.engine.model != Model::Cam {
        prediction.check(program, trace);
    }
    prediction.statistics.times.witnesses = start.elapsed();
    let start = Instant::now();
    let trusts_all = options.engine.model == Model::Cam;
    let checks = |candidate: &Candidate, witness: &Witness| {
        trusts_all
            || witness::check_all(program, trace, rules(trace, [witness]), &[(candidate, witness)])
                .is_ok_and(|each| each.iter().all(Result::is_ok))
    };
    prediction.find(&mut engine, &ctp, &checks, replay)?;
    prediction.statistics.times.replay = start.elapsed();
    prediction.count(&ctp);
    Ok(prediction)
}

impl Prediction {
    /// Makes candidates and filters them; gives those that are left.
    fn generate(&mut self, ctp: &Ctp, options: &Options) -> Vec<Candidate> {
        let start = Instant::now();
        let generated = candidates(ctp, &options.wanted);
        self.coverage.left_out = generated.left_out;
        let filters = Filters::new(ctp);
        let mut remaining = vec![];
        for candidate in generated.all {
            let atomicity = u64::from(candidate.property() == Property::Atomicity);
            self.statistics.potential += atomicity;
            let discarded = filters.discards(&candidate);
            if !matches!(discarded, Some((Filter::HappensBefore, _))) {
                self.statistics.after_happens_before += atomicity;
            }
            // AV's column looks at locks only.
            let by_counting = matches!(discarded, Some((Filter::Counting, _)));
            self.statistics.without_data += if by_counting { atomicity } else { 0 };
            match discarded {
                Some((_, because)) => self.answers.push((candidate, Answer::Infeasible(vec![because]))),
                None => {
                    self.statistics.without_data += atomicity;
                    remaining.push(candidate);
                }
            }
        }
        self.statistics.times.candidates = start.elapsed();
        remaining
    }

    /// Asks the engines that are cheaper than the symbolic one; gives what it is to be asked.
    #[expect(clippy::too_many_arguments, reason = "what is predicted from, and what is told")]
    fn ask_cheap(
        &mut self,
        program: &Program,
        trace: &Trace,
        ctp: &Ctp,
        mut remaining: Vec<Candidate>,
        options: &Options,
        progress: &mut dyn FnMut(Progress),
        replay: &mut dyn FnMut(&Candidate, &Witness) -> Replayed,
    ) -> Vec<Candidate> {
        if options.wanted.properties.contains(&Property::Deadlock) {
            remaining.extend(circles(ctp, MOST_CIRCLES));
        }
        let planning = planning::Options {
            until: engines::until(time::for_questions(options)),
            interrupter: options.engine.interrupter.clone(),
            planner: options.planner.clone(),
            ..planning::Options::default()
        };
        let (candidates, mut feasible, mut decided) = (remaining.len(), 0, 0);
        let start = Instant::now();
        let asked =
            Asked { program, trace, ctp, is_sliced: is_sliced(ctp, &options.engine), options: planning };
        let told = &mut |answer: &Answer| {
            decided += 1;
            feasible += usize::from(matches!(answer, Answer::Feasible(_)));
            progress(Progress { decided, candidates, feasible });
        };
        let Cheap { decided, mut open, statistics } =
            engines::ask(&asked, options.engines, remaining, told, replay);
        for Decided { candidate, answer, engine, replayed } in decided {
            self.decided.insert(candidate.clone(), (engine, replayed));
            self.answers.push((candidate, answer));
        }
        self.statistics.engines = statistics;
        self.statistics.times.solve += start.elapsed();
        if !options.engines.asks_symbolic() && options.wanted.properties.contains(&Property::Deadlock) {
            // Others than circles of two locks may be there.
            let others = Candidate::Deadlock(Deadlock::AllBlocked(vec![]));
            self.answers.push((others, Answer::Unknown(Unknown::NotAsked)));
        }
        // The symbolic engine enumerates deadlocks itself.
        open.retain(|candidate| candidate.property() != Property::Deadlock);
        open
    }

    fn solve(
        &mut self,
        engine: &mut Windows<'_>,
        remaining: Vec<Candidate>,
        options: &Options,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), PredictError> {
        let start = Instant::now();
        let (candidates, mut feasible) = (remaining.len(), 0);
        let mut decided = 0;
        progress(Progress { decided, candidates, feasible });
        let answers = engine.answer_all(&remaining, &mut |answer| {
            decided += 1;
            feasible += usize::from(matches!(answer, Answer::Feasible(_)));
            progress(Progress { decided, candidates, feasible });
        })?;
        let before = self.answers.len();
        self.answers.extend(remaining.into_iter().zip(answers));
        if options.wanted.properties.contains(&Property::Deadlock) {
            let deadlocks = engine.deadlocks(MOST_DEADLOCKS)?;
            let is_new = |(candidate, _): &(Candidate, Answer)| !self.decided.contains_key(candidate);
            self.answers.extend(deadlocks.into_iter().filter(is_new));
        }
        self.statistics.times.solve += start.elapsed();
        if !self.statistics.engines.is_empty() {
            let own = &self.answers[before..];
            let count = |is: fn(&Answer) -> bool| own.iter().filter(|(_, answer)| is(answer)).count() as u64;
            self.statistics.engines.push(EngineStatistics {
                asked: own.len() as u64,
                runs: count(|answer| matches!(answer, Answer::Feasible(_))),
                infeasible: count(|answer| matches!(answer, Answer::Infeasible(_))),
                time: self.statistics.times.encode + start.elapsed(),
                ..EngineStatistics::of(Engine::Symbolic)
            });
        }
        Ok(())
    }

    /// Makes the witness small that will be shown for each static place: the first one. Those of other engines are kept if they have no more
    /// switches already; what `lockset` gives was run.
    fn make_small(&mut self, engine: &mut Windows<'_>, ctp: &Ctp) -> Result<(), PredictError> {
        let mut shown: FxHashSet<(Tag, Vec<SiteId>)> = FxHashSet::default();
        for (candidate, answer) in &mut self.answers {
            let Answer::Feasible(witness) = answer else { continue };
            let by = self.decided.get(candidate).map(|(engine, _)| *engine);
            if by == Some(Engine::Lockset) || !shown.insert((tag(candidate), sites(ctp, candidate))) {
                continue;
            }
            if let Answer::Feasible(small) = engine.answer_small(candidate)?
                && (by.is_none() || small.switches() < witness.switches())
            {
                *witness = small;
            }
        }
        Ok(())
    }

    /// Has each witness checked by somebody who knows neither the encoding nor the engine. Claims that ignore data are the subject's business.
    fn check(&mut self, program: &Program, trace: &Trace) {
        let decided = &self.decided;
        let is_claim = |candidate: &Candidate| matches!(decided.get(candidate), Some((Engine::Lockset, _)));
        let feasible = self.answers.iter().filter_map(|(candidate, answer)| match answer {
            Answer::Feasible(witness) if !is_claim(candidate) => Some((candidate, witness)),
            _ => None,
        });
        let asked: Vec<(&Candidate, &Witness)> = feasible.collect();
        let rules = rules(trace, asked.iter().map(|&(_, witness)| witness));
        let results = witness::check_all(program, trace, rules, &asked);
        let results = results.unwrap_or_else(|refusal| vec![Err(refusal); asked.len()]);
        let feasible = self
            .answers
            .iter_mut()
            .filter(|(candidate, answer)| matches!(answer, Answer::Feasible(_)) && !is_claim(candidate));
        for ((_, answer), result) in feasible.zip(results) {
            if let Err(refusal) = result {
                *answer = Answer::Unknown(Unknown::Refused(refusal.to_string()));
            }
        }
    }

    fn count(&mut self, ctp: &Ctp) {
        let statistics = &mut self.statistics;
        statistics.threads = ctp.threads.iter().filter(|thread| !thread.events.is_empty()).count() as u64;
        statistics.shared_locations = ctp.locations.len() as u64;
        statistics.events = ctp.original_events as u64;
        statistics.simplified = ctp.events.len() as u64;
        statistics.transactions = ctp.transactions.len() as u64;
        statistics.pins = ctp.rebuild.pins.iter().map(|(why, &count)| (why.to_string(), count)).collect();
        statistics.pins.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let coverage = &mut self.coverage;
        coverage.pins = ctp.rebuild.pins.values().sum();
        coverage.mismatches = ctp.rebuild.mismatches;
        for (candidate, answer) in &self.answers {
            let atomicity = u64::from(candidate.property() == Property::Atomicity);
            coverage.candidates += 1;
            match answer {
                Answer::Feasible(_) => {
                    coverage.feasible += 1;
                    statistics.feasible += atomicity;
                }
                Answer::Infeasible(_) => coverage.infeasible += 1,
                Answer::Unknown(_) => {
                    coverage.unknown += 1;
                    statistics.unknown += atomicity;
                }
            }
        }
    }
}

/// What the checker allows: waits that end without a reason only where some do.
fn rules<'w>(trace: &Trace, witnesses: impl IntoIterator<Item = &'w Witness>) -> witness::Rules {
    let said = witness::Rules::of(trace);
    let is_spurious = |witness: &Witness| witness.choices.contains(&Choice::Spurious);
    witness::Rules { spurious: said.spurious || witnesses.into_iter().any(is_spurious), ..said }
}
