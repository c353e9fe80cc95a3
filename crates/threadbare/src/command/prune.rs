//! `threadbare explore --strategy prune`: runs one after the other, prediction from each, and what can show nothing new is left out.

use super::runs::{self, Saving, Searched};
use crate::cli::ExploreArguments;
use crate::exit::Exit;
use crate::{output, prediction};
use explore::prune;
use machine::oracle::Walk;
use subject::{RunError, Schedule, Strategy, Subject as _};
use trace::{Logging, Trace};

pub fn prune(arguments: &ExploreArguments) -> anyhow::Result<Exit> {
    let machine = runs::machine(arguments, "prune")?;
    let predict = runs::options(arguments)?;
    let options = prune::Options {
        runs: arguments.max_runs,
        limits: runs::limits(arguments),
        properties: predict.wanted.properties,
        ctp: predict.ctp,
        switches: arguments.predict.switches,
        ..prune::Options::default()
    };
    let bar = output::spinner();
    let mut walk = Walk::new(&machine, false);
    let mut saving = Saving::new(arguments, machine.fingerprint())?;
    let again = |schedule: &Schedule| {
        Ok(machine.run(&Strategy::follow(schedule.clone()), &Logging::Everything)?.trace)
    };
    let known: Vec<Trace> = saving.known().iter().map(again).collect::<Result<_, RunError>>()?;
    let mut traces = known.clone();
    let mut explored = prune::explore_beyond(
        &mut walk,
        machine.program(),
        &options,
        &known,
        &mut |walk| Ok(machine.run(&Strategy::follow(walk.schedule()), &Logging::Everything)?.trace),
        &mut |trace, explored| {
            traces.extend(trace.cloned());
            bar.set_message(format!("exploring: {} runs, {} ways left out", explored.runs, explored.pruned));
            bar.tick();
            match trace {
                Some(trace) => saving.after(trace),
                None => !prediction::interrupter().is_set(),
            }
        },
    )?;
    bar.finish_and_clear();
    explored.incomplete.extend(saving.end()?);
    let (number, left_out) = (runs::count(explored.runs, "run"), runs::count(explored.pruned, "way"));
    let searched = Searched {
        runs: traces,
        made: explored.runs,
        counted: format!("{number}; left out, because they can show nothing else: {left_out}"),
        bounded: explored.bounded,
        incomplete: explored.incomplete,
    };
    runs::tell(arguments, &machine, runs::naming(arguments), searched)
}
