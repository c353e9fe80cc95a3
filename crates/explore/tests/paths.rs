//! Random programs: there is one run for each combination of thread paths, and none is missed. `PROPTEST_CASES` sets how many.

mod common;

use common::{config, machine};
use explore::paths::{Combination, Options, Paths, explore, look_behind};
use explore::{Limits, Reduction, search};
use lang::ast::File;
use lang::random::{self, Config};
use machine::Machine;
use machine::oracle::Walk;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use subject::{Footprint, Move, Steps, Strategy as Who, Subject as _};
use trace::{BlockedThread, EventId, EventKind, Logging, Outcome, ThreadId, Trace};

/// Runs a machine step by step, and keeps the schedule of each complete run.
struct Schedules<'m> {
    walk: Walk<'m>,
    /// With whether somebody waits at its end.
    found: Vec<(subject::Schedule, bool)>,
}

impl Steps for Schedules<'_> {
    fn steps(&self) -> usize {
        self.walk.steps()
    }

    fn back_to(&mut self, steps: usize) {
        self.walk.back_to(steps);
    }

    fn moves(&self) -> Vec<Move> {
        self.walk.moves()
    }

    fn make(&mut self, made: Move) -> Footprint {
        self.walk.make(made)
    }

    fn last(&self) -> Option<EventId> {
        self.walk.last()
    }

    fn ways_after(&self, steps: usize, moves: &[Move], thread: ThreadId) -> Vec<(Move, Footprint)> {
        self.walk.ways_after(steps, moves, thread)
    }

    fn look(&mut self) {}

    fn meet(&mut self, _: usize, _: &[Move], _: ThreadId) {}

    fn blocked(&self) -> Vec<BlockedThread> {
        self.walk.blocked()
    }

    fn pending(&self) -> Vec<(ThreadId, Footprint)> {
        self.walk.pending()
    }

    fn complete(&mut self) {
        self.found.push((self.walk.schedule(), !self.walk.blocked().is_empty()));
    }
}

/// What runs have in common that consist of the same events: what each thread decided, and how far it came. Where a run is cut off, what nobody notices may
/// be missing at the end of what a thread did; for these it is left out.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Class {
    Whole(Combination),
    Cut(Combination, BTreeMap<ThreadId, u64>),
}

impl Class {
    fn of(trace: &Trace, is_whole: bool) -> Class {
        let paths = Paths::of(trace);
        if is_whole {
            return Class::Whole(paths.decisions);
        }
        let mut last: BTreeMap<ThreadId, u64> = BTreeMap::new();
        let visible = trace.events.iter().filter(|event| event.kind.may_be_visible());
        last.extend(
            visible.filter(|event| event.kind != EventKind::End).map(|event| (event.id.thread, event.id.n)),
        );
        let mut decisions = paths.decisions.clone();
        for (&thread, own) in &mut decisions {
            own.truncate(paths.made_until(thread, last.get(&thread).copied().unwrap_or(0)));
        }
        decisions.retain(|_, own| !own.is_empty());
        Class::Cut(decisions, last)
    }
}

/// Whether a run has come to the program's end, or to the bound of a loop.
fn ends(trace: &Trace) -> bool {
    matches!(trace.outcome, Outcome::Completed { .. } | Outcome::BoundExceeded { .. })
}

/// The classes of all runs. Those are whole in which no thread waits for ever, is cut off by a failure, or has stopped at an assumption. `None` if
/// there are too many runs.
fn classes(machine: &Machine) -> Option<BTreeSet<Class>> {
    let mut schedules = Schedules { walk: Walk::new(machine, false), found: vec![] };
    let limits = Limits { runs: 2_000, steps: 10_000 };
    let statistics = search(&mut schedules, Reduction::Optimal, limits, &mut |_, _| true);
    if statistics.stopped || statistics.cut > 0 {
        return None;
    }
    let class = |(schedule, waits): (subject::Schedule, bool)| {
        let run = machine.run(&Who::follow(schedule), &Logging::Everything).expect("it runs");
        Class::of(&run.trace, ends(&run.trace) && !waits)
    };
    Some(schedules.found.into_iter().map(class).collect())
}

fn check(file: &File) -> Result<(), TestCaseError> {
    let machine = machine(file, false);
    let Some(expected) = classes(&machine) else { return Ok(()) };
    let source = lang::print(file);
    let options = Options { runs: 3_000, ..Options::default() };
    let mut explored = explore(&machine, &options, &mut |_| true).expect("it is explored");
    let (alone, ended_early) = (explored.runs.len(), !explored.cut.is_empty());
    let mut record =
        |walk: &Walk<'_>| Ok(machine.run(&Who::follow(walk.schedule()), &Logging::Everything)?.trace);
    let mut walk = Walk::new(&machine, false);
    let behind =
        look_behind(&mut walk, machine.program(), &options, &mut explored, &mut record, &mut |_| true);
    behind.expect("it is explored");
    let mut found = BTreeSet::new();
    for run in &explored.runs {
        let whole = Some(Class::of(run, true)).filter(|class| ends(run) && expected.contains(class));
        let class = whole.unwrap_or_else(|| Class::of(run, false));
        prop_assert!(expected.contains(&class), "no run is like {:?}\n{}", class, source);
        // Runs that are cut off may differ only in what nobody notices; those that are whole may not.
        let is_whole = matches!(class, Class::Whole(_));
        prop_assert!(found.insert(class) || !is_whole, "run twice\n{}", source);
    }
    prop_assert_eq!(explored.duplicates, 0, "{}", source);
    if explored.incomplete.iter().any(|why| why.contains("taken as recorded")) {
        return Ok(());
    }
    prop_assert!(explored.incomplete.is_empty(), "{:?}\n{}", explored.incomplete, source);
    let missed = expected.iter().find(|class| matches!(class, Class::Whole(_)) && !found.contains(class));
    prop_assert!(missed.is_none(), "{:?}\n{}", missed, source);
    if !ended_early {
        prop_assert_eq!(explored.runs.len(), alone, "nothing is behind\n{}", source);
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn there_is_one_run_for_each_combination(file in random::program(&Config::default())) {
        check(&file)?;
    }
}
