//! One run for each feasible combination of thread paths (DESIGN §14).
//!
//! The runs of a program fall into classes: in two runs of one class each thread goes the same way, so both consist of the same events, in
//! another order. All orders of one class are one concurrent trace program, and prediction decides about all of them at once. So it
//! is enough to run each class once. From a run the solver is asked for a prefix that leaves the run's paths exactly once, and
//! that is not the beginning of any class that was run. That prefix is run, which gives a new class; and so on, from every run, until there is
//! nothing more.
//!
//! A run that fails, blocks for ever or is discarded ends before its threads do, and what they would still do has no events in it. What lies behind
//! such runs is gone through step by step ([`look_behind`]), with all that the combinations so far stand for left out.
//!
//! Nothing is missed: take an execution of a class that was not run, and its shortest prefix that no class so far begins with. Without
//! its last step it is a beginning of some class that was run; so the question about that run has it as an answer.

mod decisions;
mod outside;

pub use decisions::{Combination, Decision, Made, Paths};

use crate::Error;
use crate::prune;
use crate::question::{Question, Said};
use ctp::Ctp;
use ir::Program;
use std::collections::BTreeSet;
use subject::{RunError, Schedule, Steps, Strategy, Subject};
use trace::{EventKind, Logging, Outcome, Trace};

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// After so many runs.
    pub runs: u64,
    /// Only combinations that begin to differ with at most so many context switches.
    pub switches: Option<u32>,
    /// Limits for each question to the solver.
    pub limits: encode::Limits,
}

impl Default for Options {
    fn default() -> Options {
        Options { runs: u64::MAX, switches: None, limits: encode::Limits::default() }
    }
}

/// What a search found.
#[derive(Debug, Default)]
pub struct Explored {
    /// One run of each combination, in the order in which they were found.
    pub runs: Vec<Trace>,
    /// Runs of a combination that had been run before; there should be none.
    pub duplicates: u64,
    /// Runs of [`look_behind`] whose events were those of another.
    pub repeated: u64,
    /// A loop reached its bound in some run: behind that nothing is known.
    pub bounded: bool,
    /// How runs ended before their threads did: what lies behind them is missing, unless somebody looks.
    pub cut: BTreeSet<&'static str>,
    /// Why the search may have missed something.
    pub incomplete: BTreeSet<String>,
}

/// Runs a subject once for each combination of paths. `each` is told of every new run, and says whether to go on.
///
/// # Errors
/// If the subject cannot be run, or a run cannot be understood.
pub fn explore(
    subject: &impl Subject,
    options: &Options,
    each: &mut dyn FnMut(&Trace) -> bool,
) -> Result<Explored, Error> {
    explore_beyond(subject, options, &[], each)
}

/// The same, where some runs are known from before, by their schedules: they are made again, and others looked for.
///
/// # Errors
/// As for [`explore`].
pub fn explore_beyond(
    subject: &impl Subject,
    options: &Options,
    known: &[Schedule],
    each: &mut dyn FnMut(&Trace) -> bool,
) -> Result<Explored, Error> {
    let mut explored = Explored::default();
    let mut seen: Vec<Paths> = vec![];
    let program = subject.program();
    let again = known.iter().map(|schedule| Strategy::follow(schedule.clone()));
    let first = known.is_empty().then_some(Strategy::RunToBlock);
    for strategy in again.chain(first) {
        let run = subject.run(&strategy, &Logging::Everything)?.trace;
        let paths = paths_of(program, &run)?;
        if !explored.take(run, paths, &mut seen, each) {
            return Ok(explored);
        }
    }
    let mut from = 0;
    while from < explored.runs.len() {
        let trace = explored.runs[from].clone();
        if is_compiled(program) {
            explored.incomplete.extend(outside::outside(program, &trace));
        }
        let ctp = Ctp::build(program, &trace, &ctp::Options::default())?;
        let paths = seen[from].clone();
        let mut question = Question::new(program, &ctp, &paths, options.limits, options.switches, |_| true)?;
        for known in &seen {
            question.exclude(&known.decisions)?;
        }
        loop {
            match question.ask(&[])? {
                Said::Nothing => break,
                Said::Unknown(why) => {
                    explored.incomplete.insert(why);
                    break;
                }
                Said::Another(witness) => {
                    if explored.runs.len() as u64 >= options.runs {
                        explored.incomplete.insert(format!("the limit of {} runs was reached", options.runs));
                        return Ok(explored);
                    }
                    let strategy = Strategy::follow(predict::schedule(&witness));
                    let run = subject.run(&strategy, &Logging::Everything)?;
                    if let Some(departure) = &run.departure {
                        let name = |thread| run.trace.thread_name(thread);
                        let why = format!("a run left its schedule: {}", departure.words(&name));
                        explored.incomplete.insert(why);
                    }
                    let paths = paths_of(program, &run.trace)?;
                    question.exclude(&paths.decisions)?;
                    if !explored.take(run.trace, paths, &mut seen, each) {
                        return Ok(explored);
                    }
                    // Whatever it was, the same prefix would come again.
                    if explored.duplicates > 0 {
                        explored.incomplete.insert("a combination was run twice: a fault of ours".to_owned());
                        return Ok(explored);
                    }
                }
            }
        }
        from += 1;
    }
    Ok(explored)
}

/// Goes through what lies behind runs that ended before their threads did, step by step. `record` gives the trace of the present run of
/// `steps`, with all its events; `each` is told of every run that has events of its own. How many runs that took.
///
/// # Errors
/// If the subject cannot be run, or a run cannot be understood.
pub fn look_behind<S: Steps>(
    steps: &mut S,
    program: &Program,
    options: &Options,
    explored: &mut Explored,
    record: &mut dyn FnMut(&S) -> Result<Trace, RunError>,
    each: &mut dyn FnMut(&Trace) -> bool,
) -> Result<u64, Error> {
    if explored.cut.is_empty() || !explored.incomplete.is_empty() {
        return Ok(0);
    }
    let left = options.runs.saturating_sub(explored.runs.len() as u64);
    let search = prune::Options {
        runs: left,
        limits: options.limits,
        switches: options.switches,
        phantoms: false,
        ..prune::Options::default()
    };
    let known = explored.runs.clone();
    let found = prune::explore_beyond(steps, program, &search, &known, record, &mut |trace, _| {
        let Some(trace) = trace else { return true };
        // A thread that is cut off may lack what nobody notices: it is the same run with more to look at.
        let noticed = decisions::noticed(trace);
        match explored.runs.iter_mut().find(|run| decisions::noticed(run) == noticed) {
            Some(run) => {
                *run = trace.clone();
                explored.repeated += 1;
            }
            None => explored.runs.push(trace.clone()),
        }
        each(trace)
    })?;
    explored.bounded |= found.bounded;
    explored.incomplete.extend(found.incomplete);
    explored.repeated += found.runs - found.distinct;
    explored.cut.clear();
    Ok(found.runs)
}

impl Explored {
    /// Takes note of a run; says whether to go on.
    fn take(
        &mut self,
        trace: Trace,
        paths: Paths,
        seen: &mut Vec<Paths>,
        each: &mut dyn FnMut(&Trace) -> bool,
    ) -> bool {
        if seen.iter().any(|known| known.decisions == paths.decisions) {
            self.duplicates += 1;
            return true;
        }
        self.bounded |= matches!(trace.outcome, Outcome::BoundExceeded { .. });
        self.cut.extend(cut(&trace));
        if matches!(trace.outcome, Outcome::LimitReached { .. } | Outcome::Truncated) {
            self.incomplete.insert("a run was cut at a limit".to_owned());
        }
        let go_on = each(&trace);
        seen.push(paths);
        self.runs.push(trace);
        go_on
    }
}

/// The paths of a run. Traces of compiled programs do not have their branches: the concurrent trace program knows which way they went.
fn paths_of(program: &Program, trace: &Trace) -> Result<Paths, Error> {
    if !is_compiled(program) {
        return Ok(Paths::of(trace));
    }
    Ok(Paths::of_ctp(&Ctp::build(program, trace, &ctp::Options::default())?))
}

/// Model programs say which threads they begin with.
fn is_compiled(program: &Program) -> bool {
    program.threads.is_empty()
}

/// How many threads of a run have not ended.
pub(crate) fn open_ends(trace: &Trace) -> usize {
    let ended = trace.events.iter().filter(|event| event.kind == EventKind::End).count();
    trace.threads.len().saturating_sub(ended)
}

/// Why more can follow from a run than it shows.
fn cut(trace: &Trace) -> Option<&'static str> {
    match trace.outcome {
        Outcome::Completed { .. } | Outcome::Exited { .. } => None,
        // A thread that has come to a loop's bound goes no further in any schedule; but another one that has not ended may wait.
        Outcome::BoundExceeded { .. } => {
            (open_ends(trace) > 1).then_some("a loop came to its bound, and others may wait")
        }
        Outcome::AssertionFailed { .. } => Some("a run ended with a failed assertion"),
        Outcome::Fault { .. } => Some("a run ended with a fault"),
        Outcome::Deadlock { .. } => Some("a run ended in a deadlock"),
        Outcome::Discarded { .. } => Some("an assumption did not hold in a run"),
        Outcome::LimitReached { .. } | Outcome::Truncated => None,
    }
}
