//! Random programs: the final states that `check` finds under sequential consistency are those that the oracle finds by
//! going through all schedules. `PROPTEST_CASES` sets how many.

use crate::common::machine;
use check::{Checker, Options};
use lang::ast::File;
use lang::random::{self, Config, config, lowered};
use machine::oracle::{self, Question};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn compare(file: &File, spurious: bool) {
    let program = lowered(file);
    let source = lang::print(file);
    let machine = machine(program.clone(), spurious);
    let question = Question { history: false, max_steps: 200_000, max_states: 20_000, ..Question::default() };
    let answers = oracle::ask(&machine, &question);
    if answers.limit.is_some() || !answers.exhausted.is_empty() {
        return;
    }
    let names: Vec<(String, String)> =
        answers.threads.iter().map(|(id, name)| (format!("heap<{id}:"), format!("heap<{name}:"))).collect();
    let named = |text: &String| names.iter().fold(text.clone(), |text, (id, name)| text.replace(id, name));
    let expected: BTreeSet<_> = answers
        .final_states
        .keys()
        .map(|state| {
            let values: Vec<_> =
                state.values.iter().map(|(name, value)| (name.clone(), named(value))).collect();
            (values, state.condition)
        })
        .collect();
    let options = Options { spurious, ..Options::default() };
    let found = Checker::new(&program, options).outcomes(10_000);
    let found = found.unwrap_or_else(|e| panic!("{e}\n{source}"));
    assert!(found.all);
    let found: BTreeSet<_> = found.states.into_iter().map(|o| (o.values, o.condition)).collect();
    assert_eq!(found, expected, "{source}");
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn check_finds_the_final_states_that_the_oracle_finds(
        file in random::program(&Config::default()), spurious in prop::bool::weighted(0.2)
    ) {
        compare(&file, spurious);
    }
}
