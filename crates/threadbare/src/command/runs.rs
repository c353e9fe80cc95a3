//! What strategies of exploration share that run a program some times, and have prediction decide about all other schedules of each run.

use super::record;
use super::resume::Kept;
use crate::cli::{ExploreArguments, Format, Search};
use crate::exit::Exit;
use crate::prediction::{self, More, Predicted, Sink};
use crate::store::Invocation;
use crate::{load, output};
use anyhow::bail;
use machine::Machine;
use report::{Explored, Verdict};
use std::collections::BTreeSet;
use std::time::Duration;
use subject::{Schedule, Subject};
use trace::{Outcome, ThreadId, Trace};

/// Runs of model programs end after so many events.
const MOST_EVENTS: u64 = 1_000_000;

/// What a search says of its runs.
pub struct Searched {
    /// Runs whose events are not those of another, in the order in which they were found.
    pub runs: Vec<Trace>,
    /// How many there were.
    pub made: u64,
    /// How many, and what they stand for.
    pub counted: String,
    /// A loop reached its bound in some run.
    pub bounded: bool,
    /// Why the search may have missed something.
    pub incomplete: BTreeSet<String>,
}

/// The program, if the strategy can be used for it as it is asked.
pub fn machine(arguments: &ExploreArguments, strategy: &str) -> anyhow::Result<Machine> {
    if arguments.along.is_some() {
        bail!("--along goes with --strategy all only");
    }
    if arguments.options.spurious {
        bail!("--strategy {strategy} does not know waits that end without a reason; --strategy dpor does");
    }
    load::machine(&arguments.program, &arguments.options, MOST_EVENTS)
}

/// How to predict from the runs.
pub fn options(arguments: &ExploreArguments) -> anyhow::Result<predict::Options> {
    let mut options = prediction::options(&arguments.predict)?;
    options.wanted.per_place = usize::MAX;
    Ok(options)
}

/// Limits of the questions that the search itself asks.
pub fn limits(arguments: &ExploreArguments) -> predict::Limits {
    let time = Some(Duration::from_secs(arguments.predict.solve_time));
    predict::Limits { time, ..predict::Limits::default() }
}

/// How runs of a subject are told of.
pub struct Naming<'a> {
    /// The command that runs it again.
    pub replay: Invocation,
    /// What a thread is called in a schedule on the command line.
    pub thread: &'a (dyn Fn(&Trace, ThreadId) -> String + Sync),
}

impl Naming<'static> {
    /// How runs of a compiled program are told of: names of threads may have spaces there.
    pub fn of_compiled(replay: Invocation) -> Naming<'static> {
        Naming { replay, thread: &|_, thread| thread.to_string() }
    }
}

/// How runs of a model program are told of.
pub fn naming(arguments: &ExploreArguments) -> Naming<'static> {
    let replay = load::replay_of_model(&arguments.program, arguments.options.loop_bound);
    Naming { replay, thread: &|trace, thread| trace.thread_name(thread) }
}

/// Predicts from all runs, and tells what was found and what that says of the program.
pub fn tell<S: Subject + Sync>(
    arguments: &ExploreArguments,
    subject: &S,
    naming: Naming<'_>,
    mut searched: Searched,
) -> anyhow::Result<Exit> {
    let mut runs = std::mem::take(&mut searched.runs);
    runs.iter_mut().for_each(Trace::shorten_thread_names);
    super::tree::write(arguments, subject.program(), &runs)?;
    let Some((first, more)) = runs.split_first() else { bail!("the program was not run") };
    let predicted = Predicted {
        subject,
        trace: first,
        replay: Some(naming.replay),
        thread: &|thread| (naming.thread)(first, thread),
        sink: Sink::Output,
        confirm: true,
        options: options(arguments)?,
    };
    let recorded = match &first.outcome {
        _ if report::violates(first, subject.program()) => Exit::Misbehaved,
        // That a loop came to its bound in some run, the verdict says.
        Outcome::BoundExceeded { .. } => Exit::Clean,
        outcome => record::exit(outcome),
    };
    let mut told = prediction::look_at_all(
        &predicted,
        recorded,
        More::Runs(more, workers(arguments)),
        &arguments.predict,
    )?;
    if !told.complete {
        let why = "of some candidates it is not known whether they are feasible";
        searched.incomplete.insert(why.to_owned());
    }
    let exit = match told.exit {
        Exit::Misbehaved => Exit::Findings,
        Exit::Clean if !searched.incomplete.is_empty() => Exit::Limit,
        other => other,
    };
    let explored = explored(arguments, searched, exit);
    let mut verdict = explored.text();
    if subject.program().final_condition.is_some() {
        verdict.push_str(
            "note: whether the final condition holds was looked at in these runs only; --strategy dpor looks at all schedules\n",
        );
    }
    told.explored(explored);
    told.show(&predicted, &arguments.predict)?;
    match arguments.predict.format {
        Format::Text => output::print(&verdict)?,
        _ => output::say(&verdict),
    }
    Ok(exit)
}

/// What the runs say about all schedules.
fn explored(arguments: &ExploreArguments, searched: Searched, exit: Exit) -> Explored {
    let bounds = bounds(arguments.predict.switches, searched.bounded);
    Explored {
        strategy: name(arguments.strategy),
        verdict: verdict(exit, &bounds),
        runs: searched.made,
        covered: searched.counted,
        bounds,
        incomplete: searched.incomplete.into_iter().collect(),
        final_states: None,
    }
}

/// What the answer is bounded by, in words that follow "safe up to".
pub fn bounds(switches: Option<u32>, loops: bool) -> Vec<String> {
    let switches = switches.map(|most| count(u64::from(most), "context switch"));
    loops.then(|| "the bounds of its loops".to_owned()).into_iter().chain(switches).collect()
}

/// What an exit code says of all schedules.
pub fn verdict(exit: Exit, bounds: &[String]) -> Verdict {
    match exit {
        Exit::Clean if bounds.is_empty() => Verdict::Safe,
        Exit::Clean => Verdict::SafeUpToBounds,
        Exit::Findings | Exit::Misbehaved => Verdict::Findings,
        Exit::Limit | Exit::BadInput => Verdict::Incomplete,
    }
}

/// What strategies that make runs keep of them, to go on after an interruption.
pub struct Saving {
    kept: Kept,
    schedules: Vec<Schedule>,
    written: anyhow::Result<()>,
}

impl Saving {
    /// With the runs that are known from before, if it is to be gone on with.
    pub fn new(arguments: &ExploreArguments, fingerprint: u64) -> anyhow::Result<Saving> {
        let kept = Kept::new(arguments, fingerprint);
        let schedules = kept.load(arguments)?.unwrap_or_default();
        Ok(Saving { kept, schedules, written: Ok(()) })
    }

    /// The runs that are known from before, by their schedules.
    pub fn known(&self) -> &[Schedule] {
        &self.schedules
    }

    /// Takes note of a run that is not among them; says whether to go on.
    pub fn after(&mut self, run: &Trace) -> bool {
        let schedule = run.schedule();
        if !self.schedules.contains(&schedule) {
            self.schedules.push(schedule);
        }
        if self.kept.is_due() && self.written.is_ok() {
            self.written = self.kept.save(&self.schedules);
        }
        !prediction::interrupter().is_set()
    }

    /// The search is over, or was interrupted; says why something may have been missed.
    pub fn end(mut self) -> anyhow::Result<Option<String>> {
        self.written?;
        if !prediction::interrupter().is_set() {
            self.kept.remove();
            return Ok(None);
        }
        self.kept.save(&self.schedules)?;
        // What was found so far is told all the same.
        prediction::interrupter().clear();
        Ok(Some(self.kept.how_to_go_on().to_owned()))
    }
}

/// How many workers there are.
pub fn workers(arguments: &ExploreArguments) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    arguments.workers.map_or_else(cores, |workers| workers as usize)
}

/// What a strategy is called on the command line.
pub fn name(strategy: Search) -> &'static str {
    match strategy {
        Search::All => "all",
        Search::Dpor => "dpor",
        Search::Prune => "prune",
        Search::Paths => "paths",
        Search::Random => "random",
        Search::Pct => "pct",
    }
}

/// A number with its noun.
pub fn count(n: u64, noun: &str) -> String {
    let plural = if noun.ends_with("ch") { "es" } else { "s" };
    format!("{n} {noun}{}", if n == 1 { "" } else { plural })
}
