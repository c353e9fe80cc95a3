//! The oracle: what can happen under *any* schedule of a small program.
//!
//! It walks every way that the machine can go and collects what it sees: final states, failures, deadlocks, races, and
//! unserializable interleavings of transactions. Two methods give the same answers: *stateless* goes through
//! every interleaving one by one; *stateful* remembers the states that it has seen and goes on from each only
//! once. It can also be kept to the thread paths of a recorded trace, which is exactly the space that prediction
//! from that trace speaks about.
//!
//! Only visible events are places to switch: an event that no other thread can notice follows its predecessor at once.
//! That leaves out no outcome, and "interleaving" here means an interleaving of visible events.
//!
//! It is written for being obviously right, not fast: no reduction, no cleverness. When a limit is reached the answers
//! say so, and what they do not contain is then unknown.

mod access;
mod decision;
mod end;
mod happens_before;
mod look;
mod monitor;
mod paths;
mod search;
mod transactions;
mod walk;

pub use subject::answers::{Answers, Counts, Failure, FinalState, LimitReached, Point, Race, Triple};
pub use walk::Walk;

use crate::Machine;
use trace::Trace;

/// How the oracle walks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Each state once. The key of a state holds all that its future depends on, not a hash of it.
    Stateful,
    /// Each interleaving.
    Stateless,
}

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Question<'t> {
    /// How to walk.
    pub method: Method,
    /// Whether to look at what depends on the past of a state and not only on the state: unordered races and
    /// transactions. States with different pasts are then different, which makes the stateful walk longer.
    pub history: bool,
    /// Only prefixes in which each thread follows its path in this trace (docs/design/feasibility.md,
    /// "Prefixes"): a thread goes no further after an event whose outcome differs, or before an event that
    /// the trace does not have.
    pub along: Option<&'t Trace>,
    /// With `along`: of triples and unordered races only those of schedules that go on to run all events of the trace, each as
    /// recorded (AV §4, full linearizations).
    pub whole: bool,
    /// With `along`: a thread goes no further after an event that read another value than recorded (PLAN Def. 2, precisely predictable runs;
    /// the last event of a thread may read anything).
    pub same_values: bool,
    /// Only schedules in which another thread goes on at most so often.
    pub switches: Option<u32>,
    /// Most events to step through.
    pub max_steps: u64,
    /// Most states to remember.
    pub max_states: u64,
    /// Most memory to use for states and for the way that is being walked, in bytes, by estimate.
    pub max_memory: u64,
}

impl Default for Question<'_> {
    fn default() -> Self {
        Question {
            method: Method::Stateful,
            history: true,
            along: None,
            whole: false,
            same_values: false,
            switches: None,
            max_steps: 100_000_000,
            max_states: 2_000_000,
            max_memory: 2 << 30,
        }
    }
}

/// Answers a question about a program.
#[must_use]
pub fn ask(machine: &Machine, question: &Question<'_>) -> Answers {
    ask_with_progress(machine, question, &mut |_| {})
}

/// How far a walk has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Events so far.
    pub steps: u64,
    /// States so far (stateful only).
    pub states: u64,
    /// Things found so far.
    pub findings: u64,
}

/// Answers a question, and tells how far it has come every now and then.
#[must_use]
pub fn ask_with_progress(
    machine: &Machine,
    question: &Question<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Answers {
    search::Search::new(machine, question).run(progress)
}
