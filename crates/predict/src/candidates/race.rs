//! Potential races (docs/design/candidates.md, "Races"): two accesses of different threads, one of which may
//! write, not both atomic. Giving memory back writes all of it.

use super::{Accesses, Collector, Stage, may_write};
use claim::Candidate;
use ctp::{Event, EventIndex};
use rustc_hash::FxHashMap;
use trace::AllocationId;

pub(super) fn collect(collector: &mut Collector<'_>) {
    for n in 0..collector.accesses.len() {
        let groups = collector.look_at(n);
        pairs(collector, &groups, &groups);
    }
    let ctp = collector.ctp;
    if ctp.freed.is_empty() || collector.stage == Stage::FewOfEach {
        return;
    }
    let mut hits: FxHashMap<AllocationId, Vec<EventIndex>> = FxHashMap::default();
    for at in (0..ctp.events.len()).map(EventIndex::new).filter(|&at| !ctp.event(at).silent) {
        for target in ctp.event(at).kind.access().into_iter().flat_map(|access| &access.targets) {
            let hits = hits.entry(target.place.allocation).or_default();
            if ctp.freed.contains_key(&target.place.allocation) && hits.last() != Some(&at) {
                hits.push(at);
            }
        }
    }
    for (allocation, frees) in &ctp.freed {
        let accesses = collector.groups(hits.get(allocation).map_or(&[], Vec::as_slice));
        let frees = collector.groups(frees);
        pairs(collector, &accesses, &frees);
    }
}

/// All pairs of two groups, or as many of them as there may be: each group is of one instruction and one thread.
fn pairs(collector: &mut Collector<'_>, ones: &[Accesses], others: &[Accesses]) {
    let ctp = collector.ctp;
    let atomic = |event: &Event| event.kind.access().is_some_and(|access| access.order.is_some());
    let writes = |event: &Event| may_write(&event.kind) || event.kind.access().is_none();
    for one in ones {
        for other in others {
            let (a, b) = (ctp.event(one.events[0]), ctp.event(other.events[0]));
            let is_twice = std::ptr::eq(ones, others) && (one.thread, one.site) > (other.thread, other.site);
            if a.thread == b.thread || is_twice || (atomic(a) && atomic(b)) || !(writes(a) || writes(b)) {
                continue;
            }
            let sites = if a.id < b.id { vec![a.site, b.site] } else { vec![b.site, a.site] };
            for (tag, make) in [(1, Candidate::co_enabled as fn(_, _) -> _), (2, Candidate::unordered)] {
                let all = one.events.len() as u64 * other.events.len() as u64;
                let near = one.near(other, collector.most).into_iter();
                let pairs = near.map(|(x, y)| make(ctp.event(x).id, ctp.event(y).id));
                collector.take(tag, &sites, all, pairs);
            }
        }
    }
}
