//! Potential atomicity violations (AV §3): e1 and e2 in one transaction, f in another thread, of an unserializable kind.
//!
//! All pairs e1, e2 of a transaction and not only neighbours: write, read, write with a remote read in between needs that.

use super::{Collector, may_write};
use claim::Candidate;
use ctp::{EventIndex, Transaction};

pub(super) fn collect(collector: &mut Collector<'_>) {
    let ctp = collector.ctp;
    let accesses = collector.accesses.clone();
    // Which transactions a thread has, by their beginning.
    let mut of_thread: Vec<Vec<&Transaction>> = vec![vec![]; ctp.threads.len()];
    for transaction in &ctp.transactions {
        of_thread[transaction.thread.index()].push(transaction);
    }
    for all in &accesses {
        for transactions in &of_thread {
            for transaction in transactions {
                let own: Vec<EventIndex> =
                    all.iter().copied().filter(|&at| is_inside(collector, transaction, at)).collect();
                if own.len() > 1 {
                    triples(collector, transaction, &own, all);
                }
            }
        }
    }
}

fn is_inside(collector: &Collector<'_>, transaction: &Transaction, at: EventIndex) -> bool {
    let event = collector.ctp.event(at);
    event.thread == transaction.thread && (transaction.from..=transaction.to).contains(&event.id.n)
}

fn triples(collector: &mut Collector<'_>, transaction: &Transaction, own: &[EventIndex], all: &[EventIndex]) {
    let ctp = collector.ctp;
    for (n, &before) in own.iter().enumerate() {
        for &after in &own[n + 1..] {
            let (e1, e2) = (ctp.event(before), ctp.event(after));
            let both_write = may_write(&e1.kind) && may_write(&e2.kind);
            for &between in all {
                let f = ctp.event(between);
                if f.thread != transaction.thread && (may_write(&f.kind) || both_write) {
                    let (before, between, after) = (e1.id, f.id, e2.id);
                    collector.add(0, vec![e1.site, f.site, e2.site], || Candidate::Atomicity {
                        before,
                        between,
                        after,
                    });
                }
            }
        }
    }
}
