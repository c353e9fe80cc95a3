//! Random programs: what is predicted from the few runs that pruning leaves is what the oracle finds with all of them. `PROPTEST_CASES` sets
//! how many.

use crate::common;
use crate::common::findings::{Findings, expected};
use crate::common::{machine, programs};
use claim::Property;
use explore::prune::{Explored, Options, explore};
use lang::ast::File;
use lang::random::{self, Config, config};
use machine::Machine;
use machine::oracle::{self, Method, Question, Walk};
use proptest::prelude::*;
use subject::{Strategy as Who, Subject as _};
use trace::Logging;

/// What is found if these are looked for, and how.
fn pruned(machine: &Machine, properties: &[Property]) -> (Findings, Explored) {
    let mut walk = Walk::new(machine, false);
    let mut findings = Findings::default();
    let ctp = ctp::Options { atomic: ctp::Atomic::Marked, ..ctp::Options::default() };
    let explored = explore(
        &mut walk,
        machine.program(),
        &Options { runs: 5_000, properties: properties.to_vec(), ctp, ..Options::default() },
        &mut |walk| Ok(machine.run(&Who::follow(walk.schedule()), &Logging::Everything)?.trace),
        &mut |trace, _| {
            trace.into_iter().for_each(|trace| findings.add(machine.program(), trace));
            true
        },
    );
    (findings, explored.expect("it is explored"))
}

/// All that there is to find; nothing if that is too much to ask.
fn all(machine: &Machine) -> Option<Findings> {
    let question =
        Question { method: Method::Stateful, max_steps: 100_000, max_states: 10_000, ..Question::default() };
    let answers = oracle::ask(machine, &question);
    let is_whole = answers.limit.is_none() && !answers.cyclic && answers.exhausted.is_empty();
    is_whole.then(|| expected(&answers))
}

/// Each property, looked for alone and with all others, is found where it is.
fn check(file: &File) -> Result<(), TestCaseError> {
    let machine = machine(file, false);
    let Some(expected) = all(&machine) else { return Ok(()) };
    let source = lang::print(file);
    let every = [Property::Assertion, Property::Race, Property::Deadlock, Property::Atomicity];
    for wanted in [&every[..], &every[..1], &every[1..2], &every[2..3], &every[3..]] {
        let (found, explored) = pruned(&machine, wanted);
        let stopped = explored.incomplete.iter().all(|why| why.contains("the limit of 5000 runs"));
        prop_assert!(stopped, "{:?}\n{}", explored, source);
        if found.unknown || !explored.incomplete.is_empty() {
            // Something was taken as recorded, or there were too many runs: what is found is there, but not all is.
            return Ok(());
        }
        let context = || format!("{wanted:?}, {explored:?}\n{source}");
        for property in wanted {
            match property {
                Property::Assertion => prop_assert_eq!(&found.failures, &expected.failures, "{}", context()),
                Property::Race => prop_assert_eq!(&found.races, &expected.races, "{}", context()),
                Property::Atomicity => prop_assert_eq!(&found.triples, &expected.triples, "{}", context()),
                _ => found
                    .same_deadlocks(&expected)
                    .map_err(|why| TestCaseError::fail(format!("{why}\n{}", context())))?,
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn pruning_misses_nothing_in_tiny_programs(file in random::program(&Config::tiny())) {
        check(&file)?;
    }

    #[test]
    fn pruning_misses_nothing_in_programs_of_many_kinds(file in programs()) {
        check(&file)?;
    }

    #[test]
    fn pruning_misses_nothing_where_threads_branch(source in common::branching::branching()) {
        check(&lang::parse(&source).expect("it parses"))?;
    }
}

/// The properties above would hold trivially if nothing were left out, or no way were described by what it may write.
#[test]
fn there_is_much_to_leave_out() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut pruned_ways, mut phantoms, mut with, mut without) = (0, 0, 0, 0);
    for _ in 0..60 {
        let source = common::branching::branching().new_tree(&mut runner).expect("a program").current();
        let machine = machine(&lang::parse(&source).expect("it parses"), false);
        let explored = pruned(&machine, &[Property::Assertion]).1;
        pruned_ways += explored.pruned;
        phantoms += explored.phantoms;
        with += explored.runs;
        let options =
            Options { properties: vec![Property::Assertion], phantoms: false, ..Options::default() };
        let mut walk = Walk::new(&machine, false);
        let mut record =
            |walk: &Walk<'_>| Ok(machine.run(&Who::follow(walk.schedule()), &Logging::Everything)?.trace);
        let plain = explore(&mut walk, machine.program(), &options, &mut record, &mut |_, _| true);
        without += plain.expect("it is explored").runs;
    }
    println!(
        "{pruned_ways} ways left out, {phantoms} phantom edges; {with} runs, {without} without phantom edges"
    );
    assert!(pruned_ways > 100 && phantoms > 40 && with < without);
}
