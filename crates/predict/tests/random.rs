//! Random small programs: for each candidate of a recorded run the engine's verdict equals that of the oracle, which goes through all
//! schedules of the same thread paths; each witness replays on the machine into what it claims. `PROPTEST_CASES` sets how many.

mod common;

use claim::{Answer, Candidate, Deadlock};
use common::programs::programs;
use common::{ask, build, machine_of, record, seen, shows, standing};
use lang::ast::File;
use machine::Machine;
use predict::{Symbolic, Wanted, candidates, symbolic};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use std::collections::BTreeSet;
use subject::Strategy as Who;
use trace::{FaultKind, Outcome, Trace};

fn config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(60);
    let persistence = FileFailurePersistence::WithSource("regressions");
    ProptestConfig {
        cases,
        max_shrink_iters: 5_000,
        failure_persistence: Some(Box::new(persistence)),
        ..ProptestConfig::default()
    }
}

fn who(seed: u64) -> Who {
    match seed % 3 {
        0 => Who::RunToBlock,
        1 => Who::RoundRobin { quantum: 1 + (seed / 3 % 3) as u32 },
        _ => Who::Random { seed },
    }
}

/// A fault that the oracle along a trace does not go into, because the thread's next event in the trace is at another instruction.
fn is_computed(kind: FaultKind) -> bool {
    kind == FaultKind::DivisionByZero
}

/// Compares the two on one trace.
fn compare(machine: &Machine, trace: &Trace) -> Result<(), TestCaseError> {
    // What the recorded run itself failed at is no prediction, and its event is not known as an access.
    if matches!(trace.outcome, Outcome::Fault { .. } | Outcome::LimitReached { .. }) {
        return Ok(());
    }
    let answers = ask(machine, Some(trace));
    if answers.limit.is_some() {
        return Ok(());
    }
    let ctp = build(machine, trace);
    prop_assert_eq!(ctp.rebuild.mismatches, 0);
    let pinned = !ctp.rebuild.pins.is_empty();
    let wanted = Wanted { per_place: usize::MAX, ..Wanted::default() };
    let all = candidates(&ctp, &wanted);
    let mut engine = Symbolic::new(machine.program(), &ctp, &all.all, symbolic::Options::default())
        .expect("the trace is encoded");
    let expected = seen(&answers);
    let generated: BTreeSet<Candidate> = all.all.iter().cloned().collect();
    for candidate in &expected {
        prop_assert!(pinned || generated.contains(candidate), "not even a candidate: {:?}", candidate);
    }
    for candidate in &all.all {
        match engine.answer(candidate).expect("it is decided") {
            Answer::Feasible(witness) => {
                let computed = matches!(candidate, Candidate::Fault { kind, .. } if is_computed(*kind));
                prop_assert!(
                    computed || expected.contains(candidate),
                    "infeasible, but {:?} is claimed with {:?}",
                    candidate,
                    witness
                );
                if let Err(why) = shows(machine, candidate, &witness) {
                    prop_assert!(false, "{:?} is not shown by {:?}: {}", candidate, witness, why);
                }
            }
            Answer::Infeasible(_) => {
                prop_assert!(!expected.contains(candidate), "feasible, but missed: {:?}", candidate);
            }
            Answer::Unknown(why) => prop_assert!(pinned, "{:?} is unknown: {:?}", candidate, why),
        }
    }
    compare_deadlocks(machine, trace, &answers, &mut engine, pinned)
}

fn compare_deadlocks(
    machine: &Machine,
    trace: &Trace,
    answers: &machine::oracle::Answers,
    engine: &mut Symbolic<'_>,
    pinned: bool,
) -> Result<(), TestCaseError> {
    let found = engine.deadlocks(1000).expect("they are enumerated");
    let mut circles: Vec<Vec<trace::EventId>> = vec![];
    let mut whole: Vec<Vec<trace::EventId>> = vec![];
    for (candidate, answer) in &found {
        let Answer::Feasible(witness) = answer else {
            prop_assert!(pinned, "unknown deadlock {:?}", answer);
            continue;
        };
        if let Err(why) = shows(machine, candidate, witness) {
            prop_assert!(false, "{:?} is not shown by {:?}: {}", candidate, witness, why);
        }
        // Asked for by name, it is feasible too.
        let again = engine.answer(candidate).expect("it is decided");
        prop_assert!(matches!(again, Answer::Feasible(_)), "{:?} is enumerated, but {:?}", candidate, again);
        match candidate {
            Candidate::Deadlock(Deadlock::Circle(events)) => circles.push(events.clone()),
            Candidate::Deadlock(Deadlock::AllBlocked(events)) => whole.push(events.clone()),
            _ => {}
        }
    }
    let mut known: Vec<Vec<trace::EventId>> = vec![];
    for (blocked, schedule) in &answers.deadlocks {
        let Some(events) = standing(machine, blocked, schedule, trace) else { continue };
        let covered = circles.iter().any(|circle| circle.iter().all(|event| events.contains(event)))
            || whole.contains(&events);
        prop_assert!(pinned || covered, "missed: {:?} at {:?}, found {:?}", blocked, events, found);
        known.push(events);
    }
    Ok(())
}

fn compare_all(file: &File, seed: u64) -> Result<(), TestCaseError> {
    let machine = machine_of(file);
    let trace = record(&machine, &who(seed));
    compare(&machine, &trace)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_engine_and_the_oracle_agree_on_each_candidate(
        file in programs(), seed in any::<u64>(),
    ) {
        compare_all(&file, seed)?;
    }
}

/// The property above would hold trivially if nothing were found: of some hundred programs, enough must show each kind of thing, by
/// the oracle's account.
#[test]
fn the_candidates_are_interesting() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = programs();
    let mut counts = std::collections::BTreeMap::<(&str, bool), u32>::new();
    for seed in 0..300 {
        let file = strategy.new_tree(&mut runner).expect("a program").current();
        let machine = machine_of(&file);
        let trace = record(&machine, &who(seed));
        let answers = ask(&machine, Some(&trace));
        let compared =
            answers.limit.is_none() && !matches!(trace.outcome, Outcome::Fault { .. } | Outcome::LimitReached { .. });
        *counts.entry(("compared", compared)).or_default() += 1;
        if !compared {
            continue;
        }
        let ctp = build(&machine, &trace);
        *counts.entry(("pinned", !ctp.rebuild.pins.is_empty())).or_default() += 1;
        let expected = seen(&answers);
        for candidate in &candidates(&ctp, &Wanted::default()).all {
            let kind = match candidate {
                Candidate::Atomicity { .. } => "atomicity",
                Candidate::CoEnabledRace { .. } => "co-enabled race",
                Candidate::UnorderedRace { .. } => "unordered race",
                Candidate::Assertion { .. } => "assertion",
                _ => "fault",
            };
            *counts.entry((kind, expected.contains(candidate))).or_default() += 1;
        }
        for (blocked, schedule) in &answers.deadlocks {
            let stands = standing(&machine, blocked, schedule, &trace).is_some();
            *counts.entry(("deadlock", stands)).or_default() += 1;
        }
    }
    println!("{counts:#?}");
    for kind in ["atomicity", "co-enabled race", "unordered race", "assertion"] {
        for feasible in [true, false] {
            assert!(counts.get(&(kind, feasible)).is_some_and(|&n| n >= 8), "{kind} {feasible}: {counts:?}");
        }
    }
    for kind in ["fault", "deadlock", "compared"] {
        assert!(counts.get(&(kind, true)).is_some_and(|&n| n >= 8), "{kind}: {counts:?}");
    }
}
