//! `threadbare explore --strategy paths`: one run for each combination of thread paths, and prediction from each.

use super::divided;
use super::runs::{self, Naming, Saving, Searched};
use crate::cli::ExploreArguments;
use crate::exit::Exit;
use crate::output::Spinner;
use crate::{compiled, output};
use anyhow::bail;
use explore::paths::{self, Explored};
use subject::Subject as _;
use trace::Trace;

/// Of a model program.
pub fn paths(arguments: &ExploreArguments) -> anyhow::Result<Exit> {
    let machine = runs::machine(arguments, "paths")?;
    let bar = Spinner::start();
    let search = options(arguments);
    let mut saving = Saving::new(arguments, machine.fingerprint())?;
    let known = saving.known().to_vec();
    let mut each = counting(&bar, &mut saving);
    let mut explored = paths::explore_beyond(&machine, &search, &known, &mut each)?;
    drop(each);
    bar.end();
    explored.incomplete.extend(saving.end()?);
    let counted = counted(&explored);
    runs::tell(arguments, &machine, runs::naming(arguments), searched(explored, counted))
}

/// Of a compiled program. What lies behind a run that failed is not looked at: the program cannot be gone through step by step.
pub fn paths_of_compiled(arguments: &ExploreArguments) -> anyhow::Result<Exit> {
    if arguments.along.is_some() {
        bail!("--along goes with --strategy all only");
    }
    let (program, _built, replay) =
        compiled::silent(&arguments.program, &arguments.process, &arguments.arguments)?;
    let bar = Spinner::start();
    let difference = compiled::difference_of_two_runs(&program)?;
    let mut saving = Saving::new(arguments, program.program().fingerprint())?;
    let known = saving.known().to_vec();
    let mut each = counting(&bar, &mut saving);
    let mut explored = paths::explore_beyond(&program, &options(arguments), &known, &mut each)?;
    drop(each);
    bar.end();
    output::say(&compiled::about_starts(&program));
    explored.incomplete.extend(saving.end()?);
    explored.incomplete.extend(difference.map(|difference| {
        format!("two runs under the same schedule differ, so something else decides too: {difference}")
    }));
    let counted = counted(&explored);
    runs::tell(arguments, &program, Naming::of_compiled(replay), searched(explored, counted))
}

fn options(arguments: &ExploreArguments) -> paths::Options {
    paths::Options {
        spins: true,
        runs: arguments.max_runs,
        switches: arguments.predict.switches,
        limits: runs::limits(arguments),
        workers: divided::workers(arguments),
    }
}

/// Counts runs, for who waits for them.
fn counting(bar: &Spinner, saving: &mut Saving) -> impl FnMut(&Trace, usize) -> bool {
    let mut count = 0;
    move |run, left| {
        count += 1;
        bar.tell(|| format!("exploring: {count} combinations of paths, {left} to be asked about"));
        saving.after(run)
    }
}

fn counted(explored: &Explored) -> String {
    let number = runs::count(explored.runs.len() as u64, "run");
    let twice = explored.duplicates;
    format!("{number}, one for each combination of ways that the threads go; combinations run twice: {twice}")
}

fn searched(explored: Explored, counted: String) -> Searched {
    let mut incomplete = explored.incomplete;
    incomplete
        .extend(explored.cut.into_iter().map(|why| format!("{why}; other ways from there were not gone")));
    Searched {
        made: explored.runs.len() as u64,
        runs: explored.runs,
        counted,
        bounded: explored.bounded,
        incomplete,
    }
}
