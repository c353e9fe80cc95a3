//! `threadbare predict`: from a recorded run to findings.

use crate::cli::{PredictArguments, ProgramOptions};
use crate::exit::Exit;
use crate::load::Kind;
use crate::prediction::{self, Predicted, Sink};
use crate::{compiled, load};
use anyhow::Context as _;
use std::path::Path;
use trace::Trace;

pub fn predict(arguments: &PredictArguments) -> anyhow::Result<Exit> {
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
        replay: load::replay_of_model(program, arguments.options.loop_bound),
        thread: &|thread| trace.thread_name(thread),
        sink: Sink::Output,
        confirm: !arguments.no_replay,
        options: prediction::options(&arguments.predict)?,
    };
    prediction::tell(&predicted, Exit::Clean, 0, &arguments.predict)
}
