//! Predicting from a run, of a program or of a trace.

use super::about::about;
use super::record::{record_once, recorded_exit};
use super::{build, open, options, quiet, replay_of};
use crate::cli::{Format, PredictArguments, RunArguments, StrategyName};
use crate::exit::Exit;
use crate::output;
use crate::prediction::{self, Predicted, Sink};
use anyhow::{Context as _, bail};
use native::Compiled;
use native::launch::{Options, Output, Stopped};
use std::path::Path;
use std::time::{Duration, Instant};
use subject::{Strategy, Subject as _};
use trace::{Logging, Trace};

/// So many events of a run that does not end are looked at in a second of the time that is left, and so many if no time is given.
const EVENTS_PER_SECOND: f64 = 20_000.0;
const EVENTS_OF_A_BEGINNING: u64 = 300_000;

/// A program that does not end is ended so many events behind twice those that are looked at.
const FURTHER_EVENTS: u64 = 10_000;

/// `threadbare run` of a compiled program.
pub fn run(arguments: &RunArguments) -> anyhow::Result<Exit> {
    let process = &arguments.record.process;
    let options = prediction::options(&arguments.predict)?;
    let (start, until) = (Instant::now(), options.until);
    let is_text = arguments.predict.format == Format::Text;
    // A report for programs has standard output for itself.
    let output = if is_text { Output::Inherited } else { Output::Captured };
    let (mut program, built, recorded, text, same) =
        record_once(&arguments.record, &Logging::Everything, true, output, until)?;
    let took = start.elapsed();
    if let Some((out, errors)) = &recorded.output {
        [out, errors].into_iter().for_each(|printed| output::say(&String::from_utf8_lossy(printed)));
    }
    output::say(&(about(&program, &recorded, process) + &text));
    let exit = if same { recorded_exit(&recorded) } else { Exit::Findings };
    quiet(&mut program, process, took, until);
    limit(&mut program, recorded.run.trace.events.len());
    let is_too_long = recorded.stopped == Some(Stopped::Timeout) || recorded.about.unread;
    let full = recorded.about.full;
    let mut trace = match full {
        _ if is_too_long && arguments.record.strategy == StrategyName::RunToBlock => {
            beginning(&mut program, arguments.record.seed, until)?
        }
        Some(complete) => recorded.run.trace.beginning(complete),
        None => without_rounds(&program, recorded.run.trace)?,
    };
    trace.shorten_thread_names();
    let predicted = Predicted {
        subject: &program,
        trace: &trace,
        replay: Some(replay_of(
            &built.name,
            arguments.record.programs.is_empty(),
            process,
            &arguments.record.arguments,
        )),
        thread: &in_schedule,
        sink: Sink::Error,
        confirm: true,
        options,
    };
    // What the log does not have, nobody has looked at.
    let exit = if exit == Exit::Clean && full.is_some() { Exit::Limit } else { exit };
    if exit == Exit::BadInput
        || !same
        || (is_text && exit == Exit::Misbehaved && arguments.predict.runs() == 1)
    {
        // What is wrong has been said.
        return Ok(exit);
    }
    output::say("\n");
    prediction::tell(&predicted, exit, arguments.record.seed, &arguments.predict)
}

/// The same run without the rounds of loops that only wait, if these are most of it.
fn without_rounds(program: &Compiled, trace: Trace) -> anyhow::Result<Trace> {
    let Some(shorter) = explore::without_rounds(program, &trace)? else { return Ok(trace) };
    output::say(&format!(
        "predicted from the same run without rounds of loops that only wait: {} events instead of {}\n",
        shorter.events.len(),
        trace.events.len()
    ));
    Ok(shorter)
}

/// A re-run that has this many times more events than the recorded run goes on for ever, or might as well.
const MANY_TIMES: u64 = 50;

/// Shorter ones are not ended because of that.
const NOT_MANY_EVENTS: u64 = 1_000_000;

/// Ends runs that go on many times longer than the recorded one, without waiting for their time to be over.
fn limit(program: &mut Compiled, events: usize) {
    let most_events = (MANY_TIMES * events as u64).max(NOT_MANY_EVENTS);
    let options = program.options().clone();
    program.set_options(Options { most_events, ..options });
}

/// The beginning of another run of a program that does not end, or not soon: one in which all threads get on, and that is short enough to
/// be looked at. From now on the program goes on only a little longer than that.
fn beginning(program: &mut Compiled, seed: u64, until: Option<Instant>) -> anyhow::Result<Trace> {
    let most_events = until.map_or(EVENTS_OF_A_BEGINNING, |until| {
        let left = until.saturating_duration_since(Instant::now());
        (EVENTS_PER_SECOND * left.as_secs_f64()) as u64
    });
    let options = program.options().clone();
    program.set_options(Options { most_events, output: Output::Discarded, ..options.clone() });
    let trace = program.record(&Strategy::Random { seed }, &Logging::Everything)?.run.trace;
    program.set_options(Options { most_events: 2 * most_events + FURTHER_EVENTS, ..options });
    output::say(&format!("predicted from the beginning of another run: {}\n", report::summary(&trace)));
    Ok(trace)
}

/// `threadbare predict` from a trace of a compiled program.
pub fn predict(arguments: &PredictArguments, mut trace: Trace, path: &Path) -> anyhow::Result<Exit> {
    let asked = prediction::options(&arguments.predict)?;
    let built = build(&[path.to_owned()], &arguments.process.cflags)?;
    let options = options(&arguments.process, &arguments.arguments, true);
    let mut program = open(&built, options)?;
    trace.check_fits(program.program()).with_context(|| arguments.trace.display().to_string())?;
    if trace.origin.logging != Logging::Everything {
        bail!(
            "{}: prediction needs a trace of everything (`threadbare record -o`)",
            arguments.trace.display()
        );
    }
    quiet(&mut program, &arguments.process, Duration::ZERO, asked.until);
    trace.shorten_thread_names();
    let predicted = Predicted {
        subject: &program,
        trace: &trace,
        replay: Some(replay_of(&built.name, false, &arguments.process, &arguments.arguments)),
        thread: &in_schedule,
        sink: Sink::Error,
        confirm: !arguments.no_replay,
        options: asked,
    };
    prediction::tell(&predicted, Exit::Clean, 0, &arguments.predict)
}

/// Names of threads may have spaces; a schedule has them by their place in the tree of forks.
fn in_schedule(thread: trace::ThreadId) -> String {
    thread.to_string()
}
