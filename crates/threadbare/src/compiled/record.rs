//! Making a run, and telling of it.

use super::about::{about, difference, statistics_report};
use super::{Built, build, open, options, quiet, share, started_by};
use crate::cli::{LogName, RecordArguments, RecordOptions, StrategyName};
use crate::command::record::{exit, save_schedule, strategy};
use crate::exit::Exit;
use crate::load::Followed;
use crate::{load, output};
use anyhow::bail;
use native::launch::{Options, Output};
use native::{Compiled, Recorded};
use std::fmt::Write as _;
use std::time::{Duration, Instant};
use subject::Strategy;
use trace::Logging;

/// Of the time that is given, so much at most goes to the recorded run, and so much until its log is read.
const SHARE_OF_RECORDING: f64 = 0.3;
const SHARE_OF_READING: f64 = 0.4;

/// `threadbare record` of a compiled program.
pub fn record(arguments: &RecordArguments) -> anyhow::Result<Exit> {
    let logging = match arguments.log {
        LogName::Everything => Logging::Everything,
        LogName::Shared => Logging::Shared,
        LogName::Sync => Logging::Synchronisation,
    };
    if arguments.stats && logging != Logging::Everything {
        bail!("--stats rebuilds what a log of everything leaves out; it needs --log everything");
    }
    let process = &arguments.record.process;
    let (program, _built, recorded, mut text, same) =
        record_once(&arguments.record, &logging, false, Output::Inherited, None)?;
    if arguments.stats {
        let statistics = native::rebuild::rebuild(program.linked(), recorded.log.bytes());
        text.push_str(&report::statistics(&statistics_report(&statistics, &program)));
    }
    output::say(&(about(&program, &recorded, process) + &text));
    Ok(if same { recorded_exit(&recorded) } else { Exit::Findings })
}

/// Runs a program as it is asked for, and writes what is to be written. Gives also what a second run showed, if one is asked for, in
/// words and whether it was the same.
pub fn record_once(
    arguments: &RecordOptions,
    logging: &Logging,
    more_runs: bool,
    output: Output,
    until: Option<Instant>,
) -> anyhow::Result<(Compiled, Built, Recorded, String, bool)> {
    let (built, through) = match arguments.programs.is_empty() {
        true => started_by(&arguments.arguments)?,
        false => (build(&arguments.programs, &arguments.process.cflags)?, vec![]),
    };
    let followed = arguments.schedule.as_deref().map(load::followed).transpose()?;
    let several = more_runs
        || arguments.self_check
        || *logging == Logging::Shared
        || arguments.strategy == StrategyName::Pct;
    let mut options = options(&arguments.process, &arguments.arguments, several);
    options.most_events = arguments.max_events.unwrap_or(u64::MAX);
    options.through = through;
    options.output = output;
    // A program that never ends, or a very long run, would leave no time for anything else.
    if let Some(until) = until {
        let most = share(until, SHARE_OF_RECORDING);
        options.timeout = Some(options.timeout.map_or(most, |given| given.min(most)));
        options.read_until = Some(Instant::now() + share(until, SHARE_OF_READING));
    }
    options.spurious = arguments.options.spurious || followed.as_ref().is_some_and(Followed::spurious);
    let mut program = open(&built, options)?;
    let strategy = match followed {
        Some(followed) => Strategy::follow(followed.compiled_schedule()?),
        None => strategy(arguments, || events(&mut program))?,
    };
    let recorded = program.record(&strategy, logging)?;
    let trace = &recorded.run.trace;
    if let Some(path) = &arguments.output {
        output::write_trace(path, trace)?;
    }
    if let Some(path) = &arguments.save_schedule {
        save_schedule(path, &trace.schedule(), trace)?;
    }
    let (mut text, mut same) = (String::new(), true);
    if arguments.self_check {
        let options = program.options().clone();
        quiet(&mut program, &arguments.process, Duration::ZERO, until);
        let again = program.record(&strategy, logging)?;
        program.set_options(options);
        let difference = difference(&recorded, &again, &program);
        same = difference.is_none();
        let _ = match difference {
            None => writeln!(text, "self-check: a second run under the same strategy is identical"),
            Some(difference) => {
                writeln!(text, "self-check: a second run under the same strategy differs: {difference}")
            }
        };
    }
    Ok((program, built, recorded, text, same))
}

/// What a run means for the exit code.
pub fn recorded_exit(recorded: &Recorded) -> Exit {
    match (&recorded.run.departure, recorded.stopped) {
        (Some(_), _) => Exit::BadInput,
        (None, Some(_)) => Exit::Limit,
        (None, None) => exit(&recorded.run.trace.outcome),
    }
}

/// How many events a run has: as many as this one, of which nobody wants to see the output.
fn events(program: &mut Compiled) -> anyhow::Result<u64> {
    let options = program.options().clone();
    program.set_options(Options { output: Output::Discarded, ..options.clone() });
    let first = program.record(&Strategy::RunToBlock, &Logging::Synchronisation);
    program.set_options(options);
    Ok(first?.about.events)
}
