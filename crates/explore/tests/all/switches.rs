//! Random programs: with a bound on context switches each strategy finds what the oracle's schedules with so few switches show.
//! `PROPTEST_CASES` sets how many.

use crate::common;
use crate::common::findings::Findings;
use crate::common::{machine, programs};
use claim::Property;
use explore::{Limits, paths, prune, search_bounded};
use lang::ast::File;
use lang::random::{self, Config, config};
use machine::Machine;
use machine::oracle::{self, Answers, Method, Question, Walk};
use proptest::prelude::*;
use std::collections::BTreeMap;
use subject::{Schedule, Strategy as Who, Subject as _};
use trace::{Logging, Trace};

/// Everything that was seen, by kind and in words.
fn things(answers: &Answers, most: Option<u32>) -> Vec<(&'static str, Vec<String>)> {
    fn few<K: std::fmt::Debug>(all: &BTreeMap<K, Schedule>, most: Option<u32>) -> Vec<String> {
        let few =
            |schedule: &Schedule| schedule.segments.len() <= most.map_or(usize::MAX, |n| n as usize + 1);
        all.iter().filter(|(_, schedule)| few(schedule)).map(|(key, _)| format!("{key:?}")).collect()
    }
    vec![
        ("states", few(&answers.final_states, most)),
        ("failures", few(&answers.failures, most)),
        ("deadlocks", few(&answers.deadlocks, most)),
        ("next", few(&answers.co_enabled, most)),
        ("unordered", few(&answers.unordered, most)),
        ("triples", few(&answers.triples, most)),
        ("bounds", few(&answers.bounds, most)),
    ]
}

/// All schedules, each thing with the one that has the fewest switches; `None` if there are too many.
fn all(machine: &Machine) -> Option<Answers> {
    let question = Question { method: Method::Stateless, max_steps: 150_000, ..Question::default() };
    Some(oracle::ask(machine, &question)).filter(|answers| answers.limit.is_none())
}

fn check(file: &File, most: u32) -> Result<(), TestCaseError> {
    let machine = machine(file, false);
    let Some(all) = all(&machine) else { return Ok(()) };
    let (expected, source) = (things(&all, Some(most)), lang::print(file));
    let bounded = |method| {
        let question = Question { method, switches: Some(most), ..Question::default() };
        oracle::ask(&machine, &question)
    };
    let stateful = bounded(Method::Stateful);
    prop_assert_eq!(&things(&stateful, None), &expected, "stateful, {}\n{}", most, source);
    prop_assert_eq!(&things(&bounded(Method::Stateless), None), &expected, "stateless, {}\n{}", most, source);
    let mut walk = Walk::new(&machine, true);
    let limits = Limits { runs: 1_000_000, steps: 10_000 };
    let statistics = search_bounded(&mut walk, most, limits, &mut |_, _| true);
    let found = walk.into_answers(None);
    prop_assert_eq!(&things(&found, None), &expected, "{:?}, {}\n{}", statistics, most, source);
    // If nothing had to be left out, that was all.
    if statistics.beyond == 0 {
        prop_assert_eq!(&things(&found, None), &things(&all, None), "{}\n{}", most, source);
    } else {
        prop_assert!(stateful.switches.is_some(), "{}\n{}", most, source);
    }
    Ok(())
}

/// Of failures and deadlocks, what few switches show is found, and all that is found is real.
fn check_predicting(file: &File, most: u32) -> Result<(), TestCaseError> {
    let machine = machine(file, false);
    let Some(all) = all(&machine).filter(|all| !all.cyclic) else { return Ok(()) };
    let source = lang::print(file);
    let few = |schedule: &Schedule| schedule.segments.len() <= most as usize + 1;
    let mut needed = all.clone();
    needed.failures.retain(|_, schedule| few(schedule));
    needed.deadlocks.retain(|_, schedule| few(schedule));
    let (needed, real) = (common::findings::expected(&needed), common::findings::expected(&all));
    let record =
        |walk: &Walk<'_>| Ok(machine.run(&Who::follow(walk.schedule()), &Logging::Everything)?.trace);
    let mut by_pruning = Findings::default();
    let options = prune::Options {
        properties: vec![Property::Assertion, Property::Deadlock],
        switches: Some(most),
        ..prune::Options::default()
    };
    let pruned = prune::explore(
        &mut Walk::new(&machine, false),
        machine.program(),
        &options,
        &mut { record },
        &mut |trace, _| {
            trace.into_iter().for_each(|trace| by_pruning.add(machine.program(), trace));
            true
        },
    );
    let pruned = pruned.expect("it is explored");
    let mut by_paths = Findings::default();
    let options = paths::Options { switches: Some(most), ..paths::Options::default() };
    let mut each = |trace: &Trace, _| {
        by_paths.add(machine.program(), trace);
        true
    };
    let explored = paths::explore(&machine, &options, &mut each).expect("it is explored");
    if !pruned.incomplete.is_empty() || !explored.incomplete.is_empty() {
        return Ok(());
    }
    for (name, found) in [("prune", by_pruning), ("paths", by_paths)] {
        if found.unknown {
            continue;
        }
        let missed = needed.failures.difference(&found.failures).next();
        prop_assert!(missed.is_none(), "{} missed {:?} with {} switches\n{}", name, missed, most, source);
        let much = found.failures.difference(&real.failures).next();
        prop_assert!(much.is_none(), "{} found {:?}\n{}", name, much, source);
        for blocked in &needed.blocked {
            let within =
                |circle: &Vec<common::findings::Place>| circle.iter().all(|one| blocked.contains(one));
            let is_found = found.blocked.contains(blocked) || found.circles.iter().any(within);
            prop_assert!(is_found, "{} missed {:?} with {} switches\n{}", name, blocked, most, source);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(120))]

    #[test]
    fn few_switches_show_what_they_show(file in random::program(&Config::tiny()), most in 0_u32..5) {
        check(&file, most)?;
    }

    #[test]
    fn few_switches_show_what_they_show_in_programs_of_many_kinds(file in programs(), most in 0_u32..4) {
        check(&file, most)?;
    }

    #[test]
    fn prediction_misses_nothing_that_few_switches_show(file in random::program(&Config::tiny()), most in 0_u32..4) {
        check_predicting(&file, most)?;
    }

    #[test]
    fn prediction_misses_nothing_where_threads_branch(source in common::branching::branching(), most in 0_u32..4) {
        check_predicting(&lang::parse(&source).expect("it parses"), most)?;
    }
}
