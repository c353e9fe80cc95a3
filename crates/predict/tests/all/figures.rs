//! The papers' figures: what the engine says of each, in each mode and model.

use crate::common;
use crate::common::{build, machine, record};
use claim::{Answer, Candidate, Property, Standing};
use machine::Machine;
use predict::{Mode, Model, Normal, Options, Symbolic, Wanted, candidates, symbolic};
use subject::Strategy;
use trace::{EventKind, Trace};

macro_rules! example {
    ($name:literal) => {
        machine(include_str!(concat!("../../../../examples/", $name, ".tb")))
    };
}

/// The triples that are feasible, as labels or lines `e1 < f < e2`.
fn violations(machine: &Machine, mode: Mode, model: Model) -> Vec<String> {
    // The papers' traces take all the branches, and are serial where that can be.
    let traces = [Strategy::RoundRobin { quantum: 1 }, Strategy::RunToBlock].map(|who| record(machine, &who));
    let trace = traces.into_iter().max_by_key(|trace| trace.events.len()).expect("there are two");
    let ctp = build(machine, &trace);
    let wanted = Wanted { properties: vec![Property::Atomicity], ..Wanted::default() };
    let all = candidates(&ctp, &wanted).all;
    let options = symbolic::Options { mode, model, ..symbolic::Options::default() };
    let mut engine = Symbolic::new(machine.program(), &ctp, &all, options).expect("it is encoded");
    let mut found = vec![];
    for candidate in all {
        let Answer::Feasible(witness) = engine.answer(&candidate).expect("it is decided") else { continue };
        if model == Model::Program {
            common::shows(machine, &candidate, &witness).expect("the witness shows it");
        }
        let names: Vec<String> = candidate.events().iter().map(|&event| name(machine, &ctp, event)).collect();
        found.push(names.join(" < "));
    }
    found
}

/// The label of an event's statement, or its line.
fn name(machine: &Machine, ctp: &ctp::Ctp, event: trace::EventId) -> String {
    let site = ctp.event(ctp.find(event).expect("it is in the trace")).site;
    let (_, label) = machine.sites().source(machine.program(), site);
    label.unwrap_or("?").to_owned()
}

#[test]
fn av_fig1_has_no_violation_and_its_variants_have_one() {
    for mode in [Mode::Prefixes, Mode::Full] {
        assert_eq!(violations(&example!("av-fig1a"), mode, Model::Program), [""; 0]);
        assert_eq!(violations(&example!("av-fig1b"), mode, Model::Program), [""; 0]);
        assert_eq!(violations(&example!("av-fig1a-modified"), mode, Model::Program), ["t1 < t5 < t2"]);
        assert_eq!(violations(&example!("av-fig1b-modified"), mode, Model::Program), ["t1 < t5 < t2"]);
    }
}

#[test]
fn the_causal_model_misses_both_variants_of_av_fig1() {
    assert_eq!(violations(&example!("av-fig1a-modified"), Mode::Full, Model::Causal), [""; 0]);
    assert_eq!(violations(&example!("av-fig1b-modified"), Mode::Full, Model::Causal), [""; 0]);
}

#[test]
fn with_prefixes_the_causal_model_finds_the_second_variant_of_av_fig1() {
    assert_eq!(violations(&example!("av-fig1a-modified"), Mode::Prefixes, Model::Causal), [""; 0]);
    assert_eq!(violations(&example!("av-fig1b-modified"), Mode::Prefixes, Model::Causal), ["t1 < t5 < t2"]);
}

#[test]
fn cam_reports_the_bogus_violation_of_av_fig1a_and_none_in_b() {
    for mode in [Mode::Prefixes, Mode::Full] {
        assert_eq!(violations(&example!("av-fig1a"), mode, Model::Cam), ["t1 < t5 < t2"]);
        assert_eq!(violations(&example!("av-fig1b"), mode, Model::Cam), [""; 0]);
    }
}

#[test]
fn av_fig6_is_found_in_a_prefix_and_not_in_full_linearizations() {
    assert_eq!(violations(&example!("av-fig6"), Mode::Prefixes, Model::Program), ["t1 < t5 < t2"]);
    assert_eq!(violations(&example!("av-fig6"), Mode::Full, Model::Program), [""; 0]);
}

fn predicted(machine: &Machine, strategy: &Strategy) -> predict::Prediction {
    predicted_from(machine, &record(machine, strategy))
}

fn predicted_from(machine: &Machine, trace: &Trace) -> predict::Prediction {
    let mut normal = Normal::default();
    normal.add(&subject::Run { trace: trace.clone(), departure: None, output: None });
    let options = Options {
        ctp: ctp::Options { atomic: ctp::Atomic::Marked, ..Default::default() },
        ..Options::default()
    };
    predict::predict_and_confirm(machine, trace, &options, &normal, &mut |_| {}).expect("it is predicted")
}

fn races(prediction: &predict::Prediction) -> usize {
    prediction.findings.iter().filter(|f| f.candidate.property() == Property::Race).count()
}

#[test]
fn mm_fig2_is_race_free_and_not_atomic() {
    let prediction = predicted(&example!("mm-fig2"), &Strategy::RunToBlock);
    assert_eq!(races(&prediction), 0);
    assert!(prediction.findings.iter().any(|f| matches!(f.candidate, Candidate::Atomicity { .. })));
}

#[test]
fn mm_fig1_program1_is_race_free() {
    assert_eq!(races(&predicted(&example!("mm-fig1-program1"), &Strategy::RunToBlock)), 0);
}

#[test]
fn mm_fig1_program2_races_in_a_run_that_takes_the_branch() {
    let machine = example!("mm-fig1-program2");
    let run = |seed| record(&machine, &Strategy::Random { seed });
    let taken = |trace: &Trace| {
        let branches = trace.events.iter().filter(|e| matches!(e.kind, EventKind::Branch { taken: 0 }));
        branches.count() == 2
    };
    let trace = (0..100).map(run).find(taken).expect("some run takes both branches");
    let prediction = predicted_from(&machine, &trace);
    // On x both accesses can be next at once. The write of y follows the read of y in all runs, but no synchronisation orders them.
    let co_enabled = |f: &&claim::Finding| matches!(f.candidate, Candidate::CoEnabledRace { .. });
    assert_eq!((races(&prediction), prediction.findings.iter().filter(co_enabled).count()), (2, 1));
    assert!(prediction.findings.iter().all(|finding| finding.standing == Standing::Confirmed));
}

#[test]
fn every_finding_of_the_examples_is_confirmed() {
    for machine in [
        example!("av-fig1a-modified"),
        example!("av-fig1b-modified"),
        example!("av-fig6"),
        example!("mm-fig1-program2"),
        example!("mm-fig2"),
        example!("dekker"),
        example!("double-checked-lock"),
        example!("philosophers"),
        example!("readers-writers"),
        example!("semaphore-ring"),
        example!("bounded-buffer"),
    ] {
        for strategy in
            [Strategy::RunToBlock, Strategy::RoundRobin { quantum: 1 }, Strategy::Random { seed: 7 }]
        {
            for finding in predicted(&machine, &strategy).findings {
                assert_eq!(finding.standing, Standing::Confirmed, "{finding:?}");
            }
        }
    }
}
