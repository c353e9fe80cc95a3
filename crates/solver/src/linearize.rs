//! Total orders from edges: any one, or one with few switches between chains.
//!
//! Fewest switches is a hard problem; this is greedy with a choice at each switch: stay on a chain as long as
//! its next point may come, then go to the chain that can run longest. Tried from each chain that can begin.

use crate::order::At;
use rustc_hash::FxHashMap;

/// Edges among the points that have any, prepared for scheduling.
struct Plan {
    points: Vec<At>,
    next_on_chain: Vec<Option<usize>>,
    /// Ends of the edges, those of one point together; where those of each point begin.
    after: Vec<usize>,
    begin: Vec<usize>,
    missing: Vec<u32>,
    first: Vec<usize>,
}

impl Plan {
    fn new(edges: impl Iterator<Item = (At, At)> + Clone, points: impl Iterator<Item = At>) -> Plan {
        let mut all: Vec<At> = edges.clone().flat_map(|(a, b)| [a, b]).chain(points).collect();
        all.sort_unstable();
        all.dedup();
        let index: FxHashMap<At, usize> = all.iter().enumerate().map(|(i, &p)| (p, i)).collect();
        let edges: Vec<(usize, usize)> = edges.map(|(a, b)| (index[&a], index[&b])).collect();
        let (mut begin, mut missing) = (vec![0; all.len() + 1], vec![0; all.len()]);
        for &(a, b) in &edges {
            begin[a] += 1;
            missing[b] += 1;
        }
        // From how many there are to where they end; putting each in its place then leaves where they begin.
        (1..begin.len()).for_each(|i| begin[i] += begin[i - 1]);
        let mut after = vec![0; edges.len()];
        for &(a, b) in &edges {
            begin[a] -= 1;
            after[begin[a]] = b;
        }
        let same = |i: usize| i + 1 < all.len() && all[i].chain == all[i + 1].chain;
        let next_on_chain: Vec<Option<usize>> = (0..all.len()).map(|i| same(i).then_some(i + 1)).collect();
        let first = (0..all.len()).filter(|&i| i == 0 || all[i - 1].chain != all[i].chain).collect();
        Plan { points: all, next_on_chain, after, begin, missing, first }
    }

    /// Runs chains greedily, beginning with the `start`-th.
    fn run(&self, start: usize) -> Vec<At> {
        let mut missing = self.missing.clone();
        let mut next: Vec<Option<usize>> = self.first.iter().map(|&i| Some(i)).collect();
        let mut sequence = Vec::with_capacity(self.points.len());
        let mut current = start;
        loop {
            let ready = |next: &[Option<usize>], missing: &[u32], c: usize| {
                next.get(c).copied().flatten().is_some_and(|i| missing[i] == 0)
            };
            if !ready(&next, &missing, current) {
                let candidates = (0..next.len()).filter(|&c| ready(&next, &missing, c));
                match candidates.max_by_key(|&c| (self.reach(&next, &missing, c), std::cmp::Reverse(c))) {
                    Some(c) => current = c,
                    None => break,
                }
            }
            while let Some(i) = next[current].filter(|&i| missing[i] == 0) {
                sequence.push(self.points[i]);
                self.after[self.begin[i]..self.begin[i + 1]].iter().for_each(|&j| missing[j] -= 1);
                next[current] = self.next_on_chain[i];
            }
        }
        sequence
    }

    /// How far a chain could run alone, up to a horizon.
    fn reach(&self, next: &[Option<usize>], missing: &[u32], chain: usize) -> u32 {
        let mut count = 0;
        let mut at = next[chain];
        while let Some(i) = at.filter(|&i| missing[i] == 0 && count < 64) {
            count += 1;
            at = self.next_on_chain[i];
        }
        count
    }
}

/// A sequence of all points that have edges, respecting edges and chains.
pub(crate) fn topological(edges: &[(At, At)]) -> Vec<At> {
    let plan = Plan::new(edges.iter().copied(), std::iter::empty());
    let sequence = plan.run(0);
    debug_assert_eq!(sequence.len(), plan.points.len(), "the edges of a model have no cycle");
    sequence
}

/// A sequence of the given points and those with edges, with few switches between chains: never more than the
/// `known` sequence of the same points has.
pub(crate) fn few_switches(edges: &[(At, At)], points: &[At], known: Vec<At>) -> Vec<At> {
    let plan = Plan::new(edges.iter().copied(), points.iter().copied());
    let tries = plan.first.len().clamp(1, 16);
    (0..tries)
        .map(|start| plan.run(start))
        .filter(|sequence| sequence.len() == plan.points.len())
        .chain((known.len() == plan.points.len()).then_some(known))
        .min_by_key(|sequence| switches(sequence))
        .unwrap_or_default()
}

/// How often neighbours in the sequence lie on different chains.
pub(crate) fn switches(sequence: &[At]) -> usize {
    sequence.windows(2).filter(|w| w[0].chain != w[1].chain).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(chain: u32, position: u32) -> At {
        At { chain, position }
    }

    #[test]
    fn few_switches_runs_one_chain_as_long_as_it_may() {
        let edges = [(at(0, 2), at(1, 1)), (at(1, 0), at(0, 1))];
        let points: Vec<At> = (0..4).flat_map(|p| [at(0, p), at(1, p)]).collect();
        let sequence = few_switches(&edges, &points, points.clone());
        assert_eq!(sequence.len(), 8);
        let place = |p: At| sequence.iter().position(|&q| q == p);
        for (a, b) in edges {
            assert!(place(a) < place(b));
        }
        // 1.0 | 0.0 0.1 0.2 0.3 | 1.1 1.2 1.3 is the best.
        assert_eq!(switches(&sequence), 2);
    }
}
