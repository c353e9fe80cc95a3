//! `threadbare replay`: run a program again under a recorded schedule.

use crate::cli::{ProgramOptions, ReplayArguments};
use crate::exit::Exit;
use crate::{load, output};
use std::fmt::Write as _;
use subject::{Strategy, Subject as _};
use trace::{Logging, Outcome};

pub fn replay(arguments: &ReplayArguments) -> anyhow::Result<Exit> {
    let followed = load::followed(&arguments.schedule)?;
    let options = ProgramOptions { loop_bound: arguments.loop_bound, spurious: followed.spurious() };
    let machine = load::machine(&arguments.program, &options, machine::Options::default().max_events)?;
    let schedule = followed.schedule(&machine)?;
    let steps = schedule.segments.len();
    let run = machine.run(&Strategy::follow(schedule), &Logging::Everything)?;
    if let Some(path) = &arguments.output {
        trace::file::write(path, &run.trace)?;
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
            let _ = writeln!(text, "the run departs from the schedule: {departure}");
            let _ = writeln!(text, "it went on run-to-block:");
        }
    }
    let _ = writeln!(text, "{}", report::summary(&run.trace));
    let _ = writeln!(text, "{}", report::outcome(&run.trace, &sources).trim_end());
    output::print(&text)?;
    Ok(match (&run.departure, &run.trace.outcome) {
        (Some(_), _) => Exit::BadInput,
        (None, Outcome::AssertionFailed { .. } | Outcome::Fault { .. } | Outcome::Deadlock { .. }) => {
            Exit::Findings
        }
        (None, Outcome::LimitReached { .. }) => Exit::Limit,
        (None, _) => Exit::Clean,
    })
}
