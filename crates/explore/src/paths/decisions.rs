//! What threads decide in a run: the outcomes on which their paths depend, and where they stop.

use crate::departures::{SIGNALLED, STOPPED};
use ctp::{Ctp, EventIndex, Kind, Otherwise, Settled};
use ir::SiteId;
use std::collections::{BTreeMap, BTreeSet};
use trace::{EventId, EventKind, Outcome, ThreadId, Trace, WakeReason};

/// One decision of a thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Decision {
    /// Where.
    pub site: SiteId,
    /// How it came out.
    pub outcome: u64,
}

/// Where a thread stops that does not come to its end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Stop {
    /// So many events it has done.
    pub done: u64,
    /// What it stands before does not hold or ends the process; otherwise it waits for others, or has come to the bound of a loop.
    pub fails: bool,
}

/// How the concurrent trace program is made that [`Paths::of_ctp`] needs. What one run leaves no choice another may decide, so all decisions are wanted.
pub const OPTIONS: ctp::Options =
    ctp::Options { atomic: ctp::Atomic::Marked, max_targets: 64, until: None, settled: true };

/// What each thread decided, in order.
pub type Combination = BTreeMap<ThreadId, Vec<Decision>>;

/// Where a decision is made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Made {
    /// By this event of the trace.
    Event(EventId),
    /// Between events of the trace, by this one of the concurrent trace program, before the event of this number. Branches of compiled programs are
    /// such.
    Silently(EventIndex, u64),
    /// By nothing that the concurrent trace program has, where it cannot come out otherwise; behind so many events that it has of the thread, before the event of the
    /// trace of this number.
    Settled(usize, u64),
}

impl Made {
    /// By an event of a concurrent trace program.
    pub fn by(ctp: &Ctp, at: EventIndex) -> Made {
        let event = ctp.event(at);
        if event.silent { Made::Silently(at, event.id.n) } else { Made::Event(event.id) }
    }

    /// How many events the thread has done before.
    fn done_before(self) -> u64 {
        match self {
            Made::Event(event) => event.n.saturating_sub(1),
            Made::Silently(_, before) | Made::Settled(_, before) => before.saturating_sub(1),
        }
    }
}

/// A combination of thread paths. Two runs in which every thread decides the same and stops at the same place, if it does, consist of the same
/// events.
#[derive(Clone, Default, Debug)]
pub struct Paths {
    /// Every thread's decisions.
    pub decisions: Combination,
    /// The events that are these decisions.
    pub events: BTreeMap<ThreadId, Vec<Made>>,
    /// All threads.
    pub threads: BTreeSet<ThreadId>,
    /// Where threads stop.
    pub stops: BTreeMap<ThreadId, Stop>,
    /// A failure ended the run: what threads would have decided next is not known, nor what they decided behind their last events.
    pub cut: bool,
}

/// Where the path of a thread leaves that of another run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Difference {
    /// At this decision, which the other run does not have, or has otherwise.
    Decision(usize),
    /// Behind so many events: there the thread stops in the other run, and goes on here.
    Behind(u64),
}

/// How an event came out, if its thread's path depends on it.
pub fn outcome(kind: &EventKind) -> Option<u64> {
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
    /// Of a trace that has all its events, the last `standing` of which have not happened: their threads stand before them.
    pub fn of(trace: &Trace, standing: usize) -> Paths {
        let mut paths = Paths::default();
        let (happened, standing) = trace.events.split_at(trace.events.len() - standing);
        let mut open: BTreeMap<ThreadId, Stop> = BTreeMap::new();
        for thread in &trace.threads {
            paths.threads.insert(thread.id);
            open.insert(thread.id, Stop { done: 0, fails: false });
        }
        for event in happened {
            let EventId { thread, n } = event.id;
            if let Some(outcome) = outcome(&event.kind) {
                paths.push(thread, Decision { site: event.site, outcome }, Made::Event(event.id));
            }
            match event.kind {
                EventKind::End => _ = open.remove(&thread),
                _ => _ = open.insert(thread, Stop { done: n, fails: false }),
            }
        }
        for event in standing {
            open.entry(event.id.thread).and_modify(|stop| stop.fails = !event.kind.may_wait());
        }
        paths.stops = open;
        paths
    }

    /// Of the run of a compiled program, and its concurrent trace program as [`OPTIONS`] make it. Such programs end without their threads; only who waits for
    /// ever stops.
    pub fn of_ctp(ctp: &Ctp, outcome_of_run: &Outcome) -> Paths {
        let cut = matches!(outcome_of_run, Outcome::AssertionFailed { .. } | Outcome::Fault { .. });
        let mut paths = Paths { cut, ..Paths::default() };
        for (n, thread) in ctp.threads.iter().enumerate() {
            paths.threads.insert(thread.id);
            let own = ctp.settled.iter().filter(|settled| settled.thread.index() == n);
            let mut settled = own.copied().peekable();
            let settle = |paths: &mut Paths, Settled { site, outcome, behind, before, .. }: Settled| {
                paths.push(thread.id, Decision { site, outcome }, Made::Settled(behind, before));
            };
            for (behind, &at) in thread.events.iter().enumerate() {
                while let Some(before) = settled.next_if(|settled| settled.behind <= behind) {
                    settle(&mut paths, before);
                }
                let event = ctp.event(at);
                let outcome = match &event.kind {
                    Kind::Branch { taken, .. } => Some(u64::from(*taken)),
                    Kind::CompareExchange { success, .. } => Some(u64::from(*success)),
                    Kind::Assert { held, .. } => Some(u64::from(*held)),
                    Kind::Require { otherwise: Otherwise::OtherPath { address }, .. } => {
                        Some(ctp.expressions.recorded(*address).unwrap_or(0) as u64)
                    }
                    Kind::Other(kind) => outcome(kind),
                    _ => None,
                };
                if let Some(outcome) = outcome {
                    paths.push(thread.id, Decision { site: event.site, outcome }, Made::by(ctp, at));
                }
            }
            settled.for_each(|last| settle(&mut paths, last));
            if let Outcome::Deadlock { blocked } = outcome_of_run
                && blocked.iter().any(|one| one.thread == thread.id)
            {
                paths.stops.insert(thread.id, Stop { done: thread.last, fails: false });
            }
        }
        paths
    }

    fn push(&mut self, thread: ThreadId, decision: Decision, made: Made) {
        self.decisions.entry(thread).or_default().push(decision);
        self.events.entry(thread).or_default().push(made);
    }

    /// Whether it is the same combination.
    pub fn is(&self, other: &Paths) -> bool {
        self.decisions == other.decisions && self.stops == other.stops && self.threads == other.threads
    }

    /// How many decisions a thread has made up to its event of this number.
    pub fn made_until(&self, thread: ThreadId, n: u64) -> usize {
        let events = self.events.get(&thread).map_or(&[][..], Vec::as_slice);
        events.partition_point(|made| match made {
            Made::Event(event) => event.n <= n,
            // It is made as soon as the event before it has happened.
            Made::Silently(..) | Made::Settled(..) => made.done_before() <= n,
        })
    }

    /// How many decisions a thread has made.
    pub fn made(&self, thread: ThreadId) -> usize {
        self.decisions.get(&thread).map_or(0, Vec::len)
    }

    /// Whether a thread goes on behind so many events.
    pub fn goes_behind(&self, thread: ThreadId, done: u64) -> bool {
        self.threads.contains(&thread) && self.stops.get(&thread).is_none_or(|stop| stop.done > done)
    }

    /// Whether a failure ended the run when the thread had made so many decisions: the next may have been made, but nobody knows how.
    pub fn is_cut_before(&self, thread: ThreadId, decisions: usize) -> bool {
        self.cut && decisions >= self.made(thread)
    }

    /// Where the path of a thread here leaves that of another run; `None` if it does not, and at most ends before.
    pub fn first_difference(&self, other: &Paths, thread: ThreadId) -> Option<Difference> {
        let own = self.decisions.get(&thread).map_or(&[][..], Vec::as_slice);
        let others = other.decisions.get(&thread).map_or(&[][..], Vec::as_slice);
        let same = own.iter().zip(others).take_while(|(a, b)| a == b).count();
        let behind = other.stops.get(&thread).map(|stop| stop.done).filter(|&n| self.goes_behind(thread, n));
        if other.is_cut_before(thread, same) {
            return None;
        }
        match (own.get(same).map(|_| self.events[&thread][same].done_before()), behind) {
            (Some(before), Some(done)) if before >= done => Some(Difference::Behind(done)),
            (Some(_), _) => Some(Difference::Decision(same)),
            (None, behind) => behind.map(Difference::Behind),
        }
    }
}
