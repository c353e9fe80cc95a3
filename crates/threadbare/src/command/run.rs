//! `threadbare run`: record one run, predict from it, confirm, report.

use super::record::{model_program, record_model};
use crate::cli::{Format, RunArguments};
use crate::exit::Exit;
use crate::prediction::{self, Predicted, Sink};
use crate::{compiled, load, output};

pub fn run(arguments: &RunArguments) -> anyhow::Result<Exit> {
    let Some(program) = model_program(&arguments.record)? else { return compiled::run(arguments) };
    let options = prediction::options(&arguments.predict)?;
    let recorded = record_model(&arguments.record, program)?;
    let exit = recorded.exit();
    let is_text = arguments.predict.format == Format::Text;
    let trace = &recorded.run.trace;
    let told = Predicted {
        subject: &recorded.machine,
        trace,
        replay: Some(load::replay_of_model(program, arguments.record.options.loop_bound)),
        thread: &|thread| trace.thread_name(thread),
        sink: Sink::Output,
        confirm: true,
        options,
    };
    if is_text || exit == Exit::BadInput {
        output::print(&recorded.about())?;
    }
    if exit == Exit::BadInput || (is_text && exit == Exit::Misbehaved && arguments.predict.runs() == 1) {
        return Ok(exit);
    }
    if is_text {
        output::print("\n")?;
    }
    prediction::tell(&told, exit, arguments.record.seed, &arguments.predict)
}
