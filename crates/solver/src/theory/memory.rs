//! Memory: a present read takes the value of the last write before it.
//!
//! Which write a read reads from, and how writes to one location are ordered, are literals that the SAT
//! search decides. What follows from them is derived here, with `w`, `w'` writes and `r` a read of one location:
//!
//! ```text
//!      rf                      r reads from w, and w is before w' (which is there):
//!   w ────▶ r                  then r is before w', the from-read edge.
//!   │       ┊ derived
//!   └─────▶ w'                 r reads from w, and w' (which is there) is before r:
//!     order                    then w' is before w, a propagation.
//!
//!   w before w' and w' before r:  then r does not read from w, a propagation.
//! ```
//!
//! [AV §4.2] states the same as `HB(t_j, t_i) ∨ HB(t, t_j)` for each triple; as clauses that would be cubic.
//! The initial value is write number 0 of each location: it has no point and is before every other write.

use super::watch::Watch;
use super::{Closing, Role, Theory};
use crate::lit::Lit;
use crate::order::At;
use crate::order::graph::{Cause, Node};

/// A write, as the theory needs it. `node` is `None` for the initial value.
struct Write {
    node: Option<Node>,
    present: Lit,
    /// Reads that may read from this write, with the literal for it.
    readers: Vec<(u32, Lit)>,
}

struct Location {
    writes: Vec<Write>,
    reads: Vec<u32>,
    /// `order[i * writes + j]` is true when write `i` is before write `j`.
    order: Vec<Lit>,
}

impl Location {
    fn order(&self, first: usize, second: usize) -> Lit {
        self.order[first * self.writes.len() + second]
    }
}

struct Read {
    location: u32,
    node: Node,
    sources: Vec<(u32, Lit)>,
}

#[derive(Default)]
pub(crate) struct Memory {
    locations: Vec<Location>,
    reads: Vec<Read>,
    fresh_reads: Vec<u32>,
}

// Declarations.
impl Theory {
    /// A location whose write 0 is the initial value. `order` is the matrix of write order literals.
    pub(crate) fn add_location(&mut self, writes: &[(Option<At>, Lit)], order: Vec<Lit>) -> u32 {
        let location = self.memory.locations.len() as u32;
        let count = writes.len();
        debug_assert_eq!(order.len(), count * count);
        for first in 0..count {
            for second in 0..count {
                let lit = order[first * count + second];
                self.ensure(lit);
                if first != second && !lit.is_constant() {
                    let (first, second) = (first as u32, second as u32);
                    self.role(lit, Role::WriteOrder { location, first, second });
                }
            }
        }
        let mut declared = Vec::with_capacity(count);
        for (write, &(at, present)) in writes.iter().enumerate() {
            let node = at.map(|at| self.node(at));
            self.ensure(present);
            if !present.is_constant() {
                self.role(present, Role::WritePresent { location, write: write as u32 });
            }
            declared.push(Write { node, present, readers: Vec::new() });
        }
        self.memory.locations.push(Location { writes: declared, reads: Vec::new(), order });
        location
    }

    /// A read and the literals for its possible sources.
    pub(crate) fn add_read(&mut self, location: u32, at: At, sources: &[(u32, Lit)]) {
        let read = self.memory.reads.len() as u32;
        let node = self.node(at);
        for &(write, lit) in sources {
            self.role(lit, Role::ReadsFrom { read, write });
            let place = &mut self.memory.locations[location as usize].writes[write as usize];
            place.readers.push((read, lit));
            if let Some(from) = place.node {
                let from = self.graph.at(from);
                self.edge_when(lit, from, at);
            }
        }
        for write in 0..self.memory.locations[location as usize].writes.len() {
            let Some(other) = self.memory.locations[location as usize].writes[write].node else { continue };
            let from = self.graph.at(other);
            if from.chain != at.chain {
                self.watch(from, at, Watch::WriteBeforeRead { read, write: write as u32 });
            }
        }
        self.memory.locations[location as usize].reads.push(read);
        self.memory.reads.push(Read { location, node, sources: sources.to_vec() });
        self.memory.fresh_reads.push(read);
    }
}

// Search.
impl Theory {
    /// Looks at new reads once at level 0: orders along a chain are never announced by a watch, and order
    /// literals may have been decided before the read was declared.
    pub(super) fn absorb_memory(&mut self) {
        for read in std::mem::take(&mut self.memory.fresh_reads) {
            let (location, node) = {
                let read = &self.memory.reads[read as usize];
                (read.location, read.node)
            };
            for write in 0..self.memory.locations[location as usize].writes.len() {
                let other = self.memory.locations[location as usize].writes[write].node;
                if other.is_some_and(|other| self.before(other, node)) {
                    self.relate_all(location, read, write as u32);
                }
            }
            for i in 0..self.memory.reads[read as usize].sources.len() {
                let (write, lit) = self.memory.reads[read as usize].sources[i];
                if self.value(lit) == 1 {
                    self.on_reads_from(read, write, lit);
                }
            }
        }
    }

    fn before(&self, first: Node, second: Node) -> bool {
        first != second && self.closure.reaches(self.graph.at(first), self.graph.at(second))
    }

    pub(super) fn on_write_order(&mut self, location: u32, first: u32, second: u32) {
        let count = self.memory.locations[location as usize].writes[first as usize].readers.len();
        for i in 0..count {
            let place = &self.memory.locations[location as usize];
            let (read, reads_from) = place.writes[first as usize].readers[i];
            self.relate(location, read, reads_from, first, second);
        }
    }

    pub(super) fn on_reads_from(&mut self, read: u32, write: u32, lit: Lit) {
        let location = self.memory.reads[read as usize].location;
        for i in 0..self.memory.reads[read as usize].sources.len() {
            let (_, other) = self.memory.reads[read as usize].sources[i];
            if other != lit && self.value(other) == 0 {
                self.propagate(-other, None, [lit, Lit::TRUE], Closing::TwoSources);
            }
        }
        for other in 0..self.memory.locations[location as usize].writes.len() as u32 {
            self.relate(location, read, lit, write, other);
        }
    }

    pub(super) fn on_write_present(&mut self, location: u32, write: u32) {
        for i in 0..self.memory.locations[location as usize].reads.len() {
            let read = self.memory.locations[location as usize].reads[i];
            self.relate_all(location, read, write);
        }
    }

    pub(super) fn on_write_before_read(&mut self, read: u32, write: u32) {
        let location = self.memory.reads[read as usize].location;
        self.relate_all(location, read, write);
    }

    fn relate_all(&mut self, location: u32, read: u32, other: u32) {
        for i in 0..self.memory.reads[read as usize].sources.len() {
            let (write, reads_from) = self.memory.reads[read as usize].sources[i];
            self.relate(location, read, reads_from, write, other);
        }
    }

    /// Draws what follows for one read, one possible source of it and one other write.
    ///
    /// Not all three of "reads from `write`", "`write` before `other`" and "`other` before the read" can hold
    /// when `other` is there. Of the first two the from-read edge follows; of two others, the negation of the third.
    fn relate(&mut self, location: u32, read: u32, reads_from: Lit, write: u32, other: u32) {
        if self.conflict || write == other {
            return;
        }
        let place = &self.memory.locations[location as usize];
        let present = place.writes[other as usize].present;
        let Some(other_node) = place.writes[other as usize].node else { return };
        let read_node = self.memory.reads[read as usize].node;
        // A read-modify-write is a read and a write at one point: it does not get in its own way.
        if self.value(present) != 1 || other_node == read_node {
            return;
        }
        let order = place.order(write as usize, other as usize);
        match (self.value(reads_from), self.value(order)) {
            (1, 1) => {
                let cause = Cause::FromRead { reads_from, order, present };
                self.add_edge(read_node, other_node, cause);
            }
            (1, 0) | (0, 1) if self.before(other_node, read_node) => {
                let (lit, holds) =
                    if self.value(order) == 0 { (order, reads_from) } else { (reads_from, order) };
                let cause = Cause::FromRead { reads_from, order, present };
                let closing = Closing::Edge { from: read_node, to: other_node, cause };
                self.propagate(-lit, Some((other_node, read_node)), [holds, present], closing);
            }
            _ => {}
        }
    }
}
