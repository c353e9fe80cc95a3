//! What is wrong with a witness is said, at the step where it is wrong.

#![allow(clippy::unwrap_used, reason = "tests")]

use crate::common::{check, check_prefix, itself, machine, record};
use claim::{Candidate, Deadlock, Witness};
use subject::Strategy as Who;
use trace::{Choice, EventId, FaultKind, Trace};
use witness::Unfounded;

/// The event of a thread with this number.
fn event(trace: &Trace, thread: &str, n: u64) -> EventId {
    let info = trace.threads.iter().find(|info| info.name == thread).unwrap();
    EventId { thread: info.id, n }
}

fn order(trace: &Trace, events: &[(&str, u64)]) -> Witness {
    Witness {
        order: events.iter().map(|&(thread, n)| event(trace, thread, n)).collect(),
        ..Witness::default()
    }
}

/// What is said of an order of events of the run-to-block run of a program.
fn prefix(source: &str, events: &[(&str, u64)]) -> String {
    let machine = machine(source, false);
    let trace = record(&machine, &Who::RunToBlock);
    match check_prefix(&machine, &trace, &order(&trace, events)) {
        Ok(()) => "accepted".to_owned(),
        Err(refusal) => refusal.to_string(),
    }
}

const LOCKED: &str = "mutex m; int x;
    thread T { lock(m); x = 1; unlock(m); }
    thread U { lock(m); x = 2; unlock(m); }";

#[test]
fn a_lock_without_the_release_before_it_is_not_enabled() {
    assert_eq!(prefix(LOCKED, &[("T", 3), ("U", 3)]), "accepted");
    assert_eq!(
        prefix(LOCKED, &[("T", 2), ("U", 3)]),
        "step 1: event main.2:1 is not enabled: a lock is held"
    );
}

#[test]
fn events_of_a_thread_go_up_and_are_those_of_the_trace() {
    assert_eq!(prefix(LOCKED, &[("T", 2), ("T", 1)]), "step 1: event main.1:1 has already run");
    assert_eq!(
        prefix(LOCKED, &[("T", 9)]),
        "step 0: its thread does not come to event main.1:9, because the trace does not have it"
    );
}

#[test]
fn a_thread_goes_no_further_after_a_branch_that_comes_out_differently() {
    let source = "int x, y; thread T { x = 1; } thread U { if (x == 1) y = 1; y = 2; }";
    assert_eq!(prefix(source, &[("T", 2), ("U", 5)]), "accepted");
    assert_eq!(prefix(source, &[("U", 2)]), "accepted");
    assert_eq!(
        prefix(source, &[("U", 3)]),
        "step 0: its thread does not come to event main.2:3, because main.2:2 comes out differently"
    );
}

#[test]
fn a_thread_exists_only_after_its_fork_and_is_joined_only_after_its_end() {
    let source = "int x; fn f() { x = 1; }
        main { thread t = fork f(); x = 2; join(t); x = 3; }";
    assert_eq!(prefix(source, &[("main", 2), ("f#1", 2), ("main", 5)]), "accepted");
    assert_eq!(prefix(source, &[("f#1", 1)]), "step 0: thread main.1 does not exist then");
    assert_eq!(
        prefix(source, &[("main", 2), ("f#1", 1), ("main", 3)]),
        "step 2: event main:3 is not enabled: thread main.1 has not ended"
    );
}

#[test]
fn a_wait_needs_its_signal_and_a_signal_with_two_waiters_a_choice() {
    let source = "cond c; thread T { wait(c); } thread U { wait(c); } thread V { signal(c); signal(c); }";
    let machine = machine(source, false);
    let trace = record(&machine, &Who::RunToBlock);
    let all = itself(&trace);
    assert!(check_prefix(&machine, &trace, &all).is_ok());
    let said = |witness: &Witness| check_prefix(&machine, &trace, witness).unwrap_err().to_string();
    assert!(said(&Witness { choices: vec![], ..all.clone() }).contains("leaves a choice open"));
    let main = trace::ThreadId::MAIN;
    assert!(
        said(&Witness { choices: vec![Choice::Wake(main)], ..all.clone() }).contains("leaves a choice open")
    );
    let more = Witness { choices: [&all.choices[..], &[Choice::Expire]].concat(), ..all };
    assert_eq!(said(&more), "1 choices are left over");
    assert!(said(&order(&trace, &[("T", 2)])).ends_with("nobody has signalled"));
}

/// What is said of a claim.
fn claimed(
    source: &str,
    events: &[(&str, u64)],
    candidate: impl Fn(&Trace) -> Candidate,
) -> Result<(), Unfounded> {
    let machine = machine(source, false);
    let trace = record(&machine, &Who::RunToBlock);
    match check(&machine, &trace, &candidate(&trace), &order(&trace, events)) {
        Ok(()) => Ok(()),
        Err(witness::Refusal::Claim(unfounded)) => Err(unfounded),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn triples_must_be_in_order_unserializable_and_make_a_difference() {
    let atomicity = |before, between, after| {
        move |trace: &Trace| Candidate::Atomicity {
            before: event(trace, "T", before),
            between: event(trace, "U", between),
            after: event(trace, "T", after),
        }
    };
    let source = "int x; thread T { int r; atomic { r = x; x = r + 1; } } thread U { x = 5; }";
    let right = [("T", 2), ("U", 1), ("T", 3)];
    assert_eq!(claimed(source, &right, atomicity(2, 1, 3)), Ok(()));
    assert!(matches!(claimed(source, &[("U", 1), ("T", 3)], atomicity(2, 1, 3)), Err(Unfounded::Order(..))));
    assert!(matches!(claimed(source, &right[..2], atomicity(2, 1, 3)), Err(Unfounded::NotRun(_))));
    // The remote write writes what was there: the guard x = e of rule 4a holds.
    let same = source.replace("x = 5", "x = 0");
    assert!(matches!(claimed(&same, &right, atomicity(2, 1, 3)), Err(Unfounded::Independent(..))));
    // A read that only decides, and a write that decides the same way: rule 4c.
    let decides = "int x, y; thread T { atomic { if (x < 9) y = 1; x = 7; } } thread U { x = 5; }";
    assert!(matches!(
        claimed(decides, &[("T", 3), ("U", 1), ("T", 5)], atomicity(2, 1, 5)),
        Err(Unfounded::Independent(..))
    ));
    let other = decides.replace("x = 5", "x = 9");
    assert_eq!(claimed(&other, &[("T", 3), ("U", 1), ("T", 5)], atomicity(2, 1, 5)), Ok(()));
    let serializable = source.replace("x = 5", "int k = x");
    assert_eq!(claimed(&serializable, &right, atomicity(2, 1, 3)), Err(Unfounded::Serializable));
}

#[test]
fn races_must_be_next_or_unordered() {
    let source =
        "mutex m; int x; thread T { x = 1; lock(m); unlock(m); } thread U { lock(m); unlock(m); x = 2; }";
    let co = |trace: &Trace| Candidate::co_enabled(event(trace, "T", 1), event(trace, "U", 3));
    let un = |trace: &Trace| Candidate::unordered(event(trace, "T", 1), event(trace, "U", 3));
    assert_eq!(claimed(source, &[("U", 2)], co), Ok(()));
    assert!(matches!(claimed(source, &[("U", 1)], co), Err(Unfounded::NotNext(_))));
    assert_eq!(claimed(source, &[("T", 1), ("U", 3)], un), Ok(()));
    assert!(matches!(claimed(source, &[("T", 3), ("U", 3)], un), Err(Unfounded::Ordered(..))));
}

#[test]
fn failures_must_happen_and_circles_must_stand() {
    let source = "int x; thread T { x = 1; } thread U { assert(x == 1); }";
    let assertion = |trace: &Trace| Candidate::Assertion { event: event(trace, "U", 2) };
    assert_eq!(claimed(source, &[("U", 2)], assertion), Ok(()));
    assert!(matches!(claimed(source, &[("T", 1), ("U", 2)], assertion), Err(Unfounded::Held(_))));
    let null = "int x; int *p; thread T { p = &x; } thread U { *p = 1; }";
    let fault = |trace: &Trace| Candidate::Fault { event: event(trace, "U", 2), kind: FaultKind::NullAccess };
    assert_eq!(claimed(null, &[("U", 2)], fault), Ok(()));
    assert!(matches!(claimed(null, &[("T", 1), ("U", 2)], fault), Err(Unfounded::NoFault { .. })));
    let circle = "mutex m, n; thread T { lock(m); lock(n); unlock(n); unlock(m); }
        thread U { lock(n); lock(m); unlock(m); unlock(n); }";
    let deadlock = |trace: &Trace| {
        Candidate::Deadlock(Deadlock::Circle(vec![event(trace, "T", 2), event(trace, "U", 2)]))
    };
    assert_eq!(claimed(circle, &[("T", 1), ("U", 1)], deadlock), Ok(()));
    assert!(matches!(claimed(circle, &[("T", 1)], deadlock), Err(Unfounded::NotBlocked(_))));
}
