//! Random small programs: for each candidate of a recorded run the engine's verdict equals that of the oracle, which goes through all
//! schedules of the same thread paths; each witness replays on the machine into what it claims. `PROPTEST_CASES` sets how many.

use crate::common::dense::dense;
use crate::common::programs::programs;
use crate::common::{ask, build, config, machine_of, run, seen, shows, standing, wanted, with_source};
use claim::{Answer, Candidate, Deadlock};
use lang::ast::File;
use machine::Machine;
use predict::{Filters, Mode, Model, Symbolic, Wanted, candidates, symbolic};
use proptest::prelude::*;
use std::collections::BTreeSet;
use trace::{FaultKind, Outcome, Trace};

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
    let answers = ask(machine, trace);
    if answers.limit.is_some() {
        return Ok(());
    }
    let ctp = build(machine, trace);
    prop_assert_eq!(ctp.rebuild.mismatches, 0);
    let pinned = !ctp.rebuild.pins.is_empty();
    let all = candidates(&ctp, &wanted());
    let mut engine = Symbolic::new(machine.program(), &ctp, &all.all, symbolic::Options::default())
        .expect("the trace is encoded");
    let expected = seen(&answers);
    let generated: BTreeSet<Candidate> = all.all.iter().cloned().collect();
    for candidate in &expected {
        prop_assert!(pinned || generated.contains(candidate), "not even a candidate: {:?}", candidate);
    }
    let filters = Filters::new(&ctp);
    for candidate in &all.all {
        if let Some(why) = filters.discards(candidate) {
            prop_assert!(
                !expected.contains(candidate),
                "{:?} is feasible, and discarded by {:?}",
                candidate,
                why
            );
        }
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
                check(machine, trace, candidate, &witness)?;
            }
            Answer::Infeasible(_) => {
                prop_assert!(!expected.contains(candidate), "feasible, but missed: {:?}", candidate);
            }
            Answer::Unknown(why) => prop_assert!(pinned, "{:?} is unknown: {:?}", candidate, why),
        }
    }
    compare_deadlocks(machine, trace, &answers, &mut engine, pinned)
}

/// The independent checker accepts a witness.
fn check(
    machine: &Machine,
    trace: &Trace,
    candidate: &Candidate,
    witness: &claim::Witness,
) -> Result<(), TestCaseError> {
    let checked = witness::check(machine.program(), trace, witness::Rules::default(), candidate, witness);
    prop_assert!(checked.is_ok(), "{:?} is refused for {:?}: {:?}", candidate, witness, checked);
    Ok(())
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
        check(machine, trace, candidate, witness)?;
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
    let trace = run(&machine, seed);
    with_source(file, seed, compare(&machine, &trace))
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn the_engine_and_the_oracle_agree_on_each_candidate(
        file in programs(), seed in any::<u64>(),
    ) {
        compare_all(&file, seed)?;
    }

    #[test]
    fn they_agree_where_synchronisation_is_dense(source in dense(), seed in any::<u64>()) {
        let file = lang::parse(&source).expect("it parses");
        compare_all(&file, seed)?;
    }

    #[test]
    fn modes_and_models_are_between_each_other_as_they_should_be(source in dense(), seed in any::<u64>()) {
        let machine = machine_of(&lang::parse(&source).expect("it parses"));
        compare_variants(&machine, &run(&machine, seed))?;
    }
}

/// `r0` is needed by nobody, so neither is what it is when the branch goes past the second read: the first read only decides, and 1 and -1 decide
/// the same. The engine took it for a value that is used, and told of a violation that is none.
#[test]
fn a_read_that_goes_into_a_value_nobody_needs_only_decides() {
    let source = "int x; int y = 1; mutex m; \
        thread T1 { atomic { int r0; int r1; r1 = y << 0; r0 = r1 ? y : r1; } } \
        thread T2 { x = 0; lock(m); y = -1; unlock(m); }";
    let file = lang::parse(source).expect("it parses");
    for seed in 0..8 {
        compare_all(&file, seed).expect("the two agree");
    }
}

/// The models and modes are between each other as they should be, explanations change no verdict, and small witnesses are witnesses.
fn compare_variants(machine: &Machine, trace: &Trace) -> Result<(), TestCaseError> {
    let ctp = build(machine, trace);
    let all = candidates(&ctp, &Wanted::default()).all;
    let engine = |mode, model, explain| {
        let options = symbolic::Options { mode, model, explain, ..symbolic::Options::default() };
        Symbolic::new(machine.program(), &ctp, &all, options).expect("the trace is encoded")
    };
    let mut plain = engine(Mode::Prefixes, Model::Program, false);
    let mut explaining = engine(Mode::Prefixes, Model::Program, true);
    let mut full = engine(Mode::Full, Model::Program, false);
    let mut cam = engine(Mode::Prefixes, Model::Cam, false);
    let mut causal = engine(Mode::Prefixes, Model::Causal, false);
    let feasible = |engine: &mut Symbolic<'_>, candidate| {
        matches!(engine.answer(candidate).expect("it is decided"), Answer::Feasible(_))
    };
    for candidate in &all {
        let is = feasible(&mut plain, candidate);
        prop_assert_eq!(is, feasible(&mut explaining, candidate), "explained: {:?}", candidate);
        prop_assert!(is || !feasible(&mut full, candidate), "full: {:?}", candidate);
        prop_assert!(is || !feasible(&mut causal, candidate), "causal: {:?}", candidate);
        if !matches!(candidate, Candidate::Assertion { .. } | Candidate::Fault { .. }) {
            prop_assert!(!is || feasible(&mut cam, candidate), "cam: {:?}", candidate);
        }
        if let Answer::Feasible(witness) = plain.answer_small(candidate).expect("it is decided") {
            if let Err(why) = shows(machine, candidate, &witness) {
                prop_assert!(false, "{:?} is not shown by {:?}: {}", candidate, witness, why);
            }
        } else {
            prop_assert!(!is);
        }
    }
    Ok(())
}

/// The properties above would hold trivially if nothing were found: of some hundred programs, enough must show each kind of thing, by
/// the oracle's account.
#[test]
fn the_candidates_are_interesting() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (plain, synchronised) = (programs(), dense());
    let mut counts = std::collections::BTreeMap::<(&str, bool), u32>::new();
    for seed in 0..200 {
        let file = match seed % 2 {
            0 => plain.new_tree(&mut runner).expect("a program").current(),
            _ => {
                let source = synchronised.new_tree(&mut runner).expect("a program").current();
                lang::parse(&source).expect("it parses")
            }
        };
        let machine = machine_of(&file);
        let trace = run(&machine, seed);
        let answers = ask(&machine, &trace);
        let compared = answers.limit.is_none()
            && !matches!(trace.outcome, Outcome::Fault { .. } | Outcome::LimitReached { .. });
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
        assert!(counts.get(&(kind, true)).is_some_and(|&n| n >= 4), "{kind}: {counts:?}");
    }
}
