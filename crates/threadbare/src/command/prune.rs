//! `threadbare explore --strategy prune`: runs one after the other, prediction from each, and what can show nothing new is left out.

use super::runs::{self, Naming, Saving, Searched};
use crate::cli::ExploreArguments;
use crate::exit::Exit;
use crate::output::Spinner;
use crate::{compiled, prediction};
use anyhow::bail;
use explore::{Traced, prune};
use machine::oracle::Walk;
use std::collections::BTreeSet;
use subject::{RunError, Schedule, Steps, Strategy, Subject};
use trace::{Logging, Trace};

/// Of a model program.
pub fn prune(arguments: &ExploreArguments) -> anyhow::Result<Exit> {
    let machine = runs::machine(arguments, "prune")?;
    let mut record =
        |walk: &Walk<'_>| Ok(machine.run(&Strategy::follow(walk.schedule()), &Logging::Everything)?.trace);
    let saving = Saving::new(arguments, machine.fingerprint())?;
    let searched = search(
        arguments,
        &machine,
        &mut Walk::new(&machine, false).recognising_spins(),
        saving,
        &mut record,
    )?;
    runs::tell(arguments, &machine, runs::naming(arguments), searched)
}

/// Of a compiled program.
pub fn prune_of_compiled(arguments: &ExploreArguments) -> anyhow::Result<Exit> {
    if arguments.along.is_some() {
        bail!("--along goes with --strategy all only");
    }
    let (program, _built, replay) =
        compiled::silent(&arguments.program, &arguments.process, &arguments.arguments)?;
    let difference = compiled::difference_of_two_runs(&program)?;
    let mut steps = Traced::recognising_spins(&program)?;
    let mut record = |steps: &Traced<'_, _>| match steps.error() {
        Some(error) => Err(error),
        None => Ok(steps.trace().clone()),
    };
    let saving = Saving::new(arguments, program.program().fingerprint())?;
    let mut searched = search(arguments, &program, &mut steps, saving, &mut record)?;
    searched.incomplete.extend(incomplete(steps.incomplete(), steps.error(), difference));
    runs::tell(arguments, &program, Naming::of_compiled(replay), searched)
}

/// Why a search that was made step by step of a compiled program may have missed something.
pub fn incomplete(
    mut why: BTreeSet<String>,
    error: Option<RunError>,
    difference: Option<String>,
) -> BTreeSet<String> {
    why.extend(error.map(|error| error.to_string()));
    why.extend(difference.map(|difference| {
        format!("two runs under the same schedule differ, so something else decides too: {difference}")
    }));
    why
}

fn search<S: Subject, T: Steps>(
    arguments: &ExploreArguments,
    subject: &S,
    steps: &mut T,
    mut saving: Saving,
    record: &mut dyn FnMut(&T) -> Result<Trace, RunError>,
) -> anyhow::Result<Searched> {
    let predict = runs::options(arguments)?;
    let options = prune::Options {
        runs: arguments.max_runs,
        limits: runs::limits(arguments),
        properties: predict.wanted.properties,
        ctp: predict.ctp,
        switches: arguments.predict.switches,
        spins: true,
        workers: runs::workers(arguments),
        ..prune::Options::default()
    };
    let bar = Spinner::start();
    let again = |schedule: &Schedule| {
        Ok(subject.run(&Strategy::follow(schedule.clone()), &Logging::Everything)?.trace)
    };
    let known: Vec<Trace> = saving.known().iter().map(again).collect::<Result<_, RunError>>()?;
    let mut traces = known.clone();
    let mut each = |trace: Option<&Trace>, explored: &prune::Explored| {
        traces.extend(trace.cloned());
        let prune::Explored { runs, distinct, pruned, questions, .. } = explored;
        bar.tell(|| format!(
            "exploring: {runs} runs, {distinct} of other events, {pruned} ways left out, {questions} questions"
        ));
        match trace {
            Some(trace) => saving.after(trace),
            None => !prediction::interrupter().is_set(),
        }
    };
    let mut explored = prune::explore_beyond(steps, subject.program(), &options, &known, record, &mut each)?;
    bar.end();
    explored.incomplete.extend(saving.end()?);
    let (number, left_out) = (runs::count(explored.runs, "run"), runs::count(explored.pruned, "way"));
    Ok(Searched {
        runs: traces,
        made: explored.runs,
        counted: format!("{number}; left out, because they can show nothing else: {left_out}"),
        bounded: explored.bounded,
        incomplete: explored.incomplete,
    })
}
