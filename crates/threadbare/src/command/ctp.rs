//! `threadbare ctp`: look into concurrent trace programs.

use crate::cli::{CtpArguments, CtpCommand, CtpShowArguments};
use crate::exit::Exit;
use crate::load::Kind;
use crate::{load, output, prediction};
use anyhow::Context as _;
use ctp::Ctp;
use ctp::show::{Form, show};
use std::path::PathBuf;
use subject::{Strategy, Subject as _};
use trace::Logging;

pub fn ctp(arguments: &CtpArguments) -> anyhow::Result<Exit> {
    let CtpCommand::Show(arguments) = &arguments.command;
    let model = load::kind(&arguments.file) == Kind::Model
        && arguments.file.extension().is_some_and(|extension| extension == "tb" || extension == "ir");
    let (program, trace) = if model {
        let machine =
            load::machine(&arguments.file, &arguments.options, machine::Options::default().max_events)?;
        let trace = machine.run(&Strategy::RunToBlock, &Logging::Everything)?.trace;
        (machine.program().clone(), trace)
    } else {
        let trace = load::whole_trace(&arguments.file)?;
        let path = arguments.program.clone().unwrap_or_else(|| PathBuf::from(&trace.origin.subject));
        let program = load::program(&path, &arguments.options)?;
        trace.check_fits(&program).with_context(|| arguments.file.display().to_string())?;
        (program, trace)
    };
    show_ctp(arguments, &program, &trace)
}

fn show_ctp(
    arguments: &CtpShowArguments,
    program: &ir::Program,
    trace: &trace::Trace,
) -> anyhow::Result<Exit> {
    let options = ctp::Options { atomic: prediction::atomic(arguments.atomic), ..ctp::Options::default() };
    let ctp = Ctp::build(program, trace, &options).with_context(|| arguments.file.display().to_string())?;
    let mut text = String::new();
    let forms = [
        ("events as guarded assignments", Form::Events),
        ("concurrent static single assignment", Form::Cssa),
        ("formula", Form::Formula),
    ];
    for (title, form) in forms {
        text.push_str(&format!("{title}:\n\n{}\n", show(&ctp, program, trace, form)));
    }
    output::print(text.trim_end())?;
    output::print("\n")?;
    Ok(Exit::Clean)
}
