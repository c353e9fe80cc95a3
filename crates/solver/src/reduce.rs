//! From a model to an order that a person can read.
//!
//! The search decides every order literal, also those that do not matter. Here only what matters is kept: fixed
//! edges, the order literals that occur in formulas, reads with their source and the writes around it, sections
//! one after the other, takers after givers. All of it follows the model, so it has no cycle; what is left is
//! put in a total order with few switches between chains ([`linearize`]).

use crate::linearize;
use crate::model::Model;
use crate::order::At;
use crate::solver::Solver;
use crate::structure::Source;
use crate::terms::eval::Evaluator;
use crate::terms::walk::Task;
use crate::terms::{BoolNode, BoolRef};
use rustc_hash::{FxHashMap, FxHashSet};

impl Solver {
    /// The wanted points, and what must come before them, in an order with few switches.
    pub(crate) fn reduce(&self, model: &Model, wanted: &[At]) -> Vec<At> {
        let edges = self.edges_that_matter(model);
        let (kept, points) = before_wanted(&edges, wanted);
        let mut known: Vec<At> =
            points.iter().copied().chain(kept.iter().flat_map(|&(a, b)| [a, b])).collect();
        known.sort_unstable();
        known.dedup();
        known.sort_by_cached_key(|&at| model.key(at));
        let sequence = linearize::few_switches(&kept, &points, known);
        if self.checks()
            && wanted.len() as u64 == self.chain_lengths.iter().map(|&l| u64::from(l)).sum::<u64>()
        {
            let reordered = model.with_sequence(&sequence);
            if let Err(wrong) = self.problem.verify(&self.bank, &reordered) {
                panic!("a reduced order is wrong: {wrong}");
            }
        }
        sequence
    }

    fn edges_that_matter(&self, model: &Model) -> Vec<(At, At)> {
        let mut edges = self.problem.fixed.clone();
        let along = |a: At, b: At| if model.before(a, b) { (a, b) } else { (b, a) };
        edges.extend(self.order_literals().into_iter().map(|(a, b)| along(a, b)));
        let mut eval = Evaluator::new(&self.bank, model);
        for &(condition, a, b) in &self.problem.edges_when {
            if eval.bool(condition) {
                edges.push((a, b));
            }
        }
        for place in &self.problem.locations {
            let there: Vec<At> = place.writes.iter().filter(|w| eval.bool(w.when)).map(|w| w.at).collect();
            for read in &place.reads {
                if !eval.bool(read.when) {
                    continue;
                }
                let source = match place.source(model, &mut eval, read) {
                    Some(Source::Write(i)) => Some(place.writes[i].at),
                    _ => None,
                };
                if let Some(source) = source {
                    edges.push((source, read.at));
                }
                for &other in there.iter().filter(|&&w| Some(w) != source && w != read.at) {
                    match source {
                        Some(source) if model.before(other, source) => edges.push((other, source)),
                        _ => edges.push((read.at, other)),
                    }
                }
            }
        }
        for sections in &self.problem.exclusions {
            let there: Vec<_> = sections.iter().filter(|s| eval.bool(s.when)).collect();
            for (i, a) in there.iter().enumerate() {
                for b in &there[..i] {
                    let (first, second) = if model.before(a.begin, b.begin) { (a, b) } else { (b, a) };
                    if let (Some(end), false) = (first.end, a.shared && b.shared) {
                        edges.push((end, second.begin));
                    }
                }
            }
        }
        for matching in &self.problem.matchings {
            for taker in &matching.takers {
                for (giver, &service) in matching.givers.iter().zip(&taker.served_by) {
                    if let (Some(at), true) = (giver.at, eval.bool(service)) {
                        edges.push((at, taker.at));
                        edges.extend(taker.after.map(|after| (after, at)));
                    }
                }
            }
        }
        edges.retain(|&(a, b)| a.chain != b.chain);
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// The pairs of points whose order some formula mentions.
    fn order_literals(&self) -> Vec<(At, At)> {
        let problem = &self.problem;
        let conditions = problem.edges_when.iter().map(|e| e.0);
        let writes = problem.locations.iter().flat_map(|l| l.writes.iter().map(|w| w.when));
        let reads = problem.locations.iter().flat_map(|l| l.reads.iter().map(|r| r.when));
        let sections = problem.exclusions.iter().flatten().map(|s| s.when);
        let takers = problem.matchings.iter().flat_map(|m| m.takers.iter().map(|t| t.when));
        let givers = problem.matchings.iter().flat_map(|m| m.givers.iter().map(|g| g.when));
        let asserted = problem.assertions.iter().map(|a| a.0);
        let roots: Vec<BoolRef> = asserted
            .chain(self.last_assumed.iter().copied())
            .chain(conditions)
            .chain(writes)
            .chain(reads)
            .chain(sections)
            .chain(takers)
            .chain(givers)
            .collect();
        let values = problem.locations.iter().flat_map(|l| l.writes.iter().map(|w| w.value).chain(l.initial));
        let mut stack: Vec<Task> = roots.into_iter().map(Task::Bool).chain(values.map(Task::Bv)).collect();
        let mut seen = FxHashSet::default();
        let mut pairs = Vec::new();
        while let Some(task) = stack.pop() {
            match task {
                Task::Bool(t) if seen.insert((true, t.node())) => {
                    if let BoolNode::Before(a, b) = *self.bank.bool_node(t) {
                        pairs.push((a, b));
                    }
                    self.bank.bool_children(t, |c| stack.push(c));
                }
                Task::Bv(t) if seen.insert((false, t.index())) => self.bank.bv_children(t, |c| stack.push(c)),
                _ => {}
            }
        }
        pairs
    }
}

/// The edges and points that come before wanted points, and these.
fn before_wanted(edges: &[(At, At)], wanted: &[At]) -> (Vec<(At, At)>, Vec<At>) {
    // Per chain, the last position that is needed.
    let mut last: FxHashMap<u32, u32> = FxHashMap::default();
    let mut by_chain: FxHashMap<u32, Vec<(At, At)>> = FxHashMap::default();
    for &(a, b) in edges {
        by_chain.entry(b.chain).or_default().push((a, b));
    }
    for incoming in by_chain.values_mut() {
        incoming.sort_unstable_by_key(|&(_, b)| std::cmp::Reverse(b.position));
    }
    let mut kept = Vec::new();
    let mut stack: Vec<At> = wanted.to_vec();
    while let Some(at) = stack.pop() {
        if last.get(&at.chain).is_some_and(|&l| l >= at.position) {
            continue;
        }
        last.insert(at.chain, at.position);
        let Some(incoming) = by_chain.get_mut(&at.chain) else { continue };
        while let Some((a, b)) = incoming.pop_if(|(_, b)| b.position <= at.position) {
            kept.push((a, b));
            stack.push(a);
        }
    }
    (kept, wanted.to_vec())
}
