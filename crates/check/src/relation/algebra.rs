//! Operations on sets and relations of literals.

use super::Evaluator;
use crate::Result;
use crate::graph::Relation;
use solver::Bool;
use std::collections::{BTreeMap, BTreeSet};

impl Evaluator {
    pub(super) fn pairs(&mut self) -> Result<Relation> {
        let all = self.all();
        let mut pairs = Relation::new();
        for (&i, &x) in &all {
            for (&j, &y) in &all {
                pairs.insert((i, j), self.and(&[x, y])?);
            }
        }
        Ok(pairs)
    }

    pub(super) fn union<K: Ord>(
        &mut self,
        mut a: BTreeMap<K, Bool>,
        b: BTreeMap<K, Bool>,
    ) -> Result<BTreeMap<K, Bool>> {
        for (key, y) in b {
            match a.get(&key).copied() {
                None => a.insert(key, y),
                Some(x) => a.insert(key, self.graph.unfolding.solver.or(&[x, y])?),
            };
        }
        Ok(a)
    }

    pub(super) fn intersection<K: Ord>(
        &mut self,
        a: BTreeMap<K, Bool>,
        b: &BTreeMap<K, Bool>,
    ) -> Result<BTreeMap<K, Bool>> {
        let mut both = BTreeMap::new();
        for (key, x) in a {
            if let Some(&y) = b.get(&key) {
                let literal = self.and(&[x, y])?;
                both.insert(key, literal);
            }
        }
        Ok(both)
    }

    pub(super) fn difference<K: Ord>(
        &mut self,
        a: BTreeMap<K, Bool>,
        b: &BTreeMap<K, Bool>,
    ) -> Result<BTreeMap<K, Bool>> {
        let mut left = BTreeMap::new();
        for (key, x) in a {
            let literal = match b.get(&key) {
                None => x,
                Some(&y) => {
                    let not = self.not(y)?;
                    self.and(&[x, not])?
                }
            };
            left.insert(key, literal);
        }
        self.prune(left)
    }

    /// Leaves out what cannot be.
    pub(super) fn prune<K: Ord>(&mut self, mut map: BTreeMap<K, Bool>) -> Result<BTreeMap<K, Bool>> {
        let no = self.graph.unfolding.solver.bool_const(false);
        map.retain(|_, literal| *literal != no);
        Ok(map)
    }

    pub(super) fn sequence(&mut self, a: &Relation, b: &Relation) -> Result<Relation> {
        let mut ways: BTreeMap<(usize, usize), Vec<Bool>> = BTreeMap::new();
        for (&(i, j), &x) in a {
            for (&(_, k), &y) in b.range((j, 0)..(j + 1, 0)) {
                let both = self.and(&[x, y])?;
                ways.entry((i, k)).or_default().push(both);
            }
        }
        let mut relation = Relation::new();
        for (pair, ways) in ways {
            relation.insert(pair, self.graph.unfolding.solver.or(&ways)?);
        }
        self.prune(relation)
    }

    pub(super) fn or_identity(&mut self, relation: Relation) -> Result<Relation> {
        let identity = self.all().into_iter().map(|(n, literal)| ((n, n), literal)).collect();
        self.union(relation, identity)
    }

    /// The transitive closure; unless it must be exact, any transitive relation that contains it.
    pub(super) fn closure(&mut self, relation: Relation, exact: bool) -> Result<Relation> {
        let possible = reachable(&relation);
        if possible.iter().all(|pair| relation.contains_key(pair))
            && is_transitive_by_form(&relation, &self.graph.po)
        {
            return Ok(relation);
        }
        if exact {
            let mut closure = relation;
            let mut length = 1;
            while length < self.graph.nodes.len() {
                let twice = self.sequence(&closure, &closure.clone())?;
                closure = self.union(closure, twice)?;
                length *= 2;
            }
            return Ok(closure);
        }
        let mut closure = Relation::new();
        for pair in possible {
            closure.insert(pair, self.graph.unfolding.solver.bool_var());
        }
        self.include(&relation, &closure)?;
        let steps = self.sequence(&relation, &closure.clone())?;
        self.include(&steps, &closure)?;
        Ok(closure)
    }
}

/// Whether a relation is program order itself, whose closure it is.
fn is_transitive_by_form(relation: &Relation, po: &Relation) -> bool {
    relation == po
}

/// The pairs that a relation may lead to in one step or more.
fn reachable(relation: &Relation) -> BTreeSet<(usize, usize)> {
    let mut next: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    relation.keys().for_each(|&(i, j)| next.entry(i).or_default().push(j));
    let mut pairs = BTreeSet::new();
    for &start in next.keys() {
        let mut work = vec![start];
        while let Some(at) = work.pop() {
            for &to in next.get(&at).into_iter().flatten() {
                if pairs.insert((start, to)) {
                    work.push(to);
                }
            }
        }
    }
    pairs
}
