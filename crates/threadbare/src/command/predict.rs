//! `threadbare predict`: from a recorded run to findings.

use crate::cli::{ModelName, PredictArguments, ProgramOptions};
use crate::exit::Exit;
use crate::load::Kind;
use crate::prediction::{self, Predicted, Sink};
use crate::{compiled, foreign_trace, load};
use anyhow::{Context as _, bail};
use foreign::StandIn;
use std::path::Path;
use trace::Trace;

pub fn predict(arguments: &PredictArguments) -> anyhow::Result<Exit> {
    if let Some(stand_in) = foreign_trace::stand_in(&arguments.trace, arguments.input_format)? {
        return predict_foreign(arguments, &stand_in);
    }
    let trace = load::whole_trace(&arguments.trace)?;
    let program = match &arguments.program {
        Some(path) => path.clone(),
        None => Path::new(&trace.origin.subject).to_owned(),
    };
    match load::kind(&program) {
        Kind::Model => predict_model(arguments, &trace, &program),
        Kind::Binary | Kind::Source(_) => compiled::predict(arguments, trace, &program),
    }
}

fn predict_model(arguments: &PredictArguments, trace: &Trace, program: &Path) -> anyhow::Result<Exit> {
    let spurious = arguments.options.spurious || trace.choices.contains(&trace::Choice::Spurious);
    let options = ProgramOptions { spurious, ..arguments.options };
    let machine = load::machine(program, &options, machine::Options::default().max_events)?;
    trace.check_fits(machine.program()).with_context(|| arguments.trace.display().to_string())?;
    let predicted = Predicted {
        subject: &machine,
        trace,
        replay: Some(load::replay_of_model(program, arguments.options.loop_bound)),
        thread: &|thread| trace.thread_name(thread),
        sink: Sink::Output,
        confirm: !arguments.no_replay,
        options: prediction::options(&arguments.predict)?,
    };
    prediction::tell(&predicted, Exit::Clean, 0, &arguments.predict)
}

/// From a trace of another tool: there is no program, so nothing is run, whatever is asked for.
fn predict_foreign(arguments: &PredictArguments, stand_in: &StandIn) -> anyhow::Result<Exit> {
    let name = arguments.trace.display();
    let needs_program = [
        (arguments.program.is_some(), "--program"),
        (!arguments.arguments.is_empty(), "arguments of a program"),
        (arguments.predict.runs.is_some(), "--runs"),
        (arguments.predict.model == ModelName::Cam, "--model cam"),
    ];
    if let Some((_, what)) = needs_program.iter().find(|(is_asked, _)| *is_asked) {
        bail!("{name} is a trace of another tool, to which there is no program: {what} cannot be");
    }
    let trace = stand_in.trace();
    let predicted = Predicted {
        subject: stand_in,
        trace,
        replay: None,
        thread: &|thread| trace.thread_name(thread),
        sink: Sink::Output,
        confirm: false,
        options: prediction::options(&arguments.predict)?,
    };
    prediction::tell(&predicted, Exit::Clean, 0, &arguments.predict)
}
