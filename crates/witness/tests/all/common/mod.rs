//! Recording runs of model programs, and the oracle's schedules as witnesses.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "tests")]

use claim::{Candidate, Deadlock, Witness};
use machine::Machine;
use machine::oracle::{self, Answers, Point, Question};
use subject::{Schedule, Segment, Strategy as Who, Subject as _};
use trace::{BlockedThread, EventId, Logging, ThreadId, Trace, WaitsFor};
use witness::{Refusal, Rules};

pub fn machine(source: &str, spurious: bool) -> Machine {
    let lowering =
        lang::LowerOptions { name: "test.tb".into(), path: "test.tb".into(), ..Default::default() };
    let program = lang::compile(source, &lowering).unwrap_or_else(|errors| {
        panic!("{}", errors.iter().map(|e| lang::render(e, "test.tb", source, false)).collect::<String>())
    });
    Machine::new(program, machine::Options { spurious, ..Default::default() }).unwrap()
}

pub fn record(machine: &Machine, who: &Who) -> Trace {
    let run = machine.run(who, &Logging::Everything).unwrap();
    assert_eq!(run.departure, None);
    run.trace
}

pub fn rules(machine: &Machine) -> Rules {
    Rules { spurious: machine.options().spurious, ..Rules::default() }
}

/// The recorded run as a witness of itself.
pub fn itself(trace: &Trace) -> Witness {
    Witness {
        order: trace.events.iter().map(|event| event.id).collect(),
        choices: trace.choices.clone(),
        ..Witness::default()
    }
}

pub fn of_schedule(schedule: &Schedule) -> Witness {
    let order = schedule.segments.iter().map(|s| EventId { thread: s.thread, n: s.until }).collect();
    Witness { order, choices: schedule.choices.clone(), ..Witness::default() }
}

pub fn to_schedule(witness: &Witness) -> Schedule {
    let segments =
        witness.stretches().map(|e| Segment { thread: e.thread, until: e.n, site: None }).collect();
    Schedule { segments, choices: witness.choices.clone(), spurious: true, ..Schedule::default() }
}

pub fn check(
    machine: &Machine,
    trace: &Trace,
    candidate: &Candidate,
    witness: &Witness,
) -> Result<(), Refusal> {
    witness::check(machine.program(), trace, rules(machine), candidate, witness)
}

pub fn check_prefix(machine: &Machine, trace: &Trace, witness: &Witness) -> Result<(), Refusal> {
    witness::check_prefix(machine.program(), trace, rules(machine), witness)
}

fn event(point: Point) -> EventId {
    EventId { thread: point.thread, n: point.n.expect("along a trace events have numbers") }
}

/// The number of events of a thread that a witness runs.
fn done(witness: &Witness, thread: ThreadId) -> u64 {
    witness.order.iter().filter(|event| event.thread == thread).map(|event| event.n).max().unwrap_or(0)
}

/// The oracle runs events that nobody can notice as soon as it can, a witness only if it says so.
fn up_to(mut witness: Witness, event: EventId) -> Witness {
    if done(&witness, event.thread) + 1 < event.n {
        witness.order.push(EventId { n: event.n - 1, ..event });
    }
    witness
}

fn blocked_event(trace: &Trace, witness: &Witness, blocked: &BlockedThread) -> EventId {
    let done = done(witness, blocked.thread);
    let mut own = trace.events.iter().filter(|event| event.id.thread == blocked.thread);
    let last = own.clone().map(|event| event.id.n).max().unwrap_or(0);
    let next = own.find(|event| event.id.n > done && event.site == blocked.site);
    next.map_or(EventId { thread: blocked.thread, n: last + 1 }, |event| event.id)
}

/// Everything that the oracle sees along a trace, as candidates with witnesses. `None` if it is too much.
pub fn claims(machine: &Machine, trace: &Trace) -> Option<Vec<(Candidate, Witness)>> {
    let question =
        Question { along: Some(trace), max_steps: 200_000, max_states: 20_000, ..Question::default() };
    let answers: Answers = oracle::ask(machine, &question);
    if answers.limit.is_some() {
        return None;
    }
    let mut claims = vec![];
    for (triple, schedule) in &answers.triples {
        let (before, between, after) = (event(triple.before), event(triple.between), event(triple.after));
        claims.push((Candidate::Atomicity { before, between, after }, of_schedule(schedule)));
    }
    for (race, schedule) in &answers.co_enabled {
        let (a, b) = (event(race.first), event(race.second));
        claims.push((Candidate::co_enabled(a, b), up_to(up_to(of_schedule(schedule), a), b)));
    }
    for (race, schedule) in &answers.unordered {
        claims.push((Candidate::unordered(event(race.first), event(race.second)), of_schedule(schedule)));
    }
    for (failure, schedule) in &answers.failures {
        let event = event(failure.at);
        let candidate = match failure.fault {
            Some(kind) => Candidate::Fault { event, kind },
            None => Candidate::Assertion { event },
        };
        claims.push((candidate, of_schedule(schedule)));
    }
    for (blocked, schedule) in &answers.deadlocks {
        let mut witness = of_schedule(schedule);
        let events: Vec<EventId> = blocked.iter().map(|b| blocked_event(trace, &witness, b)).collect();
        for &event in &events {
            witness = up_to(witness, event);
        }
        // Who waits for a signal, a token or a barrier is in no circle.
        let circle = blocked.iter().all(|b| {
            matches!(b.waits_for, WaitsFor::Lock { .. } | WaitsFor::Join { .. } | WaitsFor::Exclusive { .. })
        });
        let circle_stands = Candidate::Deadlock(Deadlock::Circle(events.clone()));
        if circle && check(machine, trace, &circle_stands, &witness).is_ok() {
            claims.push((circle_stands, witness));
            continue;
        }
        // All others have ended; that too is something that nobody may notice.
        for info in &trace.threads {
            if !blocked.iter().any(|b| b.thread == info.id) {
                let own = trace.events.iter().filter(|event| event.id.thread == info.id);
                let last = own.map(|event| event.id.n).max().unwrap_or(0);
                witness = up_to(witness, EventId { thread: info.id, n: last + 1 });
            }
        }
        claims.push((Candidate::Deadlock(Deadlock::AllBlocked(events)), witness));
    }
    Some(claims)
}
