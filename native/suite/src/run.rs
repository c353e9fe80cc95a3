//! Running compiled programs, and comparing their runs.

use crate::Program;
use ctp::Ctp;
use native::launch::{Input, Options, Output};
use native::{Compiled, Recorded};
use std::path::Path;
use std::time::Duration;
use subject::Strategy;
use trace::{EventKind, Logging, Trace};

/// A run that takes longer hangs.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Opens a program that was built with Threadbare, to be run with nothing on its standard input and its output kept.
///
/// # Panics
/// If it cannot be opened.
#[must_use]
pub fn open(path: &Path) -> Compiled {
    let options = Options {
        input: Input::Nothing,
        output: Output::Captured,
        timeout: Some(TIMEOUT),
        most_events: 50_000_000,
        ..Options::default()
    };
    Compiled::open(path, options).expect("a program that was built with Threadbare")
}

/// Runs it once; it must end by itself, with status 0 and this output.
///
/// # Panics
/// If it does not.
#[must_use]
pub fn record(compiled: &Compiled, strategy: &Strategy, logging: &Logging, prints: &str) -> Recorded {
    let recorded = compiled.record(strategy, logging).unwrap_or_else(|error| panic!("{strategy}: {error}"));
    let (output, errors) = recorded.output.as_ref().expect("its output");
    let errors = String::from_utf8_lossy(errors);
    let outcome = &recorded.run.trace.outcome;
    assert_eq!(recorded.stopped, None, "{strategy}: {outcome:?}\n{errors}");
    assert!(recorded.status.success(), "{strategy}: {}, {outcome:?}\n{errors}", recorded.status);
    assert_eq!(String::from_utf8_lossy(output), prints, "{strategy}\n{errors}");
    assert_eq!(recorded.about.damage, None, "{strategy}");
    recorded
}

/// A run of at most so many events that prints what it should, under the first strategy that gives one. In some programs a thread that waits
/// spins until it is preempted, and under a strategy that seldom does so the trace is that of the spinning.
///
/// # Panics
/// If the program cannot be run.
#[must_use]
pub fn short_run(compiled: &Compiled, program: &Program, most_events: usize) -> Option<Trace> {
    let seeds = (0..20).map(|seed| Strategy::Random { seed });
    for strategy in [Strategy::RunToBlock].into_iter().chain(seeds) {
        let run = compiled.record(&strategy, &Logging::Everything).expect("it runs");
        let prints = run.output.as_ref().is_some_and(|(out, _)| out == program.prints.as_bytes());
        if prints && run.run.trace.events.len() <= most_events {
            return Some(run.run.trace);
        }
    }
    None
}

/// Where two runs under the same strategy differ first, if they do. With `only_kinds`, what was read from outside may differ: then
/// only who does what counts, and not the values.
#[must_use]
pub fn first_difference(one: &Trace, other: &Trace, only_kinds: bool) -> Option<String> {
    let same = |a: &EventKind, b: &EventKind| match only_kinds {
        true => std::mem::discriminant(a) == std::mem::discriminant(b),
        false => a == b,
    };
    for (a, b) in one.events.iter().zip(&other.events) {
        if a.id != b.id || a.site != b.site || !same(&a.kind, &b.kind) {
            return Some(format!("{a:?} and then {b:?}"));
        }
    }
    if one.events.len() != other.events.len() {
        return Some(format!("{} events and then {}", one.events.len(), other.events.len()));
    }
    (!only_kinds && one != other).then(|| "not in an event".to_owned())
}

/// The concurrent trace program of a run.
///
/// # Panics
/// If none can be made, or a value in it is not the recorded one.
#[must_use]
pub fn concurrent_trace_program(compiled: &Compiled, trace: &Trace) -> Ctp {
    let made = Ctp::build(&compiled.linked().program, trace, &ctp::Options::default());
    let made = made.unwrap_or_else(|error| panic!("{}: {error}", trace.origin.strategy));
    assert_eq!(made.rebuild.mismatches, 0, "{}: {:?}", trace.origin.strategy, made.rebuild.first_mismatch);
    made
}
