//! `threadbare record`: run a program once and record it.

use crate::cli::{ProgramOptions, RecordArguments, RecordOptions, StrategyName};
use crate::exit::Exit;
use crate::load::Kind;
use crate::{compiled, load, output};
use anyhow::bail;
use machine::Machine;
use std::path::Path;
use subject::{Run, Schedule, Strategy, Subject as _};
use trace::{FaultKind, Logging, Outcome, Trace};

/// Runs of model programs end after so many events.
const MOST_MODEL_EVENTS: u64 = 10_000_000;

pub fn record(arguments: &RecordArguments) -> anyhow::Result<Exit> {
    match model_program(&arguments.record)? {
        Some(program) => {
            if arguments.stats {
                bail!("--stats is for compiled programs: of a model program nothing has to be rebuilt");
            }
            let recorded = record_model(&arguments.record, program)?;
            output::print(&recorded.about())?;
            Ok(recorded.exit())
        }
        None => compiled::record(arguments),
    }
}

/// The model program that is meant, or `None` if it is a compiled one.
pub fn model_program(arguments: &RecordOptions) -> anyhow::Result<Option<&Path>> {
    let programs: Vec<&Path> = arguments.programs.iter().map(AsRef::as_ref).collect();
    output::check_distinct(&programs, &[arguments.output.as_deref(), arguments.save_schedule.as_deref()])?;
    match &programs[..] {
        [one] if load::kind(one) == Kind::Model && !arguments.arguments.is_empty() => {
            bail!("{}: a model program takes no arguments", one.display())
        }
        [one] if load::kind(one) == Kind::Model => Ok(Some(one)),
        _ => Ok(None),
    }
}

/// A model program and a run of it.
pub struct RecordedModel {
    pub machine: Machine,
    pub run: Run,
}

/// Runs a model program as it is asked for, and writes what is to be written.
pub fn record_model(arguments: &RecordOptions, program: &Path) -> anyhow::Result<RecordedModel> {
    let followed = arguments.schedule.as_deref().map(load::followed).transpose()?;
    let spurious = arguments.options.spurious || followed.as_ref().is_some_and(load::Followed::spurious);
    let options = ProgramOptions { spurious, ..arguments.options };
    let machine = load::machine(program, &options, arguments.max_events.unwrap_or(MOST_MODEL_EVENTS))?;
    let strategy = match followed {
        Some(followed) => Strategy::follow(followed.schedule(&machine)?),
        None => strategy(arguments, || visible_events(&machine))?,
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
        save_schedule(path, &trace.schedule(), trace)?;
    }
    Ok(RecordedModel { machine, run })
}

impl RecordedModel {
    /// How the run went.
    pub fn about(&self) -> String {
        let trace = &self.run.trace;
        let sources = load::sources(self.machine.program(), output::color());
        let mut text = format!("{}\n", report::summary(trace));
        text.push_str(&report::outcome(trace, &sources));
        if let Some(departure) = &self.run.departure {
            let departure = departure.words(&|thread| trace.thread_name(thread));
            text.push_str(&format!("the run departs from the schedule: {departure}\n"));
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text
    }

    /// What the run means for the exit code.
    pub fn exit(&self) -> Exit {
        match (&self.run.departure, &self.run.trace.outcome) {
            (Some(_), _) => Exit::BadInput,
            (None, _) if report::violates(&self.run.trace, self.machine.program()) => Exit::Misbehaved,
            (None, outcome) => exit(outcome),
        }
    }
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

/// The strategy that is asked for. How long a run is, in events, is found out only where it matters.
pub fn strategy(
    arguments: &RecordOptions,
    length: impl FnOnce() -> anyhow::Result<u64>,
) -> anyhow::Result<Strategy> {
    let seed = arguments.seed;
    Ok(match arguments.strategy {
        StrategyName::RunToBlock => Strategy::RunToBlock,
        StrategyName::RoundRobin => Strategy::RoundRobin { quantum: arguments.quantum },
        StrategyName::Random => Strategy::Random { seed },
        StrategyName::Pct => Strategy::Pct { seed, depth: arguments.depth, length: length()?.max(1) },
    })
}

/// How many events a run has that another thread may notice: as many as this one.
fn visible_events(machine: &Machine) -> anyhow::Result<u64> {
    let first = machine.run(&Strategy::RunToBlock, &Logging::Everything)?;
    Ok(first.trace.events.iter().filter(|event| event.kind.may_be_visible()).count() as u64)
}

/// Writes a schedule with the threads' names as comments.
pub fn save_schedule(path: &Path, schedule: &Schedule, trace: &Trace) -> anyhow::Result<()> {
    let text = schedule.to_text(|thread| Some(trace.thread_name(thread)));
    output::write_file(path, text.as_bytes())
}
