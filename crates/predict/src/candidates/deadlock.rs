//! Potential deadlocks of two locks: one thread asks for the second while it holds the first, another one asks for the first while it holds
//! the second. Of short traces the engine enumerates deadlocks of every kind, and has no use for these.

use super::{Accesses, Collector};
use claim::{Candidate, Deadlock};
use ctp::{Ctp, EventIndex, Kind, ThreadIndex};
use ir::SiteId;
use std::collections::BTreeMap;
use trace::{EventKind, Location};

/// Acquires of the second lock by threads that hold the first, by thread and instruction.
type Nested = BTreeMap<(Location, Location), BTreeMap<(ThreadIndex, SiteId), Vec<EventIndex>>>;

/// Circles of two threads and two locks, at most so many at the same instructions.
#[must_use]
pub fn circles(ctp: &Ctp, most: usize) -> Vec<Candidate> {
    let nested = nested(ctp);
    let mut collector = Collector { most, ..Collector::new(ctp) };
    for (&(first, second), ones) in nested.iter().filter(|((first, second), _)| first < second) {
        let Some(others) = nested.get(&(second, first)) else { continue };
        for (one, other) in ones.iter().flat_map(|one| others.iter().map(move |other| (one, other))) {
            if one.0.0 == other.0.0 {
                continue;
            }
            let group = |(&(thread, site), events): (&(ThreadIndex, SiteId), &Vec<EventIndex>)| Accesses {
                thread,
                site,
                events: events.clone(),
            };
            let sites = [one.0.1, other.0.1];
            let all = one.1.len() as u64 * other.1.len() as u64;
            let near = group(one).near(&group(other), collector.most).into_iter();
            let circles = near.map(|(a, b)| {
                let mut events = vec![ctp.event(a).id, ctp.event(b).id];
                events.sort_unstable();
                Candidate::Deadlock(Deadlock::Circle(events))
            });
            collector.take(5, &sites, all, circles);
        }
    }
    collector.all.into_iter().collect()
}

fn nested(ctp: &Ctp) -> Nested {
    let mut nested = Nested::new();
    for (n, thread) in ctp.threads.iter().enumerate() {
        let mut held: Vec<Location> = vec![];
        for &at in &thread.events {
            let Kind::Other(kind) = &ctp.event(at).kind else { continue };
            match *kind {
                EventKind::Lock { object, .. } => {
                    for &other in held.iter().filter(|&&other| other != object) {
                        let place = (ThreadIndex::new(n), ctp.event(at).site);
                        nested.entry((other, object)).or_default().entry(place).or_default().push(at);
                    }
                    held.push(object);
                }
                EventKind::TryLock { object, acquired: Some(_), .. }
                | EventKind::WaitEnd { mutex: Some(object), .. } => held.push(object),
                EventKind::Unlock { object, .. } | EventKind::WaitBegin { mutex: Some(object), .. } => {
                    if let Some(last) = held.iter().rposition(|&other| other == object) {
                        held.remove(last);
                    }
                }
                _ => {}
            }
        }
    }
    nested
}
