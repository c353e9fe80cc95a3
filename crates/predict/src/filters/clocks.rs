//! What fork and join order in every schedule: vector clocks that change only there (AV §6, the column `hb-pavs`).

use ctp::{Ctp, Event, Kind, ThreadIndex};
use rustc_hash::FxHashMap;
use trace::{EventKind, ThreadId};

/// The must-happen-before relation of fork and join.
pub struct Clocks {
    /// For each thread, from which of its events on it knows how many events of each other thread; ascending.
    changes: Vec<Vec<(u64, Vec<u64>)>>,
}

impl Clocks {
    pub fn new(ctp: &Ctp) -> Clocks {
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
                    let mut now = clocks.at(event.thread, event.id.n).unwrap_or_else(|| vec![0; threads]);
                    let last = ctp.threads[child].last;
                    let known = clocks.at(ThreadIndex::new(child), last).unwrap_or_else(|| vec![0; threads]);
                    for (now, known) in now.iter_mut().zip(known) {
                        *now = known.max(*now);
                    }
                    now[child] = last;
                    clocks.changes[me].push((event.id.n, now));
                }
                _ => {}
            }
        }
        clocks
    }

    /// What a thread knows at its n-th event.
    fn at(&self, thread: ThreadIndex, n: u64) -> Option<Vec<u64>> {
        let changes = &self.changes[thread.index()];
        let behind = changes.partition_point(|&(from, _)| from <= n);
        behind.checked_sub(1).map(|last| changes[last].1.clone())
    }

    /// Whether `first` is before `second` in every schedule, by fork and join or in one thread.
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
