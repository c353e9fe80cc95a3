//! Full linearizations (AV §4) and a bound on context switches, against all schedules of random small programs.

use crate::common::dense::dense;
use crate::common::programs::programs;
use crate::common::{build, config, id, machine_of, question, run, shows, wanted, with_source};
use claim::{Answer, Candidate};
use machine::Machine;
use machine::oracle::{self, Method, Question};
use predict::{Mode, Symbolic, candidates, symbolic};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use trace::{EventId, Outcome, Trace};

/// What the two can be compared about: runs that end by themselves, and candidates of these kinds.
fn is_comparable(trace: &Trace) -> bool {
    !matches!(
        trace.outcome,
        Outcome::Fault { .. } | Outcome::AssertionFailed { .. } | Outcome::LimitReached { .. }
    )
}

fn compare_full(machine: &Machine, trace: &Trace) -> Result<(), TestCaseError> {
    let answers = oracle::ask(machine, &Question { whole: true, ..question(trace) });
    if !is_comparable(trace) || answers.limit.is_some() {
        return Ok(());
    }
    let ctp = build(machine, trace);
    let pinned = !ctp.rebuild.pins.is_empty();
    let triples = answers.triples.keys().map(|t| Candidate::Atomicity {
        before: id(t.before),
        between: id(t.between),
        after: id(t.after),
    });
    let unordered = answers.unordered.keys().map(|r| Candidate::unordered(id(r.first), id(r.second)));
    let expected: BTreeSet<Candidate> = triples.chain(unordered).collect();
    let all = candidates(&ctp, &wanted()).all;
    let options = symbolic::Options { mode: Mode::Full, ..symbolic::Options::default() };
    let mut engine = Symbolic::new(machine.program(), &ctp, &all, options).expect("the trace is encoded");
    for candidate in &all {
        match engine.answer(candidate).expect("it is decided") {
            Answer::Feasible(witness) => {
                prop_assert!(expected.contains(candidate), "claimed: {:?} by {:?}", candidate, witness);
                if let Err(why) = shows(machine, candidate, &witness) {
                    prop_assert!(false, "{:?} is not shown by {:?}: {}", candidate, witness, why);
                }
                let mut last: BTreeMap<_, u64> = BTreeMap::new();
                witness.order.iter().for_each(|event| _ = last.insert(event.thread, event.n));
                let visible = ctp.threads.iter().filter_map(|thread| {
                    let mut events = thread.events.iter().rev().map(|&at| ctp.event(at));
                    events.find(|event| !event.silent).map(|event| event.id)
                });
                for EventId { thread, n } in visible {
                    prop_assert!(
                        last.get(&thread) >= Some(&n),
                        "{:?} is not whole: {:?}",
                        candidate,
                        witness
                    );
                }
            }
            Answer::Infeasible(_) => prop_assert!(!expected.contains(candidate), "missed: {:?}", candidate),
            Answer::Unknown(why) => prop_assert!(pinned, "{:?} is unknown: {:?}", candidate, why),
        }
    }
    Ok(())
}

/// How many switches each thing needs at least, by going through every interleaving.
fn fewest_switches(answers: &oracle::Answers) -> BTreeMap<Candidate, usize> {
    let mut fewest = BTreeMap::new();
    for (t, schedule) in &answers.triples {
        let (before, between, after) = (id(t.before), id(t.between), id(t.after));
        fewest.insert(Candidate::Atomicity { before, between, after }, schedule);
    }
    for (r, schedule) in &answers.co_enabled {
        fewest.insert(Candidate::co_enabled(id(r.first), id(r.second)), schedule);
    }
    for (f, schedule) in &answers.failures {
        let event = id(f.at);
        fewest.insert(
            f.fault.map_or(Candidate::Assertion { event }, |kind| Candidate::Fault { event, kind }),
            schedule,
        );
    }
    let switches = |schedule: &subject::Schedule| schedule.segments.len().saturating_sub(1);
    fewest.into_iter().map(|(candidate, schedule)| (candidate, switches(schedule))).collect()
}

fn compare_switches(machine: &Machine, trace: &Trace, most: u32) -> Result<(), TestCaseError> {
    let asked = Question { method: Method::Stateless, max_steps: 40_000, ..question(trace) };
    let answers = oracle::ask(machine, &asked);
    if !is_comparable(trace) || answers.limit.is_some() {
        return Ok(());
    }
    let fewest = fewest_switches(&answers);
    let ctp = build(machine, trace);
    let pinned = !ctp.rebuild.pins.is_empty();
    // The oracle counts switches to accesses of memory that only one thread has.
    let is_private = |event: &trace::Event| event.kind.access().is_some() && ctp.find(event.id).is_none();
    if trace.events.iter().any(is_private) {
        return Ok(());
    }
    let all = candidates(&ctp, &wanted()).all;
    let options = symbolic::Options { switches: Some(most), ..symbolic::Options::default() };
    let mut engine = Symbolic::new(machine.program(), &ctp, &all, options).expect("the trace is encoded");
    // What is computed before an event and faults is not on the oracle's way; unordered races it notes only where it meets them.
    let is_computed =
        |c: &Candidate| matches!(c, Candidate::Fault { kind: trace::FaultKind::DivisionByZero, .. });
    for candidate in &all {
        if matches!(candidate, Candidate::UnorderedRace { .. }) || is_computed(candidate) {
            continue;
        }
        let expected = fewest.get(candidate).is_some_and(|&switches| switches <= most as usize);
        match engine.answer(candidate).expect("it is decided") {
            Answer::Feasible(witness) => {
                prop_assert!(expected, "{:?} needs {:?}: {:?}", candidate, fewest.get(candidate), witness);
                if let Err(why) = shows(machine, candidate, &witness) {
                    prop_assert!(false, "{:?} is not shown by {:?}: {}", candidate, witness, why);
                }
                let noticed =
                    |event: EventId| ctp.find(event).is_some_and(|at| ctp.event(at).kind.is_noticed());
                let order = witness.order.iter().copied().filter(|&event| noticed(event)).collect();
                let visible = claim::Witness { order, ..Default::default() };
                prop_assert!(visible.switches() <= most as usize, "{:?}: {:?}", candidate, witness);
            }
            Answer::Infeasible(_) => {
                prop_assert!(!expected, "missed with {} switches: {:?}", most, candidate)
            }
            Answer::Unknown(why) => prop_assert!(pinned, "{:?} is unknown: {:?}", candidate, why),
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn the_engine_and_the_oracle_agree_on_full_linearizations(file in programs(), seed in any::<u64>()) {
        let machine = machine_of(&file);
        with_source(&file, seed, compare_full(&machine, &run(&machine, seed)))?;
    }

    #[test]
    fn they_agree_on_full_linearizations_where_synchronisation_is_dense(source in dense(), seed in any::<u64>()) {
        let machine = machine_of(&lang::parse(&source).expect("it parses"));
        compare_full(&machine, &run(&machine, seed))?;
    }

    #[test]
    fn they_agree_on_what_few_switches_can_show(source in dense(), seed in any::<u64>(), most in 0_u32..5) {
        let machine = machine_of(&lang::parse(&source).expect("it parses"));
        compare_switches(&machine, &run(&machine, seed), most)?;
    }
}
