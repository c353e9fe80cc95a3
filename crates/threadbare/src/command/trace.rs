//! `threadbare trace`: look into traces.

use crate::cli::{ProgramOptions, ShowArguments, TraceArguments, TraceCommand};
use crate::exit::Exit;
use crate::{foreign_trace, load, output};
use anyhow::Context as _;
use std::path::PathBuf;
use subject::Subject as _;
use trace::{ShowOptions, Trace, show, write_json};

pub fn trace(arguments: &TraceArguments) -> anyhow::Result<Exit> {
    let TraceCommand::Show(arguments) = &arguments.command;
    show_trace(arguments)
}

fn show_trace(arguments: &ShowArguments) -> anyhow::Result<Exit> {
    if let Some(stand_in) = foreign_trace::stand_in(&arguments.trace, None)? {
        tell(arguments, stand_in.trace(), Some(stand_in.program()))?;
        return Ok(Exit::Clean);
    }
    let read = load::trace(&arguments.trace)?;
    let trace = &read.trace;
    let options = ProgramOptions { loop_bound: arguments.loop_bound, spurious: false };
    let program = match &arguments.program {
        Some(path) => {
            let program = load::program(path, &options)?;
            trace.check_fits(&program).with_context(|| arguments.trace.display().to_string())?;
            Some(program)
        }
        // The program may have moved or changed since: then the trace is shown without the words of its source.
        None => load::program(&PathBuf::from(&trace.origin.subject), &options)
            .ok()
            .filter(|program| trace.check_fits(program).is_ok()),
    };
    tell(arguments, trace, program.as_ref())?;
    if let Some(note) = &read.note {
        output::print(&format!("note: {note}\n"))?;
    }
    Ok(if read.complete { Exit::Clean } else { Exit::BadInput })
}

/// Shows a trace, in the words of its program if that is there.
fn tell(arguments: &ShowArguments, trace: &Trace, program: Option<&ir::Program>) -> anyhow::Result<()> {
    if arguments.json {
        let mut text = vec![];
        write_json(&mut text, trace, program).context("cannot write JSON")?;
        output::print(&String::from_utf8_lossy(&text))?;
    } else {
        let width = output::width();
        let options = ShowOptions {
            width,
            from: arguments.from - 1,
            limit: Some(arguments.limit),
            ..ShowOptions::default()
        };
        let mut text = show(trace, program, &options);
        if program.is_none() {
            text.push_str(&format!(
                "note: {} is not there, has changed, or was run with another --loop-bound; --program FILE gives it\n",
                trace.origin.subject
            ));
        }
        output::print(&text)?;
    }
    Ok(())
}
