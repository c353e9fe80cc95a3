//! Random programs: there is one run for each combination of thread paths, and none is missed. `PROPTEST_CASES` sets how many.

use crate::common;
use crate::common::{machine, programs};
use explore::paths::{Combination, Options, Paths, explore};
use explore::{Limits, Reduction, search};
use lang::ast::File;
use lang::random::{self, Config, config};
use machine::Machine;
use machine::oracle::Walk;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use subject::{Footprint, Move, Steps, Strategy as Who, Subject as _};
use trace::{BlockedThread, EventId, Outcome, ThreadId, Trace};

/// Runs a machine step by step, and keeps the schedule of each complete run.
struct Schedules<'m> {
    walk: Walk<'m>,
    found: Vec<subject::Schedule>,
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
        self.found.push(self.walk.schedule());
    }
}

/// What runs have in common that consist of the same events: what each thread decided, where those stop that do not end, and who ends the process if
/// somebody does.
type Class = (Combination, BTreeMap<ThreadId, u64>, Option<ThreadId>);

/// The class of a run that went on for as long as it could.
fn class(trace: &Trace) -> Class {
    let mut trace = trace.clone();
    let failed = match trace.outcome {
        Outcome::AssertionFailed { event, .. } | Outcome::Fault { event, .. } => {
            trace.events.pop();
            Some(event.thread)
        }
        _ => None,
    };
    let paths = Paths::of(&trace, 0);
    let stops = paths.stops.into_iter().map(|(thread, stop)| (thread, stop.done)).collect();
    (paths.decisions, stops, failed)
}

/// The classes of all runs; `None` if there are too many runs. What fails can come last: from each run those are found that go on for as long as
/// they can.
fn classes(machine: &Machine) -> Option<BTreeSet<Class>> {
    let mut schedules = Schedules { walk: Walk::new(machine, false), found: vec![] };
    let limits = Limits { runs: 2_000, steps: 10_000 };
    let statistics = search(&mut schedules, Reduction::Optimal, limits, &mut |_, _| true);
    if statistics.stopped || statistics.cut > 0 {
        return None;
    }
    let mut classes = BTreeSet::new();
    for schedule in schedules.found {
        let exhausted = machine.exhaust(&Who::follow(schedule)).expect("it runs");
        classes.extend(exhausted.runs.iter().map(|run| class(&run.trace)));
    }
    Some(classes)
}

fn check(file: &File) -> Result<(), TestCaseError> {
    let machine = machine(file, false);
    let Some(expected) = classes(&machine) else { return Ok(()) };
    let source = lang::print(file);
    let by = |workers| {
        let options = Options { runs: 3_000, workers, ..Options::default() };
        explore(&machine, &options, &mut |_, _| true).expect("it is explored")
    };
    let explored = by(1);
    prop_assert_eq!(explored.duplicates, 0, "{}", source);
    // Who asks first is a matter of chance, what there is is not.
    let by_many = by(3);
    let classes = |runs: &[Trace]| -> Vec<Class> {
        let mut classes: Vec<Class> = runs.iter().map(class).collect();
        classes.sort_unstable();
        classes
    };
    if explored.incomplete.is_empty() && by_many.incomplete.is_empty() {
        prop_assert_eq!(classes(&by_many.runs), classes(&explored.runs), "by many\n{}", source);
    }
    prop_assert_eq!(by_many.duplicates, 0, "by many\n{}", source);
    let found: BTreeSet<Class> = explored.runs.iter().map(class).collect();
    prop_assert_eq!(found.len(), explored.runs.len(), "run twice\n{}", source);
    let much = found.difference(&expected).next();
    prop_assert!(much.is_none(), "no run is like {:?}\n{}", much, source);
    if explored.incomplete.iter().any(|why| why.contains("taken as recorded")) {
        return Ok(());
    }
    prop_assert!(explored.incomplete.is_empty(), "{:?}\n{}", explored.incomplete, source);
    let missed = expected.difference(&found).next();
    prop_assert!(missed.is_none(), "missed {:?}\n{}", missed, source);
    Ok(())
}

/// Programs whose combinations can be counted by hand.
#[test]
fn what_stops_a_thread_is_a_decision_like_a_branch() {
    let programs = [
        // Each of U and T sees x before or after W; a search that only flips single branches misses some of the four.
        (4, "int x; thread W { x = 1; } thread U { if (x == 0) {} } thread T { if (x == 1) {} }"),
        // All come to their end, or each waits for the other.
        (
            2,
            "mutex a; mutex b; thread T { lock(a); lock(b); unlock(b); unlock(a); } thread U { lock(b); lock(a); unlock(a); unlock(b); }",
        ),
        // Nobody can do anything else, but the process ends by one of them.
        (2, "int x; thread T { assert(x != 0); } thread U { assert(x != 0); }"),
        // T goes on or not; U sees what T writes only if it does.
        (3, "int x, y; thread T { assume(x == 0); y = 1; } thread U { x = 1; if (y == 0) {} }"),
        // T fails or not, and whether it does keeps U from nothing.
        (4, "int x, y; thread T { assert(x == 0); } thread U { x = 1; if (y == 0) {} } thread V { y = 1; }"),
        // Where U leaves early nobody writes y, and what T stands before is the same in every schedule of that run.
        (
            3,
            "int x; int y = 1; thread T { x = y; assume(y != 1); } thread U { if (x >= 1) { return; } y = 2; }",
        ),
        // A thread that is in its own way never goes on.
        (1, "mutex m; thread T { lock(m); lock(m); }"),
        // The division fails where x is read before it is written.
        (2, "int x; thread T { int r = 1; r = r / x; } thread U { x = 1; }"),
    ];
    for (expected, source) in programs {
        let file = lang::parse(source).unwrap_or_else(|errors| panic!("{errors:?}\n{source}"));
        let explored =
            explore(&machine(&file, false), &Options::default(), &mut |_, _| true).expect("it is explored");
        assert!(explored.incomplete.is_empty() && explored.duplicates == 0, "{explored:?}\n{source}");
        assert_eq!(explored.runs.len(), expected, "{source}");
        check(&file).unwrap_or_else(|error| panic!("{error}"));
    }
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn there_is_one_run_for_each_combination(file in random::program(&Config::default())) {
        check(&file)?;
    }

    #[test]
    fn there_is_one_run_for_each_combination_in_programs_of_many_kinds(file in programs()) {
        check(&file)?;
    }

    #[test]
    fn there_is_one_run_for_each_combination_where_threads_branch(source in common::branching::branching()) {
        check(&lang::parse(&source).expect("it parses"))?;
    }
}
