//! One suite for both kinds of subject: a program in the model language and its twin in C do the same under the same schedule.
//!
//! A schedule counts all events of a thread, and the two have different ones between those that matter (branches, calls). So the
//! order of the events that matter (synchronisation, and accesses of shared variables by name) is taken from a run of the C
//! program, and the machine is led along it, one event at a time: each must be what the machine does next in that thread, with
//! the same values.

use claim::{Property, Standing};
use machine::{Machine, Options};
use predict::{Normal, predict_and_confirm};
use std::collections::BTreeSet;
use subject::{Schedule, Segment, Strategy, Subject};
use suite::{Build, Program, build, for_each, open, programs, record};
use trace::{AllocationOrigin, Choice, Event, EventId, EventKind, Location, Logging, ThreadId, Trace};

/// An event that matters, in words that both subjects share.
type Step = (ThreadId, String);

/// The events of a run that matter.
fn project(program: &ir::Program, trace: &Trace) -> Vec<Step> {
    let words = trace.events.iter().map(|event| (event.id.thread, words(program, trace, event)));
    words.filter_map(|(thread, words)| Some((thread, words?))).collect()
}

/// An event in words, if it matters.
fn words(program: &ir::Program, trace: &Trace, event: &Event) -> Option<String> {
    let is_global = |location: Location| {
        let allocation = &trace.allocations[location.allocation.0 as usize];
        matches!(allocation.origin, AllocationOrigin::Global(_))
    };
    let named = |location: &Location| trace.location_name(program, *location);
    // An object of the C library has fields: `m.__data.__lock` is where the mutex `m` begins.
    let name = |location: &Location| named(location).split(".__").next().unwrap_or_default().to_owned();
    // What is no event of the model: memory of the stack, calls, branches, the end of the process.
    Some(match &event.kind {
        EventKind::Read { location, value, order, .. } if is_global(*location) => {
            format!("read {} = {value} {order:?}", name(location))
        }
        EventKind::Write { location, value, order, .. } if is_global(*location) => {
            format!("write {} = {value} {order:?}", name(location))
        }
        EventKind::Update { location, old, new, order, .. } if is_global(*location) => {
            format!("update {} = {old} to {new} {order:?}", name(location))
        }
        EventKind::CompareExchange { location, old, expected, new, success, order, .. }
            if is_global(*location) =>
        {
            format!("compare {} = {old}, {expected} to {new}: {success} {order:?}", name(location))
        }
        // The main thread of a process ends with it.
        EventKind::End if event.id.thread != ThreadId::MAIN => "end".to_owned(),
        EventKind::Fence { order } => format!("fence {order:?}"),
        EventKind::Fork { child } => format!("fork {child}"),
        EventKind::Join { child } => format!("join {child}"),
        EventKind::Lock { object, mode, depth } => format!("lock {} {mode:?} {depth}", name(object)),
        EventKind::TryLock { object, mode, acquired } => {
            format!("try to lock {} {mode:?}: {acquired:?}", name(object))
        }
        EventKind::Unlock { object, mode, depth } => format!("unlock {} {mode:?} {depth}", name(object)),
        EventKind::WaitBegin { condition, mutex } => {
            format!("begin to wait for {} {:?}", name(condition), mutex.as_ref().map(name))
        }
        EventKind::StopWaiting { condition, .. } => format!("stop waiting for {}", name(condition)),
        EventKind::WaitEnd { condition, mutex, .. } => {
            format!("end of waiting for {} {:?}", name(condition), mutex.as_ref().map(name))
        }
        EventKind::Signal { condition, woken } => format!("signal {}: {woken:?}", name(condition)),
        EventKind::Broadcast { condition, woken } => format!("broadcast {}: {woken}", name(condition)),
        EventKind::Acquire { semaphore } => format!("acquire {}", name(semaphore)),
        EventKind::TryAcquire { semaphore, acquired } => {
            format!("try to acquire {}: {acquired}", name(semaphore))
        }
        EventKind::Release { semaphore } => format!("release {}", name(semaphore)),
        EventKind::TokenCount { semaphore, value } => format!("count {} = {value}", name(semaphore)),
        EventKind::BarrierArrive { barrier, round } => format!("arrive at {} {round}", name(barrier)),
        EventKind::BarrierLeave { barrier, round } => format!("leave {} {round}", name(barrier)),
        EventKind::TransactionBegin => "begin a transaction".to_owned(),
        EventKind::TransactionEnd => "end a transaction".to_owned(),
        _ => return None,
    })
}

/// Leads the machine along the steps of a compiled run, and compares each; gives the schedule that does so.
fn follow(machine: &Machine, steps: &[Step], choices: &[Choice]) -> Schedule {
    let mut schedule = Schedule { choices: choices.to_vec(), ..Schedule::default() };
    for (at, step) in steps.iter().enumerate() {
        let thread = step.0;
        let before: Vec<u64> = (schedule.segments.iter())
            .filter(|segment| segment.thread == thread)
            .map(|segment| segment.until)
            .collect();
        let done = before.last().copied().unwrap_or(0);
        // Events that do not matter come first: so far, until one that does.
        let mut found = None;
        for until in done + 1..done + 20 {
            let mut longer = schedule.clone();
            match longer.segments.last_mut() {
                Some(last) if last.thread == thread => last.until = until,
                _ => longer.segments.push(Segment { thread, until, site: None }),
            }
            let run = machine.run(&Strategy::follow(longer.clone()), &Logging::Everything).expect("it runs");
            let mut followed = run.trace.clone();
            // What comes behind the schedule is no part of the comparison.
            let end = position(&followed, thread, until);
            followed.events.truncate(end.map_or(followed.events.len(), |end| end + 1));
            let made = project(machine.program(), &followed);
            if made.len() > at {
                found = Some((longer, made));
                break;
            }
        }
        let (longer, made) = found.unwrap_or_else(|| panic!("step {at}: the machine cannot do {step:?}"));
        assert_eq!(made[at], *step, "step {at}, behind {:?}", &steps[at.saturating_sub(3)..at]);
        schedule = longer;
    }
    schedule
}

/// Where the `n`-th event of a thread is.
fn position(trace: &Trace, thread: ThreadId, n: u64) -> Option<usize> {
    trace.events.iter().position(|event| event.id.thread == thread && event.id.n == n)
}

fn machine_of(program: &Program) -> Machine {
    let text = std::fs::read_to_string(program.path.with_extension("tb")).expect("the twin");
    let compiled = lang::compile(&text, &lang::LowerOptions::default()).expect("a model program");
    Machine::new(compiled, Options::default()).expect("a program for the machine")
}

#[test]
fn twins_do_the_same_under_the_same_schedule() {
    let twins = programs("twins");
    assert!(twins.len() >= 8);
    for_each(&twins, |program| {
        let machine = machine_of(program);
        for level in ["-O0", "-O2"] {
            let built = build(program, &Build::at(level));
            let compiled = open(&built.path);
            let mut strategies = vec![Strategy::RunToBlock, Strategy::RoundRobin { quantum: 1 }];
            strategies.extend((0..10).map(|seed| Strategy::Random { seed }));
            for strategy in &strategies {
                let trace = record(&compiled, strategy, &Logging::Everything, "").run.trace;
                let steps = project(&compiled.linked().program, &trace);
                assert!(steps.len() > 10, "{} {level}: {steps:?}", program.name());
                println!("{} {level} {strategy}: {} steps", program.name(), steps.len());
                let _ = follow(&machine, &steps, &trace.choices);
            }
        }
    });
}

/// What is predicted from a trace: which kinds of bugs, at which events in words without values. What the replay did not show is
/// no verdict, and named.
fn verdicts(subject: &impl Subject, trace: &Trace) -> BTreeSet<(Property, Vec<String>)> {
    let options = predict::Options::default();
    let found =
        predict_and_confirm(subject, trace, &options, &Normal::default(), &mut |_| {}).expect("an answer");
    let place = |id: EventId| {
        let event = trace.events.iter().find(|event| event.id == id).expect("an event of the trace");
        let words = words(subject.program(), trace, event).unwrap_or_default();
        words.split([':', '=']).next().unwrap_or_default().trim_end().to_owned()
    };
    let mut verdicts = BTreeSet::new();
    for finding in &found.findings {
        assert_eq!(finding.standing, Standing::Confirmed, "{}: {:?}", subject.name(), finding.candidate);
        let mut places: Vec<String> = finding.candidate.events().into_iter().map(place).collect();
        if finding.candidate.property() != Property::Atomicity {
            places.sort();
        }
        verdicts.insert((finding.candidate.property(), places));
    }
    verdicts
}

#[test]
fn twins_have_the_same_bugs() {
    for_each(&programs("twins"), |program| {
        let machine = machine_of(program);
        let built = build(program, &Build::at("-O1"));
        let compiled = open(&built.path);
        for strategy in [Strategy::RunToBlock, Strategy::Random { seed: 3 }] {
            let trace = record(&compiled, &strategy, &Logging::Everything, "").run.trace;
            let schedule = follow(&machine, &project(&compiled.linked().program, &trace), &trace.choices);
            let twin = machine.run(&Strategy::follow(schedule), &Logging::Everything).expect("it runs").trace;
            let (ours, model) = (verdicts(&compiled, &trace), verdicts(&machine, &twin));
            println!("{} {strategy}: {ours:?}", program.name());
            assert_eq!(ours, model, "{} {strategy}: compiled, and the model", program.name());
        }
    });
}
