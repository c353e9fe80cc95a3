//! `threadbare explore --strategy dpor` of a compiled program: one run of each class of equivalent schedules.
//!
//! The search sees every class, so that no failure, deadlock or crash is missed. Races and atomicity violations, which a run shows only to somebody who looks, are
//! predicted: from one run of each combination of ways that the threads went.

use super::prune::incomplete;
use super::runs::{self, Naming, Searched};
use crate::cli::{ExploreArguments, Reduction};
use crate::exit::Exit;
use crate::{compiled, output, prediction};
use anyhow::bail;
use explore::{Limits, Statistics, Traced};
use ir::SiteId;
use std::collections::{BTreeMap, BTreeSet};
use trace::{ThreadId, Trace};

pub fn classes(arguments: &ExploreArguments) -> anyhow::Result<Exit> {
    if arguments.along.is_some() {
        bail!("--along goes with --strategy all only");
    }
    if arguments.resume {
        bail!("--strategy dpor of a compiled program does not know --resume; --strategy paths and prune do");
    }
    let (program, _built, replay) =
        compiled::silent(&arguments.program, &arguments.process, &arguments.arguments)?;
    let bar = output::spinner();
    let difference = compiled::difference_of_two_runs(&program)?;
    let reduction = match arguments.reduction {
        Reduction::Optimal => explore::Reduction::Optimal,
        Reduction::Source => explore::Reduction::Source,
    };
    let mut steps = Traced::new(&program)?;
    let mut ways = BTreeSet::new();
    let mut runs = vec![];
    let limits = Limits { runs: arguments.max_runs, ..Limits::default() };
    let mut each = |steps: &Traced<'_, _>, statistics: &Statistics| {
        if ways.insert(ways_of(steps.trace())) {
            runs.push(steps.trace().clone());
        }
        let (made, ways) = (statistics.runs, runs.len());
        bar.set_message(format!("exploring: {made} runs, {ways} combinations of paths"));
        bar.tick();
        !prediction::interrupter().is_set() && steps.error().is_none()
    };
    let statistics = match arguments.predict.switches {
        Some(most) => explore::search_bounded(&mut steps, most, limits, &mut each),
        None => explore::search(&mut steps, reduction, limits, &mut each),
    };
    bar.finish_and_clear();
    output::say(&compiled::about_starts(&program));
    let mut incomplete = incomplete(&steps, difference);
    if prediction::interrupter().is_set() {
        // What was found so far is told all the same.
        prediction::interrupter().clear();
        incomplete.insert("it was interrupted".to_owned());
    } else if statistics.stopped {
        incomplete.insert(format!("the limit of {} runs was reached", arguments.max_runs));
    }
    let number = runs::count(statistics.runs, "run");
    let counted = match arguments.predict.switches {
        Some(most) => format!(
            "{number}, of all schedules with at most {}",
            runs::count(u64::from(most), "context switch")
        ),
        None => format!(
            "{number}; each stands for all schedules that differ from it only in the order of independent steps"
        ),
    };
    let searched = Searched { runs, made: statistics.runs, counted, bounded: false, incomplete };
    runs::tell(arguments, &program, Naming::of_compiled(replay), searched)
}

/// The ways that the threads of a run went: the same in two runs that consist of the same events.
fn ways_of(trace: &Trace) -> BTreeMap<ThreadId, Vec<SiteId>> {
    let mut ways: BTreeMap<ThreadId, Vec<SiteId>> = BTreeMap::new();
    for event in &trace.events {
        ways.entry(event.id.thread).or_default().push(event.site);
    }
    ways
}
