//! Following a schedule.

use super::about::about;
use super::{build, open, options, started_by};
use crate::cli::ReplayArguments;
use crate::command::record::exit;
use crate::command::replay::MOST_ROWS;
use crate::exit::Exit;
use crate::load::Followed;
use crate::output;
use anyhow::bail;
use std::ffi::OsString;
use std::fmt::Write as _;
use subject::{Strategy, Subject as _};
use trace::Logging;

/// `threadbare replay` of a compiled program.
pub fn replay(arguments: &ReplayArguments, followed: Followed) -> anyhow::Result<Exit> {
    let (built, through) = match arguments.command {
        true => started_by(&arguments.arguments)?,
        false => (build(std::slice::from_ref(&arguments.program), &arguments.process.cflags)?, vec![]),
    };
    let mut options = options(&arguments.process, &arguments.arguments, false);
    options.through = through;
    options.spurious = followed.spurious();
    let program = open(&built, options)?;
    let schedule = followed.compiled_schedule()?;
    if let Some(debugger) = &arguments.debugger {
        if arguments.command {
            bail!("--debugger needs the program itself: {}", built.name);
        }
        let Some(last) = schedule.segments.last() else { bail!("the schedule has no step to stop at") };
        let stop_at = (last.thread, last.until);
        let words: Vec<OsString> = debugger.split_whitespace().map(OsString::from).collect();
        let Err(error) = program.debug(schedule, stop_at, &words);
        return Err(error.into());
    }
    let steps = schedule.segments.len();
    let recorded = program.record(&Strategy::follow(schedule), &Logging::Everything)?;
    let trace = &recorded.run.trace;
    if let Some(path) = &arguments.output {
        output::write_trace(path, trace)?;
    }
    let mut text = String::new();
    if recorded.run.departure.is_none() {
        let plural = if steps == 1 { "" } else { "s" };
        let _ = writeln!(text, "followed the schedule to its end ({steps} step{plural})");
    }
    if trace.events.len() <= MOST_ROWS {
        let options = trace::ShowOptions { width: output::width(), ..trace::ShowOptions::default() };
        text.push_str(&trace::show_events(trace, Some(program.program()), &options));
        text.push('\n');
    }
    text.push_str(&about(&program, &recorded, &arguments.process));
    output::say(&text);
    Ok(match (&recorded.run.departure, recorded.stopped, exit(&trace.outcome)) {
        (Some(_), ..) => Exit::BadInput,
        (None, Some(_), _) => Exit::Limit,
        (None, None, Exit::Misbehaved) => Exit::Findings,
        (None, None, other) => other,
    })
}
