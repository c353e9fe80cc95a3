//! What threads decide in a run: the outcomes on which their paths depend.

use crate::departures::{SIGNALLED, STOPPED};
use ctp::{Ctp, EventIndex, Kind, Otherwise};
use ir::SiteId;
use std::collections::BTreeMap;
use trace::{EventId, EventKind, Outcome, ThreadId, Trace, WakeReason};

/// One decision of a thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Decision {
    /// Where.
    pub site: SiteId,
    /// How it came out.
    pub outcome: u64,
}

/// A combination of thread paths: for each thread what it decided, in order. Two runs in which every thread decides the same consist of the
/// same events.
pub type Combination = BTreeMap<ThreadId, Vec<Decision>>;

/// Where a decision is made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Made {
    /// By this event of the trace.
    Event(EventId),
    /// Between events of the trace, by this one of the concurrent trace program. Branches of compiled programs are such.
    Silently(EventIndex),
}

/// The paths of a run.
#[derive(Clone, Default, Debug)]
pub struct Paths {
    /// Every thread's decisions.
    pub decisions: Combination,
    /// The events that are these decisions.
    pub events: BTreeMap<ThreadId, Vec<Made>>,
}

/// How an event came out, if its thread's path depends on it.
fn outcome(kind: &EventKind) -> Option<u64> {
    Some(match kind {
        EventKind::Branch { taken } => u64::from(*taken),
        EventKind::CompareExchange { success, .. } => u64::from(*success),
        EventKind::TryLock { acquired, .. } => u64::from(acquired.is_some()),
        EventKind::TryAcquire { acquired, .. } => u64::from(*acquired),
        EventKind::TokenCount { value, .. } => *value,
        EventKind::StopWaiting { .. } => STOPPED,
        EventKind::WaitEnd { reason: WakeReason::Signal(_), .. } => SIGNALLED,
        EventKind::Assert { held } => u64::from(*held),
        _ => return None,
    })
}

/// What runs have in common whose threads came as far, for all that others can notice: what each decided, and its last event.
pub fn noticed(trace: &Trace) -> (Combination, BTreeMap<ThreadId, u64>) {
    let paths = Paths::of(trace);
    let mut last: BTreeMap<ThreadId, u64> = BTreeMap::new();
    if matches!(trace.outcome, Outcome::Completed { .. } | Outcome::Exited { .. }) {
        return (paths.decisions, last);
    }
    let noticed = |kind: &EventKind| kind.may_be_visible() && *kind != EventKind::End;
    last.extend(trace.events.iter().filter(|one| noticed(&one.kind)).map(|one| (one.id.thread, one.id.n)));
    let mut decisions = paths.decisions.clone();
    for (&thread, own) in &mut decisions {
        own.truncate(paths.made_until(thread, last.get(&thread).copied().unwrap_or(0)));
    }
    decisions.retain(|_, own| !own.is_empty());
    (decisions, last)
}

impl Paths {
    /// Of a trace that has all its events.
    pub fn of(trace: &Trace) -> Paths {
        let mut paths = Paths::default();
        for event in &trace.events {
            if let Some(outcome) = outcome(&event.kind) {
                paths.push(event.id.thread, Decision { site: event.site, outcome }, Made::Event(event.id));
            }
        }
        paths
    }

    /// Of a concurrent trace program: what is decided by other than shared memory and synchronisation follows from the rest.
    pub fn of_ctp(ctp: &Ctp) -> Paths {
        let mut paths = Paths::default();
        for thread in &ctp.threads {
            for &at in &thread.events {
                let event = ctp.event(at);
                let outcome = match &event.kind {
                    Kind::Branch { taken, .. } => Some(u64::from(*taken)),
                    Kind::CompareExchange { success, .. } => Some(u64::from(*success)),
                    Kind::Assert { held, .. } => Some(u64::from(*held)),
                    Kind::Require { otherwise: Otherwise::OtherPath, .. } => Some(0),
                    Kind::Other(kind) => outcome(kind),
                    _ => None,
                };
                let made = if event.silent { Made::Silently(at) } else { Made::Event(event.id) };
                if let Some(outcome) = outcome {
                    paths.push(thread.id, Decision { site: event.site, outcome }, made);
                }
            }
        }
        paths
    }

    fn push(&mut self, thread: ThreadId, decision: Decision, made: Made) {
        self.decisions.entry(thread).or_default().push(decision);
        self.events.entry(thread).or_default().push(made);
    }

    /// How many decisions a thread has made up to its event of this number.
    pub fn made_until(&self, thread: ThreadId, n: u64) -> usize {
        let events = self.events.get(&thread).map_or(&[][..], Vec::as_slice);
        events.partition_point(|made| matches!(made, Made::Event(event) if event.n <= n))
    }

    /// The first decision of a thread here that another run does not have, or has otherwise.
    pub fn first_difference(&self, other: &Combination, thread: ThreadId) -> Option<usize> {
        let own = self.decisions.get(&thread)?;
        let others = other.get(&thread).map_or(&[][..], Vec::as_slice);
        let same = own.iter().zip(others).take_while(|(a, b)| a == b).count();
        (same < own.len()).then_some(same)
    }
}
