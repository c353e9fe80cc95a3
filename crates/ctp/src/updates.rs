//! Updates in two steps, inferred as transactions: a thread reads a location and then writes there what it has computed from that.
//!
//! Whoever computes a new value from the old one relies on the old one being still there, be the two steps atomic accesses, or critical
//! sections in different functions (`set(account, get(account) + 1)`), which no lock of one call holds together. As with every inferred
//! transaction, what is found in it counts only if somebody would notice.

use crate::{
    Event, EventIndex, Expr, ExprId, Expressions, Kind, LocationId, ReadId, ThreadIndex, Transaction,
    TransactionOrigin,
};
use rustc_hash::{FxHashMap, FxHashSet};
use trace::EventKind;

/// So much of an expression is looked at.
const MOST_PARTS: usize = 64;

/// The updates in two steps that do not lie in one of the transactions that are known.
pub fn updates(
    expressions: &Expressions,
    events: &[Event],
    location: impl Fn(ReadId) -> LocationId,
    known: &[Transaction],
) -> Vec<Transaction> {
    let mut covered: FxHashMap<ThreadIndex, Vec<(u64, u64)>> = FxHashMap::default();
    for transaction in known {
        covered.entry(transaction.thread).or_default().push((transaction.from, transaction.to));
    }
    covered.values_mut().for_each(|spans| spans.sort_unstable());
    // The last read of a location by a thread since it wrote there.
    let mut last: FxHashMap<(ThreadIndex, LocationId), (ReadId, EventIndex)> = FxHashMap::default();
    let mut found = vec![];
    for (at, event) in events.iter().enumerate() {
        let thread = event.thread;
        match &event.kind {
            Kind::Read(access) => {
                for &read in access.targets.iter().flat_map(|target| &target.reads) {
                    last.insert((thread, location(read)), (read, EventIndex::new(at)));
                }
            }
            Kind::Write(access) | Kind::Update(access) | Kind::CompareExchange { access, .. } => {
                let plain = matches!(event.kind, Kind::Write(_)) && !event.silent;
                for write in access.targets.iter().flat_map(|target| &target.writes) {
                    let Some((read, begin)) = last.remove(&(thread, write.location)) else { continue };
                    let (from, to) = (events[begin.index()].id.n, event.id.n);
                    let inside = covered.get(&thread).is_some_and(|spans| {
                        // Of one thread's transactions those that begin before it and reach behind it.
                        let until = spans.partition_point(|&(begins, _)| begins <= from);
                        spans[..until].iter().rev().take(MOST_PARTS).any(|&(_, ends)| to <= ends)
                    });
                    if plain && !inside && depends_on(expressions, write.value, read) {
                        let origin = TransactionOrigin::Update(write.location);
                        found.push(Transaction { thread, from, to, origin });
                    }
                }
            }
            // Whoever waits wants others to come between.
            Kind::Other(EventKind::WaitBegin { .. }) => last.retain(|(waiter, _), _| *waiter != thread),
            _ => {}
        }
    }
    found
}

fn depends_on(expressions: &Expressions, value: ExprId, read: ReadId) -> bool {
    let (mut open, mut seen) = (vec![value], FxHashSet::default());
    while let Some(part) = open.pop() {
        let expression = expressions.get(part);
        if matches!(expression, Expr::Read(found) if found == read) {
            return true;
        }
        if seen.len() < MOST_PARTS && seen.insert(part) {
            open.extend(expression.operands());
        }
    }
    false
}
