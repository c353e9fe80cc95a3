//! What people and programs see of a trace.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use crate::common::bank::{program, sample};
use crate::common::traces;
use ir::SiteId;
use proptest::prelude::*;
use trace::{
    AllocationId, BlockedThread, EventId, Location, Outcome, ShowOptions, WaitsFor, show, to_json, write_json,
};

#[test]
fn a_trace_is_shown_in_columns() {
    insta::assert_snapshot!(show(&sample(), Some(&program()), &ShowOptions::default()));
}

#[test]
fn a_trace_without_its_program_is_shown_by_numbers() {
    insta::assert_snapshot!(show(&sample(), None, &ShowOptions::default()));
}

#[test]
fn columns_shrink_and_rows_are_limited() {
    let options = ShowOptions { width: 40, from: 3, to: Some(12), limit: Some(7) };
    insta::assert_snapshot!(show(&sample(), Some(&program()), &options));
}

#[test]
fn many_threads_share_a_column() {
    let options = ShowOptions { width: 30, ..ShowOptions::default() };
    insta::assert_snapshot!(show(&sample(), Some(&program()), &options));
}

#[test]
fn outcomes_are_told_in_words() {
    let (program, mut trace) = (program(), sample());
    trace.events.clear();
    let thread = trace.threads[0].id;
    let (event, site) = (EventId { thread, n: 3 }, SiteId(10));
    let object = Location { allocation: AllocationId(1), offset: 0 };
    let waits = |thread, waits_for| BlockedThread { thread, site, waits_for };
    let (t1, t2, worker) = (trace.threads[0].id, trace.threads[1].id, trace.threads[2].id);
    let outcomes = [
        Outcome::Completed { state: vec![("x".into(), "-1".into())], condition: None },
        Outcome::Completed { state: vec![], condition: Some(true) },
        Outcome::Completed { state: vec![], condition: Some(false) },
        Outcome::Fault { event, site, kind: trace::FaultKind::UseAfterFree },
        Outcome::Deadlock {
            blocked: vec![
                waits(t1, WaitsFor::Lock { object, held_by: vec![t2, worker] }),
                waits(t2, WaitsFor::Condition { object }),
                waits(worker, WaitsFor::Semaphore { object }),
                waits(worker, WaitsFor::Barrier { object, arrived: 1, parties: 2 }),
                waits(worker, WaitsFor::Join { thread: t1 }),
                waits(worker, WaitsFor::Exclusive { thread: t1 }),
            ],
        },
        Outcome::Discarded { thread, site },
        Outcome::BoundExceeded { thread, site },
        Outcome::LimitReached { events: 5 },
        Outcome::Truncated,
    ];
    let mut text = String::new();
    for outcome in outcomes {
        trace.outcome = outcome;
        let shown = show(&trace, Some(&program), &ShowOptions::default());
        text.push_str(&shown[shown.find("outcome").unwrap()..]);
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_trace_as_json() {
    let json = to_json(&sample(), Some(&program()));
    let mut written = vec![];
    write_json(&mut written, &sample(), Some(&program())).unwrap();
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&written).unwrap(), json);
    insta::assert_snapshot!(String::from_utf8(written).unwrap());
}

#[test]
fn names_that_would_command_the_terminal_are_escaped() {
    let mut trace = sample();
    trace.threads[0].name = "\u{1b}[2J evil\n".into();
    trace.origin.subject = "\u{7}".into();
    let shown = show(&trace, None, &ShowOptions::default());
    assert!(!shown.contains(['\u{1b}', '\u{7}']) && shown.contains("\\u{1b}[2J evil\\n"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Also with a program that the trace does not belong to.
    #[test]
    fn any_trace_can_be_shown(trace in traces(40), width in 0usize..120, from in 0u64..50, limit in any::<Option<u64>>()) {
        let program = program();
        let options = ShowOptions { width, from, to: None, limit };
        for program in [None, Some(&program)] {
            let shown = show(&trace, program, &options);
            let json = to_json(&trace, program);
            let mut written = vec![];
            write_json(&mut written, &trace, program).unwrap();
            prop_assert_eq!(serde_json::from_slice::<serde_json::Value>(&written).unwrap(), json);
            if width >= 40 {
                let table = shown.lines().skip_while(|line| !line.is_empty()).take_while(|line| !line.contains("outcome"));
                for line in table {
                    prop_assert!(line.chars().count() <= width, "{}", line);
                }
            }
        }
    }
}
