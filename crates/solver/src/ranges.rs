//! How large the values of reads can get, so that they need few bits.
//!
//! A value flows from a write to a read to the next write, forward in time, so it passes each write at most
//! once. Where writes store "a read plus a constant", each read lies between the least and the greatest value
//! that flow starts from, moved by all negative and all positive constants of the locations that values flow
//! between. Every other stored value is a start, bounded by what holds of its term whatever its variables are.
//! Reads that do not happen are zero, so zero is a start too. "Forward in time" needs that a write comes after
//! the read that it depends on by the fixed order: otherwise values could justify themselves, and the stored
//! value counts as a start.

use crate::order::At;
use crate::solver::Solver;
use crate::terms::facts::Facts;
use crate::terms::value::signed;
use crate::terms::{BvNode, BvRef};
use rustc_hash::FxHashMap;

/// Bounds of one group of locations that values flow between.
#[derive(Clone, Copy)]
struct Group {
    low: i128,
    high: i128,
    down: i128,
    up: i128,
}

impl Group {
    fn join(&mut self, other: Group) {
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
        self.down = self.down.saturating_add(other.down);
        self.up = self.up.saturating_add(other.up);
    }

    fn start(&mut self, (low, high): (i128, i128)) {
        self.low = self.low.min(low);
        self.high = self.high.max(high);
    }
}

fn find(parent: &mut [usize], mut i: usize) -> usize {
    while parent[i] != i {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    i
}

impl Solver {
    /// Bounds the values of the reads of the locations from `first` on.
    pub(crate) fn bound_reads(&mut self, first: usize) {
        let locations = &self.problem.locations[first..];
        // Which location a read's value belongs to, and when it is read.
        let mut owner: FxHashMap<BvRef, (usize, At)> = FxHashMap::default();
        for (i, location) in locations.iter().enumerate() {
            for read in &location.reads {
                owner.insert(read.value, (i, read.at));
            }
        }
        let none = Group { low: 0, high: 0, down: 0, up: 0 };
        let mut groups = vec![none; locations.len()];
        let mut parent: Vec<usize> = (0..locations.len()).collect();
        for (i, location) in locations.iter().enumerate() {
            if let Some(value) = location.initial {
                groups[i].start(self.bank.facts(value).signed_range());
            }
            for write in &location.writes {
                match self.moved(write.value, write.at, &owner) {
                    Some((from, by)) => {
                        groups[i].up = groups[i].up.saturating_add(by.max(0));
                        groups[i].down = groups[i].down.saturating_add(by.min(0));
                        let (a, b) = (find(&mut parent, i), find(&mut parent, from));
                        parent[a] = b;
                    }
                    None => groups[i].start(self.bank.facts(write.value).signed_range()),
                }
            }
        }
        for i in 0..locations.len() {
            let root = find(&mut parent, i);
            if root != i {
                let own = groups[i];
                groups[root].join(own);
            }
        }
        let mut bounds = Vec::new();
        for (i, location) in locations.iter().enumerate() {
            let group = groups[find(&mut parent, i)];
            let (low, high) = (group.low.checked_add(group.down), group.high.checked_add(group.up));
            let (Some(low), Some(high)) = (low, high) else { continue };
            for read in &location.reads {
                let width = self.bank.width(read.value);
                let (least, greatest) = Facts::unknown(width).signed_range();
                if least <= low && high <= greatest {
                    bounds.push((read.value, Facts::between(low, high, width)));
                }
            }
        }
        for (value, facts) in bounds {
            self.blaster.bound(value, facts);
        }
    }

    /// The location of the earlier read that the stored value is, and the constant added to it.
    fn moved(&self, value: BvRef, at: At, owner: &FxHashMap<BvRef, (usize, At)>) -> Option<(usize, i128)> {
        let (read, by) = match self.bank.bv_node(value) {
            BvNode::Sum { constant, addends } => match addends[..] {
                [(term, 1)] => (term, signed(*constant, self.bank.width(value))),
                _ => return None,
            },
            _ => (value, 0),
        };
        let &(from, read_at) = owner.get(&read)?;
        (read_at == at || self.fixed.before(read_at, at)).then_some((from, by))
    }
}
