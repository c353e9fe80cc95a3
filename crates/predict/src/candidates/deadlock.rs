//! Potential deadlocks of two locks: one thread asks for the second while it holds the first, another one asks for the first while it holds
//! the second. Of short traces the engine enumerates deadlocks of every kind, and has no use for these.

use super::{Accesses, Collector};
use claim::{Candidate, Deadlock};
use ctp::{Ctp, EventIndex, Kind, ThreadIndex};
use ir::SiteId;
use std::collections::BTreeMap;
use trace::{EventKind, Location, LockMode};

/// A lock, and whether it is held or asked for by a reader.
type Use = (Location, bool);

/// Acquires of the second lock by threads that hold the first, by thread and instruction.
type Nested = BTreeMap<(Use, Use), BTreeMap<(ThreadIndex, SiteId), Vec<EventIndex>>>;

/// How a lock is held with which another thread is to be kept out: not by a reader, if that one reads.
fn keeping_out((lock, reads): Use) -> impl Iterator<Item = Use> {
    [(lock, false), (lock, true)].into_iter().filter(move |(_, other)| !(reads && *other))
}

/// Circles of two threads and two locks, at most so many at the same instructions.
#[must_use]
pub fn circles(ctp: &Ctp, most: usize) -> Vec<Candidate> {
    let nested = nested(ctp);
    let mut collector = Collector { most, ..Collector::new(ctp) };
    for (&(first, second), ones) in nested.iter().filter(|((first, second), _)| first.0 < second.0) {
        // The other thread holds the second as it keeps this one out, and asks for the first as this one keeps it out.
        let held = keeping_out(second);
        let pairs = held.flat_map(|held| keeping_out(first).map(move |asked| (held, asked)));
        let others: Vec<_> = pairs.filter_map(|pair| nested.get(&pair)).flatten().collect();
        for (one, &other) in ones.iter().flat_map(|one| others.iter().map(move |other| (one, other))) {
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
        let mut held: Vec<Use> = vec![];
        for &at in &thread.events {
            let Kind::Other(kind) = &ctp.event(at).kind else { continue };
            match *kind {
                EventKind::Lock { object, mode, .. } => {
                    let asked = (object, mode == LockMode::Read);
                    for &other in held.iter().filter(|other| other.0 != object) {
                        let place = (ThreadIndex::new(n), ctp.event(at).site);
                        nested.entry((other, asked)).or_default().entry(place).or_default().push(at);
                    }
                    held.push(asked);
                }
                EventKind::TryLock { object, mode, acquired: Some(_) } => {
                    held.push((object, mode == LockMode::Read));
                }
                EventKind::WaitEnd { mutex: Some(object), .. } => held.push((object, false)),
                EventKind::Unlock { object, .. } | EventKind::WaitBegin { mutex: Some(object), .. } => {
                    if let Some(last) = held.iter().rposition(|other| other.0 == object) {
                        held.remove(last);
                    }
                }
                _ => {}
            }
        }
    }
    nested
}
