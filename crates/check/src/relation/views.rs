//! Models in which each thread has an order of its own (PRAM, causal and processor consistency): our construct beside herd's language.

use super::Evaluator;
use crate::Result;
use crate::cat::Expr;
use crate::graph::Part;
use solver::{Bool, Point};
use std::collections::{BTreeMap, BTreeSet};

impl Evaluator {
    /// Each thread sees its own accesses and the writes of all in one order, which respects a relation, and in which each of its reads
    /// sees the last write. All views agree with another relation.
    pub(super) fn views(&mut self, respecting: &Expr, agreeing: Option<&Expr>, rule: Bool) -> Result<()> {
        let scope = self.names.len();
        let mut respected = self.relation(respecting, scope, false)?;
        if let Some(agreeing) = agreeing {
            let agreed = self.relation(agreeing, scope, false)?;
            respected = self.union(respected, agreed)?;
        }
        for thread in 0..self.graph.unfolding.threads.len() {
            let nodes: BTreeSet<usize> = (0..self.graph.nodes.len())
                .filter(|&n| {
                    let node = &self.graph.nodes[n];
                    node.event.is_some() && (self.graph.thread(n) == Some(thread) || node.part == Part::Write)
                })
                .collect();
            let mut points = BTreeMap::new();
            for &n in &nodes {
                points.insert(n, self.graph.unfolding.solver.point()?);
            }
            for (&(i, j), &literal) in &respected {
                if let (Some(&p), Some(&q)) = (points.get(&i), points.get(&j))
                    && i != j
                {
                    let counts = [rule, self.graph.counts(i), self.graph.counts(j), literal];
                    let when = self.and(&counts)?;
                    self.graph.unfolding.solver.before_if(when, p, q)?;
                }
            }
            self.view_reads(thread, &points, rule)?;
        }
        Ok(())
    }

    fn view_reads(&mut self, thread: usize, points: &BTreeMap<usize, Point>, rule: Bool) -> Result<()> {
        for (&(w, r), &rf) in &self.graph.rf.clone() {
            if self.graph.thread(r) != Some(thread) {
                continue;
            }
            let Some(&read) = points.get(&r) else { continue };
            let source = points.get(&w).copied();
            let mut causes = vec![rule, rf, self.graph.counts(r)];
            if let Some(source) = source {
                let when = self.and(&causes)?;
                self.graph.unfolding.solver.before_if(when, source, read)?;
            }
            for (&other, &point) in points {
                let node = &self.graph.nodes[other];
                let own = node.event == self.graph.nodes[r].event;
                if other == w || node.part != Part::Write || node.cell != self.graph.nodes[r].cell || own {
                    continue;
                }
                causes.truncate(3);
                causes.push(node.happens);
                let cause = self.and(&causes)?;
                let s = &mut self.graph.unfolding.solver;
                // The other write is before the source or after the read.
                let after = s.before(read, point)?;
                let apart = match source {
                    None => after,
                    Some(source) => {
                        let before = s.before(point, source)?;
                        s.or(&[before, after])?
                    }
                };
                let holds = s.implies(cause, apart)?;
                s.assert(holds)?;
            }
        }
        Ok(())
    }
}
