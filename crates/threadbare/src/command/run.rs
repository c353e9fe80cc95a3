//! `threadbare run`: run a program once and record it.

use crate::cli::{RunArguments, StrategyName};
use crate::exit::Exit;
use crate::{load, output};
use machine::Machine;
use subject::{Schedule, Strategy, Subject as _};
use trace::{Logging, Outcome, Trace};

pub fn run(arguments: &RunArguments) -> anyhow::Result<Exit> {
    let machine = load::machine(&arguments.program, &arguments.options, arguments.max_events)?;
    let strategy = strategy(arguments, &machine)?;
    let run = machine.run(&strategy, &Logging::Everything)?;
    let trace = &run.trace;
    if let Some(path) = &arguments.output {
        trace::file::write(path, trace)?;
    }
    if let Some(path) = &arguments.save_schedule {
        save_schedule(path, &Schedule::of(trace), trace)?;
    }
    let sources = load::sources(machine.program(), output::color());
    let mut text = format!("{}\n", report::summary(trace));
    text.push_str(&report::outcome(trace, &sources));
    if let Some(departure) = &run.departure {
        text.push_str(&format!("the run departs from the schedule: {departure}\n"));
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    output::print(&text)?;
    Ok(match (&run.departure, &trace.outcome) {
        (Some(_), _) => Exit::BadInput,
        (None, outcome) => exit(outcome),
    })
}

/// What the outcome of a recorded run means for the exit code.
fn exit(outcome: &Outcome) -> Exit {
    match outcome {
        Outcome::Completed { .. } => Exit::Clean,
        Outcome::AssertionFailed { .. } | Outcome::Fault { .. } | Outcome::Deadlock { .. } => {
            Exit::Misbehaved
        }
        Outcome::Discarded { .. }
        | Outcome::BoundExceeded { .. }
        | Outcome::LimitReached { .. }
        | Outcome::Truncated => Exit::Limit,
    }
}

fn strategy(arguments: &RunArguments, machine: &Machine) -> anyhow::Result<Strategy> {
    if let Some(path) = &arguments.schedule {
        return Ok(Strategy::follow(load::followed(path)?.schedule(machine)?));
    }
    let seed = arguments.seed;
    Ok(match arguments.strategy {
        StrategyName::RunToBlock => Strategy::RunToBlock,
        StrategyName::RoundRobin => Strategy::RoundRobin { quantum: arguments.quantum },
        StrategyName::Random => Strategy::Random { seed },
        StrategyName::Pct => {
            // How long a run is: as long as this one.
            let first = machine.run(&Strategy::RunToBlock, &Logging::Synchronisation)?;
            let length = first.trace.switches.iter().map(|switch| switch.until).max().unwrap_or(1);
            let length = length.saturating_mul(first.trace.threads.len() as u64).max(1);
            Strategy::Pct { seed, depth: arguments.depth, length }
        }
    })
}

/// Writes a schedule with the threads' names as comments.
pub fn save_schedule(path: &std::path::Path, schedule: &Schedule, trace: &Trace) -> anyhow::Result<()> {
    let text = schedule.to_text(|thread| Some(trace.thread_name(thread)));
    output::write_file(path, text.as_bytes())
}
