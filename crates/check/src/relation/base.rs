//! The sets and relations that every model can speak of.

use super::{Evaluator, Set, Value};
use crate::Result;
use crate::event::Action;
use crate::graph::{Part, Relation};
use ir::Order;
use solver::Bool;
use std::collections::BTreeMap;

impl Evaluator {
    /// The sets that are there from the start.
    pub(super) fn sets(&mut self) -> Result<()> {
        let mut sets: BTreeMap<&'static str, Set> = BTreeMap::new();
        for name in crate::cat::SETS {
            sets.insert(name, Set::new());
        }
        for n in 0..self.graph.nodes.len() {
            let node = self.graph.nodes[n].clone();
            let mut add = |name: &'static str, when: Bool| {
                sets.entry(name).or_default().insert(n, when);
            };
            match node.part {
                Part::Read => add("R", node.happens),
                Part::Write => add("W", node.happens),
                Part::Fence => add("F", node.happens),
            }
            if node.part != Part::Fence {
                add("M", node.happens);
            }
            let Some(event) = node.event else {
                add("I", node.happens);
                add("IW", node.happens);
                continue;
            };
            let event = &self.graph.unfolding.events[event.index()];
            let word = |order: Order| match order {
                Order::Relaxed => "RLX",
                Order::Acquire => "ACQ",
                Order::Release => "REL",
                Order::AcqRel => "ACQ_REL",
                Order::SeqCst => "SC",
            };
            match event.order {
                None => add("NA", node.happens),
                Some(order) => {
                    add("A", node.happens);
                    let wrote =
                        event.accesses.iter().find(|a| Some(a.cell) == node.cell).and_then(|a| a.write);
                    match (event.failure_order, wrote) {
                        // The order of a compare-and-exchange depends on its outcome.
                        (Some(failure), Some((_, wrote))) if failure != order && node.part == Part::Read => {
                            let s = &mut self.graph.unfolding.solver;
                            let not = s.not(wrote)?;
                            let (done, failed) =
                                (s.and(&[node.happens, wrote])?, s.and(&[node.happens, not])?);
                            add(word(order), done);
                            add(word(failure), failed);
                        }
                        _ => add(word(order), node.happens),
                    }
                }
            }
            let event = &self.graph.unfolding.events[event_index(&node)];
            match event.action {
                Action::Sync(_) => add("Sync", node.happens),
                Action::Update => {
                    add("RMW", node.happens);
                    add("X", node.happens);
                }
                Action::Fence => match event.order {
                    Some(Order::SeqCst) => add("MFENCE", node.happens),
                    Some(Order::Release) => add("SFENCE", node.happens),
                    Some(Order::Acquire) => add("LFENCE", node.happens),
                    _ => {}
                },
                _ => {}
            }
        }
        self.base.extend(sets.into_iter().map(|(name, set)| (name, Value::Set(set))));
        Ok(())
    }

    /// The relations that are there from the start.
    pub(super) fn relations(&mut self) -> Result<()> {
        let count = self.graph.nodes.len();
        let fr = self.graph.reads_before()?;
        let (mut loc, mut int, mut ext, mut id) =
            (Relation::new(), Relation::new(), Relation::new(), Relation::new());
        let mut sync = Relation::new();
        for i in 0..count {
            id.insert((i, i), self.graph.nodes[i].happens);
            for j in 0..count {
                let both = self.and(&[self.graph.nodes[i].happens, self.graph.nodes[j].happens])?;
                let (a, b) = (self.graph.nodes[i].cell, self.graph.nodes[j].cell);
                if a.is_some() && a == b {
                    loc.insert((i, j), both);
                }
                let same = self.graph.thread(i) == self.graph.thread(j);
                if same { &mut int } else { &mut ext }.insert((i, j), both);
                if self.graph.is_sync(i) && self.graph.is_sync(j) {
                    sync.insert((i, j), both);
                }
            }
        }
        let (po, rf, co) = (self.graph.po.clone(), self.graph.rf.clone(), self.graph.co.clone());
        let within = |relation: &Relation, other: &Relation| -> Relation {
            relation
                .iter()
                .filter(|(pair, _)| other.contains_key(pair))
                .map(|(&pair, &l)| (pair, l))
                .collect()
        };
        let mut so = within(&rf, &sync);
        so.extend(within(&co, &sync));
        so.extend(within(&fr, &sync).into_iter().filter(|((i, j), _)| i != j));
        let dependency = |of: &dyn Fn(&crate::Event) -> crate::unfold::value::Sources, only_writes: bool| {
            let mut relation = Relation::new();
            for (j, node) in self.graph.nodes.iter().enumerate() {
                let Some(event) = node.event else { continue };
                if only_writes && node.part != Part::Write {
                    continue;
                }
                let sources = of(&self.graph.unfolding.events[event.index()]);
                for (i, read) in self.graph.nodes.iter().enumerate() {
                    let reads = read.part == Part::Read && read.event.is_some_and(|e| sources.contains(&e));
                    if let (true, Some(&both)) = (reads, self.graph.po.get(&(i, j))) {
                        relation.insert((i, j), both);
                    }
                }
            }
            relation
        };
        let (addr, data, ctrl) = (
            dependency(&|event| event.address.clone(), false),
            dependency(&|event| event.data.clone(), true),
            dependency(&|event| event.control.clone(), false),
        );
        let named: Vec<(&'static str, Relation)> = vec![
            ("po-loc", within(&po, &loc)),
            ("rfi", within(&rf, &int)),
            ("rfe", within(&rf, &ext)),
            ("coi", within(&co, &int)),
            ("coe", within(&co, &ext)),
            ("fri", within(&fr, &int)),
            ("fre", within(&fr, &ext)),
            ("rmw", self.graph.rmw.clone()),
            ("fj", self.graph.fj.clone()),
            ("mo", co.clone()),
            ("po", po),
            ("rf", rf),
            ("co", co),
            ("fr", fr),
            ("loc", loc),
            ("int", int),
            ("ext", ext),
            ("id", id),
            ("so", so),
            ("addr", addr),
            ("data", data),
            ("ctrl", ctrl),
        ];
        self.base.extend(named.into_iter().map(|(name, relation)| (name, Value::Relation(relation))));
        Ok(())
    }
}

fn event_index(node: &crate::graph::Node) -> usize {
    node.event.map_or(0, crate::EventId::index)
}
