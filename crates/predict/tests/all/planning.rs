//! Random small programs: `plan` finds a run exactly when the oracle, restricted to reads that see what they saw, has one; `lockset` claims
//! everything that is feasible, and each of its claims is lock-valid by the checker's rules.

use crate::common;
use crate::common::dense::dense;
use crate::common::programs::programs;
use crate::common::{ask, build, config, machine_of, question, run, seen, shows, with_source};
use claim::{Answer, Candidate, Formula, Property};
use ctp::Ctp;
use lang::ast::File;
use machine::Machine;
use machine::oracle::{self, Answers, Question};
use plan::{Data, Goal, Limits, Outcome as Planned, Problem};
use predict::planning::{Options, Planning};
use predict::{Wanted, candidates};
use proptest::prelude::*;
use std::collections::BTreeMap;
use subject::{Schedule, Strategy as Who, Subject as _};
use trace::{EventKind, Logging, Outcome, Trace};

/// What of a trace can be compared: the oracle's answers, all and with the recorded values, and what is asked.
fn asked(machine: &Machine, trace: &Trace) -> Option<(Answers, Answers, Ctp, Vec<Candidate>)> {
    if matches!(trace.outcome, Outcome::Fault { .. } | Outcome::LimitReached { .. }) {
        return None;
    }
    let all = ask(machine, trace);
    let same = oracle::ask(machine, &Question { same_values: true, ..question(trace) });
    if all.limit.is_some() || same.limit.is_some() {
        return None;
    }
    let ctp = build(machine, trace);
    let properties = vec![Property::Atomicity, Property::Race];
    let candidates = candidates(&ctp, &Wanted { properties, per_place: usize::MAX }).all;
    Some((all, same, ctp, candidates))
}

/// The schedule by which the oracle shows a candidate.
fn shown_by<'a>(answers: &'a Answers, candidate: &Candidate) -> Option<&'a Schedule> {
    let id = common::id;
    match candidate {
        Candidate::Atomicity { before, between, after } => (answers.triples.iter())
            .find(|(t, _)| (id(t.before), id(t.between), id(t.after)) == (*before, *between, *after)),
        _ => None,
    }
    .map(|(_, schedule)| schedule)
}

/// Whether some update in a schedule reads something else than recorded: what it then writes is a value that the recorded run may not have,
/// and plans do not go on from there.
fn has_other_update(machine: &Machine, trace: &Trace, schedule: &Schedule) -> bool {
    let run = machine.run(&Who::follow(schedule.clone()), &Logging::Everything).expect("it runs").trace;
    run.events.iter().any(|event| {
        let recorded = trace.events.iter().find(|other| other.id == event.id);
        let old = |kind: &EventKind| match kind {
            EventKind::Update { old, .. } | EventKind::CompareExchange { old, .. } => Some(*old),
            _ => None,
        };
        old(&event.kind).is_some() && recorded.is_some_and(|recorded| old(&recorded.kind) != old(&event.kind))
    })
}

fn compare_plan(machine: &Machine, trace: &Trace) -> Result<(), TestCaseError> {
    let Some((all, same, ctp, candidates)) = asked(machine, trace) else { return Ok(()) };
    let (feasible, same_values) = (seen(&all), seen(&same));
    let engine = Planning::plan(machine.program(), trace, &ctp, Options::default());
    let answers = engine.answer_all(&candidates, &mut |_| {});
    for (candidate, answer) in candidates.iter().zip(answers) {
        match answer {
            Answer::Feasible(witness) => {
                prop_assert!(feasible.contains(candidate), "claimed: {:?} by {:?}", candidate, witness);
                let whole = witness.whole(trace);
                if let Err(why) = shows(machine, candidate, &whole) {
                    prop_assert!(false, "{:?} is not shown by {:?}: {}", candidate, whole, why);
                }
                let rules = witness::Rules::default();
                let checked = witness::check(machine.program(), trace, rules, candidate, &witness);
                prop_assert!(checked.is_ok(), "{:?} is refused for {:?}: {:?}", candidate, witness, checked);
            }
            Answer::Infeasible(because) => prop_assert!(false, "plans prove nothing: {:?}", because),
            Answer::Unknown(why) => {
                let missed = same_values.contains(candidate)
                    // That two accesses are ordered by nothing is asked only where they are both next.
                    && !matches!(candidate, Candidate::UnorderedRace { .. })
                    && !shown_by(&same, candidate).is_some_and(|s| has_other_update(machine, trace, s));
                prop_assert!(!missed, "missed: {:?}, {:?}", candidate, why);
            }
        }
    }
    Ok(())
}

fn compare_lockset(machine: &Machine, trace: &Trace) -> Result<(), TestCaseError> {
    let Some((all, _, ctp, candidates)) = asked(machine, trace) else { return Ok(()) };
    let feasible = seen(&all);
    let engine = Planning::lockset(machine.program(), trace, &ctp, Options::default());
    let answers = engine.answer_all(&candidates, &mut |_| {});
    for (candidate, answer) in candidates.iter().zip(answers) {
        if let Answer::Feasible(witness) = answer {
            let valid = witness::check_locks(trace, &witness);
            prop_assert!(valid.is_ok(), "{:?}: {:?} is not lock-valid: {:?}", candidate, witness, valid);
        } else if !matches!(candidate, Candidate::UnorderedRace { .. }) {
            prop_assert!(!feasible.contains(candidate), "not claimed: {:?}, {:?}", candidate, answer);
        }
    }
    Ok(())
}

fn on(
    file: &File,
    seed: u64,
    compare: fn(&Machine, &Trace) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    let machine = machine_of(file);
    let trace = run(&machine, seed);
    with_source(file, seed, compare(&machine, &trace))
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn plan_and_the_oracle_with_recorded_values_agree(file in programs(), seed in any::<u64>()) {
        on(&file, seed, compare_plan)?;
    }

    #[test]
    fn they_agree_where_synchronisation_is_dense(source in dense(), seed in any::<u64>()) {
        on(&lang::parse(&source).expect("it parses"), seed, compare_plan)?;
    }

    #[test]
    fn lockset_claims_all_that_is_feasible_and_nothing_that_locks_exclude(file in programs(), seed in any::<u64>()) {
        on(&file, seed, compare_lockset)?;
    }

    #[test]
    fn orders_and_formulas_have_plans_together(source in dense(), seed in any::<u64>()) {
        on(&lang::parse(&source).expect("it parses"), seed, compare_formulas)?;
    }

    #[test]
    fn so_it_does_where_synchronisation_is_dense(source in dense(), seed in any::<u64>()) {
        on(&lang::parse(&source).expect("it parses"), seed, compare_lockset)?;
    }
}

/// A goal as an order of events and the same as a formula of temporal logic have plans together; and each plan is what the formula says.
fn compare_formulas(machine: &Machine, trace: &Trace) -> Result<(), TestCaseError> {
    let Some((_, _, ctp, candidates)) = asked(machine, trace) else { return Ok(()) };
    for candidate in candidates.iter().filter(|one| matches!(one, Candidate::Atomicity { .. })).take(20) {
        let events = candidate.events();
        let (e1, f, e2) = (events[0], events[1], events[2]);
        let ordered = Goal::Ordered { events, order: vec![(0, 1), (1, 2)] };
        let both = Formula::and([Formula::ordered(e1, f), Formula::ordered(f, e2)]);
        // f may come only after e1, and e2 never.
        let never = Formula::and([
            Formula::eventually(Formula::Happened(f)),
            Formula::never_before(f, e1),
            Formula::always(!Formula::Happened(e2)),
        ]);
        let solve = |goal: &Goal| {
            let problem = Problem::new(&ctp, goal, Data::Ignored);
            let outcome = problem.solve(Limits::default()).0;
            let order = match &outcome {
                Planned::Plan(plan) => Some(problem.witness(plan).order),
                _ => None,
            };
            (outcome, order)
        };
        let (_, by_order) = solve(&ordered);
        let (_, by_formula) = solve(&Goal::Formula(both.clone()));
        prop_assert_eq!(by_order.is_some(), by_formula.is_some(), "{:?}", candidate);
        for (formula, order) in
            [(&both, by_order), (&both, by_formula), (&never, solve(&Goal::Formula(never.clone())).1)]
        {
            prop_assert!(order.is_none_or(|order| formula.holds(&order)), "{:?}: {:?}", candidate, formula);
        }
    }
    Ok(())
}

/// The properties above would hold trivially if nothing were found, or if all that is feasible were so with recorded values.
#[test]
fn there_is_something_to_find_and_something_to_miss() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (plain, synchronised) = (programs(), dense());
    let mut counts = BTreeMap::<&str, u32>::new();
    for seed in 0..120 {
        let file = match seed % 2 {
            0 => plain.new_tree(&mut runner).expect("a program").current(),
            _ => {
                let source = synchronised.new_tree(&mut runner).expect("a program").current();
                lang::parse(&source).expect("it parses")
            }
        };
        let machine = machine_of(&file);
        let trace = run(&machine, seed);
        let Some((all, same, ctp, candidates)) = asked(&machine, &trace) else { continue };
        let (feasible, same_values) = (seen(&all), seen(&same));
        let plan = Planning::plan(machine.program(), &trace, &ctp, Options::default());
        let lockset = Planning::lockset(machine.program(), &trace, &ctp, Options::default());
        let found = plan.answer_all(&candidates, &mut |_| {});
        let claimed = lockset.answer_all(&candidates, &mut |_| {});
        let mut count = |what, is: bool| *counts.entry(what).or_default() += u32::from(is);
        for (n, candidate) in candidates.iter().enumerate() {
            let is = |answer: &Answer| matches!(answer, Answer::Feasible(_));
            count("feasible", feasible.contains(candidate));
            count("with recorded values", same_values.contains(candidate));
            count("only with other values", feasible.contains(candidate) && !same_values.contains(candidate));
            count("planned", is(&found[n]));
            count("planned with other values", is(&found[n]) && !same_values.contains(candidate));
            count("claimed", is(&claimed[n]));
            count("claimed in vain", is(&claimed[n]) && !feasible.contains(candidate));
        }
    }
    println!("{counts:#?}");
    for what in ["feasible", "only with other values", "planned", "claimed", "claimed in vain"] {
        assert!(counts.get(what).is_some_and(|&n| n >= 8), "{what}: {counts:?}");
    }
    assert!(counts.get("planned with other values").is_some_and(|&n| n > 0), "{counts:?}");
}

/// PLAN §4.4: the run of PLAN Fig. 1 (a), and the plan that the paper gives for it.
#[test]
fn the_papers_example_has_the_papers_plan() {
    let source = include_str!("../../../../examples/plan-fig1a.tb");
    let machine = common::machine(source);
    let trace = common::record(&machine, &Who::RunToBlock);
    let ctp = build(&machine, &trace);
    let wanted = Wanted { properties: vec![Property::Atomicity], ..Wanted::default() };
    let [candidate] = &candidates(&ctp, &wanted).all[..] else { panic!("one triple") };
    let engine = Planning::plan(machine.program(), &trace, &ctp, Options::default());
    let [Answer::Feasible(witness)] = &engine.answer_all(std::slice::from_ref(candidate), &mut |_| {})[..]
    else {
        panic!("it is feasible")
    };
    // t1,1 t1,2 t2,1 t2,2, and then e2.
    let kinds: Vec<_> = (witness.whole(&trace).order.iter())
        .map(|id| trace.events.iter().find(|event| event.id == *id).expect("a recorded event"))
        .filter(|event| event.kind.access().is_some())
        .map(|event| (trace.thread_name(event.id.thread), matches!(event.kind, EventKind::Write { .. })))
        .collect();
    let kinds: Vec<(&str, bool)> = kinds.iter().map(|(name, writes)| (&**name, *writes)).collect();
    assert_eq!(kinds.last(), Some(&("T1", false)), "{kinds:?}");
    shows(&machine, candidate, &witness.whole(&trace)).expect("the replay shows it");
    // Without regard to data the write of T2 may come first, as in PLAN Fig. 1 (b).
    let lockset = Planning::lockset(machine.program(), &trace, &ctp, Options::default());
    let claim = lockset.answer_all(std::slice::from_ref(candidate), &mut |_| {});
    let [Answer::Feasible(claim)] = &claim[..] else { panic!("it is claimed") };
    witness::check_locks(&trace, claim).expect("it is lock-valid");
    assert!(!claim.whole(&trace).schedule().segments.is_empty());
}
