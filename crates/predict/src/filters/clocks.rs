//! What is ordered in every schedule of the recorded thread paths: vector clocks.
//!
//! Fork and join alone give the column `hb-pavs` of AV Table 1. *Counting* adds what follows from how often things were done. The j-th
//! token that a thread takes needs j releases, less those tokens that were there at the start; what other threads can release at most, one
//! thread need not, but the rest it must have released before. And where a barrier has as many parties as threads that ever come to it,
//! each round has all of them: whoever leaves for the r-th time does so after the r-th arrival of everybody. Both are also
//! happens-before orders, so they exclude unordered races too.

use ctp::{Ctp, Event, Kind, ThreadIndex};
use rustc_hash::FxHashMap;
use trace::{EventKind, Location, ThreadId};

/// A must-happen-before relation.
pub struct Clocks {
    /// For each thread, from which of its events on it knows how many events of each other thread; ascending.
    changes: Vec<Vec<(u64, Vec<u64>)>>,
}

/// What one thread does with a semaphore or a barrier: the numbers of its events, in order.
#[derive(Clone, Default)]
struct Use {
    /// Releases, or arrivals.
    gives: Vec<u64>,
    /// How many tokens it has taken, or rounds it has left.
    takes: u64,
}

/// The uses of all objects, by thread.
type Uses = FxHashMap<Location, Vec<Use>>;

impl Clocks {
    /// What fork and join order.
    pub fn of_threads(ctp: &Ctp) -> Clocks {
        Clocks::new(ctp, None)
    }

    /// What fork, join and counting order.
    pub fn with_counting(ctp: &Ctp) -> Clocks {
        let mut uses = Uses::default();
        for event in &ctp.events {
            if let Kind::Other(
                EventKind::Release { semaphore: object } | EventKind::BarrierArrive { barrier: object, .. },
            ) = event.kind
            {
                let uses = uses.entry(object).or_insert_with(|| vec![Use::default(); ctp.threads.len()]);
                uses[event.thread.index()].gives.push(event.id.n);
            }
        }
        Clocks::new(ctp, Some(uses))
    }

    fn new(ctp: &Ctp, mut uses: Option<Uses>) -> Clocks {
        let numbers: FxHashMap<ThreadId, usize> =
            ctp.threads.iter().enumerate().map(|(n, thread)| (thread.id, n)).collect();
        let threads = ctp.threads.len();
        let mut clocks = Clocks { changes: vec![vec![]; threads] };
        for event in &ctp.events {
            let me = event.thread.index();
            match event.kind {
                Kind::Other(EventKind::Fork { child }) => {
                    let mut now = clocks.at(event.thread, event.id.n).unwrap_or_else(|| vec![0; threads]);
                    now[me] = event.id.n;
                    if let Some(&child) = numbers.get(&child) {
                        clocks.changes[child].push((0, now));
                    }
                }
                Kind::Other(EventKind::Join { child }) => {
                    let Some(&child) = numbers.get(&child) else { continue };
                    clocks.learn(event, &[(child, ctp.threads[child].last)]);
                }
                Kind::Other(
                    EventKind::Acquire { semaphore } | EventKind::TryAcquire { semaphore, acquired: true },
                ) => {
                    let Some(uses) = uses.as_mut().and_then(|uses| uses.get_mut(&semaphore)) else {
                        continue;
                    };
                    let object = ctp.objects.get(&semaphore).filter(|object| object.count_is_known);
                    let Some(object) = object else { continue };
                    uses[me].takes += 1;
                    let needed = uses[me].takes.saturating_sub(object.count);
                    clocks.learn(event, &released_before(uses, me, event.id.n, needed));
                }
                Kind::Other(EventKind::BarrierLeave { barrier, .. }) => {
                    let Some(uses) = uses.as_mut().and_then(|uses| uses.get_mut(&barrier)) else { continue };
                    let parties = uses.iter().filter(|one| !one.gives.is_empty()).count() as u64;
                    let object = ctp.objects.get(&barrier).filter(|object| object.count_is_known);
                    if object.is_none_or(|object| object.count != parties) {
                        continue;
                    }
                    uses[me].takes += 1;
                    let round = uses[me].takes as usize;
                    let arrivals = uses.iter().enumerate().filter(|&(other, _)| other != me);
                    let arrivals =
                        arrivals.filter_map(|(other, one)| Some((other, *one.gives.get(round - 1)?)));
                    clocks.learn(event, &arrivals.collect::<Vec<_>>());
                }
                _ => {}
            }
        }
        clocks
    }

    /// An event comes after these events of other threads, and what they know.
    fn learn(&mut self, event: &Event, sources: &[(usize, u64)]) {
        let threads = self.changes.len();
        let known = self.at(event.thread, event.id.n);
        let mut now = known.clone().unwrap_or_else(|| vec![0; threads]);
        for &(other, n) in sources {
            let theirs = self.at(ThreadIndex::new(other), n).unwrap_or_else(|| vec![0; threads]);
            for (now, theirs) in now.iter_mut().zip(theirs) {
                *now = theirs.max(*now);
            }
            now[other] = now[other].max(n);
        }
        if known.as_ref() != Some(&now) {
            self.changes[event.thread.index()].push((event.id.n, now));
        }
    }

    /// What a thread knows at its n-th event.
    fn at(&self, thread: ThreadIndex, n: u64) -> Option<Vec<u64>> {
        let changes = &self.changes[thread.index()];
        let behind = changes.partition_point(|&(from, _)| from <= n);
        behind.checked_sub(1).map(|last| changes[last].1.clone())
    }

    /// Whether `first` is before `second` in every schedule, or in one thread.
    pub fn orders(&self, first: &Event, second: &Event) -> bool {
        if first.thread == second.thread {
            return first.id.n < second.id.n;
        }
        let changes = &self.changes[second.thread.index()];
        let behind = changes.partition_point(|&(from, _)| from <= second.id.n);
        let known = behind.checked_sub(1).map_or(0, |last| changes[last].1[first.thread.index()]);
        known >= first.id.n
    }
}

/// If so many releases come before event `n` of thread `me`: which release of each other thread must be among them.
fn released_before(uses: &[Use], me: usize, n: u64, needed: u64) -> Vec<(usize, u64)> {
    let own = uses[me].gives.partition_point(|&give| give < n) as u64;
    let most = |other: usize| if other == me { own } else { uses[other].gives.len() as u64 };
    let all: u64 = (0..uses.len()).map(most).sum();
    let mut sources = vec![];
    for other in (0..uses.len()).filter(|&other| other != me) {
        let of_it = needed.saturating_sub(all - most(other));
        if let Some(&release) = of_it.checked_sub(1).and_then(|last| uses[other].gives.get(last as usize)) {
            sources.push((other, release));
        }
    }
    sources
}
