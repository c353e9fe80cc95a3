//! `threadbare explore --strategy prune`: runs one after the other, prediction from each, and what can show nothing new is left out.

use super::runs::{self, Searched};
use crate::cli::ExploreArguments;
use crate::exit::Exit;
use crate::output;
use explore::prune;
use machine::oracle::Walk;
use subject::{Strategy, Subject as _};
use trace::Logging;

pub fn prune(arguments: &ExploreArguments) -> anyhow::Result<Exit> {
    let machine = runs::machine(arguments, "prune")?;
    let predict = runs::options(arguments)?;
    let options = prune::Options {
        runs: arguments.max_runs,
        limits: runs::limits(arguments),
        properties: predict.wanted.properties,
        ctp: predict.ctp,
        ..prune::Options::default()
    };
    let bar = output::spinner();
    let mut walk = Walk::new(&machine, false);
    let mut traces = vec![];
    let explored = prune::explore(
        &mut walk,
        machine.program(),
        &options,
        &mut |walk| Ok(machine.run(&Strategy::follow(walk.schedule()), &Logging::Everything)?.trace),
        &mut |trace, explored| {
            traces.extend(trace.cloned());
            bar.set_message(format!("exploring: {} runs, {} ways left out", explored.runs, explored.pruned));
            bar.tick();
            true
        },
    )?;
    bar.finish_and_clear();
    let (number, left_out) = (runs::count(explored.runs, "run"), runs::count(explored.pruned, "way"));
    let searched = Searched {
        runs: traces,
        counted: format!("{number}; left out, because they can show nothing else: {left_out}"),
        bounded: explored.bounded,
        incomplete: explored.incomplete,
    };
    runs::tell(arguments, &machine, runs::naming(arguments), searched)
}
