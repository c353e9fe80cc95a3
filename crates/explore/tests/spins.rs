//! Loops that only wait are recognised: they come to an end without a bound, and nothing is missed. `PROPTEST_CASES` sets how many programs.

mod common;

use common::machine;
use explore::{Limits, Reduction, search};
use lang::random::config;
use machine::Machine;
use machine::oracle::{self, Answers, Question, Walk};
use proptest::prelude::*;
use std::collections::BTreeSet;

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

/// Threads that wait for flags, and set them; the bounds of their loops are larger than they need.
fn waiting() -> impl Strategy<Value = String> {
    let statements = vec![
        "while (f == 0) bound 12 {}",
        "while (g == 0) bound 12 {}",
        "while (f == 0 && g == 0) bound 12 {}",
        "while (f != 1) bound 12 { r = g; }",
        "while (exchange(l, 1) == 1) bound 12 {} x = x + 1; l = 0;",
        "e = 0; while (!compare_exchange(l, e, 1)) bound 12 { e = 0; } y = x; l = 0;",
        "f = 1;",
        "g = 1;",
        "f = 0;",
        "x = r;",
        "r = f;",
        "assert(x != 2);",
    ];
    let thread = prop::collection::vec(prop::sample::select(statements), 1..=3);
    prop::collection::vec(thread, 2..=3).prop_map(|threads| {
        let mut source = "atomic int f, g, l; int x, y;\n".to_owned();
        let few = if threads.concat().len() > 5 { 2 } else { 3 };
        for (n, statements) in threads.iter().take(few).enumerate() {
            let body = statements.join(" ");
            source.push_str(&format!("thread T{n} {{ int r = 0; int e = 0; {body} }}\n"));
        }
        source
    })
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
            blocked.iter().any(|one| matches!(one.waits_for, trace::WaitsFor::Word { .. }))
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

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn nothing_is_missed_where_threads_wait_in_loops(source in waiting()) {
        check(&source)?;
    }
}
