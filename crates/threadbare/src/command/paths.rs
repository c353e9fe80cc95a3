//! `threadbare explore --strategy paths`: one run for each combination of thread paths, and prediction from each.

use super::runs::{self, Naming, Searched};
use crate::cli::ExploreArguments;
use crate::exit::Exit;
use crate::{compiled, output};
use anyhow::bail;
use explore::paths::{self, Explored};
use indicatif::ProgressBar;
use machine::oracle::Walk;
use std::fmt::Write as _;
use subject::{Strategy, Subject as _};
use trace::{Logging, Trace};

/// Of a model program.
pub fn paths(arguments: &ExploreArguments) -> anyhow::Result<Exit> {
    let machine = runs::machine(arguments, "paths")?;
    let bar = output::spinner();
    let search = options(arguments);
    let mut each = counting(&bar);
    let mut explored = paths::explore(&machine, &search, &mut each)?;
    let mut counted = counted(&explored);
    let mut record =
        |walk: &Walk<'_>| Ok(machine.run(&Strategy::follow(walk.schedule()), &Logging::Everything)?.trace);
    let mut walk = Walk::new(&machine, false);
    let behind =
        paths::look_behind(&mut walk, machine.program(), &search, &mut explored, &mut record, &mut each)?;
    bar.finish_and_clear();
    if behind > 0 {
        let behind = runs::count(behind, "more run");
        let _ = write!(counted, "; {behind} to look behind those that ended early");
    }
    runs::tell(arguments, &machine, runs::naming(arguments), searched(explored, counted))
}

/// Of a compiled program. What lies behind a run that failed is not looked at: the program cannot be gone through step by step.
pub fn paths_of_compiled(arguments: &ExploreArguments) -> anyhow::Result<Exit> {
    if arguments.along.is_some() {
        bail!("--along goes with --strategy all only");
    }
    let (program, _built, replay) =
        compiled::silent(&arguments.program, &arguments.process, &arguments.arguments)?;
    let bar = output::spinner();
    let explored = paths::explore(&program, &options(arguments), &mut counting(&bar))?;
    bar.finish_and_clear();
    let counted = counted(&explored);
    // Names of threads may have spaces there.
    let naming = Naming { replay, thread: &|_, thread| thread.to_string() };
    runs::tell(arguments, &program, naming, searched(explored, counted))
}

fn options(arguments: &ExploreArguments) -> paths::Options {
    paths::Options { runs: arguments.max_runs, limits: runs::limits(arguments) }
}

/// Counts runs, for who waits for them.
fn counting(bar: &ProgressBar) -> impl FnMut(&Trace) -> bool {
    let mut count = 0;
    move |_| {
        count += 1;
        bar.set_message(format!("exploring: {count} combinations of paths"));
        bar.tick();
        true
    }
}

fn counted(explored: &Explored) -> String {
    let number = runs::count(explored.runs.len() as u64, "run");
    format!("{number}, one for each combination of ways that the threads go")
}

fn searched(explored: Explored, counted: String) -> Searched {
    let mut incomplete = explored.incomplete;
    incomplete
        .extend(explored.cut.into_iter().map(|why| format!("{why}; other ways from there were not gone")));
    Searched { runs: explored.runs, counted, bounded: explored.bounded, incomplete }
}
