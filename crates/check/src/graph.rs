//! Executions as graphs: who reads from whom (rf), in which order writes reach memory (co), and what a model makes of them.
//!
//! Each access is one node or two: a read, a write, and for an atomic update both, tied by `rmw`, as herd has it. Relations are
//! matrices of literals of the solver; only pairs that are possible have one. A read has one literal for each write that it may read
//! from; the order of writes is an order of points, so that it is total and costs no clauses.
//!
//! Under every model, synchronisation works: its words are coherent and its updates atomic, and its order
//! fits program order. Rules about values are those of MM App. A; the model's checks come on top, each a rule
//! by its name ([`crate::relation`]).

use crate::Result;
use crate::event::{Action, CellId, EventId};
use crate::execution::{self, Execution, Links};
use crate::fork_join::fork_join;
use crate::happens_before::carried;
use crate::rule::Rule;
use crate::unfold::Unfolding;
use solver::{Bool, Bv, Point};
use std::collections::BTreeMap;

/// What a node does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    Read,
    Write,
    Fence,
}

/// A node: a part of an event, or a default write.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// `None` for a default write.
    pub event: Option<EventId>,
    pub cell: Option<CellId>,
    pub part: Part,
    pub happens: Bool,
    pub value: Option<Bv>,
    /// Which access of the event.
    access: usize,
}

/// Pairs of nodes, each with the literal that says when they are related.
pub(crate) type Relation = BTreeMap<(usize, usize), Bool>;

/// A program as a graph, without a model.
pub(crate) struct Graph {
    pub unfolding: Unfolding,
    pub nodes: Vec<Node>,
    pub po: Relation,
    pub fj: Relation,
    pub rf: Relation,
    pub co: Relation,
    pub rmw: Relation,
    /// For each event a literal: what it takes part in counts (all true unless explained).
    pub counts: Vec<Bool>,
    points: Vec<Option<Point>>,
    /// When each node is in the order of synchronisation, if it is part of that.
    sync_points: Vec<Point>,
}

impl Graph {
    pub fn new(mut unfolding: Unfolding, explained: bool) -> Result<Graph> {
        let yes = unfolding.solver.bool_const(true);
        let mut counts = vec![];
        for _ in 0..unfolding.events.len() {
            counts.push(if explained { unfolding.solver.bool_var() } else { yes });
        }
        let nodes = nodes(&mut unfolding)?;
        let mut points = vec![];
        for node in &nodes {
            points.push(match (node.part, node.event) {
                (Part::Write, Some(_)) => Some(unfolding.solver.point()?),
                _ => None,
            });
        }
        let empty = Relation::new;
        let mut graph = Graph {
            unfolding,
            nodes,
            po: empty(),
            fj: empty(),
            rf: empty(),
            co: empty(),
            rmw: empty(),
            counts,
            points,
            sync_points: vec![],
        };
        graph.program_order()?;
        graph.fj = fork_join(&mut graph)?;
        graph.coherence()?;
        graph.reads_from()?;
        graph.last_values()?;
        graph.synchronisation()?;
        Ok(graph)
    }

    pub fn and(&mut self, literals: &[Bool]) -> Result<Bool> {
        Ok(self.unfolding.solver.and(literals)?)
    }

    fn assert_implies(&mut self, causes: &[Bool], effect: Bool) -> Result<()> {
        let s = &mut self.unfolding.solver;
        let cause = s.and(causes)?;
        let holds = s.implies(cause, effect)?;
        Ok(s.assert(holds)?)
    }

    pub fn thread(&self, node: usize) -> Option<usize> {
        self.nodes[node].event.map(|event| self.unfolding.events[event.index()].thread.index())
    }

    pub fn is_sync(&self, node: usize) -> bool {
        self.nodes[node]
            .event
            .is_some_and(|e| matches!(self.unfolding.events[e.index()].action, Action::Sync(_)))
    }

    /// The literal that says that what a node takes part in counts.
    pub fn counts(&self, node: usize) -> Bool {
        let yes = self.unfolding.solver.bool_const(true);
        self.nodes[node].event.map_or(yes, |event| self.counts[event.index()])
    }

    /// Program order inside threads, and the two parts of updates.
    fn program_order(&mut self) -> Result<()> {
        let count = self.nodes.len();
        for i in 0..count {
            for j in 0..count {
                let (Some(a), Some(b)) = (self.nodes[i].event, self.nodes[j].event) else { continue };
                let key = |n: usize, e: EventId| (e, self.nodes[n].access, self.nodes[n].part == Part::Write);
                if self.thread(i) == self.thread(j) && key(i, a) < key(j, b) {
                    let both = self.and(&[self.nodes[i].happens, self.nodes[j].happens])?;
                    self.po.insert((i, j), both);
                }
            }
        }
        for i in 0..count {
            for j in 0..count {
                let tied = self.nodes[i].event.is_some()
                    && self.nodes[i].event == self.nodes[j].event
                    && self.nodes[i].access == self.nodes[j].access
                    && (self.nodes[i].part, self.nodes[j].part) == (Part::Read, Part::Write);
                if tied {
                    let both = self.and(&[self.nodes[i].happens, self.nodes[j].happens])?;
                    self.rmw.insert((i, j), both);
                }
            }
        }
        Ok(())
    }

    /// The writes of a cell are in one order, default writes first.
    fn coherence(&mut self) -> Result<()> {
        for i in 0..self.nodes.len() {
            for j in 0..self.nodes.len() {
                let (a, b) = (&self.nodes[i], &self.nodes[j]);
                if i == j || a.part != Part::Write || b.part != Part::Write || a.cell != b.cell {
                    continue;
                }
                let both = [a.happens, b.happens];
                let literal = match (self.points[i], self.points[j]) {
                    (None, Some(_)) => both[1],
                    (Some(p), Some(q)) => {
                        let before = self.unfolding.solver.before(p, q)?;
                        self.and(&[both[0], both[1], before])?
                    }
                    _ => continue,
                };
                self.co.insert((i, j), literal);
            }
        }
        Ok(())
    }

    /// Each read that happens reads from one write, and gets its value.
    fn reads_from(&mut self) -> Result<()> {
        let rule = self.unfolding.rules[&Rule::GlobalReadValue];
        for r in 0..self.nodes.len() {
            let read = self.nodes[r].clone();
            let (Part::Read, Some(value)) = (read.part, read.value) else { continue };
            let mut sources = vec![];
            for w in 0..self.nodes.len() {
                let write = self.nodes[w].clone();
                let own = write.event.is_some() && write.event == read.event && write.access == read.access;
                if write.part != Part::Write || write.cell != read.cell || own {
                    continue;
                }
                let Some(written) = write.value else { continue };
                let literal = self.unfolding.solver.bool_var();
                self.assert_implies(&[literal], write.happens)?;
                self.assert_implies(&[literal], read.happens)?;
                let same = self.unfolding.solver.bv_eq(written, value)?;
                let counts = self.counts(r);
                self.assert_implies(&[literal, rule, counts], same)?;
                self.rf.insert((w, r), literal);
                sources.push(literal);
            }
            let some = self.unfolding.solver.or(&sources)?;
            self.assert_implies(&[read.happens], some)?;
            for (at, &a) in sources.iter().enumerate() {
                for &b in &sources[at + 1..] {
                    let not = self.unfolding.solver.not(b)?;
                    self.assert_implies(&[a], not)?;
                }
            }
        }
        Ok(())
    }

    /// A cell holds at the end what its last write has written.
    fn last_values(&mut self) -> Result<()> {
        for w in 0..self.nodes.len() {
            let node = self.nodes[w].clone();
            let (Part::Write, Some(cell), Some(value)) = (node.part, node.cell, node.value) else { continue };
            let later: Vec<Bool> = self.co.range((w, 0)..(w + 1, 0)).map(|(_, &literal)| literal).collect();
            let s = &mut self.unfolding.solver;
            let overwritten = s.or(&later)?;
            let last = s.not(overwritten)?;
            let same = s.bv_eq(value, self.unfolding.memory.cells[cell.index()].last)?;
            self.assert_implies(&[node.happens, last], same)?;
        }
        Ok(())
    }

    /// From a read to the writes after the one that it read from.
    pub fn reads_before(&mut self) -> Result<Relation> {
        let mut ways: BTreeMap<(usize, usize), Vec<Bool>> = BTreeMap::new();
        for (&(w, r), &rf) in &self.rf.clone() {
            let later: Vec<(usize, Bool)> =
                self.co.range((w, 0)..(w + 1, 0)).map(|(&(_, j), &l)| (j, l)).collect();
            for (j, co) in later {
                let both = self.and(&[rf, co])?;
                ways.entry((r, j)).or_default().push(both);
            }
        }
        self.any(ways)
    }

    /// Pairs that are related in one of several ways.
    fn any(&mut self, ways: BTreeMap<(usize, usize), Vec<Bool>>) -> Result<Relation> {
        let mut relation = Relation::new();
        for (pair, ways) in ways {
            relation.insert(pair, self.unfolding.solver.or(&ways)?);
        }
        Ok(relation)
    }

    /// What holds of synchronisation in every model: atomic, coherent, and in one order with program order.
    fn synchronisation(&mut self) -> Result<()> {
        let fr = self.reads_before()?;
        let mut points = vec![];
        for _ in 0..self.nodes.len() {
            points.push(self.unfolding.solver.point()?);
        }
        self.sync_points.clone_from(&points);
        let internal = |graph: &Graph, n: usize| {
            graph.nodes[n].cell.is_some_and(|c| graph.unfolding.memory.cells[c.index()].internal)
        };
        for relation in [self.po.clone(), self.fj.clone(), self.rf.clone(), self.co.clone(), fr.clone()] {
            for ((i, j), literal) in relation {
                if internal(self, i) && internal(self, j) && i != j {
                    self.unfolding.solver.before_if(literal, points[i], points[j])?;
                }
            }
        }
        // Nothing comes between the parts of an update: what is after the read's source is not before the own write.
        for ((r, w), rmw) in self.rmw.clone() {
            if !internal(self, r) {
                continue;
            }
            for (&(_, other), &later) in fr.range((r, 0)..(r + 1, 0)) {
                if let Some(&before) = self.co.get(&(other, w)) {
                    let s = &mut self.unfolding.solver;
                    let between = s.and(&[rmw, later, before])?;
                    let none = s.not(between)?;
                    s.assert(none)?;
                }
            }
        }
        Ok(())
    }

    /// What synchronisation passes on from one thread to another: from what leaves it to what takes it.
    pub fn passes(&mut self) -> Result<Relation> {
        let nodes: BTreeMap<(EventId, CellId, bool), usize> = self
            .nodes
            .iter()
            .enumerate()
            .filter_map(|(n, node)| Some(((node.event?, node.cell?, node.part == Part::Write), n)))
            .collect();
        let node = |event, cell, write| nodes.get(&(event, cell, write)).copied();
        // The write of the earlier one, if it has one, is before the read of the later one.
        let left = |event, cell| node(event, cell, true).or(node(event, cell, false));
        let points = self.sync_points.clone();
        let carried = carried(&mut self.unfolding, &|solver, a, b, cell| {
            let no = solver.bool_const(false);
            let (Some(a), Some(b)) = (left(a, cell), node(b, cell, false)) else { return Ok(no) };
            Ok(solver.before(points[a], points[b])?)
        })?;
        let mut ways: BTreeMap<(usize, usize), Vec<Bool>> = BTreeMap::new();
        for (cell, edge) in carried {
            if let (Some(from), Some(to)) = (left(edge.from, cell), node(edge.to, cell, false)) {
                ways.entry((from, to)).or_default().push(edge.when);
            }
        }
        self.any(ways)
    }

    /// The execution of the last model.
    pub fn execution(&self) -> Result<Execution> {
        let model = self.unfolding.solver.model().expect("asked only after an answer `Sat`");
        let mut sources = vec![];
        for (&(w, r), &literal) in &self.rf {
            if let (true, Some(read), Some(cell)) =
                (model.holds(literal)?, self.nodes[r].event, self.nodes[r].cell)
            {
                sources.push((read, cell.index(), self.nodes[w].event));
            }
        }
        let mut writes: Vec<Vec<(usize, EventId)>> = vec![vec![]; self.unfolding.memory.cells.len()];
        for (w, node) in self.nodes.iter().enumerate() {
            if let (Part::Write, Some(event), Some(cell)) = (node.part, node.event, node.cell)
                && model.holds(node.happens)?
            {
                let mut before = 0;
                for (&(_, to), &literal) in &self.co {
                    before += usize::from(to == w && model.holds(literal)?);
                }
                writes[cell.index()].push((before, event));
            }
        }
        let writes = writes
            .into_iter()
            .map(|mut list| {
                list.sort_unstable();
                list.into_iter().map(|(_, event)| event).collect()
            })
            .collect();
        execution::read(&self.unfolding, &model, &Links { sources, writes, order: None })
    }
}

fn nodes(unfolding: &mut Unfolding) -> Result<Vec<Node>> {
    let mut nodes = vec![];
    let yes = unfolding.solver.bool_const(true);
    for (c, cell) in unfolding.memory.cells.iter().enumerate() {
        let value = Some(unfolding.solver.bv_const(cell.initial, cell.width.bits())?);
        let cell = Some(CellId(c as u32));
        nodes.push(Node { event: None, cell, part: Part::Write, happens: yes, value, access: 0 });
    }
    for (e, event) in unfolding.events.iter().enumerate() {
        let id = Some(EventId(e as u32));
        for (at, access) in event.accesses.iter().enumerate() {
            let cell = Some(access.cell);
            if let Some(value) = access.read {
                let happens = access.when;
                nodes.push(Node {
                    event: id,
                    cell,
                    part: Part::Read,
                    happens,
                    value: Some(value),
                    access: at,
                });
            }
            if let Some((value, happens)) = access.write {
                nodes.push(Node {
                    event: id,
                    cell,
                    part: Part::Write,
                    happens,
                    value: Some(value),
                    access: at,
                });
            }
        }
        if matches!(event.action, Action::Fence) {
            let happens = event.happens;
            nodes.push(Node { event: id, cell: None, part: Part::Fence, happens, value: None, access: 0 });
        }
    }
    Ok(nodes)
}
