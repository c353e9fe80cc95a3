//! `threadbare explore --strategy paths`: one run for each combination of thread paths, and prediction from each.

use super::runs::{self, Searched};
use crate::cli::ExploreArguments;
use crate::exit::Exit;
use crate::output;
use explore::paths;
use machine::oracle::Walk;
use std::fmt::Write as _;
use subject::{Strategy, Subject as _};
use trace::{Logging, Trace};

pub fn paths(arguments: &ExploreArguments) -> anyhow::Result<Exit> {
    let machine = runs::machine(arguments, "paths")?;
    let bar = output::spinner();
    let mut count = 0;
    let search = paths::Options { runs: arguments.max_runs, limits: runs::limits(arguments) };
    let mut each = |_: &Trace| {
        count += 1;
        bar.set_message(format!("exploring: {count} combinations of paths"));
        bar.tick();
        true
    };
    let mut explored = paths::explore(&machine, &search, &mut each)?;
    let number = runs::count(explored.runs.len() as u64, "run");
    let mut counted = format!("{number}, one for each combination of ways that the threads go");
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
    let mut incomplete = explored.incomplete;
    incomplete
        .extend(explored.cut.into_iter().map(|why| format!("{why}; other ways from there were not gone")));
    let searched = Searched { runs: explored.runs, counted, bounded: explored.bounded, incomplete };
    runs::tell(arguments, &machine, searched)
}
