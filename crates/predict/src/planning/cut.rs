//! Where the recorded run is cut before it is put in a new order (PLAN §5; docs/design/engines.md,
//! "Lockset").
//!
//! The cut lies before the candidate's first event, at the latest point at which no thread that plays no part holds a lock that is needed behind
//! it: such a thread would have to be brought to its release. If there is no plan, the cut moves back by steps that grow, and as much is added
//! behind the last event.

use ctp::{Ctp, EventIndex, Kind, Slices, ThreadIndex};
use rustc_hash::FxHashSet;
use trace::{EventKind, Location};

/// How far back the cuts lie.
const BACK: [usize; 4] = [0, 48, 384, 3072];

/// So many events may be put in a new order at most.
pub(super) const MOST_EVENTS: usize = 20_000;

/// The windows that are tried one after the other: from which event to before which. The last one is the whole trace if that is short.
pub(super) fn cuts(ctp: &Ctp, slices: &Slices<'_>, events: &[EventIndex]) -> Vec<(EventIndex, EventIndex)> {
    let (Some(&first), Some(&last)) = (events.iter().min(), events.iter().max()) else { return vec![] };
    let all = ctp.events.len();
    let threads: Vec<ThreadIndex> = events.iter().map(|&at| ctp.event(at).thread).collect();
    let mut windows: Vec<(EventIndex, EventIndex)> = vec![];
    for back in BACK {
        let from = EventIndex::new(first.index().saturating_sub(back));
        let to = EventIndex::new((last.index() + 1 + back).min(all));
        let from = without_foreign_locks(ctp, slices, from, to, &threads);
        if to.index() - from.index() <= MOST_EVENTS && windows.last() != Some(&(from, to)) {
            windows.push((from, to));
        }
    }
    let whole = (EventIndex::new(0), EventIndex::new(all));
    if all <= MOST_EVENTS && windows.last() != Some(&whole) {
        windows.push(whole);
    }
    windows
}

/// The latest place at or before `from` where nobody but these threads holds a lock that these threads take before `to`.
fn without_foreign_locks(
    ctp: &Ctp,
    slices: &Slices<'_>,
    from: EventIndex,
    to: EventIndex,
    threads: &[ThreadIndex],
) -> EventIndex {
    /// If it is not found soon, any place will do: the next cut lies further back.
    const MOST: usize = 16;
    let mut cut = slices.cut_before(from);
    for _ in 0..MOST {
        let window = (cut.index()..to.index()).map(|n| &ctp.events[n]);
        let own = window.filter(|event| threads.contains(&event.thread));
        let needed: FxHashSet<Location> = own.filter_map(|event| taken(&event.kind)).collect();
        let foreign = slices.open_at(cut).into_iter().find(|&open| {
            let event = ctp.event(open);
            !threads.contains(&event.thread) && taken(&event.kind).is_some_and(|lock| needed.contains(&lock))
        });
        match foreign {
            Some(acquire) => cut = slices.cut_before(acquire),
            None => break,
        }
    }
    cut
}

/// The lock that an event takes.
fn taken(kind: &Kind) -> Option<Location> {
    match kind {
        Kind::Other(
            EventKind::Lock { object, .. }
            | EventKind::TryLock { object, acquired: Some(_), .. }
            | EventKind::WaitEnd { mutex: Some(object), .. },
        ) => Some(*object),
        _ => None,
    }
}
