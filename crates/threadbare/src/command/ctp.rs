//! `threadbare ctp`: look into concurrent trace programs.

use crate::cli::{CtpArguments, CtpCommand, CtpShowArguments};
use crate::exit::Exit;
use crate::{load, output, prediction};
use anyhow::Context as _;
use ctp::Ctp;
use ctp::show::{Form, show};

pub fn ctp(arguments: &CtpArguments) -> anyhow::Result<Exit> {
    let CtpCommand::Show(arguments) = &arguments.command;
    let (program, trace) = load::recorded(&arguments.file, arguments.program.as_deref(), &arguments.options)?;
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
