//! A search in parts finds what a search in one go does, whoever does the parts. `PROPTEST_CASES` sets how many programs.

mod common;

use common::{machine, programs};
use explore::{Limits, Reduction, by_workers, parts, search, search_part};
use lang::ast::File;
use lang::random::{self, Config, config};
use machine::Machine;
use machine::oracle::{Answers, Walk};
use proptest::prelude::*;

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
}
