//! Which events of the run that showed a finding are worth a reader's time.
//!
//! What it is about, the accesses of the same memory, synchronisation, and how it ended; other accesses only while there is room.

use super::told::{Told, tells};
use crate::Sources;
use claim::{Candidate, Finding};
use std::collections::{BTreeSet, HashSet};
use trace::{Event, EventId, EventKind, ExcerptRow, Location, Outcome, Trace};

/// With so many events nothing has to be left out.
const FEW: usize = 18;

/// So many accesses before a failure may be what it fails for.
const READ_BEFORE: usize = 4;

/// So many events before the first that a finding is about are looked at.
const FAR: usize = 20_000;

/// More rows nobody reads.
const MOST: usize = 32;

/// The events to show of the run that showed a finding.
pub(super) fn rows(run: &Trace, finding: &Finding, sources: &Sources<'_>) -> Vec<ExcerptRow> {
    tell(&Told::new(run), &marked(run, finding), &[], sources)
}

/// The events to show of the recorded run, in which all went well: those that are `beside` it, of the run that showed the finding, as
/// far as they ran, and what else matters around the events that the finding is about.
pub(super) fn recorded(
    told: &Told<'_>,
    finding: &Finding,
    beside: &[ExcerptRow],
    sources: &Sources<'_>,
) -> Vec<ExcerptRow> {
    let at = |ids: &mut dyn Iterator<Item = EventId>| -> Vec<usize> {
        let found: BTreeSet<usize> = ids.filter_map(|id| told.places.find(id)).collect();
        found.into_iter().collect()
    };
    let about = at(&mut finding.candidate.events().into_iter());
    tell(told, &about, &at(&mut beside.iter().map(|row| row.event)), sources)
}

/// The events to show of a run: what it is about, what `also` belongs to it, and what matters around.
fn tell(all: &Told<'_>, marked: &[usize], also: &[usize], sources: &Sources<'_>) -> Vec<ExcerptRow> {
    let run = all.run;
    let last = match run.outcome {
        Outcome::AssertionFailed { event, .. } | Outcome::Fault { event, .. } => all.places.find(event),
        _ => None,
    };
    let decisive = last.map_or_else(Vec::new, |last| read_before(run, last));
    let end = match last {
        Some(last) => last,
        // Nothing failed: what follows the last of its events is the ordinary end of the program.
        None => marked.last().copied().unwrap_or(run.events.len().saturating_sub(1)),
    };
    // What lies far before anything that is shown surely is not.
    let first = marked.iter().chain(also).chain(&last).min().copied().unwrap_or(0);
    let from = first.saturating_sub(FAR);
    let told: Vec<usize> = (from..=end).filter(|&at| run.events.get(at).is_some_and(tells)).collect();
    let mut shown: BTreeSet<usize>;
    if from == 0 && told.len() <= FEW {
        shown = told.into_iter().collect();
    } else {
        let memory = |events: &[usize]| -> Vec<(Location, u64)> {
            let accesses = events.iter().filter_map(|&at| run.events[at].kind.access());
            accesses.map(|(_, location, bytes, _)| (location, bytes)).collect()
        };
        // Between the events that it is about synchronisation is part of the story, elsewhere only the memory is.
        let about = memory(marked);
        let (about, first, behind) = match (about.is_empty(), marked) {
            (false, [first, .., behind]) => {
                // With the lock that the first is under, and the unlock behind the last.
                let rank = |at: usize| told.partition_point(|&other| other < at);
                let before = told[rank(*first).saturating_sub(1)];
                let after = told.get(rank(*behind) + 1).copied().unwrap_or(*behind);
                (about, before, after)
            }
            _ => (memory(&decisive), 0, end),
        };
        shown = (told.into_iter())
            .filter(|&at| {
                let inside = first <= at && at <= behind;
                let touches = |&(location, bytes): &_| run.events[at].kind.touches(location, bytes);
                about.iter().any(touches) || (inside && synchronises(&run.events[at]))
            })
            .collect();
        drop_empty_sections(run, &mut shown, marked);
    }
    let fixed: BTreeSet<usize> = marked.iter().chain(also).chain(&last).copied().collect();
    shown.extend(fixed.iter().chain(&decisive));
    let shown = nearest(shown.into_iter().collect(), &fixed);
    let mut rows = sources.excerpt(run, &shown, marked);
    // What says nothing is not missed.
    let mut next = 0;
    for (row, &at) in rows.iter_mut().zip(&shown) {
        row.left_out = all.between(next, at);
        next = at + 1;
    }
    rows
}

/// The events that the finding is about, as far as they ran.
fn marked(run: &Trace, finding: &Finding) -> Vec<usize> {
    let mut wanted = finding.candidate.events();
    let is_deadlock = matches!(finding.candidate, Candidate::Deadlock(_));
    if is_deadlock {
        // They never come; what counts is what each thread did last.
        wanted = wanted
            .iter()
            .filter_map(|never| {
                let mut before = run.events.iter().filter(|event| event.id.thread == never.thread);
                before.rfind(|event| tells(event)).map(|event| event.id)
            })
            .collect();
    }
    // A run that departs may do something else in place of an event.
    let is_it = |event: &Event| {
        let at = wanted.iter().position(|id| *id == event.id);
        at.is_some_and(|at| {
            is_deadlock || finding.sites.get(at).is_none_or(|site| *site == event.site) || ends(run, event)
        })
    };
    (0..run.events.len()).filter(|&at| is_it(&run.events[at])).collect()
}

/// Whether a run ends with this event.
fn ends(run: &Trace, event: &Event) -> bool {
    match &run.outcome {
        Outcome::AssertionFailed { event: last, .. } | Outcome::Fault { event: last, .. } => {
            event.id == *last
        }
        _ => false,
    }
}

/// Whether an event is synchronisation that readers follow.
fn synchronises(event: &Event) -> bool {
    event.kind.access().is_none()
        && event.kind.is_synchronisation()
        && !matches!(event.kind, EventKind::Alloc { .. } | EventKind::Free { .. })
}

/// The last accesses of the thread that fails: what it fails for.
fn read_before(run: &Trace, last: usize) -> Vec<usize> {
    let thread = run.events[last].id.thread;
    let own = (0..last).rev().filter(|&at| run.events[at].id.thread == thread);
    own.take(READ_BEFORE).take_while(|&at| run.events[at].kind.access().is_some()).collect()
}

/// Leaves out critical sections in which nothing is shown.
fn drop_empty_sections(run: &Trace, shown: &mut BTreeSet<usize>, marked: &[usize]) {
    let mut open: Vec<(trace::ThreadId, usize)> = vec![];
    let mut empty: HashSet<usize> = HashSet::new();
    for &at in shown.iter() {
        let event = &run.events[at];
        let thread = event.id.thread;
        match event.kind {
            EventKind::Lock { .. } if !marked.contains(&at) => open.push((thread, at)),
            EventKind::Unlock { .. } if !marked.contains(&at) => {
                if let Some(found) = open.iter().rposition(|&(owner, _)| owner == thread) {
                    empty.extend([open.remove(found).1, at]);
                }
            }
            _ => open.retain(|&(owner, _)| owner != thread),
        }
    }
    shown.retain(|at| !empty.contains(at));
}

/// Those closest to what the excerpt is about, if there are too many.
fn nearest(shown: Vec<usize>, fixed: &BTreeSet<usize>) -> Vec<usize> {
    if shown.len() <= MOST {
        return shown;
    }
    let fixed: Vec<usize> = (0..shown.len()).filter(|&rank| fixed.contains(&shown[rank])).collect();
    let distance = |rank: usize| fixed.iter().map(|&other| other.abs_diff(rank)).min().unwrap_or(rank);
    let mut ranks: Vec<usize> = (0..shown.len()).collect();
    ranks.sort_by_key(|&rank| (distance(rank), rank));
    ranks.truncate(MOST.max(fixed.len()));
    ranks.sort_unstable();
    ranks.into_iter().map(|rank| shown[rank]).collect()
}
