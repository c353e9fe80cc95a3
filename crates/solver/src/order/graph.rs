//! The edges that hold now, and the shortest path of them between two points.
//!
//! The closure says *that* one point comes before another; this graph says *why*. Edges are a stack, in the
//! order in which they came to hold. A path may be asked for "as of" an earlier height of the stack: the
//! reason of a propagated literal is found only when the search asks for it, and must not use edges that came
//! later.

use super::closure::Closure;
use super::point::At;
use crate::lit::Lit;
use std::collections::VecDeque;

const NONE: u32 = u32::MAX;

/// A point that is the end of some edge.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Node(pub(crate) u32);

/// Why an edge holds: the literals that must all be true for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cause {
    /// Declared by the caller, always there.
    Fixed,
    /// A literal that means this edge.
    Given(Lit),
    /// The read reads from a write that comes before this one, which is there: so it is before this one.
    FromRead { reads_from: Lit, order: Lit, present: Lit },
    /// Of two sections that are both there, this one was entered first: so it is left before the other begins.
    Exclusion { order: Lit, present: [Lit; 2] },
}

impl Cause {
    /// Calls `visit` with each literal that the edge depends on.
    pub(crate) fn each(self, mut visit: impl FnMut(Lit)) {
        let (all, count) = match self {
            Cause::Fixed => ([Lit::TRUE; 3], 0),
            Cause::Given(lit) => ([lit, Lit::TRUE, Lit::TRUE], 1),
            Cause::FromRead { reads_from, order, present } => ([reads_from, order, present], 3),
            Cause::Exclusion { order, present } => ([order, present[0], present[1]], 3),
        };
        for &lit in &all[..count] {
            if lit != Lit::TRUE {
                visit(lit);
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) from: Node,
    pub(crate) to: Node,
    pub(crate) cause: Cause,
    next: u32,
}

/// A stretch of a chain that a path search has reached, and by which edge.
struct Stretch {
    chain: u32,
    start: u32,
    end: u32,
    via: u32,
}

#[derive(Default)]
pub(crate) struct Graph {
    nodes: Vec<At>,
    first: Vec<u32>,
    lines: Vec<Vec<(u32, Node)>>,
    edges: Vec<Edge>,
    // Scratch of the path search, kept to avoid allocation.
    queue: VecDeque<Stretch>,
    reached: Vec<u32>,
    bound: Vec<u32>,
    touched: Vec<u32>,
    parent: Vec<u32>,
}

impl Graph {
    pub(crate) fn at(&self, node: Node) -> At {
        self.nodes[node.0 as usize]
    }

    /// The node of a point, made when first asked for.
    pub(crate) fn node(&mut self, at: At) -> Node {
        let need = at.chain as usize + 1;
        if self.lines.len() < need {
            self.lines.resize_with(need, Vec::new);
            self.reached.resize(need, u32::MAX);
            self.bound.resize(need, 0);
        }
        let line = &mut self.lines[at.chain as usize];
        match line.binary_search_by_key(&at.position, |&(position, _)| position) {
            Ok(i) => line[i].1,
            Err(i) => {
                let node = Node(self.nodes.len() as u32);
                line.insert(i, (at.position, node));
                self.nodes.push(at);
                self.first.push(NONE);
                node
            }
        }
    }

    pub(crate) fn height(&self) -> usize {
        self.edges.len()
    }

    pub(crate) fn edges(&self) -> &[Edge] {
        &self.edges
    }

    pub(crate) fn push(&mut self, from: Node, to: Node, cause: Cause) {
        let next = self.first[from.0 as usize];
        self.first[from.0 as usize] = self.edges.len() as u32;
        self.edges.push(Edge { from, to, cause, next });
    }

    pub(crate) fn pop_to(&mut self, height: usize) {
        while self.edges.len() > height {
            if let Some(edge) = self.edges.pop() {
                self.first[edge.from.0 as usize] = edge.next;
            }
        }
    }

    /// Appends to `path` the edges of a shortest path from `x` to `y` that uses only the lowest `height` edges
    /// (steps along chains are not listed). There must be one.
    ///
    /// Breadth first over chains: a chain is entered at a position, and only an earlier entry is of interest
    /// later. `closure` cuts off what cannot lead to `y`. Fixed edges cost nothing.
    pub(crate) fn path(&mut self, closure: &Closure, x: At, y: At, height: usize, path: &mut Vec<Edge>) {
        if x.chain == y.chain && x.position <= y.position {
            return;
        }
        self.parent.resize(self.edges.len().max(self.parent.len()), NONE);
        for chain in self.touched.drain(..) {
            self.reached[chain as usize] = u32::MAX;
            self.bound[chain as usize] = 0;
        }
        // bound[c] is one more than the last position of c that leads to y.
        self.bound[y.chain as usize] = y.position + 1;
        self.touched.push(y.chain);
        let (bound, touched) = (&mut self.bound, &mut self.touched);
        closure.each_before(y, |at| {
            bound[at.chain as usize] = at.position + 1;
            touched.push(at.chain);
        });
        self.queue.clear();
        self.queue.push_back(Stretch { chain: x.chain, start: x.position, end: u32::MAX, via: NONE });
        self.reached[x.chain as usize] = x.position;
        while let Some(stretch) = self.queue.pop_front() {
            let line = &self.lines[stretch.chain as usize];
            let end = stretch.end.min(self.bound[stretch.chain as usize]);
            let begin = line.partition_point(|&(position, _)| position < stretch.start);
            for &(position, node) in &line[begin..] {
                if position >= end {
                    break;
                }
                let mut next = self.first[node.0 as usize];
                while next != NONE {
                    let index = next;
                    let edge = &self.edges[index as usize];
                    next = edge.next;
                    if index as usize >= height {
                        continue;
                    }
                    let to = self.nodes[edge.to.0 as usize];
                    if to.position >= self.reached[to.chain as usize]
                        || to.position >= self.bound[to.chain as usize]
                    {
                        continue;
                    }
                    self.parent[index as usize] = stretch.via;
                    if to.chain == y.chain {
                        let start = path.len();
                        let mut at = index;
                        while at != NONE {
                            path.push(self.edges[at as usize]);
                            at = self.parent[at as usize];
                        }
                        path[start..].reverse();
                        return;
                    }
                    let end = std::mem::replace(&mut self.reached[to.chain as usize], to.position);
                    let next_stretch = Stretch { chain: to.chain, start: to.position, end, via: index };
                    if edge.cause == Cause::Fixed {
                        self.queue.push_front(next_stretch);
                    } else {
                        self.queue.push_back(next_stretch);
                    }
                }
            }
        }
        debug_assert!(false, "no path from {x:?} to {y:?} among {height} edges");
    }
}
