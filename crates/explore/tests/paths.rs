//! Random programs: there is one run for each combination of thread paths, and none is missed. `PROPTEST_CASES` sets how many.

mod common;

use common::{config, machine};
use explore::paths::{Options, Paths, explore, look_behind};
use explore::{Limits, Reduction, search};
use lang::ast::File;
use lang::random::{self, Config};
use machine::Machine;
use machine::oracle::Walk;
use proptest::prelude::*;
use std::collections::BTreeSet;
use subject::{Footprint, Move, Steps, Strategy as Who, Subject as _};
use trace::{BlockedThread, EventId, Logging, Outcome, ThreadId};

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

/// All combinations of paths of runs that come to the program's end or to a loop's bound, and whether some runs do not; `None` if there are too many runs.
fn combinations(machine: &Machine) -> Option<(BTreeSet<explore::paths::Combination>, bool)> {
    let mut schedules = Schedules { walk: Walk::new(machine, false), found: vec![] };
    let limits = Limits { runs: 2_000, steps: 10_000 };
    let statistics = search(&mut schedules, Reduction::Optimal, limits, &mut |_, _| true);
    if statistics.stopped || statistics.cut > 0 {
        return None;
    }
    let (mut all, mut others) = (BTreeSet::new(), false);
    for (schedule, waits) in schedules.found {
        let run = machine.run(&Who::follow(schedule), &Logging::Everything).expect("it runs");
        match run.trace.outcome {
            // Where somebody waits for ever, the combination is cut: another one begins with it, or it is a deadlock.
            Outcome::Completed { .. } | Outcome::BoundExceeded { .. } if !waits => {
                all.insert(Paths::of(&run.trace).decisions);
            }
            _ => others = true,
        }
    }
    Some((all, others))
}

fn check(file: &File) -> Result<(), TestCaseError> {
    let machine = machine(file, false);
    let Some((expected, others)) = combinations(&machine) else { return Ok(()) };
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
    let is_whole =
        |outcome: &Outcome| matches!(outcome, Outcome::Completed { .. } | Outcome::BoundExceeded { .. });
    let whole = explored.runs.iter().filter(|run| is_whole(&run.outcome));
    let found: BTreeSet<_> = whole.map(|run| Paths::of(run).decisions).collect();
    prop_assert_eq!(explored.duplicates, 0, "{}", source);
    if !others {
        prop_assert!(found.is_subset(&expected), "{:?}\n{}", found.difference(&expected), source);
    }
    if explored.incomplete.iter().all(|why| !why.contains("taken as recorded")) {
        prop_assert!(explored.incomplete.is_empty(), "{:?}\n{}", explored.incomplete, source);
        prop_assert!(expected.is_subset(&found), "{:?}\n{}", expected.difference(&found), source);
        if !others && !ended_early {
            prop_assert_eq!(alone, expected.len(), "{}", source);
        }
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
