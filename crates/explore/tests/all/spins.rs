//! Loops that only wait are recognised: they come to an end without a bound, and nothing is missed. `PROPTEST_CASES` sets how many programs.

use crate::common::findings::{Findings, expected};
use crate::common::{machine, machine_with, waiting};
use claim::Property;
use explore::{Limits, Reduction, search};
use explore::{paths, prune};
use lang::random::config;
use machine::Machine;
use machine::oracle::{self, Answers, Question, Walk};
use proptest::prelude::*;
use std::collections::BTreeSet;
use subject::{Strategy as Who, Subject as _};
use trace::Logging;

fn explored(machine: &Machine, reduction: Reduction) -> Answers {
    let mut walk = Walk::new(machine, true).recognising_spins();
    let limits = Limits { runs: 200_000, steps: 10_000 };
    let statistics = search(&mut walk, reduction, limits, &mut |_, _| true);
    assert!(!statistics.stopped && statistics.cut == 0, "{statistics:?}");
    walk.into_answers(None)
}

fn from_source(source: &str) -> Machine {
    machine(&lang::parse(source).unwrap_or_else(|errors| panic!("{errors:?}\n{source}")), false)
}

/// The same machine, that recognises such loops in its runs.
fn spinning(source: &str) -> Machine {
    let options = machine::Options { spins: true, ..machine::Options::default() };
    machine_with(&lang::parse(source).unwrap_or_else(|errors| panic!("{errors:?}\n{source}")), options)
}

#[test]
fn a_spin_lock_is_explored_completely() {
    let source = "atomic int held; int x;
        fn take() { while (exchange(held, 1) == 1) bound 9 {} }
        thread A { take(); x = x + 1; held = 0; }
        thread B { take(); x = x + 1; held = 0; }
        thread C { take(); x = x + 1; held = 0; }
        forall (x == 3)";
    let answers = explored(&from_source(source), Reduction::Optimal);
    assert!(answers.is_complete() && answers.findings() == 0, "{answers:?}");
    assert_eq!(answers.final_states.len(), 1);
}

#[test]
fn who_waits_for_what_never_comes_waits_for_ever() {
    let source = "atomic int go; thread A { while (go == 0) bound 9 {} } thread B { local r; r = go; }";
    let answers = explored(&from_source(source), Reduction::Optimal);
    assert!(answers.bounds.is_empty() && answers.final_states.is_empty());
    assert_eq!(answers.deadlocks.len(), 1);
}

#[test]
fn a_round_that_reads_twice_may_see_old_and_new() {
    // Leaving the loop with a == 0 and b == 1 takes a round that begins before the first write and ends behind the second.
    let source = "atomic int x, y; int seen;
        thread A { local a; local b; a = 0; b = 0;
            while (a == 0 && b == 0) bound 9 { a = x; b = y; }
            if (a == 0 && b == 1) { seen = 1; } }
        thread B { x = 5; y = 1; }";
    let answers = explored(&from_source(source), Reduction::Optimal);
    let seen: BTreeSet<&str> = (answers.final_states.keys())
        .flat_map(|state| state.values.iter().filter(|(name, _)| name == "seen").map(|(_, value)| &**value))
        .collect();
    assert_eq!(seen, BTreeSet::from(["0", "1"]));
    assert!(answers.is_complete());
}

fn check(source: &str) -> Result<(), TestCaseError> {
    let machine = from_source(source);
    let question = Question { max_steps: 2_000_000, max_states: 60_000, ..Question::default() };
    let expected = oracle::ask(&machine, &question);
    if expected.limit.is_some() {
        return Ok(());
    }
    for reduction in [Reduction::Source, Reduction::Optimal] {
        let found = explored(&machine, reduction);
        macro_rules! same {
            ($($what:ident),*) => {$(
                let (a, b): (Vec<_>, Vec<_>) = (found.$what.keys().collect(), expected.$what.keys().collect());
                prop_assert_eq!(a, b, "{}, {:?}\n{}", stringify!($what), reduction, source);
            )*};
        }
        same!(final_states, failures, co_enabled, unordered);
        prop_assert!(found.bounds.is_empty(), "{:?}\n{}", reduction, source);
        let waits_by_going_round = |blocked: &&Vec<trace::BlockedThread>| {
            blocked.iter().any(|one| matches!(one.waits_for, trace::WaitsFor::Change { .. }))
        };
        // Who waits for ever comes to a bound where it is not recognised.
        let waits_for_ever = found.deadlocks.keys().any(|blocked| waits_by_going_round(&blocked));
        prop_assert!(!waits_for_ever || !expected.bounds.is_empty(), "{:?}\n{}", reduction, source);
        let others = |answers: &Answers| -> Vec<Vec<trace::BlockedThread>> {
            answers.deadlocks.keys().filter(|blocked| !waits_by_going_round(blocked)).cloned().collect()
        };
        prop_assert_eq!(others(&found), others(&expected), "{:?}\n{}", reduction, source);
    }
    Ok(())
}

/// One run for each combination shows what there is: failures, and who waits for ever.
fn check_paths(source: &str) -> Result<(), TestCaseError> {
    let expected = expected(&explored(&from_source(source), Reduction::Optimal));
    let machine = spinning(source);
    let options = paths::Options { spins: true, runs: 5_000, ..paths::Options::default() };
    let explored = paths::explore(&machine, &options, &mut |_, _| true).expect("it is explored");
    prop_assert_eq!(explored.duplicates, 0, "{}", source);
    prop_assert!(
        explored.incomplete.is_empty() && !explored.bounded,
        "{:?}\n{}",
        explored.incomplete,
        source
    );
    let mut found = Findings::default();
    explored.runs.iter().for_each(|run| found.add_outcome(run));
    prop_assert_eq!(&found.failures, &expected.failures, "{}", source);
    prop_assert_eq!(&found.blocked, &expected.blocked, "{}", source);
    Ok(())
}

/// What is predicted from the runs that pruning leaves is all that there is.
fn check_pruned(source: &str) -> Result<(), TestCaseError> {
    let expected = expected(&explored(&from_source(source), Reduction::Optimal));
    let machine = spinning(source);
    for property in [Property::Assertion, Property::Race, Property::Deadlock] {
        let mut found = Findings::default();
        let options = prune::Options { spins: true, properties: vec![property], ..prune::Options::default() };
        let explored = prune::explore(
            &mut Walk::new(&machine, false).recognising_spins(),
            machine.program(),
            &options,
            &mut |walk| Ok(machine.run(&Who::follow(walk.schedule()), &Logging::Everything)?.trace),
            &mut |trace, _| {
                trace.into_iter().for_each(|trace| found.add(machine.program(), trace));
                true
            },
        );
        let explored = explored.expect("it is explored");
        let context = || format!("{property:?}, {explored:?}\n{source}");
        prop_assert!(explored.incomplete.is_empty() && !explored.bounded, "{}", context());
        match property {
            _ if found.unknown => {}
            Property::Assertion => prop_assert_eq!(&found.failures, &expected.failures, "{}", context()),
            Property::Race => prop_assert_eq!(&found.races, &expected.races, "{}", context()),
            _ => found
                .same_deadlocks(&expected)
                .map_err(|why| TestCaseError::fail(format!("{why}\n{}", context())))?,
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn each_combination_is_run_once_where_threads_wait_in_loops(source in waiting()) {
        check_paths(&source)?;
    }

    #[test]
    fn pruning_misses_nothing_where_threads_wait_in_loops(source in waiting()) {
        check_pruned(&source)?;
    }

    #[test]
    fn nothing_is_missed_where_threads_wait_in_loops(source in waiting()) {
        check(&source)?;
    }
}
