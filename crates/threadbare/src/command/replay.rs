//! `threadbare replay`: run a program again under a recorded schedule.

use crate::cli::{Arguments, Command, ProgramOptions, ReplayArguments};
use crate::exit::Exit;
use crate::{compiled, load, output, store};
use anyhow::bail;
use clap::Parser as _;
use std::fmt::Write as _;
use std::path::Path;
use subject::{Schedule, Strategy, Subject as _};
use trace::{FaultKind, Logging, Outcome};

/// Runs of at most so many events are shown in columns.
pub const MOST_ROWS: usize = 60;

pub fn replay(arguments: ReplayArguments) -> anyhow::Result<Exit> {
    match &arguments.schedule {
        _ if arguments.command => follow(&arguments, &arguments.program),
        Some(schedule) => follow(&arguments, schedule),
        None => replay_kept(arguments),
    }
}

/// A finding of a run that was kept: `bank-9f3c`, or `bank-9f3c/2` for its second.
fn replay_kept(arguments: ReplayArguments) -> anyhow::Result<Exit> {
    let name = arguments.program.to_string_lossy().into_owned();
    if arguments.program.exists() {
        bail!("{name}: a schedule is missing (a file, a trace, or a short form such as 'T1:3 T2:5')");
    }
    let (id, number) = name.split_once('/').unwrap_or((&name, "1"));
    let Ok(number) = number.parse() else { bail!("`{number}` is no number of a finding") };
    let words = store::open(id)?.replay(number)?;
    match Arguments::try_parse_from(words).map(|arguments| arguments.command) {
        Ok(Command::Replay(kept)) => {
            let own = ReplayArguments { output: arguments.output, debugger: arguments.debugger, ..kept };
            replay(own)
        }
        _ => bail!("the run `{id}` was kept by another version of threadbare"),
    }
}

fn follow(arguments: &ReplayArguments, schedule: &Path) -> anyhow::Result<Exit> {
    let inputs = [arguments.program.as_path(), schedule];
    let inputs = if arguments.command { &inputs[..1] } else { &inputs[..] };
    output::check_distinct(inputs, &[arguments.output.as_deref()])?;
    let followed = load::followed(schedule)?;
    if arguments.command || load::kind(&arguments.program) != load::Kind::Model {
        return compiled::replay(arguments, followed);
    }
    let options = ProgramOptions { loop_bound: arguments.loop_bound, spurious: followed.spurious() };
    let machine = load::machine(&arguments.program, &options, machine::Options::default().max_events)?;
    let schedule = followed.schedule(&machine)?;
    let steps = schedule.segments.len();
    let scheduled = scheduled_events(&schedule);
    let run = machine.run(&Strategy::follow(schedule), &Logging::Everything)?;
    if let Some(path) = &arguments.output {
        output::write_trace(path, &run.trace)?;
    }
    let sources = load::sources(machine.program(), output::color());
    let mut text = String::new();
    match &run.departure {
        // Writing to a string cannot fail.
        None => {
            let plural = if steps == 1 { "" } else { "s" };
            let _ = writeln!(text, "followed the schedule to its end ({steps} step{plural})");
        }
        Some(departure) => {
            let departure = departure.words(&|thread| run.trace.thread_name(thread));
            let _ = writeln!(text, "the run departs from the schedule: {departure}");
            let _ = writeln!(text, "it went on run-to-block:");
        }
    }
    if run.trace.events.len() <= MOST_ROWS {
        let options = trace::ShowOptions { width: output::width(), ..trace::ShowOptions::default() };
        text.push_str(&trace::show_events(&run.trace, Some(machine.program()), &options));
        if run.departure.is_none() && scheduled < run.trace.events.len() {
            let _ = writeln!(text, "(the schedule ends with row {scheduled}; what follows is run-to-block)");
        }
        text.push('\n');
    }
    let _ = writeln!(text, "{}", report::summary(&run.trace));
    let _ = writeln!(text, "{}", report::outcome(&run.trace, &sources).trim_end());
    output::print(&text)?;
    Ok(match (&run.departure, &run.trace.outcome) {
        (Some(_), _) => Exit::BadInput,
        (None, Outcome::Fault { kind: FaultKind::MachineLimit, .. }) => Exit::Limit,
        (None, Outcome::AssertionFailed { .. } | Outcome::Fault { .. } | Outcome::Deadlock { .. }) => {
            Exit::Findings
        }
        (None, Outcome::LimitReached { .. } | Outcome::BoundExceeded { .. }) => Exit::Limit,
        (None, _) if report::violates(&run.trace, machine.program()) => Exit::Findings,
        (None, _) => Exit::Clean,
    })
}

/// How many events a schedule asks for.
fn scheduled_events(schedule: &Schedule) -> usize {
    let mut last: Vec<(trace::ThreadId, u64)> = vec![];
    for segment in &schedule.segments {
        last.retain(|&(thread, _)| thread != segment.thread);
        last.push((segment.thread, segment.until));
    }
    last.iter().map(|&(_, until)| until as usize).sum()
}
