//! No false alarm is ever told as confirmed: witnesses that are broken on purpose are refused by the checker, and, without the checker, by the
//! replay.

use crate::common::{machine, record};
use claim::{Candidate, Finding, Standing, Witness};
use machine::Machine;
use predict::{Normal, Options, confirm};
use subject::Strategy;
use trace::Trace;

macro_rules! example {
    ($name:literal) => {
        machine(include_str!(concat!("../../../../examples/", $name, ".tb")))
    };
}

/// What a program's first run shows, with the witnesses as the engine gave them.
fn findings(machine: &Machine) -> (Trace, Vec<Finding>) {
    let trace = record(machine, &Strategy::RunToBlock);
    let prediction = predict::predict(machine.program(), &trace, &Options::default(), &mut |_| {})
        .expect("it is predicted");
    (trace, prediction.findings)
}

fn is_refused_twice(machine: &Machine, trace: &Trace, candidate: &Candidate, broken: &Witness, how: &str) {
    let rules = witness::Rules::default();
    let checked = witness::check(machine.program(), trace, rules, candidate, broken);
    assert!(checked.is_err(), "the checker takes {how} of {candidate:?}");
    let replayed = confirm(machine, trace, candidate, broken, &Normal::default());
    assert_ne!(replayed.standing, Standing::Confirmed, "the replay takes {how} of {candidate:?}");
}

#[test]
fn a_witness_without_its_middle_is_refused_twice() {
    for machine in [example!("bank-av"), example!("mm-fig2"), example!("av-fig6"), example!("plan-fig1a")] {
        let (trace, findings) = findings(&machine);
        let mut broken_ones = 0;
        for Finding { candidate, witness, .. } in findings {
            let Candidate::Atomicity { between, .. } = &candidate else { continue };
            let mut broken = witness.clone();
            broken.order.retain(|event| event.thread != between.thread);
            is_refused_twice(&machine, &trace, &candidate, &broken, "a witness without f");
            broken_ones += 1;
        }
        assert_ne!(broken_ones, 0, "each of the programs has a block that can be broken into");
    }
}

#[test]
fn the_recorded_order_is_no_witness() {
    for machine in
        [example!("bank-av"), example!("mm-fig2"), example!("philosophers"), example!("plan-fig1a")]
    {
        let (trace, findings) = findings(&machine);
        let mut broken_ones = 0;
        for Finding { candidate, .. } in findings {
            if matches!(candidate, Candidate::UnorderedRace { .. }) {
                continue; // the recorded order may show these
            }
            let order = trace.events.iter().map(|event| event.id).collect();
            let broken = Witness { order, choices: trace.choices.clone(), ..Witness::default() };
            is_refused_twice(&machine, &trace, &candidate, &broken, "the recorded order");
            broken_ones += 1;
        }
        assert_ne!(broken_ones, 0, "each of the programs has a finding that its recorded run does not show");
    }
}

#[test]
fn a_witness_that_goes_through_a_lock_is_refused_twice() {
    let machine = example!("mm-fig2");
    let (trace, findings) = findings(&machine);
    let mut broken_ones = 0;
    for Finding { candidate, witness, .. } in findings {
        let Candidate::Atomicity { before, between, .. } = &candidate else { continue };
        // f right behind e1, which still holds the lock.
        let cut = witness.order.iter().position(|event| event.thread == before.thread && event.n >= before.n);
        let mut order = witness.order[..cut.expect("e1 is in it")].to_vec();
        order.extend([*before, *between]);
        order
            .extend(witness.order.iter().filter(|event| event.thread == before.thread && event.n > before.n));
        let broken = Witness { order, choices: witness.choices.clone(), ..Witness::default() };
        is_refused_twice(&machine, &trace, &candidate, &broken, "a witness through a lock");
        broken_ones += 1;
    }
    assert_ne!(broken_ones, 0, "its block can be broken into");
}

#[test]
fn a_witness_of_another_candidate_is_refused_twice() {
    let machine = example!("philosophers");
    let (trace, findings) = findings(&machine);
    let deadlock = findings.iter().find(|finding| matches!(finding.candidate, Candidate::Deadlock(_)));
    let deadlock = deadlock.expect("philosophers starve");
    let mut broken = deadlock.witness.clone();
    broken.order.truncate(1);
    is_refused_twice(&machine, &trace, &deadlock.candidate, &broken, "half of the way into a deadlock");
}
