//! Long traces are looked at through windows. On random small programs with windows of a few events: what a window shows is feasible by the
//! oracle's account, the checker and the replay accept it, and what is said to be infeasible is so.

use crate::common::dense::dense;
use crate::common::programs::programs;
use crate::common::{ask, build, config, machine, machine_of, record, run, seen, shows, wanted, with_source};
use claim::{Answer, Candidate};
use machine::Machine;
use predict::{Sizes, Wanted, Windows, candidates, symbolic};
use proptest::prelude::*;
use subject::Strategy as Who;
use trace::{FaultKind, Outcome, Trace};

fn compare(machine: &Machine, trace: &Trace, sizes: Sizes) -> Result<(), TestCaseError> {
    if matches!(trace.outcome, Outcome::Fault { .. } | Outcome::LimitReached { .. }) {
        return Ok(());
    }
    let answers = ask(machine, trace);
    if answers.limit.is_some() {
        return Ok(());
    }
    let expected = seen(&answers);
    let ctp = build(machine, trace);
    let all = candidates(&ctp, &wanted()).all;
    let options = symbolic::Options::default();
    let mut engine = Windows::sliced(machine.program(), trace, &ctp, options, sizes);
    let found = engine.answer_all(&all, &mut |_| {}).expect("they are decided");
    for (candidate, answer) in all.iter().zip(found) {
        match answer {
            Answer::Feasible(witness) => {
                let computed = matches!(candidate, Candidate::Fault { kind: FaultKind::DivisionByZero, .. });
                prop_assert!(
                    computed || expected.contains(candidate),
                    "claimed: {:?} by {:?}",
                    candidate,
                    witness
                );
                let rules = witness::Rules::default();
                let checked = witness::check(machine.program(), trace, rules, candidate, &witness);
                prop_assert!(checked.is_ok(), "{:?} is refused for {:?}: {:?}", candidate, witness, checked);
                let whole = witness.whole(trace);
                if let Err(why) = shows(machine, candidate, &whole) {
                    prop_assert!(
                        false,
                        "{:?} is not shown by {:?} ({:?}): {}",
                        candidate,
                        witness,
                        whole,
                        why
                    );
                }
            }
            Answer::Infeasible(_) => prop_assert!(!expected.contains(candidate), "missed: {:?}", candidate),
            Answer::Unknown(_) => {}
        }
    }
    Ok(())
}

/// Windows of a few events.
fn sizes() -> impl Strategy<Value = Sizes> {
    (2_usize..12, 2_usize..24, 1_usize..3).prop_map(|(small, more, most)| {
        let large = small + more;
        Sizes { small, large, largest: large * most }
    })
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn what_a_window_shows_agrees_with_the_oracle(file in programs(), seed in any::<u64>(), sizes in sizes()) {
        let machine = machine_of(&file);
        with_source(&file, seed, compare(&machine, &run(&machine, seed), sizes))?;
    }

    #[test]
    fn windows_agree_where_synchronisation_is_dense(source in dense(), seed in any::<u64>(), sizes in sizes()) {
        let file = lang::parse(&source).expect("it parses");
        let machine = machine_of(&file);
        with_source(&file, seed, compare(&machine, &run(&machine, seed), sizes))?;
    }
}

/// How many of the feasible candidates of a program small windows show.
fn shown(source: &str, who: &Who, sizes: Sizes) -> (usize, usize) {
    let machine = machine(source);
    let trace = record(&machine, who);
    let ctp = build(&machine, &trace);
    let all = candidates(&ctp, &Wanted::default()).all;
    let mut whole = Windows::new(machine.program(), &trace, &ctp, &all, symbolic::Options::default())
        .expect("it is encoded");
    let mut sliced = Windows::sliced(machine.program(), &trace, &ctp, symbolic::Options::default(), sizes);
    let count = |engine: &mut Windows<'_>| {
        let answers = engine.answer_all(&all, &mut |_| {}).expect("they are decided");
        answers.iter().filter(|answer| matches!(answer, Answer::Feasible(_))).count()
    };
    (count(&mut sliced), count(&mut whole))
}

#[test]
fn windows_find_what_is_near_and_what_is_far() {
    // Each of the two first statements races with the last one of the other thread, at the other end of the trace.
    let source = "int x, y, v; mutex m;
        thread A { x = 1; int i; while (i < 20) bound 20 { lock(m); v = v + 1; unlock(m); i++; } int r = y; }
        thread B { y = 1; int i; while (i < 20) bound 20 { lock(m); v = v + 2; unlock(m); i++; } int r = x; }";
    for who in [Who::RunToBlock, Who::RoundRobin { quantum: 3 }] {
        let (sliced, whole) = shown(source, &who, Sizes { small: 8, large: 16, largest: 32 });
        assert_eq!((sliced, whole), (4, 4), "{who:?}");
    }
}

#[test]
fn circles_of_two_locks_are_found_near_and_far() {
    let source = "int v; mutex a, b, m;
        thread A { lock(a); lock(b); unlock(b); unlock(a); int i; while (i < 30) bound 30 { lock(m); v = v + 1; unlock(m); i++; } }
        thread B { int i; while (i < 30) bound 30 { lock(m); v = v + 2; unlock(m); i++; } lock(b); lock(a); unlock(a); unlock(b); }";
    let machine = machine(source);
    let trace = record(&machine, &Who::RoundRobin { quantum: 3 });
    let ctp = build(&machine, &trace);
    let options = symbolic::Options::default();
    for sizes in
        [Sizes { small: 8, large: 16, largest: 32 }, Sizes { small: 2000, large: 4000, largest: 4000 }]
    {
        let mut engine = Windows::sliced(machine.program(), &trace, &ctp, options.clone(), sizes);
        let found = engine.deadlocks(10).expect("they are looked for");
        let Some((circle, Answer::Feasible(witness))) = found.first() else { panic!("{found:?}") };
        shows(&machine, circle, &witness.whole(&trace)).expect("the witness shows it");
    }
}
