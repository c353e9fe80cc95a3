//! Potential atomicity violations (AV §3): e1 and e2 in one transaction, f in another thread, of an unserializable kind.
//!
//! All pairs e1, e2 of a transaction and not only neighbours: write, read, write with a remote read in between needs that. Where there
//! are too many, those of the same instructions are thinned out.

use super::{Accesses, Collector, may_write};
use claim::Candidate;
use ctp::{EventIndex, LocationId, ThreadIndex, Transaction, TransactionOrigin};
use ir::SiteId;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use trace::EventId;

/// Pairs e1, e2 of one thread at the same instructions.
type Pairs = BTreeMap<(ThreadIndex, SiteId, SiteId), Vec<(EventIndex, EventIndex)>>;

pub(super) fn collect(collector: &mut Collector<'_>) {
    let ctp = collector.ctp;
    // Which transactions a thread has, by their beginning.
    let mut of_thread: Vec<Vec<&Transaction>> = vec![vec![]; ctp.threads.len()];
    // Updates are about one location each: its first and its last access.
    let mut updates: FxHashMap<LocationId, Vec<&Transaction>> = FxHashMap::default();
    for transaction in &ctp.transactions {
        match transaction.origin {
            TransactionOrigin::Update(location) => updates.entry(location).or_default().push(transaction),
            _ => of_thread[transaction.thread.index()].push(transaction),
        }
    }
    for n in 0..collector.accesses.len() {
        let groups = collector.look_at(n);
        if groups.iter().all(|group| group.thread == groups[0].thread) {
            continue;
        }
        let mut pairs = Pairs::new();
        for (thread, transactions) in of_thread.iter().enumerate() {
            let own = collector.accesses[n].iter().copied();
            let own: Vec<EventIndex> = own.filter(|&at| ctp.event(at).thread.index() == thread).collect();
            for transaction in transactions {
                let number = |at: EventIndex| ctp.event(at).id.n;
                let from = own.partition_point(|&at| number(at) < transaction.from);
                let to = own.partition_point(|&at| number(at) <= transaction.to);
                if to - from > 1 {
                    add_pairs(collector, &own[from..to], &mut pairs);
                }
            }
        }
        for update in updates.get(&LocationId::new(n)).into_iter().flatten() {
            let event = |n: u64| ctp.find(EventId { thread: ctp.thread(update.thread).id, n });
            if let (Some(before), Some(after)) = (event(update.from), event(update.to)) {
                let (e1, e2) = (ctp.event(before), ctp.event(after));
                pairs.entry((e1.thread, e1.site, e2.site)).or_default().push((before, after));
            }
        }
        for (&(thread, ..), pairs) in &mut pairs {
            pairs.sort_unstable();
            pairs.dedup();
            for group in groups.iter().filter(|group| group.thread != thread) {
                triples(collector, pairs, group);
            }
        }
    }
}

/// The pairs of one transaction; of many at the same two instructions only the first few, from both ends.
fn add_pairs(collector: &Collector<'_>, own: &[EventIndex], pairs: &mut Pairs) {
    let ctp = collector.ctp;
    let mut here = BTreeMap::<(SiteId, SiteId), usize>::new();
    let all = own.len().saturating_mul(own.len()) <= collector.most.saturating_mul(4);
    for (n, &before) in own.iter().enumerate() {
        let (e1, behind) = (ctp.event(before), &own[n + 1..]);
        let ends = (0..behind.len()).filter(|&m| all || m < 2 || m + 2 >= behind.len());
        for after in ends.map(|m| behind[m]) {
            let e2 = ctp.event(after);
            let so_many = here.entry((e1.site, e2.site)).or_default();
            if all || *so_many < collector.most {
                *so_many += 1;
                pairs.entry((e1.thread, e1.site, e2.site)).or_default().push((before, after));
            }
        }
    }
}

fn triples(collector: &mut Collector<'_>, pairs: &[(EventIndex, EventIndex)], remote: &Accesses) {
    let ctp = collector.ctp;
    let (e1, f, e2) = (ctp.event(pairs[0].0), ctp.event(remote.events[0]), ctp.event(pairs[0].1));
    let both_write = may_write(&e1.kind) && may_write(&e2.kind);
    if !(may_write(&f.kind) || both_write) {
        return;
    }
    let sites = vec![e1.site, f.site, e2.site];
    let mut events: Vec<EventIndex> = pairs.iter().map(|pair| pair.0).collect();
    events.dedup();
    let local = Accesses { site: e1.site, thread: e1.thread, events };
    let near = local.near(remote, collector.most);
    let triples = near.into_iter().flat_map(|(before, between)| {
        let from = pairs.partition_point(|pair| pair.0 < before);
        let same = pairs[from..].iter().take_while(move |pair| pair.0 == before);
        same.map(move |&(before, after)| {
            let (before, between, after) = (ctp.event(before).id, ctp.event(between).id, ctp.event(after).id);
            Candidate::Atomicity { before, between, after }
        })
    });
    let all = pairs.len() as u64 * remote.events.len() as u64;
    collector.take(0, &sites, all, triples);
}
