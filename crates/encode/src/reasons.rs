//! Why not: switches for the parts of an encoding, so that an unsatisfiable core names them
//! (docs/design/engines.md, "Answers").
//!
//! With [`Options::explain`](crate::Options::explain) each part that can be to blame is in force only under a literal of its own, and
//! each query assumes all of these. Without it there are no such literals and the parts are in force for good.

use crate::Encoding;
use claim::Because;
use solver::{Answer, Bool, Result};

/// The literals, with what they stand for.
#[derive(Debug, Default)]
pub struct Reasons {
    on: bool,
    switches: Vec<(Bool, Because)>,
}

impl Reasons {
    pub fn new(on: bool) -> Reasons {
        Reasons { on, switches: vec![] }
    }
}

impl Encoding<'_> {
    /// The literal under which a part is in force.
    pub(crate) fn switch(&mut self, because: Because) -> Bool {
        if !self.reasons.on {
            return self.solver.bool_const(true);
        }
        let known = self.reasons.switches.iter().rev().take(8).find(|(_, known)| *known == because);
        if let Some(&(switch, _)) = known {
            return switch;
        }
        let switch = self.solver.bool_var();
        self.reasons.switches.push((switch, because));
        switch
    }

    /// Requires something, for a reason.
    pub(crate) fn require(&mut self, because: Because, clause: &[Bool]) -> Result<()> {
        let switch = self.switch(because);
        let off = self.solver.not(switch)?;
        let mut clause = clause.to_vec();
        clause.push(off);
        let clause = self.solver.or(&clause)?;
        self.solver.assert(clause)
    }

    /// All literals that a query assumes so that all parts are in force.
    pub(crate) fn switches(&self) -> impl Iterator<Item = Bool> {
        self.reasons.switches.iter().map(|&(switch, _)| switch)
    }

    /// Why what is assumed is infeasible, by a core of it: what the literals of the core stand for, without those that are not needed
    /// as far as a few more questions tell. `own` are reasons that stand for some of what is assumed.
    ///
    /// # Errors
    /// As for [`Encoding::ask`].
    pub fn because(
        &mut self,
        assumptions: &[Bool],
        core: &[Bool],
        own: &[(Bool, Because)],
    ) -> Result<Vec<Because>> {
        const MOST_QUESTIONS: usize = 64;
        if !self.reasons.on {
            return Ok(vec![]);
        }
        let own_terms = own.iter().map(|&(term, _)| term);
        let mut needed: Vec<Bool> =
            own_terms.chain(self.switches()).filter(|term| core.contains(term)).collect();
        let is_own = |term: &Bool| own.iter().any(|(own, _)| own == term);
        let others: Vec<Bool> = assumptions.iter().copied().filter(|term| !is_own(term)).collect();
        let mut at = 0;
        for _ in 0..MOST_QUESTIONS {
            if at >= needed.len() {
                break;
            }
            let mut fewer = others.clone();
            fewer.extend(self.pins.iter().map(|pin| pin.switch));
            fewer.extend(needed.iter().enumerate().filter(|&(n, _)| n != at).map(|(_, &switch)| switch));
            match self.solver.solve(&fewer)? {
                Answer::Unsat(core) => needed.retain(|switch| core.contains(switch)),
                _ => at += 1,
            }
        }
        let mut reasons: Vec<Because> = (own.iter().chain(&self.reasons.switches))
            .filter(|(switch, _)| needed.contains(switch))
            .map(|(_, because)| because.clone())
            .collect();
        reasons.sort_unstable();
        reasons.dedup();
        Ok(reasons)
    }
}
