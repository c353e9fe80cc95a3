//! Random programs: `check` finds the races that the oracle finds by going through all schedules, instruction by instruction.
//! `PROPTEST_CASES` sets how many.

mod common;

use check::{Checker, Options};
use common::{config, lowered, machine};
use lang::ast::File;
use lang::random::{self, Config};
use machine::oracle::{self, Question};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn compare(file: &File, spurious: bool) {
    let program = lowered(file);
    let source = lang::print(file);
    let machine = machine(program.clone(), spurious);
    let question = Question { max_steps: 200_000, max_states: 20_000, ..Question::default() };
    let answers = oracle::ask(&machine, &question);
    if answers.limit.is_some() || !answers.exhausted.is_empty() {
        return;
    }
    let expected: BTreeSet<_> = answers
        .unordered
        .keys()
        .map(|race| (race.first.site.min(race.second.site), race.first.site.max(race.second.site)))
        .collect();
    let options = Options { spurious, ..Options::default() };
    let found = Checker::new(&program, options).races().unwrap_or_else(|e| panic!("{e}\n{source}"));
    let found: BTreeSet<_> = found
        .iter()
        .filter_map(|race| race.first.site.zip(race.second.site))
        .map(|(a, b)| (a.min(b), a.max(b)))
        .collect();
    assert_eq!(found, expected, "{source}");
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn check_finds_the_races_that_the_oracle_finds(
        file in random::program(&Config { max_events: 24, ..Config::default() }), spurious in prop::bool::weighted(0.2)
    ) {
        compare(&file, spurious);
    }
}
