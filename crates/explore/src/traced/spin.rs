//! Loops that only wait: a thread that goes round and round until another one changes what it reads.
//!
//! That a round without effect can be left out of a run, and why nothing is missed then, says `machine::spin`. Here the rounds are those of a
//! recorded run: a thread stands before an event in a state of its own in which it stood before, and has only read since ([`ctp::rounds`]).

use super::recorded::{Recorded, Sites, address};
use super::{Step, Traced};
use ir::{Program, SiteId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use subject::{Footprint, Move, Subject};
use trace::{AllocationId, Event, EventKind, Location, ThreadId, Trace};

/// Memory that was read in a round, and what it held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    /// The event.
    n: u64,
    address: u64,
    bytes: u8,
    value: u64,
}

/// For each event behind which its thread has just gone round without effect: what was read in the round. By thread and number.
pub type Rounds = FxHashMap<(ThreadId, u64), Rc<[Seen]>>;

/// What an event reads, if that is all that others could notice of it.
fn read_by(trace: &Trace, n: u64, kind: &EventKind) -> Option<Seen> {
    let (location, bytes, value) = match *kind {
        EventKind::Read { location, bytes, value, .. } => (location, bytes, value),
        EventKind::CompareExchange { location, bytes, old, success: false, .. } => (location, bytes, old),
        // Who exchanges a value for itself changes nothing.
        EventKind::Update { location, bytes, old, new, .. } if old == new => (location, bytes, old),
        _ => return None,
    };
    Some(Seen { n, address: address(trace, location), bytes, value })
}

/// The rounds without effect in a run.
pub fn rounds(program: &Program, trace: &Trace, sites: &Sites<'_>) -> Rounds {
    let mut rounds = Rounds::default();
    if quiet_repeats(trace, sites) == 0 {
        return rounds;
    }
    // Where the states are not known no round is.
    let Ok(found) = ctp::rounds(program, trace, &|event| sites.is_noticed(event)) else { return rounds };
    if found.is_empty() {
        return rounds;
    }
    let mut own: FxHashMap<ThreadId, Vec<&Event>> = FxHashMap::default();
    for event in &trace.events {
        own.entry(event.id.thread).or_default().push(event);
    }
    for round in found {
        let thread = trace.threads[round.thread.index()].id;
        let events = own.get(&thread).map_or(&[][..], Vec::as_slice);
        let first = events.partition_point(|event| event.id.n <= round.before);
        let inside = events[first..].iter().take_while(|event| event.id.n <= round.until);
        let read = inside.filter_map(|event| read_by(trace, event.id.n, &event.kind));
        rounds.insert((thread, round.until), read.collect());
    }
    rounds
}

/// How often a thread comes to an instruction where it was before, and has only read meanwhile.
pub fn quiet_repeats(trace: &Trace, sites: &Sites<'_>) -> u64 {
    let mut since: FxHashMap<ThreadId, FxHashSet<SiteId>> = FxHashMap::default();
    let mut repeats = 0;
    for event in trace.events.iter().filter(|event| sites.is_noticed(event)) {
        let since = since.entry(event.id.thread).or_default();
        repeats += u64::from(since.contains(&event.site));
        match read_by(trace, event.id.n, &event.kind) {
            Some(_) => _ = since.insert(event.site),
            None => since.clear(),
        }
    }
    repeats
}

/// Adds that a step depends on what was read.
pub fn add_reads(footprint: &mut Footprint, thread: ThreadId, read: &[Seen]) {
    for seen in read {
        let location = Location { allocation: AllocationId(0), offset: seen.address };
        let kind = EventKind::Read { location, bytes: seen.bytes, value: seen.value, order: None };
        footprint.add(thread, &kind, |_| seen.address, |_| 0, &[]);
    }
    if !read.is_empty() {
        footprint.add_waiting(thread);
    }
}

/// What an event leaves in memory that was read: `None` if it does not write there, `Some(None)` if that is not known.
fn written(kind: &EventKind, seen: &Seen) -> Option<Option<u64>> {
    let (access, location, bytes, _) = kind.access()?;
    let (start, end) = (location.offset, location.offset.saturating_add(bytes));
    let apart = end <= seen.address || seen.address.saturating_add(u64::from(seen.bytes)) <= start;
    if !access.writes() || apart {
        return None;
    }
    let value = match *kind {
        EventKind::Write { value, .. } => Some(value),
        EventKind::Update { new, .. } | EventKind::CompareExchange { new, .. } => Some(new),
        _ => None,
    };
    Some(value.filter(|_| start == seen.address && bytes == u64::from(seen.bytes)))
}

impl Recorded {
    /// What was read in the round that a thread has just gone whose last step is this.
    pub fn round(&self, step: usize) -> Option<&Rc<[Seen]>> {
        let Step { made, n, .. } = &self.steps[step];
        self.rounds.get(&(made.thread, *n))
    }
}

impl<S: Subject> Traced<'_, S> {
    /// The steps of the run that the first `steps` of it are, and then `moves`; up to where the run does not have them.
    pub(super) fn order(&self, steps: usize, moves: &[Move]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..steps).collect();
        let mut more: FxHashMap<ThreadId, usize> = FxHashMap::default();
        for made in moves {
            let own = self.run.own(made.thread);
            let next = more.entry(made.thread).or_insert_with(|| own.partition_point(|&step| step < steps));
            let Some(&step) = own.get(*next) else { break };
            order.push(step);
            *next += 1;
        }
        order
    }

    /// What a thread has read in the round that it has just gone behind these steps, if it has, and whether all that is as it was.
    pub(super) fn round_behind(&self, order: &[usize], thread: ThreadId) -> Option<(Rc<[Seen]>, bool)> {
        if !self.sites.spins {
            return None;
        }
        let steps = &self.run.steps;
        let last = order.iter().rev().copied().find(|&step| steps[step].made.thread == thread)?;
        let is_cut_off = || self.run.own(thread).last() == Some(&last) && self.reads_only(last);
        let round = match self.run.round(last) {
            Some(round) => Rc::clone(round),
            None if is_cut_off() => self.cut_off(thread)?.round?,
            None => return None,
        };
        let is_same = |seen: &Seen| {
            let later = order.iter().rev().map(|&step| &steps[step]);
            let later = later.take_while(|step| step.made.thread != thread || step.n != seen.n);
            let last = later.filter_map(|step| step.kind.as_ref()).find_map(|kind| written(kind, seen));
            last.is_none_or(|value| value == Some(seen.value))
        };
        let same = round.iter().all(is_same);
        Some((round, same))
    }

    fn reads_only(&self, step: usize) -> bool {
        let Step { kind, n, .. } = &self.run.steps[step];
        kind.as_ref().is_some_and(|kind| read_by(&self.run.trace, *n, kind).is_some())
    }

    /// Whether a thread need not go on behind these steps: it has gone round without effect, and everything is as it was.
    pub(super) fn only_waits(&self, order: &[usize], thread: ThreadId) -> bool {
        self.round_behind(order, thread).is_some_and(|(_, same)| same)
    }
}
