//! A bound on context switches, as a constraint: time falls into stretches, each of which belongs to one thread.
//!
//! With at most n switches there are n + 1 stretches, divided by n points on a chain of their own; an event that is inside the prefix
//! and between two of these points is the owner's of that stretch. Stretches may be empty, so the bound is exact: a prefix with at most
//! n switches is a solution, and each solution is such a prefix. What counts are events that others can notice; all other events go along
//! with them.

use crate::Encoding;
use ctp::{EventIndex, ThreadIndex};
use solver::{Bool, Point, Result};

/// The stretches.
#[derive(Debug, Default)]
pub struct Stretches {
    /// What divides them, in order.
    pub borders: Vec<Point>,
    /// For each stretch and each thread: it is the thread's.
    owners: Vec<Vec<Bool>>,
}

impl Encoding<'_> {
    /// Requires that the prefix has an order with at most so many switches.
    pub(crate) fn bound_switches(&mut self, most: u32) -> Result<()> {
        let threads = self.ctp.threads.len();
        // More stretches than events change nothing.
        let most = (most as usize).min(self.ctp.events.len());
        let chain = self.solver.chain()?;
        let mut stretches = Stretches::default();
        for _ in 0..most {
            stretches.borders.push(self.solver.point_on(chain)?);
        }
        for _ in 0..=most {
            let owners: Vec<Bool> = (0..threads).map(|_| self.solver.bool_var()).collect();
            let one = self.solver.at_most(1, &owners)?;
            self.solver.assert(one)?;
            stretches.owners.push(owners);
        }
        for at in (0..self.ctp.events.len()).map(EventIndex::new) {
            let Some(point) = self.points[at.index()].filter(|_| self.kind(at).is_noticed()) else {
                continue;
            };
            let thread = self.event(at).thread.index();
            let inside = self.inside(at);
            let outside = self.solver.not(inside)?;
            for (n, owners) in stretches.owners.iter().enumerate() {
                let mut clause = vec![outside, owners[thread]];
                if let Some(&from) = n.checked_sub(1).and_then(|n| stretches.borders.get(n)) {
                    clause.push(self.solver.before(point, from)?);
                }
                if let Some(&to) = stretches.borders.get(n) {
                    clause.push(self.solver.before(to, point)?);
                }
                let clause = self.solver.or(&clause)?;
                self.solver.assert(clause)?;
            }
        }
        self.stretches = Some(stretches);
        Ok(())
    }

    /// One more event of a thread behind the prefix keeps to the bound on switches, if there is one.
    #[must_use]
    pub fn may_end_with(&self, thread: ThreadIndex) -> Bool {
        let last = self.stretches.as_ref().and_then(|stretches| stretches.owners.last());
        last.map_or(self.solver.bool_const(true), |owners| owners[thread.index()])
    }
}
