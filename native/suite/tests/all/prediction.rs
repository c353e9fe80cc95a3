//! Prediction on compiled programs: what is predicted from one run of a program, the program then does.
//!
//! Each witness must be accepted by the independent checker and shown by a replay. Programs that say that they have a bug have a
//! finding that somebody would notice, the others have none.

use claim::{Answer, Consequence, Standing, Unknown};
use native::Compiled;
use predict::{Normal, Options, Prediction, predict_and_confirm};
use subject::Strategy;
use suite::{Build, Program, build, for_each, open, programs, record, short_run};
use trace::{Logging, Trace};

/// Longer traces are left out, and named.
const MOST_EVENTS: usize = 4_000;

/// A question that takes the solver longer is given up.
const MOST_CONFLICTS: u32 = 20_000;

/// Programs of which nothing is predicted here, and what was seen of them; why it takes so long is not known yet.
const LEFT_OUT: [(&str, &str); 1] = [(
    "two_lock_queue.c",
    "no answer within two minutes; looked at once, it was in the solver's `encode_read`",
)];

fn reason(list: &[(&'static str, &'static str)], program: &Program) -> Option<&'static str> {
    list.iter().find(|(name, _)| *name == program.name()).map(|&(_, why)| why)
}

fn predicted(compiled: &Compiled, trace: &Trace, program: &Program) -> Prediction {
    let mut options = Options::default();
    // The first candidates at a place may be infeasible: others of the same place are about other rounds or other objects.
    options.wanted.per_place = if program.has_bug { 100 } else { 1 };
    // Not by time: what is found must not depend on how busy the machine is.
    options.engine.limits.conflicts = Some(MOST_CONFLICTS);
    let normal = Normal::of(compiled, trace, 2, None).expect("it runs");
    let found = predict_and_confirm(compiled, trace, &options, &normal, &mut |_| {});
    found.unwrap_or_else(|error| panic!("{}: {error}", program.name()))
}

#[test]
fn what_is_predicted_of_a_program_it_then_does() {
    for_each(&programs(""), |program| {
        let name = program.name();
        if let Some(why) = reason(&LEFT_OUT, program) {
            println!("{name}: left out: {why}");
            return;
        }
        let built = build(program, &Build::at("-O1"));
        let compiled = open(&built.path);
        let Some(trace) = short_run(&compiled, program, MOST_EVENTS) else {
            println!("{name}: no run of at most {MOST_EVENTS} events: left out");
            return;
        };
        let found = predicted(&compiled, &trace, program);
        println!("{name}: {:?}", found.coverage);
        assert_eq!(found.coverage.mismatches, 0, "{name}");
        for (candidate, answer) in &found.answers {
            if let Answer::Unknown(Unknown::Refused(why)) = answer {
                panic!("{name}: the checker refuses a witness for {candidate:?}: {why}");
            }
        }
        for finding in &found.findings {
            if let Standing::Predicted(why) = &finding.standing {
                panic!("{name}: {:?} is not confirmed: {why:?}", finding.candidate);
            }
        }
        let noticed: Vec<_> = found
            .findings
            .iter()
            .filter(|finding| finding.standing == Standing::Confirmed && finding.consequence.is_visible())
            .collect();
        match program.has_bug {
            true => assert!(!noticed.is_empty(), "{name}: its bug is not found: {:#?}", found.answers),
            false => assert!(noticed.is_empty(), "{name}: {noticed:#?}"),
        }
        if program.has_bug {
            let worst = noticed.iter().map(|finding| &finding.consequence).min();
            println!("{name}: {worst:?}");
            assert!(
                !matches!(worst, Some(Consequence::OtherResult(_))),
                "{name}: the program asserts what is right: {worst:?}"
            );
        }
    });
}

/// A finding can be shown again by its schedule alone: that is what a user gets.
#[test]
fn the_schedule_of_a_finding_leads_to_it_each_time() {
    let mut all = programs("");
    all.retain(|program| program.name() == "bank-av.c");
    for_each(&all, |program| {
        let built = build(program, &Build::at("-O1"));
        let compiled = open(&built.path);
        let trace = record(&compiled, &Strategy::RunToBlock, &Logging::Everything, &program.prints).run.trace;
        let found = predicted(&compiled, &trace, program);
        let finding = found.findings.first().expect("its bug");
        let Consequence::AssertionFailed { event } = finding.consequence else {
            panic!("{:?}", finding.consequence);
        };
        for _ in 0..3 {
            let strategy = Strategy::follow(finding.witness.schedule());
            let run = compiled.record(&strategy, &Logging::Synchronisation).expect("it runs").run;
            assert_eq!(run.departure, None);
            let failed =
                matches!(run.trace.outcome, trace::Outcome::AssertionFailed { event: at, .. } if at == event);
            assert!(failed, "{:?}", run.trace.outcome);
        }
    });
}
