//! The theory that the SAT search is told to respect: order, memory, exclusion.
//!
//! The SAT solver assigns literals; some of them mean edges between points. This module keeps the edges that
//! hold ([`Graph`]), their transitive closure ([`Closure`]), and answers in three ways:
//!
//! * a set of edges that closes a cycle is a **conflict**, explained by a shortest cycle;
//! * a literal that the closure decides is **propagated**, and its reason is a path that is looked for only
//!   when the search asks;
//! * some edges are **derived** from literals without a literal of their own: from-read edges ([`memory`])
//!   and the order of whole critical sections ([`sections`]).
//!
//! Every clause that leaves this module says that the edges of some cycle do not all hold, or that a read does
//! not have two sources. [`crate::check`] verifies each of them without looking in here.
//!
//! Everything is a stack with marks per decision level; undoing costs what was done. [`AV §4.3`] reduces
//! consistency of HB literals to cycle detection; deriving from-read order inside the theory instead of
//! clauses follows the ordering-consistency theories of the Zord and Deagle verifiers.

pub(crate) mod lemma;
pub(crate) mod memory;
mod propagator;
pub(crate) mod sections;
mod watch;

use crate::lit::Lit;
use crate::order::At;
use crate::order::closure::{Closure, Rise};
use crate::order::graph::{Cause, Edge, Graph, Node};
use lemma::{Lemma, Link};
use memory::Memory;
use sections::Sections;
use watch::{Watch, Watches};

const NONE: u32 = u32::MAX;

/// What a literal means to the theory when it becomes true.
#[derive(Clone, Copy, Debug)]
enum Role {
    Edge { from: Node, to: Node },
    WriteOrder { location: u32, first: u32, second: u32 },
    ReadsFrom { read: u32, write: u32 },
    WritePresent { location: u32, write: u32 },
    SectionOrder { pair: u32 },
    SectionPresent { section: u32 },
}

/// Why a literal was propagated: `lits` are true and `from` is before `to` by the edges below `height`.
#[derive(Clone, Copy, Debug)]
struct Why {
    path: Option<(Node, Node)>,
    height: u32,
    lits: [Lit; 2],
    /// The edge that would close the cycle if the literal were false.
    closing: Closing,
}

/// The last link of the cycle that a propagation avoids.
#[derive(Clone, Copy, Debug)]
enum Closing {
    Edge { from: Node, to: Node, cause: Cause },
    TwoSources,
}

/// Heights of the stacks at the beginning of a decision level.
struct Level {
    trail: usize,
    edges: usize,
    closure: usize,
    queue: usize,
    head: usize,
}

/// Counters for the curious and for benchmarks.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct TheoryStatistics {
    /// Cycles found.
    pub conflicts: u64,
    /// Literals propagated.
    pub propagations: u64,
    /// Propagations whose reason was asked for.
    pub explanations: u64,
    /// Edges added, derived ones included.
    pub edges: u64,
    /// Edges derived from reads-from and write order, or from sections.
    pub derived: u64,
}

#[derive(Default)]
pub(crate) struct Theory {
    graph: Graph,
    closure: Closure,
    watches: Watches,
    memory: Memory,
    sections: Sections,
    values: Vec<i8>,
    first_role: Vec<u32>,
    roles: Vec<(Role, u32)>,
    trail: Vec<Lit>,
    levels: Vec<Level>,
    queue: Vec<Lit>,
    head: usize,
    queued: Vec<bool>,
    why: Vec<Option<Why>>,
    conflict: bool,
    clause: Vec<Lit>,
    conflict_clause: Vec<Lit>,
    seen: Vec<bool>,
    lemma: Lemma,
    /// Watches and fixed edges that were declared since the last look at decision level 0.
    fresh_watches: Vec<(At, At, Watch)>,
    fresh_edges: Vec<(Node, Node)>,
    rises: Vec<Rise>,
    fired: Vec<Watch>,
    path: Vec<Edge>,
    pub(crate) statistics: TheoryStatistics,
    pub(crate) checker: Option<Box<crate::check::Checker>>,
    pub(crate) lemmas: Option<Vec<Vec<Lit>>>,
    /// Edges of the last model.
    pub(crate) model_edges: Vec<(At, At)>,
    output: propagator::Output,
}

// Declarations, between searches.
impl Theory {
    pub(crate) fn node(&mut self, at: At) -> Node {
        self.closure.ensure_chain(at.chain);
        self.graph.node(at)
    }

    pub(crate) fn fix(&mut self, from: At, to: At) {
        let (from, to) = (self.node(from), self.node(to));
        self.fresh_edges.push((from, to));
    }

    /// `lit` means that `from` is before `to`; when it is false nothing is said.
    pub(crate) fn edge_when(&mut self, lit: Lit, from: At, to: At) {
        let (a, b) = (self.node(from), self.node(to));
        self.role(lit, Role::Edge { from: a, to: b });
        if from.chain != to.chain {
            self.watch(to, from, Watch::Refutes { lit, from: a, to: b });
        }
    }

    /// To be called before each search.
    pub(crate) fn settle(&mut self) {
        self.watches.settle();
    }

    fn watch(&mut self, x: At, y: At, watch: Watch) {
        self.watches.add(x, y, watch);
        self.fresh_watches.push((x, y, watch));
    }

    fn role(&mut self, lit: Lit, role: Role) {
        self.ensure(lit);
        let next = std::mem::replace(&mut self.first_role[lit.code()], self.roles.len() as u32);
        self.roles.push((role, next));
    }

    /// Makes room for a literal; each observed one is announced with this.
    pub(crate) fn ensure(&mut self, lit: Lit) {
        let vars = lit.var().max(1) + 1;
        if self.values.len() < vars {
            self.values.resize(vars, 0);
            self.values[1] = 1;
            self.first_role.resize(vars * 2, NONE);
            self.queued.resize(vars * 2, false);
            self.why.resize(vars * 2, None);
            self.seen.resize(vars, false);
        }
    }
}

// Search.
impl Theory {
    fn value(&self, lit: Lit) -> i8 {
        let value = self.values[lit.var()];
        if lit.is_negative() { -value } else { value }
    }

    /// What was declared since the last search takes effect at decision level 0, so that it is never undone.
    fn absorb(&mut self) {
        if !self.levels.is_empty() || self.conflict {
            return;
        }
        if !self.fresh_edges.is_empty() {
            for (from, to) in std::mem::take(&mut self.fresh_edges) {
                self.add_edge(from, to, Cause::Fixed);
            }
        }
        if !self.fresh_watches.is_empty() {
            let mut fresh = std::mem::take(&mut self.fresh_watches);
            fresh.retain(|&(x, y, _)| self.closure.reaches(x, y));
            for &(_, _, watch) in &fresh {
                self.fire(watch);
            }
        }
        self.absorb_memory();
        self.absorb_sections();
    }

    fn assign(&mut self, lit: Lit) {
        if self.values[lit.var()] != 0 {
            return;
        }
        self.values[lit.var()] = if lit.is_negative() { -1 } else { 1 };
        self.trail.push(lit);
        let mut next = self.first_role[lit.code()];
        while next != NONE && !self.conflict {
            let (role, after) = self.roles[next as usize];
            next = after;
            match role {
                Role::Edge { from, to } => self.add_edge(from, to, Cause::Given(lit)),
                Role::WriteOrder { location, first, second } => self.on_write_order(location, first, second),
                Role::ReadsFrom { read, write } => self.on_reads_from(read, write, lit),
                Role::WritePresent { location, write } => self.on_write_present(location, write),
                Role::SectionOrder { pair } => self.on_section(pair),
                Role::SectionPresent { section } => self.on_section_present(section),
            }
        }
    }

    fn backtrack(&mut self, level: usize) {
        if self.levels.len() <= level {
            return;
        }
        let mark = &self.levels[level];
        for lit in self.trail.drain(mark.trail..) {
            self.values[lit.var()] = 0;
        }
        self.graph.pop_to(mark.edges);
        self.closure.undo_to(mark.closure);
        for lit in self.queue.drain(mark.queue..) {
            self.queued[lit.code()] = false;
        }
        // Taken from the queue does not mean assigned below this level: look at them again.
        self.head = self.head.min(mark.head);
        self.levels.truncate(level);
        self.conflict = false;
        self.output.conflict_taken();
    }

    fn new_level(&mut self) {
        self.levels.push(Level {
            trail: self.trail.len(),
            edges: self.graph.height(),
            closure: self.closure.mark(),
            queue: self.queue.len(),
            head: self.head,
        });
    }

    /// Adds an edge, or finds the cycle that it closes.
    fn add_edge(&mut self, from: Node, to: Node, cause: Cause) {
        if self.conflict {
            return;
        }
        let (u, v) = (self.graph.at(from), self.graph.at(to));
        let known = u != v && self.closure.reaches(u, v);
        if !known && self.closure.reaches(v, u) {
            self.statistics.conflicts += 1;
            self.conflict = true;
            self.lemma.begin();
            self.lemma.links.push(Link { from: u, to: v, cause });
            self.explain_path(to, from, self.graph.height());
            self.finish_clause(None);
            std::mem::swap(&mut self.clause, &mut self.conflict_clause);
            return;
        }
        // An edge that has a literal is kept even if it says nothing new: it may make a shorter path.
        let derived = !matches!(cause, Cause::Given(_) | Cause::Fixed);
        if derived && known {
            return;
        }
        self.statistics.derived += u64::from(derived);
        self.statistics.edges += 1;
        self.graph.push(from, to, cause);
        if known {
            return;
        }
        let mut rises = std::mem::take(&mut self.rises);
        let mut fired = std::mem::take(&mut self.fired);
        rises.clear();
        self.closure.add(u, v, &mut rises);
        for rise in &rises {
            fired.clear();
            self.watches.risen(rise, &mut fired);
            for &watch in &fired {
                self.fire(watch);
            }
        }
        self.rises = rises;
        self.fired = fired;
    }

    fn fire(&mut self, watch: Watch) {
        match watch {
            Watch::Refutes { lit, from, to } => {
                if self.value(lit) == 0 {
                    let closing = Closing::Edge { from, to, cause: Cause::Given(lit) };
                    self.propagate(-lit, Some((to, from)), [Lit::TRUE; 2], closing);
                }
            }
            Watch::WriteBeforeRead { read, write } => self.on_write_before_read(read, write),
            Watch::Overlap { pair, flipped } => self.on_overlap(pair, flipped),
        }
    }

    fn propagate(&mut self, lit: Lit, path: Option<(Node, Node)>, lits: [Lit; 2], closing: Closing) {
        if self.queued[lit.code()] || self.value(lit) == 1 {
            return;
        }
        self.queued[lit.code()] = true;
        self.why[lit.code()] = Some(Why { path, height: self.graph.height() as u32, lits, closing });
        self.queue.push(lit);
        self.statistics.propagations += 1;
    }

    /// Collects into the lemma the shortest path between two nodes as of an earlier height.
    fn explain_path(&mut self, from: Node, to: Node, height: usize) {
        let mut path = std::mem::take(&mut self.path);
        path.clear();
        let (x, y) = (self.graph.at(from), self.graph.at(to));
        self.graph.path(&self.closure, x, y, height, &mut path);
        for edge in &path {
            let (from, to) = (self.graph.at(edge.from), self.graph.at(edge.to));
            self.lemma.links.push(Link { from, to, cause: edge.cause });
        }
        self.path = path;
    }

    /// The reason of a propagated literal, as a clause with that literal in `self.clause`.
    fn explain(&mut self, lit: Lit) {
        self.statistics.explanations += 1;
        self.lemma.begin();
        let Some(why) = self.why[lit.code()] else {
            debug_assert!(false, "a reason was asked for a literal that was not propagated");
            self.clause.clear();
            self.clause.push(lit);
            return;
        };
        match why.closing {
            Closing::Edge { from, to, cause } => {
                let (from, to) = (self.graph.at(from), self.graph.at(to));
                self.lemma.links.push(Link { from, to, cause });
            }
            Closing::TwoSources => self.lemma.two_sources = Some((-lit, why.lits[0])),
        }
        if let Some((from, to)) = why.path {
            self.explain_path(from, to, why.height as usize);
        }
        self.finish_clause(Some((lit, why.lits)));
    }

    /// Turns the lemma into a clause, checks it, and keeps it for the proof.
    fn finish_clause(&mut self, propagated: Option<(Lit, [Lit; 2])>) {
        self.clause.clear();
        let (clause, seen) = (&mut self.clause, &mut self.seen);
        let mut add = |lit: Lit| {
            if !lit.is_constant() && !std::mem::replace(&mut seen[lit.var()], true) {
                clause.push(lit);
            }
        };
        if let Some((lit, lits)) = propagated {
            add(lit);
            lits.into_iter().for_each(|l| add(-l));
        }
        for link in &self.lemma.links {
            link.cause.each(|l| add(-l));
        }
        for lit in &self.clause {
            self.seen[lit.var()] = false;
        }
        if let Some(checker) = &mut self.checker {
            checker.check(&self.lemma, &self.clause);
        }
        if let Some(lemmas) = &mut self.lemmas {
            lemmas.push(self.clause.clone());
        }
    }

    /// Called when all literals are assigned without conflict: keeps the order for the model.
    fn accept_model(&mut self) {
        let graph = &self.graph;
        self.model_edges.clear();
        self.model_edges.extend(graph.edges().iter().map(|e| (graph.at(e.from), graph.at(e.to))));
    }
}
