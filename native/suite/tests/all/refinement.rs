//! Witnesses that the program does not follow, because code outside it does something else: they are fed back, and either another schedule
//! shows the bug, or there is none, or after so many questions the finding is told as predicted, with the reason.

use claim::{Answer, Candidate, Outside, Property, Standing, Unconfirmed, Unknown};
use native::Compiled;
use native::launch::Options as Launch;
use predict::{Normal, Options, Prediction, Wanted, confirm, predict, predict_and_confirm};
use subject::{Strategy, Subject as _};
use suite::{Build, Built, build, open, programs};
use trace::{Logging, Trace};

fn built(name: &str) -> Built {
    let all = programs("refine");
    let program = all.iter().find(|program| program.name() == name).expect("a program of the test");
    build(program, &Build::at("-O1"))
}

fn recorded(compiled: &Compiled) -> Trace {
    compiled.record(&Strategy::RunToBlock, &Logging::Everything).expect("it runs").run.trace
}

fn options() -> Options {
    let wanted = Wanted { properties: vec![Property::Atomicity], ..Wanted::default() };
    Options { wanted, ..Options::default() }
}

fn confirmed(compiled: &Compiled, trace: &Trace, normal: &Normal) -> Prediction {
    predict_and_confirm(compiled, trace, &options(), normal, &mut |_| {}).expect("a prediction")
}

/// How many of the findings that nobody has tried the program follows.
fn followed_at_once(compiled: &Compiled, trace: &Trace, normal: &Normal) -> usize {
    let found = predict(compiled.program(), trace, &options(), &mut |_| {}).expect("a prediction").findings;
    assert!(!found.is_empty());
    let replayed = found.iter().map(|one| confirm(compiled, trace, &one.candidate, &one.witness, normal));
    replayed.filter(|replayed| replayed.standing == Standing::Confirmed).count()
}

#[test]
fn another_schedule_is_found_where_the_first_one_waits_for_what_is_not_there() {
    let built = built("order_unseen.c");
    let compiled = open(&built.path);
    let trace = recorded(&compiled);
    let normal = Normal::of(&compiled, &trace, 2, None).expect("it runs");
    assert_eq!(followed_at_once(&compiled, &trace, &normal), 0, "there is nothing to refine");
    let found = confirmed(&compiled, &trace, &normal).findings;
    assert!(!found.is_empty());
    for finding in &found {
        assert_eq!(finding.standing, Standing::Confirmed, "{finding:?}");
        assert!(finding.consequence.is_visible(), "{finding:?}");
    }
}

#[test]
fn what_only_the_outside_orders_is_no_finding_and_not_called_infeasible() {
    let built = built("order_unseen_fixed.c");
    let compiled = open(&built.path);
    let trace = recorded(&compiled);
    let normal = Normal::of(&compiled, &trace, 2, None).expect("it runs");
    assert_eq!(followed_at_once(&compiled, &trace, &normal), 0, "there is nothing to refine");
    let found = confirmed(&compiled, &trace, &normal);
    assert!(found.findings.is_empty(), "{:?}", found.findings);
    let pinned = found.answers.iter().filter(|(candidate, answer)| {
        matches!(candidate, Candidate::Atomicity { .. })
            && matches!(answer, Answer::Unknown(Unknown::Pinned(_)))
    });
    assert!(pinned.count() > 0, "{:?}", found.answers);
    assert!(found.coverage.unknown > 0 && found.coverage.feasible == 0, "{:?}", found.coverage);
}

#[test]
fn after_so_many_questions_a_finding_is_predicted_with_the_reason() {
    let built = built("once_only.c");
    let mut compiled = open(&built.path);
    let directory = tempfile::tempdir().expect("a directory");
    let launch = compiled.options().clone();
    let arguments = vec![directory.path().join("state").into()];
    compiled.set_options(Launch { arguments, ..launch });
    let trace = recorded(&compiled);
    let normal = Normal::of(&compiled, &trace, 2, None).expect("it runs");
    let found = confirmed(&compiled, &trace, &normal).findings;
    let mut most_asked = 0;
    for finding in &found {
        let Standing::Predicted(Unconfirmed::Departed { cause: Some(cause), asked_again, .. }) =
            &finding.standing
        else {
            panic!("{finding:?}");
        };
        assert_eq!(cause.outside, Outside::Result { recorded: 0, seen: 1 });
        most_asked = most_asked.max(*asked_again);
    }
    // For the first it was asked until the call had all before it that it had in the recorded run; for the others that is known then.
    assert_eq!(most_asked, 3, "{found:?}");
}
