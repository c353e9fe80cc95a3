//! Who wants to know when one point gets before another.
//!
//! For each ordered pair of chains the watches are kept twice, sorted by the position of either end. When a
//! staircase rises ([`Rise`]) the shorter of the two ranges is scanned, so the cost is that of what got known.

use crate::lit::Lit;
use crate::order::At;
use crate::order::closure::Rise;
use crate::order::graph::Node;

const NONE: u32 = u32::MAX;

/// What to do when the watched pair gets ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watch {
    /// The literal means the opposite edge, `from → to`: it must be false.
    Refutes { lit: Lit, from: Node, to: Node },
    /// A write got before a read of its location.
    WriteBeforeRead { read: u32, write: u32 },
    /// The first section of the pair began before the second ended (or the other way round when flipped).
    Overlap { pair: u32, flipped: bool },
}

#[derive(Clone, Copy)]
struct Entry {
    key: u32,
    other: u32,
    watch: Watch,
}

#[derive(Default)]
struct Pair {
    by_target: Vec<Entry>,
    by_source: Vec<Entry>,
    dirty: bool,
}

#[derive(Default)]
pub(crate) struct Watches {
    rows: Vec<Vec<u32>>,
    pairs: Vec<Pair>,
    dirty: Vec<u32>,
}

impl Watches {
    /// Watches for `x` getting before `y`, which lie on different chains.
    pub(crate) fn add(&mut self, x: At, y: At, watch: Watch) {
        let (source, target) = (x.chain as usize, y.chain as usize);
        if self.rows.len() <= source {
            self.rows.resize_with(source + 1, Vec::new);
        }
        let row = &mut self.rows[source];
        if row.len() <= target {
            row.resize(target + 1, NONE);
        }
        if row[target] == NONE {
            row[target] = self.pairs.len() as u32;
            self.pairs.push(Pair::default());
        }
        let index = row[target];
        let pair = &mut self.pairs[index as usize];
        pair.by_target.push(Entry { key: y.position, other: x.position, watch });
        pair.by_source.push(Entry { key: x.position, other: y.position, watch });
        if !pair.dirty {
            pair.dirty = true;
            self.dirty.push(index);
        }
    }

    /// Restores the order after additions; to be called before [`Watches::risen`].
    pub(crate) fn settle(&mut self) {
        for index in self.dirty.drain(..) {
            let pair = &mut self.pairs[index as usize];
            pair.by_target.sort_by_key(|e| (e.key, e.other));
            pair.by_source.sort_by_key(|e| (e.key, e.other));
            pair.dirty = false;
        }
    }

    /// Pushes onto `fired` each watch whose pair lies in the rise.
    pub(crate) fn risen(&self, rise: &Rise, fired: &mut Vec<Watch>) {
        let Some(&index) = self.rows.get(rise.source as usize).and_then(|r| r.get(rise.target as usize))
        else {
            return;
        };
        if index == NONE {
            return;
        }
        let pair = &self.pairs[index as usize];
        let low = rise.known.map_or(0, |k| k + 1);
        let range = |entries: &[Entry], from: u32, to: u32| {
            entries.partition_point(|e| e.key < from)..entries.partition_point(|e| e.key < to)
        };
        let targets = range(&pair.by_target, rise.at, rise.end);
        let sources = range(&pair.by_source, low, rise.from + 1);
        if targets.len() <= sources.len() {
            let hits = pair.by_target[targets].iter().filter(|e| (low..=rise.from).contains(&e.other));
            fired.extend(hits.map(|e| e.watch));
        } else {
            let hits = pair.by_source[sources].iter().filter(|e| (rise.at..rise.end).contains(&e.other));
            fired.extend(hits.map(|e| e.watch));
        }
    }
}
