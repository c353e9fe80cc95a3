//! The oracle kept to the thread paths of a recorded trace: the space that prediction speaks about.

use crate::common;
use crate::common::{Seen, machine};
use machine::oracle::{self, Method, Question};
use subject::{Strategy, Subject as _};
use trace::Logging;

/// What both methods see along the run-to-block trace of a program.
fn along(source: &str) -> Seen {
    let machine = machine(source);
    let trace = machine.run(&Strategy::RunToBlock, &Logging::Everything).expect("it runs").trace;
    let ask = |method| {
        let question = Question { method, along: Some(&trace), ..Question::default() };
        Seen::from(&machine, &oracle::ask(&machine, &question))
    };
    let seen = ask(Method::Stateful);
    assert_eq!(seen, ask(Method::Stateless), "the two methods differ");
    seen
}

#[test]
fn a_violation_that_leaves_the_path_afterwards_is_in_a_prefix() {
    let source = include_str!("../../../../examples/av-fig6.tb");
    assert_eq!(along(source).triples, ["T1 t1 < T2 t5 < T1 t2"]);
}

#[test]
fn what_only_other_paths_show_is_not_seen() {
    // The recorded run reads x = 0 and does not take the branch: the write in it is no event of the trace.
    let source = "int x, y;
         thread T { if (x) t: y = 1; }
         thread U { x = 1; u: y = 2; }";
    assert_eq!(along(source).unordered, ["T line 2 / U line 3"]);
    assert_eq!(common::explore(source).unordered, ["T line 2 / U line 3", "T t / U u"]);
}

#[test]
fn a_thread_stops_after_an_outcome_that_differs_and_not_before() {
    // Recorded: U's trylock succeeds. Along the trace it may fail, and then U goes no further.
    let source = "mutex m; int x;
         thread T { lock(m); t: x = 1; unlock(m); }
         thread U { int ok = trylock(m); u: x = 2; }";
    let seen = along(source);
    assert_eq!(seen.co_enabled, Vec::<String>::new());
    assert_eq!(common::explore(source).co_enabled, ["T t / U u"]);
}

#[test]
fn failures_of_recorded_assertions_and_deadlocks_are_seen() {
    let failing = along("int x; thread T { x = 1; } thread U { a: assert(x == 1); }");
    assert_eq!(failing.failures, ["U a: assert"]);
    let circle = along(
        "mutex m, n;
         thread A { lock(m); lock(n); unlock(n); unlock(m); }
         thread B { lock(n); lock(m); unlock(m); unlock(n); }",
    );
    assert_eq!(circle.deadlocks, ["A+B"]);
}
