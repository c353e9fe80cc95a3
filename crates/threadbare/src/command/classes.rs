//! `threadbare explore --strategy dpor` of a compiled program: one run of each class of equivalent schedules.
//!
//! The search sees every class, so that no failure, deadlock or crash is missed. Races and atomicity violations, which a run shows only to somebody who looks, are
//! predicted: from one run of each combination of ways that the threads went.

use super::divided::{self, Done, Progress};
use super::prune::incomplete;
use super::runs::{self, Naming, Searched};
use crate::cli::{ExploreArguments, Reduction};
use crate::exit::Exit;
use crate::output::Spinner;
use crate::{compiled, output, prediction};
use anyhow::bail;
use explore::{Limits, Part, Statistics, Traced};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use subject::{RunError, Schedule, Strategy, Subject};
use trace::{Logging, Trace};

/// A program that has no more classes than this is gone through in one go: to divide the search takes runs too.
const FEW: u64 = 256;

/// So many parts a search is divided into.
const PARTS: usize = 64;

/// What a search has shown, or a part of it.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Classes {
    runs: u64,
    /// The combinations of ways that the threads went.
    combinations: BTreeSet<u128>,
    /// One run of each, in the order in which they were found.
    schedules: Vec<(u128, Schedule)>,
    /// Why something may have been missed.
    incomplete: BTreeSet<String>,
}

impl Classes {
    /// Takes note of a run.
    fn after(&mut self, run: &Trace) {
        let ways = ways_of(run);
        if self.combinations.insert(ways) {
            self.schedules.push((ways, run.schedule()));
        }
    }

    fn merge(&mut self, more: Classes) {
        self.runs += more.runs;
        let new = more.schedules.into_iter().filter(|(ways, _)| self.combinations.insert(*ways));
        self.schedules.extend(new);
        self.incomplete.extend(more.incomplete);
    }
}

struct Search<'a, S> {
    program: &'a S,
    arguments: &'a ExploreArguments,
    bar: &'a Spinner,
    /// Of all workers.
    runs: AtomicU64,
    progress: Progress,
}

pub fn classes(arguments: &ExploreArguments) -> anyhow::Result<Exit> {
    if arguments.along.is_some() {
        bail!("--along goes with --strategy all only");
    }
    if arguments.resume && (arguments.predict.switches.is_some() || divided::is_limited(arguments)) {
        bail!("--resume does not go together with --switches or --max-runs");
    }
    let (program, _built, replay) =
        compiled::silent(&arguments.program, &arguments.process, &arguments.arguments)?;
    let difference = compiled::difference_of_two_runs(&program)?;
    let bar = Spinner::start();
    let (runs, progress) = (AtomicU64::new(0), Progress::default());
    let search = Search { program: &program, arguments, bar: &bar, runs, progress };
    let mut classes = search.all()?;
    let mut recorded = vec![];
    for (_, schedule) in &classes.schedules {
        let run = program.run(&Strategy::follow(schedule.clone()), &Logging::Everything)?;
        if let Some(departure) = &run.departure {
            let name = |thread| run.trace.thread_name(thread);
            let why = format!("a run that was made again left its schedule: {}", departure.words(&name));
            classes.incomplete.insert(why);
        }
        recorded.push(run.trace);
    }
    bar.end();
    output::say(&compiled::about_starts(&program));
    classes.incomplete.extend(incomplete(BTreeSet::new(), None, difference));
    if prediction::interrupter().is_set() {
        // What was found so far is told all the same.
        prediction::interrupter().clear();
        classes.incomplete.insert("it was interrupted".to_owned());
    }
    let number = runs::count(classes.runs, "run");
    let counted = match arguments.predict.switches {
        Some(most) => format!(
            "{number}, of all schedules with at most {}",
            runs::count(u64::from(most), "context switch")
        ),
        None => format!(
            "{number}; each stands for all schedules that differ from it only in the order of independent steps"
        ),
    };
    let Classes { runs: made, incomplete, .. } = classes;
    let searched = Searched { runs: recorded, made, counted, bounded: false, incomplete };
    runs::tell(arguments, &program, Naming::of_compiled(replay), searched)
}

impl<S: Subject + Sync> Search<'_, S> {
    fn all(&self) -> anyhow::Result<Classes> {
        let most_runs = self.arguments.max_runs;
        if self.arguments.predict.switches.is_some() || divided::is_limited(self.arguments) {
            let (mut classes, statistics) = self.at_once(most_runs)?;
            if statistics.stopped && !prediction::interrupter().is_set() {
                classes.incomplete.insert(format!("the limit of {most_runs} runs was reached"));
            }
            return Ok(classes);
        }
        if !self.arguments.resume {
            let (classes, statistics) = self.at_once(FEW)?;
            if !statistics.stopped || prediction::interrupter().is_set() {
                return Ok(classes);
            }
            self.runs.store(0, Ordering::Relaxed);
        }
        let parts = explore::parts(&mut Traced::recognising_spins(self.program)?, PARTS);
        let part = |at: usize| self.part(&parts[at]);
        let fingerprint = self.program.program().fingerprint();
        let all = divided::do_all(self.arguments, fingerprint, parts.len(), &self.progress, &part)?;
        let mut classes = Classes::default();
        all.shown.into_iter().for_each(|more| classes.merge(more));
        Ok(classes)
    }

    fn reduction(&self) -> explore::Reduction {
        match self.arguments.reduction {
            Reduction::Optimal => explore::Reduction::Optimal,
            Reduction::Source => explore::Reduction::Source,
        }
    }

    /// In one go, up to so many runs.
    fn at_once(&self, most: u64) -> Result<(Classes, Statistics), RunError> {
        let mut steps = Traced::recognising_spins(self.program)?;
        let mut classes = Classes::default();
        let limits = Limits { runs: most, ..Limits::default() };
        let mut each = |steps: &Traced<'_, S>, _: &Statistics| self.after_run(steps, &mut classes);
        let statistics = match self.arguments.predict.switches {
            Some(most) => explore::search_bounded(&mut steps, most, limits, &mut each),
            None => explore::search(&mut steps, self.reduction(), limits, &mut each),
        };
        classes.end(&steps, &statistics);
        Ok((classes, statistics))
    }

    fn part(&self, part: &Part) -> Done<Classes> {
        let mut shown = Classes::default();
        let mut steps = match Traced::recognising_spins(self.program) {
            Ok(steps) if !prediction::interrupter().is_set() => steps,
            Ok(_) => return Done { shown, whole: false },
            Err(error) => {
                shown.incomplete.insert(error.to_string());
                return Done { shown, whole: false };
            }
        };
        let mut each = |steps: &Traced<'_, S>, _: &Statistics| self.after_run(steps, &mut shown);
        let statistics =
            explore::search_part(&mut steps, part, self.reduction(), Limits::default(), &mut each);
        shown.end(&steps, &statistics);
        Done { shown, whole: !statistics.stopped && steps.error().is_none() }
    }

    /// Takes note of a run; says whether to go on.
    fn after_run(&self, steps: &Traced<'_, S>, classes: &mut Classes) -> bool {
        classes.after(steps.trace());
        let runs = self.runs.fetch_add(1, Ordering::Relaxed) + 1;
        self.bar.tell(|| format!("exploring: {runs} runs{}", self.progress.words()));
        !prediction::interrupter().is_set() && steps.error().is_none()
    }
}

impl Classes {
    /// The search is over, or was stopped.
    fn end<S: Subject>(&mut self, steps: &Traced<'_, S>, statistics: &Statistics) {
        self.runs = statistics.runs;
        self.incomplete.extend(incomplete(steps.incomplete(), steps.error(), None));
        if statistics.cut > 0 {
            self.incomplete.insert("a run was cut at a limit".to_owned());
        }
    }
}

/// The ways that the threads of a run went, as a number: the same in two runs that consist of the same events.
fn ways_of(trace: &Trace) -> u128 {
    let mut ways: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for event in &trace.events {
        ways.entry(event.id.thread).or_default().push(event.site);
    }
    let half = |first: u8| {
        let mut hasher = DefaultHasher::new();
        (first, &ways).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}
