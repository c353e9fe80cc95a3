//! `threadbare solve`: answer an SMT-LIB script with Threadbare's own solver.

use crate::cli::SolveArguments;
use crate::exit::Exit;
use crate::{load, output};
use anyhow::Context as _;
use solver::{Answer, Limits, Script, Solver, Stop};
use std::fmt::Write as _;
use std::time::Duration;

pub fn solve(arguments: &SolveArguments) -> anyhow::Result<Exit> {
    let name = || arguments.script.display().to_string();
    let text = load::text(&arguments.script)?;
    let mut solver = Solver::new();
    solver.set_limits(Limits { time: arguments.timeout.map(Duration::from_secs), ..Limits::default() });
    let mut script = Script::new(&text, solver).with_context(name)?;
    let mut exit = Exit::Clean;
    while let Some(outcome) = script.next_answer().with_context(name)? {
        let mut said = String::new();
        // Writing to a string cannot fail.
        let _ = match outcome.answer {
            Answer::Sat => writeln!(said, "sat"),
            Answer::Unsat(_) => writeln!(said, "unsat"),
            Answer::Unknown(stop) => {
                exit = Exit::Limit;
                writeln!(said, "unknown\n; line {}: {}", outcome.line, why(stop))
            }
        };
        if arguments.model
            && let Some(model) = script.model().with_context(name)?
        {
            said.push_str(&model);
        }
        output::print(&said)?;
    }
    Ok(exit)
}

fn why(stop: Stop) -> &'static str {
    match stop {
        Stop::Time => "the time was up (--timeout)",
        Stop::Conflicts => "the conflicts were used up",
        Stop::Memory => "the memory was used up",
        Stop::Interrupted => "interrupted",
    }
}
