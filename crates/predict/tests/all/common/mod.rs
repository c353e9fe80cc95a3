//! What the tests have in common: recording, building, asking the engine and the oracle.

#![allow(dead_code, reason = "not each test uses all of it")]

pub mod dense;
pub mod programs;

use claim::{Candidate, Deadlock, Property, Witness};
use ctp::{Atomic, Ctp};
use lang::ast::File;
use machine::oracle::{self, Answers, Method, Point, Question};
use machine::{Machine, Options};
use predict::Wanted;
use proptest::prelude::ProptestConfig;
use proptest::test_runner::{FileFailurePersistence, TestCaseError};
use std::collections::BTreeSet;
use subject::{Schedule, Strategy as Who, Subject as _};
use trace::{BlockedThread, EventId, EventKind, Logging, Outcome, Trace};

pub fn machine_of(file: &File) -> Machine {
    let checked = lang::check(file).expect("the program is well formed");
    let options = lang::LowerOptions { name: "test.tb".into(), path: "test.tb".into(), ..Default::default() };
    Machine::new(lang::lower(&checked, &options), Options::default()).expect("it runs")
}

pub fn machine(source: &str) -> Machine {
    machine_of(&lang::parse(source).expect("it parses"))
}

pub fn record(machine: &Machine, who: &Who) -> Trace {
    machine.run(who, &Logging::Everything).expect("it runs").trace
}

pub fn build(machine: &Machine, trace: &Trace) -> Ctp {
    let options = ctp::Options { atomic: Atomic::Marked, ..ctp::Options::default() };
    Ctp::build(machine.program(), trace, &options).expect("the trace fits")
}

/// All candidates of the kinds that the oracle knows.
pub fn wanted() -> Wanted {
    let properties = vec![Property::Atomicity, Property::Race, Property::Assertion, Property::Deadlock];
    Wanted { properties, per_place: usize::MAX }
}

/// What random tests ask the oracle: not for too long.
pub fn question(along: &Trace) -> Question<'_> {
    Question {
        method: Method::Stateful,
        history: true,
        along: Some(along),
        max_steps: 200_000,
        max_states: 20_000,
        ..Question::default()
    }
}

pub fn ask(machine: &Machine, along: &Trace) -> Answers {
    oracle::ask(machine, &question(along))
}

/// A disagreement about a program, with the program as one writes it.
pub fn with_source(file: &File, seed: u64, compared: Result<(), TestCaseError>) -> Result<(), TestCaseError> {
    compared.map_err(|error| TestCaseError::fail(format!("{error}\nseed {seed}\n{}", lang::print(file))))
}

/// How the random tests draw their cases.
pub fn config(cases: u32) -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(cases);
    let persistence = FileFailurePersistence::WithSource("regressions");
    ProptestConfig {
        cases,
        max_shrink_iters: 5_000,
        failure_persistence: Some(Box::new(persistence)),
        ..ProptestConfig::default()
    }
}

/// A recorded run; most of the time one that passes, if some strategy gives one.
pub fn run(machine: &Machine, seed: u64) -> Trace {
    let strategies = [
        Who::Random { seed },
        Who::RunToBlock,
        Who::RoundRobin { quantum: 1 + (seed % 3) as u32 },
        Who::Random { seed: !seed },
        Who::Random { seed: seed.rotate_left(7) },
        Who::Pct { seed, depth: 3, length: 20 },
    ];
    let first = record(machine, &strategies[(seed % 3) as usize]);
    if seed.is_multiple_of(8) {
        return first;
    }
    let passing = strategies.iter().map(|who| record(machine, who));
    passing.into_iter().find(|trace| matches!(trace.outcome, Outcome::Completed { .. })).unwrap_or(first)
}

pub fn id(point: Point) -> EventId {
    EventId { thread: point.thread, n: point.n.expect("points along a trace are numbered") }
}

/// What the oracle sees along a trace, as candidates; deadlocks left out.
pub fn seen(answers: &Answers) -> BTreeSet<Candidate> {
    let triples = answers.triples.keys().map(|t| Candidate::Atomicity {
        before: id(t.before),
        between: id(t.between),
        after: id(t.after),
    });
    let co_enabled = answers.co_enabled.keys().map(|r| Candidate::co_enabled(id(r.first), id(r.second)));
    let unordered = answers.unordered.keys().map(|r| Candidate::unordered(id(r.first), id(r.second)));
    let failures = answers.failures.keys().map(|f| match f.fault {
        Some(kind) => Candidate::Fault { event: id(f.at), kind },
        None => Candidate::Assertion { event: id(f.at) },
    });
    triples.chain(co_enabled).chain(unordered).chain(failures).collect()
}

/// Follows a witness on the machine; the run must not depart from it. Gives the trace, and how many of its events are the
/// witness's.
pub fn follow(machine: &Machine, witness: &Witness) -> Result<(Trace, usize), String> {
    let run =
        machine.run(&Who::follow(witness.schedule()), &Logging::Everything).map_err(|e| e.to_string())?;
    if let Some(departure) = run.departure {
        return Err(format!("departs: {departure:?}"));
    }
    // Each thread's last event in the witness says how far it goes.
    let mut until: std::collections::BTreeMap<_, u64> = std::collections::BTreeMap::new();
    for event in &witness.order {
        until.insert(event.thread, event.n);
    }
    let total: u64 = until.values().sum();
    Ok((run.trace, total as usize))
}

/// Whether a replay shows what the candidate says.
pub fn shows(machine: &Machine, candidate: &Candidate, witness: &Witness) -> Result<(), String> {
    let (trace, prefix) = follow(machine, witness)?;
    let at = |id: EventId| trace.events.iter().position(|event| event.id == id);
    let done =
        |id: EventId| at(id).filter(|&at| at < prefix).ok_or(format!("{id} is not done in the prefix"));
    let not_done = |id: EventId| match at(id) {
        Some(at) if at < prefix => Err(format!("{id} is done in the prefix")),
        _ => Ok(()),
    };
    match candidate {
        Candidate::Atomicity { before, between, after } => {
            let order = (done(*before)?, done(*between)?, done(*after)?);
            if !(order.0 < order.1 && order.1 < order.2) {
                return Err(format!("not in order: {order:?}"));
            }
        }
        Candidate::CoEnabledRace { first, second } => {
            not_done(*first)?;
            not_done(*second)?;
            for id in [first, second] {
                let before =
                    trace.events[..prefix].iter().filter(|e| e.id.thread == id.thread).count() as u64;
                if before != id.n - 1 {
                    return Err(format!("{id} is not next: {before} events are done"));
                }
            }
        }
        Candidate::UnorderedRace { first, second } => {
            done(*first)?;
            done(*second)?;
        }
        Candidate::Assertion { event } => match &trace.outcome {
            Outcome::AssertionFailed { event: failed, .. } if failed == event => {}
            other => return Err(format!("ended otherwise: {other:?}")),
        },
        Candidate::Fault { event, kind } => match &trace.outcome {
            Outcome::Fault { event: at, kind: found, .. } if at == event && found == kind => {}
            other => return Err(format!("ended otherwise: {other:?}")),
        },
        Candidate::Deadlock(Deadlock::AllBlocked(events)) => match &trace.outcome {
            Outcome::Deadlock { blocked } if blocked.len() == events.len() => {}
            other => return Err(format!("ended otherwise: {other:?}")),
        },
        Candidate::Deadlock(Deadlock::Circle(events)) => {
            for &event in events {
                if at(event).is_some() {
                    return Err(format!("{event} is done"));
                }
            }
        }
        Candidate::Wakeup { look, wake } => {
            if done(*look)? >= done(*wake)? {
                return Err("not in order".to_owned());
            }
        }
        Candidate::Pattern(_) => {}
    }
    Ok(())
}

/// Where the threads of a deadlock stand, if they all stand before events of the trace that is gone along and none of them has
/// left its path.
pub fn standing(
    machine: &Machine,
    blocked: &[BlockedThread],
    schedule: &Schedule,
    along: &Trace,
) -> Option<Vec<EventId>> {
    let run = machine.run(&Who::follow(schedule.clone()), &Logging::Everything).ok()?;
    let mut done: std::collections::BTreeMap<_, u64> = std::collections::BTreeMap::new();
    for segment in &schedule.segments {
        done.insert(segment.thread, segment.until);
    }
    let mut events = vec![];
    for thread in blocked {
        let n = done.get(&thread.thread).copied().unwrap_or(0);
        let recorded = |n: u64| along.events.iter().find(|e| e.id == EventId { thread: thread.thread, n });
        let now = |n: u64| run.trace.events.iter().find(|e| e.id == EventId { thread: thread.thread, n });
        // The last event must have come out as recorded.
        if n > 0 && !same_way(&recorded(n)?.kind, &now(n)?.kind) {
            return None;
        }
        let next = recorded(n + 1)?;
        if next.site != thread.site {
            return None;
        }
        events.push(next.id);
    }
    events.sort_unstable();
    Some(events)
}

fn same_way(a: &EventKind, b: &EventKind) -> bool {
    match (a, b) {
        (EventKind::Branch { taken: a }, EventKind::Branch { taken: b }) => a == b,
        (EventKind::CompareExchange { success: a, .. }, EventKind::CompareExchange { success: b, .. }) => {
            a == b
        }
        (EventKind::TryLock { acquired: a, .. }, EventKind::TryLock { acquired: b, .. }) => {
            a.is_some() == b.is_some()
        }
        (EventKind::TryAcquire { acquired: a, .. }, EventKind::TryAcquire { acquired: b, .. }) => a == b,
        (EventKind::TokenCount { value: a, .. }, EventKind::TokenCount { value: b, .. }) => a == b,
        (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}
