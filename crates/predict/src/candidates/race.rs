//! Potential races (DESIGN §10): two accesses of different threads, one of which may write, not both atomic. Giving memory back
//! writes all of it.

use super::{Collector, may_write};
use claim::Candidate;
use ctp::{Event, EventIndex};

pub(super) fn collect(collector: &mut Collector<'_>) {
    let ctp = collector.ctp;
    for all in collector.accesses.clone() {
        for (n, &a) in all.iter().enumerate() {
            for &b in &all[n + 1..] {
                let (a, b) = (ctp.event(a), ctp.event(b));
                if may_write(&a.kind) || may_write(&b.kind) {
                    add(collector, a, b);
                }
            }
        }
    }
    for (allocation, frees) in &ctp.freed {
        for at in (0..ctp.events.len()).map(EventIndex::new) {
            let access = ctp.event(at);
            let hits = access.kind.access().is_some_and(|access| {
                access.targets.iter().any(|target| target.place.allocation == *allocation)
            });
            if hits {
                frees.iter().for_each(|&free| add(collector, access, ctp.event(free)));
            }
        }
    }
}

fn add(collector: &mut Collector<'_>, a: &Event, b: &Event) {
    let atomic = |event: &Event| event.kind.access().is_some_and(|access| access.order.is_some());
    if a.thread == b.thread || (atomic(a) && atomic(b)) {
        return;
    }
    let (first, second) = if a.id < b.id { (a, b) } else { (b, a) };
    let sites = vec![first.site, second.site];
    collector.add(1, sites.clone(), || Candidate::co_enabled(a.id, b.id));
    collector.add(2, sites, || Candidate::unordered(a.id, b.id));
}
