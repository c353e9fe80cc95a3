//! Random programs: a subject that is run again for each step that it has not made yet is searched as one that is taken back to where the step can be made.
//! `PROPTEST_CASES` sets how many.

use crate::common::{machine, programs, waiting};
use claim::Property;
use explore::{Limits, Reduction, Traced, prune, search};
use lang::ast::File;
use lang::random::config;
use machine::Machine;
use machine::oracle::Walk;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use subject::{RunError, Steps, Strategy as Who, Subject as _};
use trace::{Logging, Outcome, Trace};

const LIMITS: Limits = Limits { runs: 3_000, steps: 10_000 };

/// How a run ended, as far as all runs of a class have it in common.
fn end(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Completed { .. } => "completed".to_owned(),
        Outcome::AssertionFailed { site, .. } => format!("failed at {site:?}"),
        Outcome::Fault { site, kind, .. } => format!("{kind:?} at {site:?}"),
        Outcome::Deadlock { blocked } => {
            let mut sites: Vec<_> = blocked.iter().map(|one| (one.thread, one.site)).collect();
            sites.sort_unstable();
            format!("stuck at {sites:?}")
        }
        other => format!("{other:?}"),
    }
}

/// The runs of a search, and how they end.
fn searched<S: Steps>(
    steps: &mut S,
    reduction: Reduction,
    outcome: impl Fn(&S) -> Outcome,
) -> (u64, u64, bool, BTreeSet<String>) {
    let mut ends = BTreeSet::new();
    let statistics = search(steps, reduction, LIMITS, &mut |steps, _| {
        ends.insert(end(&outcome(steps)));
        true
    });
    (statistics.runs, statistics.given_up, statistics.stopped, ends)
}

fn same(machine: &Machine, file: &File) -> bool {
    for reduction in [Reduction::Optimal, Reduction::Source] {
        let expected = searched(&mut Walk::new(machine, false), reduction, Walk::outcome);
        let mut traced = Traced::new(machine).expect("it runs");
        let found = searched(&mut traced, reduction, |traced| traced.trace().outcome.clone());
        if !traced.incomplete().is_empty() || expected.2 || found.2 {
            return false;
        }
        assert_eq!(traced.error(), None, "{reduction:?}\n{}", lang::print(file));
        assert_eq!(found, expected, "{reduction:?}\n{}", lang::print(file));
    }
    true
}

/// The same where threads wait in loops, which are recognised.
fn same_spinning(source: &str) {
    let file = lang::parse(source).unwrap_or_else(|errors| panic!("{errors:?}\n{source}"));
    let machine = machine(&file, false);
    for reduction in [Reduction::Optimal, Reduction::Source] {
        let mut walk = Walk::new(&machine, false).recognising_spins();
        let expected = searched(&mut walk, reduction, Walk::outcome);
        let mut traced = Traced::recognising_spins(&machine).expect("it runs");
        let found = searched(&mut traced, reduction, |traced| traced.trace().outcome.clone());
        assert_eq!(traced.error(), None, "{reduction:?}\n{source}");
        let counts = |searched: &(u64, u64, bool, BTreeSet<String>)| (searched.0, searched.1, searched.2);
        assert_eq!(counts(&found), counts(&expected), "{reduction:?}\n{source}");
        let waits_for_ever = expected.3.iter().any(|end| end.starts_with("stuck"));
        match waits_for_ever {
            true => assert_eq!(traced.incomplete().len(), 1, "{:?}\n{source}", traced.incomplete()),
            false => {
                assert_eq!(traced.incomplete(), BTreeSet::new(), "{source}");
                assert_eq!(found.3, expected.3, "{reduction:?}\n{source}");
            }
        }
    }
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn loops_that_wait_are_recognised_the_same(source in waiting()) {
        same_spinning(&source);
    }
}

/// What pruning leaves to be run.
fn pruned<S: Steps>(
    steps: &mut S,
    machine: &Machine,
    record: &mut dyn FnMut(&S) -> Result<Trace, RunError>,
) -> (u64, u64, bool, bool) {
    let properties = vec![Property::Assertion];
    let options = prune::Options { runs: LIMITS.runs, properties, ..prune::Options::default() };
    let explored = prune::explore(steps, machine.program(), &options, record, &mut |_, _| true);
    let explored = explored.expect("it is explored");
    let whole = explored.incomplete.is_empty();
    (explored.runs, explored.pruned, explored.bounded, whole)
}

fn same_pruned(machine: &Machine, file: &File) -> bool {
    let mut again =
        |walk: &Walk<'_>| Ok(machine.run(&Who::follow(walk.schedule()), &Logging::Everything)?.trace);
    let expected = pruned(&mut Walk::new(machine, false), machine, &mut again);
    let mut traced = Traced::new(machine).expect("it runs");
    let found = pruned(&mut traced, machine, &mut |traced| Ok(traced.trace().clone()));
    if !traced.incomplete().is_empty() || !expected.3 {
        return false;
    }
    assert_eq!(traced.error(), None, "{}", lang::print(file));
    assert_eq!(found, expected, "{}", lang::print(file));
    true
}

#[test]
fn random_programs_are_pruned_the_same() {
    most_are(150, same_pruned);
}

#[test]
fn random_programs_are_searched_the_same() {
    most_are(300, same);
}

/// That a token was there says how many there are at least; who counts it twice lets both threads have the only one.
#[test]
fn a_token_that_was_asked_for_is_one_token() {
    let source = "int x; semaphore s = 1; thread T1 { release(s); x = 0; } \
        thread T2 { acquire(s); x = 0; release(s); x = 0; } thread T3 { x = 0; acquire(s); x = 0; release(s); }";
    let file = lang::parse(source).expect("it parses");
    assert!(same(&machine(&file, false), &file));
}

/// Compares so many random programs; nearly all of them can be compared.
fn most_are(cases: u32, same: fn(&Machine, &File) -> bool) {
    let (compared, all) = (AtomicU64::new(0), AtomicU64::new(0));
    proptest!(config(cases), |(file in programs())| {
        all.fetch_add(1, Ordering::Relaxed);
        compared.fetch_add(u64::from(same(&machine(&file, false), &file)), Ordering::Relaxed);
    });
    let (compared, all) = (compared.into_inner(), all.into_inner());
    println!("{compared} of {all} compared");
    assert!(compared * 20 > all * 19, "only {compared} of {all} programs could be compared");
}
