//! One run for each feasible combination of thread paths (docs/design/exploration.md, "Paths").
//!
//! The runs of a program fall into classes: in two runs of one class each thread goes the same way, so both consist of the same events, in
//! another order. All orders of one class are one concurrent trace program, and prediction decides about all of them at once. So it
//! is enough to run each class once. From a run the solver is asked for a prefix that leaves the run's paths exactly once, and
//! that is not the beginning of any class that was run. That prefix is run, which gives a new class; and so on, from every run, until there is
//! nothing more.
//!
//! A thread that does not come to its end stops: something that it stands before does not hold or ends the process, or it waits for others for
//! ever. Where it stops is a decision like a branch, so that a combination says of each thread how it went and where it stopped. What ends
//! the process can always come last: a failing assertion keeps nobody else from going on. So runs go on until every thread has
//! ended or stopped ([`Subject::exhaust`]), and each combination is one end that the program can come to, whatever the order. Where several
//! threads stand before what ends the process there is one run for each of them, because a process ends once.
//!
//! From a run the solver is asked for two things: a prefix that leaves the run's paths once, at its end, or one behind which no thread goes on.
//! Nothing is missed: take an execution of a combination that was not run. If some prefix of it is the beginning of no combination so far, take
//! the shortest; without its last step it is a beginning of one that was run, and the question about that run has it as an answer. If there
//! is none, all of it is the beginning of a run, and its end is one of the ends that the question about that run asks for.

mod decisions;
pub(crate) mod outside;
mod workers;

pub use decisions::{Combination, Decision, OPTIONS, Paths, Stop};
pub(crate) use decisions::{Difference, Made, outcome};

use crate::Error;
use crate::traced::Sites;
use ctp::{Ctp, IsNoticed};
use ir::Program;
use std::collections::BTreeSet;
use std::sync::Arc;
use subject::{Exhausted, Schedule, Strategy, Subject};
use trace::{Event, EventKind, FaultKind, Outcome, Trace};

/// So many events a thread does at once in runs of compiled programs.
const SHORT_TURN: u32 = 32;

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// After so many runs.
    pub runs: u64,
    /// Only combinations that begin to differ with at most so many context switches.
    pub switches: Option<u32>,
    /// Limits for each question to the solver.
    pub limits: encode::Limits,
    /// So many runs are asked about at once.
    pub workers: usize,
    /// How often a thread goes round a loop that only waits is no difference. Of compiled programs it never is.
    pub spins: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            runs: u64::MAX,
            switches: None,
            limits: encode::Limits::default(),
            workers: 1,
            spins: false,
        }
    }
}

/// What a search found.
#[derive(Debug, Default)]
pub struct Explored {
    /// One run of each combination, in the order in which they were found.
    pub runs: Vec<Trace>,
    /// Runs of a combination that had been run before; there should be none.
    pub duplicates: u64,
    /// A loop reached its bound in some run: behind that nothing is known.
    pub bounded: bool,
    /// How runs of compiled programs ended before their threads did: what lies behind them is missing.
    pub cut: BTreeSet<&'static str>,
    /// Why the search may have missed something.
    pub incomplete: BTreeSet<String>,
}

/// A combination that was run.
struct Seen {
    paths: Paths,
    /// Its events, and behind them what threads stood before at its end.
    trace: Trace,
    standing: usize,
}

impl Seen {
    fn ctp(&self, program: &Program, sites: &Sites<'_>) -> Result<Ctp, Error> {
        let is_noticed = |event: &Event| sites.is_noticed(event);
        let rounds: Option<IsNoticed<'_>> = sites.spins.then_some(&is_noticed);
        Ok(Ctp::build_standing(program, &self.trace, self.standing, &OPTIONS, rounds)?)
    }
}

/// Runs a subject once for each combination of paths. `each` is told of every new run, and of how many runs are still to be asked about; it says whether to
/// go on.
///
/// # Errors
/// If the subject cannot be run, or a run cannot be understood.
pub fn explore(
    subject: &(impl Subject + Sync),
    options: &Options,
    each: &mut (dyn FnMut(&Trace, usize) -> bool + Send),
) -> Result<Explored, Error> {
    explore_beyond(subject, options, &[], each)
}

/// The same, where some runs are known from before, by their schedules: they are made again, and others looked for.
///
/// # Errors
/// As for [`explore`].
pub fn explore_beyond(
    subject: &(impl Subject + Sync),
    options: &Options,
    known: &[Schedule],
    each: &mut (dyn FnMut(&Trace, usize) -> bool + Send),
) -> Result<Explored, Error> {
    let mut explored = Explored::default();
    let mut seen: Vec<Arc<Seen>> = vec![];
    let program = subject.program();
    let again = known.iter().map(|schedule| following(program, schedule.clone()));
    let first = known.is_empty().then(|| free(program));
    for strategy in again.chain(first) {
        let exhausted = subject.exhaust(&strategy)?;
        let new = Seen::of(program, &exhausted)?;
        // Runs that differ only in what ended them are one combination here.
        if seen.iter().any(|known| known.paths.is(&new.paths)) {
            continue;
        }
        let left = seen.len() + 1;
        if !explored.take(exhausted, new, &mut seen, &mut |run| each(run, left)) {
            return Ok(explored);
        }
    }
    workers::search(subject, options, explored, seen, each)
}

impl Explored {
    /// Takes note of runs of a new combination; says whether to go on.
    fn take(
        &mut self,
        exhausted: Exhausted,
        new: Seen,
        seen: &mut Vec<Arc<Seen>>,
        each: &mut dyn FnMut(&Trace) -> bool,
    ) -> bool {
        if let Some(pending) = &exhausted.pending {
            let stands = |thread| pending.iter().any(|event| event.id.thread == thread);
            self.bounded |= new.paths.stops.keys().any(|&thread| !stands(thread));
        }
        let mut go_on = true;
        for run in exhausted.runs {
            self.bounded |= matches!(run.trace.outcome, Outcome::BoundExceeded { .. });
            if exhausted.pending.is_none() {
                self.cut.extend(cut(&run.trace));
            }
            match run.trace.outcome {
                Outcome::LimitReached { .. } | Outcome::Truncated => {
                    self.incomplete.insert("a run was cut at a limit".to_owned());
                }
                Outcome::Fault { kind: FaultKind::MachineLimit, .. } => {
                    self.incomplete.insert("a run needs more than the machine goes along with".to_owned());
                }
                _ => {}
            }
            go_on &= each(&run.trace);
            self.runs.push(run.trace);
        }
        seen.push(Arc::new(new));
        go_on
    }
}

impl Seen {
    /// The combination of a run.
    fn of(program: &Program, exhausted: &Exhausted) -> Result<Seen, Error> {
        // There is at least one, and what they differ in is left out.
        let mut trace = exhausted.runs[0].trace.clone();
        let Some(pending) = &exhausted.pending else {
            // Traces of compiled programs do not have their branches: the concurrent trace program knows which way they went.
            let paths = match is_compiled(program) {
                true => Paths::of_ctp(&Ctp::build(program, &trace, &OPTIONS)?, &trace.outcome),
                false => Paths::of(&trace, 0),
            };
            return Ok(Seen { paths, trace, standing: 0 });
        };
        if let Outcome::AssertionFailed { .. } | Outcome::Fault { .. } = trace.outcome {
            trace.events.pop();
        }
        trace.events.extend(pending.iter().cloned());
        let mut paths = Paths::of(&trace, pending.len());
        for thread in &exhausted.going_round {
            paths.stops.entry(*thread).and_modify(|stop| stop.fails = false);
        }
        Ok(Seen { paths, trace, standing: pending.len() })
    }
}

/// Model programs say which threads they begin with.
pub(crate) fn is_compiled(program: &Program) -> bool {
    program.threads.is_empty()
}

/// How a run goes on that nothing is said of. While a compiled program runs nobody sees that a thread only goes round; where turns are short it does not do so
/// for long.
fn free(program: &Program) -> Strategy {
    match is_compiled(program) {
        true => Strategy::RoundRobin { quantum: SHORT_TURN },
        false => Strategy::RunToBlock,
    }
}

fn following(program: &Program, schedule: Schedule) -> Strategy {
    Strategy::Follow { schedule, then: Box::new(free(program)) }
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
