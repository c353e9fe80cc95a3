//! The independent checker of witnesses (docs/design/witnesses.md, "Before a finding is shown").
//!
//! An engine claims that a candidate is feasible and gives a [`Witness`]: a prefix of a run in a new order. [`check`] runs the
//! *program IR* in that order, with plain integers, each thread along the path that the trace has of it, and says whether
//! each event is enabled, whether the thread was still on its path when it did it, and whether the claim holds at the end. It shares
//! with those whom it checks only the program, the trace, the words of `claim` and [`ir::eval`]; nothing of the concurrent
//! trace program, the encoding, the engines or the machine. So a mistake in any of them shows here.
//!
//! The rules of feasibility are those of docs/design/feasibility.md, the rules of guarded independence those
//! of AV §3 (with x the value before the first of the two events).

mod access;
mod address;
mod claims;
mod clocks;
mod decision;
mod foreign;
mod locks;
mod memory;
mod objects;
mod path;
mod perform;
mod pure;
mod run;
mod step;
mod sync;

pub use locks::check_locks;

use claim::{Candidate, Witness};
use ir::{Program, SiteId};
use rustc_hash::FxHashMap;
use trace::{Choice, EventId, FaultKind, Logging, Misfit, ThreadId, Trace};

/// What the checker takes for granted about the subject.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rules {
    /// Waits may end without a signal.
    pub spurious: bool,
    /// A thread goes on behind a read only if it has seen what it saw in the recorded run: of its program nothing more is known.
    pub same_values: bool,
}

impl Rules {
    /// What a trace itself says of its subject.
    #[must_use]
    pub fn of(trace: &Trace) -> Rules {
        Rules {
            spurious: trace.choices.contains(&Choice::Spurious),
            same_values: trace.origin.logging == Logging::WithoutValues,
        }
    }
}

/// Checks a witness of a candidate.
///
/// # Errors
/// What is wrong with it, at which step.
pub fn check(
    program: &Program,
    trace: &Trace,
    rules: Rules,
    candidate: &Candidate,
    witness: &Witness,
) -> Result<(), Refusal> {
    let mut all = check_all(program, trace, rules, &[(candidate, witness)])?;
    all.pop().unwrap_or(Ok(()))
}

/// Checks many witnesses of one trace. What they keep as recorded is run once for all of them.
///
/// # Errors
/// If the trace is another program's, or the recorded run itself cannot be followed.
pub fn check_all(
    program: &Program,
    trace: &Trace,
    rules: Rules,
    witnesses: &[(&Candidate, &Witness)],
) -> Result<Vec<Result<(), Refusal>>, Refusal> {
    let asked = witnesses.iter().map(|&(candidate, _)| candidate).collect();
    let mut recorded = run::Run::new(program, trace, rules, asked)?;
    recorded.choices = trace.choices.clone().into_iter();
    // Which witnesses leave the recorded run behind which event.
    let mut leaving: FxHashMap<Option<EventId>, Vec<usize>> = FxHashMap::default();
    for (n, (_, witness)) in witnesses.iter().enumerate() {
        leaving.entry(witness.recorded).or_default().push(n);
    }
    let mut results: Vec<Result<(), Refusal>> = vec![Ok(()); witnesses.len()];
    let mut answer = |run: &run::Run<'_>, here: Vec<usize>| {
        for n in here {
            results[n] = check_from(run, witnesses[n].0, witnesses[n].1);
        }
    };
    answer(&recorded, leaving.remove(&None).unwrap_or_default());
    for event in &trace.events {
        if leaving.is_empty() {
            break;
        }
        recorded.go_on_as_recorded(event.id)?;
        answer(&recorded, leaving.remove(&Some(event.id)).unwrap_or_default());
    }
    for n in leaving.into_values().flatten() {
        if let Some(event) = witnesses[n].1.recorded {
            results[n] = Err(Refusal::NotReached { step: 0, event, why: Departure::NotInTrace });
        }
    }
    Ok(results)
}

/// Checks a witness from where it leaves the recorded run.
fn check_from(recorded: &run::Run<'_>, candidate: &Candidate, witness: &Witness) -> Result<(), Refusal> {
    let mut run = recorded.clone();
    if let Candidate::UnorderedRace { first, second } = candidate {
        run.watched = Some((*first, *second));
    }
    run.follow(witness)?;
    claims::check(&run, candidate)
}

/// Checks that a prefix is feasible, whatever it may be a witness of.
///
/// # Errors
/// What is wrong with it, at which step.
pub fn check_prefix(
    program: &Program,
    trace: &Trace,
    rules: Rules,
    witness: &Witness,
) -> Result<(), Refusal> {
    run::Run::new(program, trace, rules, run::Asked::default())?.follow(&witness.whole(trace))
}

/// Why a witness is refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    /// The trace is another program's.
    #[error(transparent)]
    Misfit(#[from] Misfit),
    /// An event of a thread that is not there, or not yet.
    #[error("step {step}: thread {thread} does not exist then")]
    NoThread {
        /// Which entry of the order, counted from 0.
        step: usize,
        /// Which thread.
        thread: ThreadId,
    },
    /// An event that has already run.
    #[error("step {step}: event {event} has already run")]
    Again {
        /// Which entry of the order.
        step: usize,
        /// Which event.
        event: EventId,
    },
    /// An event that the thread does not come to: an earlier one came out differently, or its path leads elsewhere.
    #[error("step {step}: its thread does not come to event {event}, because {why}")]
    NotReached {
        /// Which entry of the order.
        step: usize,
        /// Which event.
        event: EventId,
        /// Why not.
        why: Departure,
    },
    /// An event that cannot happen now.
    #[error("step {step}: event {event} is not enabled: {why}")]
    Blocked {
        /// Which entry of the order.
        step: usize,
        /// Which event.
        event: EventId,
        /// What it waits for.
        why: Waits,
    },
    /// Something behind the event that ends the process.
    #[error("step {step}: event {event} comes after the end of the process")]
    AfterTheEnd {
        /// Which entry of the order.
        step: usize,
        /// Which event.
        event: EventId,
    },
    /// A choice is missing, or is not one that there is.
    #[error("step {step}: event {event} leaves a choice open that the witness does not settle rightly")]
    Choice {
        /// Which entry of the order.
        step: usize,
        /// Which event.
        event: EventId,
    },
    /// Choices that nothing asked for.
    #[error("{0} choices are left over")]
    ChoicesLeft(usize),
    /// What the program does here is not known to the checker.
    #[error("event {event}: the checker cannot follow instruction {} ({what})", site.0)]
    NotFollowed {
        /// Before which event.
        event: EventId,
        /// Where.
        site: SiteId,
        /// What.
        what: &'static str,
    },
    /// The order is feasible, but does not show what is claimed.
    #[error("the claim does not hold: {0}")]
    Claim(Unfounded),
}

/// Why a thread goes no further along its path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Departure {
    /// An earlier event came out differently.
    #[error("{0} comes out differently")]
    Outcome(EventId),
    /// An earlier event read something else, and nobody knows where that leads.
    #[error("{0} reads another value")]
    Value(EventId),
    /// Its path leads to another instruction.
    #[error("it comes to instruction {} instead", .0.0)]
    Elsewhere(SiteId),
    /// The trace has no such event.
    #[error("the trace does not have it")]
    NotInTrace,
    /// An assumption does not hold, or a loop has reached its bound.
    #[error("it stops at instruction {}", .0.0)]
    Stops(SiteId),
    /// It has ended.
    #[error("it has ended")]
    Ended,
}

/// What a thread waits for.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Waits {
    /// A lock that these threads hold.
    #[error("a lock is held")]
    Lock(Vec<ThreadId>),
    /// A signal.
    #[error("nobody has signalled")]
    Signal,
    /// A token.
    #[error("there is no token")]
    Token,
    /// More threads at a barrier.
    #[error("not all are at the barrier")]
    Barrier,
    /// The end of a thread.
    #[error("thread {0} has not ended")]
    Join(ThreadId),
    /// The end of another thread's exclusive block.
    #[error("thread {0} is alone")]
    Exclusive(ThreadId),
}

/// In which way a claim does not hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unfounded {
    /// An event of the candidate has not run.
    #[error("event {0} has not run")]
    NotRun(EventId),
    /// An event of the candidate is not next.
    #[error("event {0} is not next")]
    NotNext(EventId),
    /// An event of the candidate is no access.
    #[error("event {0} is no access")]
    NoAccess(EventId),
    /// Two events are not in the order that is claimed.
    #[error("event {0} is not before event {1}")]
    Order(EventId, EventId),
    /// Two accesses are of different memory.
    #[error("events {0} and {1} access different memory")]
    OtherLocation(EventId, EventId),
    /// The threads are not those that the kind of candidate asks for.
    #[error("the events are not of the right threads")]
    Threads,
    /// A thread that was woken has done more since.
    #[error("the thread has gone on since event {0}")]
    WentOn(EventId),
    /// A thread that was woken would not wait again if it looked.
    #[error("with a second look behind event {0} the thread would not wait again")]
    WouldNotWait(EventId),
    /// The first and last event are not in one transaction.
    #[error("events {0} and {1} are not in one transaction")]
    NoTransaction(EventId, EventId),
    /// The three accesses are serializable.
    #[error("the three accesses are serializable")]
    Serializable,
    /// Two events are guarded independent with the values that they have here.
    #[error("the order of events {0} and {1} makes no difference")]
    Independent(EventId, EventId),
    /// Two accesses do not conflict, or are both atomic.
    #[error("events {0} and {1} do not conflict")]
    NoConflict(EventId, EventId),
    /// Two accesses are ordered by happens-before.
    #[error("event {0} happens before event {1}")]
    Ordered(EventId, EventId),
    /// The assertion held.
    #[error("the assertion of event {0} held")]
    Held(EventId),
    /// No fault, or another one.
    #[error("event {event} is not: {}", kind.words())]
    NoFault {
        /// In place of which event.
        event: EventId,
        /// What was claimed.
        kind: FaultKind,
    },
    /// A thread that is said to wait for ever does not.
    #[error("the thread of event {0} is not blocked before it")]
    NotBlocked(EventId),
    /// The threads do not wait for each other in a circle.
    #[error("the thread of event {0} is in no circle")]
    NoCircle(EventId),
    /// Another thread can go on.
    #[error("thread {0} can go on")]
    GoesOn(ThreadId),
    /// The goal of a pattern does not hold of the run.
    #[error("the goal of the pattern does not hold")]
    Goal,
}
