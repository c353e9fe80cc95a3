//! Confirmation (docs/design/witnesses.md, "Confirmation"): the subject is run along the witness, and looked
//! at.
//!
//! *Showed it* means: for atomicity, the three events ran in that order on the same location; for a race, both threads stood before
//! their accesses at once; for an assertion or fault, it happened at that place; for a deadlock, none of its threads ever went
//! on; for a wait that ends too early, that it ended where the witness says. After the witness the run goes on under a fixed strategy, so that its consequence shows and repeats.

use crate::difference::cause;
use crate::normal::Normal;
use crate::trim::trim;
use claim::{Candidate, Cause, Consequence, Standing, Unconfirmed, Witness};
use ir::SiteId;
use rustc_hash::FxHashMap;
use subject::{Logging, Run, Strategy, Subject};
use trace::{AllocationOrigin, Event, EventId, EventKind, FaultKind, Outcome, ThreadId, Trace};

/// What came of running a subject along a witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replayed {
    /// The witness; behind that of a co-enabled race also the two accesses, in the order that shows more.
    pub witness: Witness,
    /// Whether it showed the candidate.
    pub standing: Standing,
    /// What it led to.
    pub consequence: Consequence,
    /// The run.
    pub run: Option<Box<Trace>>,
    /// What it printed.
    pub output: Option<String>,
    /// If it did not show the candidate: what outside code did otherwise, if that is the reason.
    pub cause: Option<Cause>,
}

impl Replayed {
    /// What is known without a subject.
    #[must_use]
    pub fn not(witness: &Witness) -> Replayed {
        let standing = Standing::Predicted(Unconfirmed::NotReplayed);
        Replayed {
            witness: witness.clone(),
            standing,
            consequence: Consequence::NotSeen,
            run: None,
            output: None,
            cause: None,
        }
    }

    /// Whether it is better to show than another: it was confirmed, and somebody would notice.
    fn shows(&self) -> (bool, bool) {
        (self.standing == Standing::Confirmed, self.consequence.is_visible())
    }
}

/// Re-runs a subject along a witness that was found from the recorded run; says whether it showed the candidate, and what it led to.
pub fn confirm(
    subject: &impl Subject,
    recorded: &Trace,
    candidate: &Candidate,
    witness: &Witness,
    normal: &Normal,
) -> Replayed {
    let replay = |followed: Witness| replay(subject, recorded, candidate, witness, followed, normal);
    let Candidate::CoEnabledRace { first, second } = candidate else {
        return replay(witness.clone());
    };
    // Either access may be the one that comes first, and only one of the two orders may do harm.
    let then = |order: [&EventId; 2]| {
        let mut extended = witness.clone();
        extended.order.extend(order);
        replay(extended)
    };
    let one = then([first, second]);
    if one.shows() == (true, true) {
        return one;
    }
    let other = then([second, first]);
    let best = if other.shows() > one.shows() { other } else { one };
    match best.standing {
        Standing::Confirmed => best,
        // The first access may end the process; that both were next is shown without it.
        Standing::Predicted(_) => replay(witness.clone()),
    }
}

/// Runs a subject along `followed`, which begins with the witness.
fn replay(
    subject: &impl Subject,
    recorded: &Trace,
    candidate: &Candidate,
    witness: &Witness,
    followed: Witness,
    normal: &Normal,
) -> Replayed {
    let strategy = Strategy::follow(followed.schedule());
    let run = match subject.run(&strategy, &Logging::Everything) {
        Ok(run) => run,
        Err(error) => {
            let standing = Standing::Predicted(Unconfirmed::NotRun(error.to_string()));
            return Replayed { standing, ..Replayed::not(witness) };
        }
    };
    let consequence = consequence(&run, normal);
    let compiled = subject.program().threads.is_empty();
    let (standing, cause) = match standing(recorded, compiled, &run, candidate, witness) {
        Ok(()) => (Standing::Confirmed, None),
        Err(why) => {
            let cause = cause(recorded, &run, witness);
            let why = match why {
                Unconfirmed::Departed { how, asked_again, .. } => {
                    Unconfirmed::Departed { how, cause: cause.clone(), asked_again }
                }
                other => other,
            };
            (Standing::Predicted(why), cause)
        }
    };
    let (mut run, output) = (run.trace, run.output);
    trim(&mut run, candidate);
    Replayed { witness: followed, standing, consequence, run: Some(Box::new(run)), output, cause }
}

fn consequence(run: &Run, normal: &Normal) -> Consequence {
    match &run.trace.outcome {
        Outcome::AssertionFailed { event, .. } => Consequence::AssertionFailed { event: *event },
        Outcome::Fault { event, kind, .. } => Consequence::Crashed { event: *event, kind: *kind },
        Outcome::Deadlock { .. } => Consequence::Deadlocked,
        _ => normal.difference(run).map_or(Consequence::None, Consequence::OtherResult),
    }
}

/// Whether a run along a witness shows the candidate: its events, by number and by instruction.
fn standing(
    recorded: &Trace,
    compiled: bool,
    run: &Run,
    candidate: &Candidate,
    witness: &Witness,
) -> Result<(), Unconfirmed> {
    if let Some(departure) = &run.departure {
        let how = departure.words(&|thread| thread.to_string());
        return Err(Unconfirmed::Departed { how, cause: None, asked_again: 0 });
    }
    let mut until: FxHashMap<ThreadId, u64> = FxHashMap::default();
    for event in &witness.order {
        until.insert(event.thread, event.n);
    }
    let in_prefix = |id: EventId| until.get(&id.thread).is_some_and(|&last| id.n <= last);
    let find = |id: EventId| run.trace.events.iter().position(|event| event.id == id);
    // A thread that has left its path may do something else as its n-th event.
    let asked = candidate.events();
    let of_recorded = recorded.events.iter().filter(|event| asked.contains(&event.id));
    let sites: FxHashMap<EventId, SiteId> = of_recorded.map(|event| (event.id, event.site)).collect();
    let is_same = |at: usize| {
        let event = &run.trace.events[at];
        sites.get(&event.id).is_none_or(|&site| site == event.site)
    };
    let done = |id: EventId| find(id).filter(|&at| in_prefix(id) && is_same(at)).ok_or(Unconfirmed::NotShown);
    let shown = match candidate {
        Candidate::Atomicity { before, between, after } => {
            let (e1, f, e2) = (done(*before)?, done(*between)?, done(*after)?);
            let events = &run.trace.events;
            e1 < f && f < e2 && overlap(&events[e1], &events[f]) && overlap(&events[f], &events[e2])
        }
        Candidate::CoEnabledRace { first, second } => {
            let is_next = |id: &EventId| {
                let event = recorded.events.iter().find(|event| event.id == *id);
                let numbers = event.map_or(1, |event| event.kind.numbers(compiled));
                until.get(&id.thread).copied().unwrap_or(0) == id.n - numbers
            };
            let both_next = is_next(first) && is_next(second);
            // As far as the accesses were run, they must be what they were claimed to be.
            let (first, second) = (find(*first), find(*second));
            let run_both = first.zip(second).map(|(a, b)| (&run.trace.events[a], &run.trace.events[b]));
            both_next
                && first.into_iter().chain(second).all(is_same)
                && run_both.is_none_or(|(a, b)| conflict(a, b))
        }
        Candidate::UnorderedRace { first, second } => done(*first).is_ok() && done(*second).is_ok(),
        Candidate::Assertion { event } => {
            // In compiled code what fails may be a step behind the branch that leads there.
            matches!(&run.trace.outcome, Outcome::AssertionFailed { event: failed, .. }
                if failed.thread == event.thread && failed.n >= event.n)
        }
        Candidate::Fault { event, kind } => {
            let faulted =
                matches!(&run.trace.outcome, Outcome::Fault { event: failed, .. } if failed == event);
            // A processor does not notice that memory was given back, or that it is somebody else's.
            faulted
                || match kind {
                    FaultKind::UseAfterFree => uses_freed(&run.trace, done(*event)?),
                    FaultKind::OutOfBounds => is_outside(&run.trace, done(*event)?),
                    _ => false,
                }
        }
        Candidate::Deadlock(deadlock) => deadlock.blocked().iter().all(|&event| find(event).is_none()),
        // That it would wait again is the checker's to say.
        Candidate::Wakeup { look, wake } => done(*look)? < done(*wake)?,
        Candidate::Pattern(pattern) => {
            let mut ran: Vec<(usize, EventId)> = vec![];
            ran.extend(pattern.events.iter().filter_map(|&event| Some((done(event).ok()?, event))));
            ran.sort_unstable();
            let ran: Vec<EventId> = ran.into_iter().map(|(_, event)| event).collect();
            pattern.formula().holds(&ran)
        }
    };
    if shown { Ok(()) } else { Err(Unconfirmed::NotShown) }
}

/// Whether the event at this index accesses memory that was given back before.
fn uses_freed(run: &Trace, at: usize) -> bool {
    let Some((_, location, ..)) = run.events[at].kind.access() else { return false };
    let freed = EventKind::Free { allocation: Some(location.allocation) };
    run.events[..at].iter().any(|event| event.kind == freed)
}

/// Whether the event at this index accesses memory that nobody has allocated.
fn is_outside(run: &Trace, at: usize) -> bool {
    let Some((_, location, ..)) = run.events[at].kind.access() else { return false };
    let allocation = run.allocations.get(location.allocation.0 as usize);
    allocation.is_some_and(|allocation| matches!(allocation.origin, AllocationOrigin::Page(_)))
}

/// Whether two events of a run access the same memory and one of them writes; of what gives memory back nothing is asked.
fn conflict(a: &Event, b: &Event) -> bool {
    match (a.kind.access(), b.kind.access()) {
        (Some((one, ..)), Some((other, ..))) => overlap(a, b) && (one.writes() || other.writes()),
        _ => true,
    }
}

/// Whether two accesses of a run touch some byte in common.
fn overlap(a: &Event, b: &Event) -> bool {
    b.kind.access().is_some_and(|(_, location, bytes, _)| a.kind.touches(location, bytes))
}
