//! `threadbare run`: run a program once and record it.

use crate::cli::{ProgramOptions, RunArguments, StrategyName};
use crate::exit::Exit;
use crate::load::Kind;
use crate::{compiled, load, output};
use anyhow::bail;
use machine::Machine;
use subject::{Schedule, Strategy, Subject as _};
use trace::{FaultKind, Logging, Outcome, Trace};

/// Runs of model programs end after so many events.
const MOST_MODEL_EVENTS: u64 = 10_000_000;

pub fn run(arguments: &RunArguments) -> anyhow::Result<Exit> {
    let programs: Vec<&std::path::Path> = arguments.programs.iter().map(AsRef::as_ref).collect();
    output::check_distinct(&programs, &[arguments.output.as_deref(), arguments.save_schedule.as_deref()])?;
    match &programs[..] {
        [one] if load::kind(one) == Kind::Model => run_model(arguments, one),
        _ => compiled::run(arguments),
    }
}

fn run_model(arguments: &RunArguments, program: &std::path::Path) -> anyhow::Result<Exit> {
    if !arguments.arguments.is_empty() {
        bail!("{}: a model program takes no arguments", program.display());
    }
    let followed = arguments.schedule.as_deref().map(load::followed).transpose()?;
    let spurious = arguments.options.spurious || followed.as_ref().is_some_and(load::Followed::spurious);
    let options = ProgramOptions { spurious, ..arguments.options };
    let machine = load::machine(program, &options, arguments.max_events.unwrap_or(MOST_MODEL_EVENTS))?;
    let strategy = match followed {
        Some(followed) => Strategy::follow(followed.schedule(&machine)?),
        None => strategy(arguments, &machine)?,
    };
    let run = machine.run(&strategy, &Logging::Everything)?;
    let trace = &run.trace;
    if arguments.self_check {
        let again = machine.run(&strategy, &Logging::Everything)?;
        if let Some(difference) = trace::first_difference(trace, &again.trace, Some(machine.program())) {
            bail!("two runs under the same schedule differ: {difference}");
        }
    }
    if let Some(path) = &arguments.output {
        output::write_trace(path, trace)?;
    }
    if let Some(path) = &arguments.save_schedule {
        save_schedule(path, &Schedule::of(trace), trace)?;
    }
    let sources = load::sources(machine.program(), output::color());
    let mut text = format!("{}\n", report::summary(trace));
    text.push_str(&report::outcome(trace, &sources));
    if let Some(departure) = &run.departure {
        let departure = departure.words(&|thread| trace.thread_name(thread));
        text.push_str(&format!("the run departs from the schedule: {departure}\n"));
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    output::print(&text)?;
    Ok(match (&run.departure, &trace.outcome) {
        (Some(_), _) => Exit::BadInput,
        (None, _) if report::violates(trace, machine.program()) => Exit::Misbehaved,
        (None, outcome) => exit(outcome),
    })
}

/// What the outcome of a recorded run means for the exit code.
pub fn exit(outcome: &Outcome) -> Exit {
    match outcome {
        Outcome::Completed { .. } | Outcome::Exited { .. } | Outcome::Discarded { .. } => Exit::Clean,
        Outcome::Fault { kind: FaultKind::MachineLimit, .. } => Exit::Limit,
        Outcome::AssertionFailed { .. } | Outcome::Fault { .. } | Outcome::Deadlock { .. } => {
            Exit::Misbehaved
        }
        Outcome::BoundExceeded { .. } | Outcome::LimitReached { .. } | Outcome::Truncated => Exit::Limit,
    }
}

fn strategy(arguments: &RunArguments, machine: &Machine) -> anyhow::Result<Strategy> {
    let seed = arguments.seed;
    Ok(match arguments.strategy {
        StrategyName::RunToBlock => Strategy::RunToBlock,
        StrategyName::RoundRobin => Strategy::RoundRobin { quantum: arguments.quantum },
        StrategyName::Random => Strategy::Random { seed },
        StrategyName::Pct => {
            // How long a run is: as long as this one.
            let first = machine.run(&Strategy::RunToBlock, &Logging::Everything)?;
            let visible = first.trace.events.iter().filter(|event| event.kind.may_be_visible()).count();
            Strategy::Pct { seed, depth: arguments.depth, length: (visible as u64).max(1) }
        }
    })
}

/// Writes a schedule with the threads' names as comments.
pub fn save_schedule(path: &std::path::Path, schedule: &Schedule, trace: &Trace) -> anyhow::Result<()> {
    let text = schedule.to_text(|thread| Some(trace.thread_name(thread)));
    output::write_file(path, text.as_bytes())
}
