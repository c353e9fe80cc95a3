//! What threads decide in a run: the outcomes on which their paths depend.

use crate::departures::{SIGNALLED, STOPPED};
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

/// The paths of a run.
#[derive(Clone, Debug)]
pub struct Paths {
    /// Every thread's decisions.
    pub decisions: Combination,
    /// The events that are these decisions.
    pub events: BTreeMap<ThreadId, Vec<EventId>>,
    /// The run came to its program's end.
    pub whole: bool,
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

impl Paths {
    /// Of a trace that has all its events.
    pub fn of(trace: &Trace) -> Paths {
        let (mut decisions, mut events) = (Combination::new(), BTreeMap::<_, Vec<EventId>>::new());
        for event in &trace.events {
            let Some(outcome) = outcome(&event.kind) else { continue };
            decisions.entry(event.id.thread).or_default().push(Decision { site: event.site, outcome });
            events.entry(event.id.thread).or_default().push(event.id);
        }
        let whole = matches!(trace.outcome, Outcome::Completed { .. } | Outcome::Exited { .. });
        Paths { decisions, events, whole }
    }

    /// The first decision of a thread here that another run does not have, or has otherwise.
    pub fn first_difference(&self, other: &Combination, thread: ThreadId) -> Option<usize> {
        let own = self.decisions.get(&thread)?;
        let others = other.get(&thread).map_or(&[][..], Vec::as_slice);
        let same = own.iter().zip(others).take_while(|(a, b)| a == b).count();
        (same < own.len()).then_some(same)
    }
}
