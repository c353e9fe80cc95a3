//! A search in parts finds what a search in one go does, whoever does the parts; and pruning goes the same way, however many ask the solver.
//! `PROPTEST_CASES` sets how many programs.

use crate::common;
use crate::common::{machine, programs};
use claim::Property;
use explore::prune::{self, Explored};
use explore::{Limits, Reduction, by_workers, parts, search, search_part};
use lang::ast::File;
use lang::random::{self, Config, config};
use machine::Machine;
use machine::oracle::{Answers, Walk};
use proptest::prelude::*;
use subject::{Strategy as Who, Subject as _};
use trace::{Logging, Trace};

const LIMITS: Limits = Limits { runs: 20_000, steps: 10_000 };

/// In parts, by so many workers.
fn by_parts(machine: &Machine, wanted: usize, workers: usize, reduction: Reduction) -> Answers {
    let parts = parts(&mut Walk::new(machine, false), wanted);
    let one = |at: usize| {
        let mut walk = Walk::new(machine, true);
        search_part(&mut walk, &parts[at], reduction, LIMITS, &mut |_, _| true);
        walk.into_answers(None)
    };
    let mut done = 0;
    let results = by_workers(parts.len(), workers, &one, &mut |_, _| done += 1);
    assert_eq!((results.len(), done), (parts.len(), parts.len()));
    let mut answers = Answers::default();
    results.into_iter().for_each(|more| answers.merge(more));
    answers
}

/// All that was seen, with schedules.
fn everything(answers: &Answers) -> impl PartialEq + std::fmt::Debug {
    (
        (
            answers.final_states.clone(),
            answers.failures.clone(),
            answers.deadlocks.clone(),
            answers.bounds.clone(),
        ),
        (answers.co_enabled.clone(), answers.unordered.clone(), answers.triples.clone(), answers.schedules),
    )
}

fn check(file: &File, wanted: usize) -> Result<(), TestCaseError> {
    let machine = machine(file, false);
    let source = lang::print(file);
    for reduction in [Reduction::Optimal, Reduction::Source] {
        let mut walk = Walk::new(&machine, true);
        let statistics = search(&mut walk, reduction, LIMITS, &mut |_, _| true);
        if statistics.stopped || statistics.cut > 0 {
            return Ok(());
        }
        let at_once = walk.into_answers(None);
        let one = by_parts(&machine, wanted, 1, reduction);
        prop_assert_eq!(one.seen(), at_once.seen(), "{:?}, {} parts\n{}", reduction, wanted, source);
        if reduction == Reduction::Optimal {
            prop_assert_eq!(
                one.schedules,
                at_once.schedules,
                "one run of each class, {} parts\n{}",
                wanted,
                source
            );
        }
        for workers in [2, 4] {
            let many = by_parts(&machine, wanted, workers, reduction);
            prop_assert_eq!(everything(&many), everything(&one), "{} workers\n{}", workers, source);
        }
    }
    Ok(())
}

/// What pruning does with so many workers, and the runs that it tells of.
fn pruned(machine: &Machine, properties: &[Property], workers: usize) -> (Explored, Vec<Trace>) {
    let mut told = vec![];
    let explored = prune::explore(
        &mut Walk::new(machine, false),
        machine.program(),
        &prune::Options { runs: 300, properties: properties.to_vec(), workers, ..prune::Options::default() },
        &mut |walk| Ok(machine.run(&Who::follow(walk.schedule()), &Logging::Everything)?.trace),
        &mut |trace, _| {
            told.extend(trace.cloned());
            true
        },
    );
    (explored.expect("it is explored"), told)
}

fn check_pruning(file: &File) -> Result<(), TestCaseError> {
    let machine = machine(file, false);
    for properties in [&[Property::Assertion][..], &prune::Options::default().properties] {
        let one = pruned(&machine, properties, 1);
        for workers in [2, 3] {
            let many = pruned(&machine, properties, workers);
            prop_assert_eq!(&many, &one, "{} workers\n{}", workers, lang::print(file));
        }
    }
    Ok(())
}

/// A program of the benchmark: what it fills is emptied as a whole, and each round of each thread may find something to do or not.
const BATCH: &str = "atomic u8 count, filled, taken;
fn fill() {
    int i = 0;
    while (i < 4) bound 4 {
        if (count < 4) { fetch_add(count, 1); fetch_add(filled, 1); }
        i = i + 1;
    }
}
fn take() {
    int i = 0;
    while (i < 4) bound 4 {
        u8 seen = count;
        if (seen > 0) { fetch_sub(count, seen); fetch_add(taken, seen); }
        i = i + 1;
    }
}
main {
    thread a = fork fill(); thread b = fork take(); join(a); join(b);
    assert(filled == taken + count);
}";

/// Threads that meet in a table, and go on to the next place where they do.
const TABLE: &str = "atomic int table[4];
fn put(int me) {
    int place = me % 3;
    while (place < 4) bound 4 {
        if (cas(table[place], 0, me + 1)) { place = 4; } else { place = place + 1; }
    }
}
main {
    thread a = fork put(0); thread b = fork put(3); thread c = fork put(1); thread d = fork put(4);
    join(a); join(b); join(c); join(d);
    assert(table[0] != 0);
}";

/// The one has abstractions, the other is gone through by what the solver gives; both ask about many runs at once.
#[test]
fn pruning_does_not_depend_on_workers_where_it_asks_much() {
    for (source, questions) in [(BATCH, 100), (TABLE, 20)] {
        let file = lang::parse(source).expect("it parses");
        let one = pruned(&machine(&file, false), &[Property::Assertion], 1);
        assert!(one.0.incomplete.is_empty() && one.0.questions > questions, "{:?}", one.0);
        check_pruning(&file).expect("it does not depend on them");
    }
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn parts_make_up_the_whole(file in random::program(&Config::tiny()), wanted in 1_usize..60) {
        check(&file, wanted)?;
    }

    #[test]
    fn parts_make_up_the_whole_of_programs_of_many_kinds(file in programs(), wanted in 1_usize..60) {
        check(&file, wanted)?;
    }

    #[test]
    fn pruning_does_not_depend_on_workers_in_tiny_programs(file in random::program(&Config::tiny())) {
        check_pruning(&file)?;
    }

    #[test]
    fn pruning_does_not_depend_on_workers_in_programs_of_many_kinds(file in programs()) {
        check_pruning(&file)?;
    }

    #[test]
    fn pruning_does_not_depend_on_workers_where_threads_branch(source in common::branching::branching()) {
        check_pruning(&lang::parse(&source).expect("it parses"))?;
    }
}
