//! Random programs: what the search finds with few runs is what the oracle finds with all of them.
//! `PROPTEST_CASES` sets how many.

use crate::common::machine;
use explore::{Limits, Reduction, Statistics, search};
use lang::ast::File;
use lang::random::{self, Config, config};
use machine::Machine;
use machine::oracle::{self, Answers, Method, Question, Walk};
use proptest::prelude::*;
use std::collections::BTreeSet;
use subject::{Footprint, Move, Steps};

fn explored(machine: &Machine, reduction: Reduction) -> (Answers, Statistics) {
    let mut walk = Walk::new(machine, true);
    let limits = Limits { runs: 20_000, steps: 10_000 };
    let statistics = search(&mut walk, reduction, limits, &mut |_, _| true);
    (walk.into_answers(None), statistics)
}

/// The number of classes of equivalent runs: every run, each with the order of its conflicting steps. `None` if there are too many runs.
fn classes(machine: &Machine, most: usize) -> Option<usize> {
    type Class = Vec<(Move, Vec<(Move, usize)>)>;
    fn go(
        walk: &mut Walk<'_>,
        steps: &mut Vec<(Move, Footprint)>,
        seen: &mut BTreeSet<Class>,
        runs: &mut usize,
    ) -> bool {
        let moves = walk.moves();
        if moves.is_empty() {
            *runs -= 1;
            let number =
                |at: usize| steps[..at].iter().filter(|(made, _)| made.thread == steps[at].0.thread).count();
            let mut class: Class = vec![];
            for (at, (made, footprint)) in steps.iter().enumerate() {
                let before = (0..at).filter(|&earlier| steps[earlier].1.conflicts(footprint));
                let mut before: Vec<_> = before.map(|earlier| (steps[earlier].0, number(earlier))).collect();
                before.sort_unstable();
                class.push((*made, before));
            }
            // Each thread's steps in order; how they lie between each other is in the conflicts.
            class.sort_by_key(|(made, _)| made.thread);
            seen.insert(class);
            return *runs > 0;
        }
        for made in moves {
            let footprint = walk.make(made);
            steps.push((made, footprint));
            let go_on = go(walk, steps, seen, runs);
            steps.pop();
            walk.back_to(steps.len());
            if !go_on {
                return false;
            }
        }
        true
    }
    let (mut seen, mut runs) = (BTreeSet::new(), most);
    go(&mut Walk::new(machine, false), &mut vec![], &mut seen, &mut runs).then_some(seen.len())
}

fn check(file: &File, spurious: bool) {
    let machine = machine(file, spurious);
    let source = lang::print(file);
    let question =
        Question { method: Method::Stateful, max_steps: 100_000, max_states: 10_000, ..Question::default() };
    let expected = oracle::ask(&machine, &question);
    if expected.limit.is_some() || expected.cyclic || expected.schedules.total() > 30_000 {
        return;
    }
    for reduction in [Reduction::Source, Reduction::Optimal] {
        let (answers, statistics) = explored(&machine, reduction);
        assert!(!statistics.stopped, "{reduction:?}: {statistics:?}\n{source}");
        assert_eq!(answers.seen(), expected.seen(), "{reduction:?}: {statistics:?}\n{source}");
        if reduction == Reduction::Optimal
            && let Some(classes) = classes(&machine, 3_000)
        {
            assert_eq!(
                (statistics.runs, statistics.given_up),
                (classes as u64, 0),
                "{statistics:?}\n{source}"
            );
        }
    }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn the_search_finds_what_the_oracle_finds(file in random::program(&Config::tiny()), spurious in prop::bool::weighted(0.2)) {
        check(&file, spurious);
    }
}
