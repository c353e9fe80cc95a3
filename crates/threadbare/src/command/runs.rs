//! What strategies of exploration share that run a program some times, and have prediction decide about all other schedules of each run.

use super::record;
use crate::cli::{ExploreArguments, Format};
use crate::exit::Exit;
use crate::prediction::{self, More, Predicted, Sink};
use crate::store::Invocation;
use crate::{load, output};
use anyhow::bail;
use machine::Machine;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;
use subject::Subject;
use trace::{ThreadId, Trace};

/// Runs of model programs end after so many events.
const MOST_EVENTS: u64 = 1_000_000;

/// What a search says of its runs.
pub struct Searched {
    /// Runs whose events are not those of another, in the order in which they were found.
    pub runs: Vec<Trace>,
    /// How many there were, and what they stand for.
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
    pub thread: &'a dyn Fn(&Trace, ThreadId) -> String,
}

/// How runs of a model program are told of.
pub fn naming(arguments: &ExploreArguments) -> Naming<'static> {
    let replay = load::replay_of_model(&arguments.program, arguments.options.loop_bound);
    Naming { replay, thread: &|trace, thread| trace.thread_name(thread) }
}

/// Predicts from all runs, and tells what was found and what that says of the program.
pub fn tell<S: Subject>(
    arguments: &ExploreArguments,
    subject: &S,
    naming: Naming<'_>,
    mut searched: Searched,
) -> anyhow::Result<Exit> {
    searched.runs.iter_mut().for_each(Trace::shorten_thread_names);
    let Some((first, more)) = searched.runs.split_first_mut() else { bail!("the program was not run") };
    let predicted = Predicted {
        subject,
        trace: first,
        replay: Some(naming.replay),
        thread: &|thread| (naming.thread)(first, thread),
        sink: Sink::Output,
        confirm: true,
        options: options(arguments)?,
    };
    let recorded = match report::violates(first, subject.program()) {
        true => Exit::Misbehaved,
        false => record::exit(&first.outcome),
    };
    let told = prediction::tell_all(&predicted, recorded, More::Runs(more), &arguments.predict)?;
    let complete = told.complete && searched.incomplete.is_empty();
    let exit = match told.exit {
        Exit::Misbehaved => Exit::Findings,
        Exit::Clean if !complete => Exit::Limit,
        other => other,
    };
    let mut verdict = verdict(&searched, exit, told.complete);
    if subject.program().final_condition.is_some() {
        verdict.push_str(
            "note: whether the final condition holds was looked at in these runs only; --strategy dpor looks at all schedules\n",
        );
    }
    match arguments.predict.format {
        Format::Text => output::print(&verdict)?,
        _ => output::say(&verdict),
    }
    Ok(exit)
}

/// What the runs say about all schedules.
fn verdict(searched: &Searched, exit: Exit, decided: bool) -> String {
    let mut text = format!("{}\n", searched.counted);
    if exit == Exit::Clean {
        text.push_str(match searched.bounded {
            false => "safe: no schedule of this program shows any of what was looked for\n",
            true => "safe up to the bounds of its loops: no schedule that keeps to them shows any of what was looked for\n",
        });
        return text;
    }
    for why in &searched.incomplete {
        let _ = writeln!(text, "incomplete: {why}");
    }
    if !decided {
        text.push_str("incomplete: of some candidates it is not known whether they are feasible\n");
    }
    text
}

/// A number with its noun.
pub fn count(n: u64, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}
