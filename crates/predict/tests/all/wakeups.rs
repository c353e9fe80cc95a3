//! Waits after which nobody looks again. Behind each wait of the random programs here stands an assertion that what was waited for is so:
//! a wake-up that comes too early is feasible exactly if the oracle sees that assertion fail.

use crate::common::{ask, build, config, id, machine, run, shows};
use claim::{Answer, Candidate, Property};
use ctp::Ctp;
use machine::Machine;
use predict::{Symbolic, Wanted, candidates, symbolic};
use proptest::prelude::*;
use std::collections::BTreeSet;
use trace::{EventId, EventKind, Outcome, Trace};

fn wakeups(ctp: &Ctp) -> Vec<Candidate> {
    candidates(ctp, &Wanted { properties: vec![Property::Wakeup], per_place: usize::MAX }).all
}

/// The first assertion of the same thread behind an event.
fn assertion_behind(trace: &Trace, event: EventId) -> Option<EventId> {
    let behind = trace.events.iter().filter(|one| one.id.thread == event.thread && one.id.n > event.n);
    behind.into_iter().find(|one| matches!(one.kind, EventKind::Assert { .. })).map(|one| one.id)
}

/// The answers to all candidates of a trace that completes.
fn answers(machine: &Machine, trace: &Trace) -> Vec<(Candidate, Answer)> {
    let ctp = build(machine, trace);
    let all = wakeups(&ctp);
    let mut engine = Symbolic::new(machine.program(), &ctp, &all, symbolic::Options::default())
        .expect("the trace is encoded");
    all.into_iter()
        .map(|candidate| {
            let answer = engine.answer(&candidate).expect("it is decided");
            (candidate, answer)
        })
        .collect()
}

fn compare(source: &str, seed: u64) -> Result<usize, TestCaseError> {
    let machine = machine(source);
    let trace = run(&machine, seed);
    if !matches!(trace.outcome, Outcome::Completed { .. }) {
        return Ok(0);
    }
    let known = ask(&machine, &trace);
    if known.limit.is_some() {
        return Ok(0);
    }
    let failures = known.failures.keys().filter(|failure| failure.fault.is_none());
    let fails: BTreeSet<EventId> = failures.map(|failure| id(failure.at)).collect();
    let answers = answers(&machine, &trace);
    for (candidate, answer) in &answers {
        let Candidate::Wakeup { wake, .. } = candidate else { unreachable!("only these were asked for") };
        let assertion = assertion_behind(&trace, *wake).expect("each wait has one behind it");
        match answer {
            Answer::Feasible(witness) => {
                prop_assert!(
                    fails.contains(&assertion),
                    "{candidate:?} is claimed with {witness:?}\n{source}"
                );
                let rules = witness::Rules::default();
                let checked = witness::check(machine.program(), &trace, rules, candidate, witness);
                prop_assert!(checked.is_ok(), "{candidate:?} is refused: {checked:?}\n{source}");
                let shown = shows(&machine, candidate, witness);
                prop_assert!(shown.is_ok(), "{candidate:?} is not shown: {shown:?}\n{source}");
            }
            Answer::Infeasible(_) => {
                prop_assert!(!fails.contains(&assertion), "{candidate:?} is missed\n{source}");
            }
            Answer::Unknown(why) => prop_assert!(false, "{candidate:?} is unknown: {why:?}\n{source}"),
        }
    }
    Ok(answers.len())
}

/// No assertion has a branch in it: a thread that takes another way has left its path before it fails.
fn programs() -> impl Strategy<Value = String> {
    let waits = prop::sample::select(vec![
        "lock(m); if (x == 0) { wait(c, m); assert(x != 0); } x = x - 1; unlock(m);",
        "lock(m); if (x == y) { wait(c, m); assert(x != y); } y = y + 1; unlock(m);",
        "lock(m); if (x < 2 && y == 0) { wait(d, m); assert((x >= 2) + (y != 0) > 0); } x = 0; y = 0; unlock(m);",
        "lock(m); r = z; z = z + 1; if (r - x >= 1) { wait(c, m); assert(r - x < 1); } y = r; unlock(m);",
        "lock(m); if (a[y] == 0) { wait(d, m); assert(a[y] != 0); } a[y] = 0; y = 1 - y; unlock(m);",
    ]);
    let others = prop::sample::select(vec![
        "lock(m); x = x + 1; signal(c); unlock(m);",
        "lock(m); x = x + 2; broadcast(c); unlock(m);",
        "lock(m); y = 1; signal(d); unlock(m);",
        "lock(m); a[y] = 1; broadcast(d); unlock(m);",
        "lock(m); x = 0; unlock(m);",
        "lock(m); broadcast(c); broadcast(d); unlock(m);",
    ]);
    let piece = prop_oneof![waits, others];
    let thread = prop::collection::vec(piece, 1..4);
    prop::collection::vec(thread, 2..4).prop_map(|threads| {
        let mut source = "int x, y, z; int a[2]; mutex m; cond c, d;\n".to_owned();
        for (n, pieces) in threads.iter().enumerate() {
            source.push_str(&format!("thread T{n} {{ int r = 0; {} }}\n", pieces.join("\n    ")));
        }
        source
    })
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn a_wake_up_is_too_early_where_the_assertion_behind_it_fails(source in programs(), seed in any::<u64>()) {
        compare(&source, seed)?;
    }
}

/// The random programs have such wake-ups, or the test above would say nothing.
#[test]
fn there_is_something_to_compare() {
    let source = "int x; mutex m; cond c;
        thread A { lock(m); if (x == 0) { wait(c, m); assert(x != 0); } x = x - 1; unlock(m); }
        thread B { lock(m); if (x == 0) { wait(c, m); assert(x != 0); } x = x - 1; unlock(m); }
        thread P { lock(m); x = x + 1; signal(c); unlock(m); lock(m); x = x + 1; signal(c); unlock(m); }";
    let found: usize = (0..20).map(|seed| compare(source, seed).expect("they agree")).sum();
    assert!(found > 0);
}

/// The kinds of wake-ups, each from the first passing run that has one: `Some(true)` if one can come too early.
fn verdict(source: &str) -> Option<bool> {
    let machine = machine(source);
    (0..100).find_map(|seed| {
        let trace = run(&machine, seed);
        let answers = answers(&machine, &trace);
        (!answers.is_empty()).then(|| answers.iter().any(|(_, answer)| matches!(answer, Answer::Feasible(_))))
    })
}

const PRODUCER: &str =
    "thread P { lock(m); x = x + 1; signal(c); unlock(m); lock(m); x = x + 1; signal(c); unlock(m); }";

#[test]
fn with_one_consumer_nobody_takes_what_it_was_woken_for() {
    let one =
        "int x; mutex m; cond c; thread A { lock(m); if (x == 0) { wait(c, m); } x = x - 1; unlock(m); }";
    assert_eq!(verdict(&format!("{one}\n{PRODUCER}")), Some(false));
    let two = "thread B { lock(m); if (x == 0) { wait(c, m); } x = x - 1; unlock(m); }";
    assert_eq!(verdict(&format!("{one}\n{two}\n{PRODUCER}")), Some(true));
}

#[test]
fn who_looks_again_is_not_asked_about() {
    let take = |name: &str| {
        format!("thread {name} {{ lock(m); while (x == 0) bound 3 {{ wait(c, m); }} x = x - 1; unlock(m); }}")
    };
    let source = format!("int x; mutex m; cond c; {} {} {PRODUCER}", take("A"), take("B"));
    assert_eq!(verdict(&source), None);
}

#[test]
fn a_signal_that_was_meant_for_somebody_else_is_a_reason_too() {
    let source = "int x, y; mutex m; cond c;
        thread A { lock(m); if (x == 0) { wait(c, m); } x = x - 1; unlock(m); }
        thread P { lock(m); y = 1; broadcast(c); unlock(m); }
        thread Q { lock(m); x = 1; broadcast(c); unlock(m); }";
    assert_eq!(verdict(source), Some(true));
}
