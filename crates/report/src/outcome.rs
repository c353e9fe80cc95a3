//! How a run ended.

use crate::{Mark, Sources};
use ir::Quantifier;
use trace::{BlockedThread, Location, Outcome, ThreadId, Trace, WaitsFor};

/// One line on what ran: events, threads, switches, strategy.
#[must_use]
pub fn summary(trace: &Trace) -> String {
    let events: u64 = trace.threads.iter().map(|thread| last_event(trace, thread.id)).sum();
    let plural = |n: u64, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let switches = (trace.switches.len() as u64).saturating_sub(1);
    format!(
        "{} of {}, {} ({})",
        plural(events, "event"),
        plural(trace.threads.len() as u64, "thread"),
        match switches {
            1 => "1 switch".to_owned(),
            n => format!("{n} switches"),
        },
        trace.origin.strategy
    )
}

fn last_event(trace: &Trace, thread: ThreadId) -> u64 {
    trace.switches.iter().rev().find(|switch| switch.thread == thread).map_or(0, |switch| switch.until)
}

/// How a run ended, with the places in the source.
#[must_use]
pub fn outcome(trace: &Trace, sources: &Sources<'_>) -> String {
    let thread = |id| trace.thread_name(id);
    let mark = |site, label: String| [Mark { site, label, primary: true }];
    match &trace.outcome {
        Outcome::Completed { state, condition } => completed(state, *condition, sources),
        Outcome::AssertionFailed { event, site } => {
            let label = format!("fails in thread {}", thread(event.thread));
            sources.message("assertion failed", &mark(*site, label), &[])
        }
        Outcome::Fault { event, site, kind } => {
            let label = format!("in thread {}", thread(event.thread));
            sources.message(kind.words(), &mark(*site, label), &[])
        }
        Outcome::Deadlock { blocked } => {
            let location = |at| trace.location_name(sources.program, at);
            let words = |one: &BlockedThread| waits_for(&one.waits_for, &thread, &location);
            deadlock(blocked, sources, &thread, &words, &[])
        }
        Outcome::Discarded { thread: id, site } => sources.note(
            "the run is discarded: an assumption does not hold",
            &mark(*site, format!("thread {} stops here", thread(*id))),
            &[],
        ),
        Outcome::BoundExceeded { thread: id, site } => sources.note(
            "a loop went round more often than its bound",
            &mark(*site, format!("thread {} stops here", thread(*id))),
            &["a larger bound is given with `bound N` in the program, or with --loop-bound N".to_owned()],
        ),
        Outcome::LimitReached { events } => {
            format!(
                "the run was stopped after {events} events; a larger limit is given with --max-events N\n"
            )
        }
        Outcome::Truncated => "the trace ends before the run does\n".to_owned(),
        Outcome::Exited { status: 0 } => "exited\n".to_owned(),
        Outcome::Exited { status } => format!("exited with status {status}\n"),
    }
}

/// How a run ended, on one line.
pub(crate) fn ending(trace: &Trace, sources: &Sources<'_>) -> String {
    match &trace.outcome {
        Outcome::AssertionFailed { event, site } => {
            let thread = trace.thread_name(event.thread);
            format!("the assertion at {} fails in thread {thread}", sources.place(*site))
        }
        Outcome::Fault { event, site, kind } => {
            let thread = trace.thread_name(event.thread);
            format!("{} at {} in thread {thread}", kind.words(), sources.place(*site))
        }
        Outcome::Deadlock { blocked } => match &blocked[..] {
            [one] => format!("deadlock: thread {} waits for ever", trace.thread_name(one.thread)),
            all => format!("deadlock: {} threads wait for ever", all.len()),
        },
        Outcome::Discarded { .. } => "the run is discarded: an assumption does not hold".to_owned(),
        Outcome::BoundExceeded { .. } => "a loop went round more often than its bound".to_owned(),
        _ => outcome(trace, sources).trim_end().replace('\n', "; "),
    }
}

fn completed(state: &[(String, String)], condition: Option<bool>, sources: &Sources<'_>) -> String {
    let values: Vec<String> = state.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let mut text = match values.is_empty() {
        true => "completed".to_owned(),
        false => format!("completed: {}", values.join(", ")),
    };
    if let (Some(true_here), Some(asked)) = (condition, &sources.program.final_condition) {
        let verdict = match (asked.quantifier, true_here) {
            (Quantifier::Exists, true) => "this run shows it",
            (Quantifier::Exists, false) => "this run does not show it",
            (Quantifier::NotExists, true) | (Quantifier::Forall, false) => "this run violates it",
            (Quantifier::NotExists, false) | (Quantifier::Forall, true) => "this run agrees with it",
        };
        let word = quantifier_word(asked.quantifier);
        text.push_str(&format!("\n{word} ({}): {verdict}", asked.text.trim()));
    }
    text.push('\n');
    text
}

/// A deadlock: who waits for what, each at its place.
pub(crate) fn deadlock(
    blocked: &[BlockedThread],
    sources: &Sources<'_>,
    thread: &dyn Fn(ThreadId) -> String,
    words: &dyn Fn(&BlockedThread) -> String,
    notes: &[String],
) -> String {
    let title = match blocked {
        [one] => format!("deadlock: thread {} waits for ever", thread(one.thread)),
        _ => format!("deadlock: {} threads wait for ever", blocked.len()),
    };
    let marks: Vec<Mark> = (blocked.iter())
        .map(|blocked| Mark {
            site: blocked.site,
            label: format!("{} {}", thread(blocked.thread), words(blocked)),
            primary: true,
        })
        .collect();
    sources.message(&title, &marks, notes)
}

pub(crate) fn waits_for(
    what: &WaitsFor,
    thread: &dyn Fn(ThreadId) -> String,
    location: &dyn Fn(Location) -> String,
) -> String {
    match what {
        WaitsFor::Lock { object, held_by } => {
            let holders: Vec<String> = held_by.iter().map(|&id| thread(id)).collect();
            format!("waits for {}, held by {}", location(*object), holders.join(" and "))
        }
        WaitsFor::Condition { object } => format!("waits for a signal on {}", location(*object)),
        WaitsFor::Semaphore { object } => format!("waits for a token of {}", location(*object)),
        WaitsFor::Barrier { object, arrived, parties } => {
            format!("waits at {}, where {arrived} of {parties} have arrived", location(*object))
        }
        WaitsFor::Join { thread: id } => format!("waits for the end of {}", thread(*id)),
        WaitsFor::Exclusive { thread: id } => format!("waits for the exclusive block of {}", thread(*id)),
        WaitsFor::Word { object } => format!("waits for a wake-up at {}", location(*object)),
        WaitsFor::Change { object } => {
            format!("goes round its loop until another thread changes {}", location(*object))
        }
    }
}

/// Whether a run violates the program's final condition.
#[must_use]
pub fn violates(trace: &Trace, program: &ir::Program) -> bool {
    let quantifier = program.final_condition.as_ref().map(|condition| condition.quantifier);
    match (&trace.outcome, quantifier) {
        (Outcome::Completed { condition: Some(true_here), .. }, Some(Quantifier::NotExists)) => *true_here,
        (Outcome::Completed { condition: Some(true_here), .. }, Some(Quantifier::Forall)) => !true_here,
        _ => false,
    }
}

/// The words of a quantifier as the language has them.
pub(crate) fn quantifier_word(quantifier: Quantifier) -> &'static str {
    match quantifier {
        Quantifier::Exists => "exists",
        Quantifier::NotExists => "~exists",
        Quantifier::Forall => "forall",
    }
}
