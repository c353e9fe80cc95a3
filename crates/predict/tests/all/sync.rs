//! The engine `sync` on random small programs: what it finds is feasible by the oracle's account, and checker and replay accept it.

use crate::common::dense::dense;
use crate::common::programs::programs;
use crate::common::{ask, build, config, machine, machine_of, record, run, seen, shows, with_source};
use claim::{Answer, Candidate, Deadlock, Property};
use machine::Machine;
use predict::{Sync, Wanted, candidates, circles};
use proptest::prelude::*;
use subject::Strategy as Who;
use trace::{Outcome, Trace};

fn compare(machine: &Machine, trace: &Trace) -> Result<(), TestCaseError> {
    if matches!(trace.outcome, Outcome::Fault { .. } | Outcome::LimitReached { .. }) {
        return Ok(());
    }
    let answers = ask(machine, trace);
    if answers.limit.is_some() {
        return Ok(());
    }
    let feasible = seen(&answers);
    let ctp = build(machine, trace);
    let engine = Sync::new(&ctp);
    let mut all = candidates(&ctp, &Wanted { properties: vec![Property::Race], per_place: usize::MAX }).all;
    all.extend(circles(&ctp, usize::MAX));
    for candidate in &all {
        let Answer::Feasible(witness) = engine.answer(candidate) else { continue };
        let is_circle = matches!(candidate, Candidate::Deadlock(Deadlock::Circle(_)));
        prop_assert!(is_circle || feasible.contains(candidate), "claimed: {:?} by {:?}", candidate, witness);
        let checked =
            witness::check(machine.program(), trace, witness::Rules::default(), candidate, &witness);
        prop_assert!(checked.is_ok(), "{:?} is refused for {:?}: {:?}", candidate, witness, checked);
        if let Err(why) = shows(machine, candidate, &witness.whole(trace)) {
            prop_assert!(false, "{:?} is not shown by {:?}: {}", candidate, witness, why);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn what_preserves_synchronisation_is_feasible(file in programs(), seed in any::<u64>()) {
        let machine = machine_of(&file);
        with_source(&file, seed, compare(&machine, &run(&machine, seed)))?;
    }

    #[test]
    fn so_it_is_where_synchronisation_is_dense(source in dense(), seed in any::<u64>()) {
        let file = lang::parse(&source).expect("it parses");
        let machine = machine_of(&file);
        with_source(&file, seed, compare(&machine, &run(&machine, seed)))?;
    }
}

/// What the engine says of the races on x, and of circles.
fn said(source: &str) -> (usize, usize) {
    let machine = machine(source);
    let trace = record(&machine, &Who::RunToBlock);
    let ctp = build(&machine, &trace);
    let engine = Sync::new(&ctp);
    let races = candidates(&ctp, &Wanted { properties: vec![Property::Race], per_place: usize::MAX }).all;
    let races = races.iter().filter(|one| matches!(one, Candidate::CoEnabledRace { .. }));
    let found = |candidate: &&Candidate| matches!(engine.answer(candidate), Answer::Feasible(_));
    (races.filter(found).count(), circles(&ctp, usize::MAX).iter().filter(|one| found(one)).count())
}

#[test]
fn a_race_behind_sections_that_need_not_be_run_is_found() {
    // B's section need not wait for A's: A's is left out.
    let behind = "int x, y; mutex m; thread A { x = 1; lock(m); y = 1; unlock(m); } thread B { lock(m); unlock(m); x = 2; }";
    assert_eq!(said(behind), (1, 0));
    // B reads what A has written behind its access: keeping that orders the two.
    let ordered = "int x, y; mutex m; thread A { x = 1; lock(m); y = 1; unlock(m); } thread B { local r; lock(m); r = y; unlock(m); x = 2; }";
    assert_eq!(said(ordered), (0, 0));
}

#[test]
fn a_circle_of_two_locks_is_found_and_one_that_a_third_guards_is_not() {
    let circle = "int x; mutex a, b; thread A { lock(a); lock(b); unlock(b); unlock(a); } thread B { lock(b); lock(a); unlock(a); unlock(b); }";
    assert_eq!(said(circle), (0, 1));
    let guarded =
        "int x; mutex g, a, b; thread A { lock(g); lock(a); lock(b); unlock(b); unlock(a); unlock(g); }
        thread B { lock(g); lock(b); lock(a); unlock(a); unlock(b); unlock(g); }";
    assert_eq!(said(guarded), (0, 0));
}
