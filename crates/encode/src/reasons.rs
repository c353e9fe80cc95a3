//! Why not: switches for the parts of an encoding, so that an unsatisfiable core names them (DESIGN §11).
//!
//! With [`Options::explain`](crate::Options::explain) each part that can be to blame is in force only under a literal of its own, and
//! each query assumes all of these. Without it there are no such literals and the parts are in force for good.

use crate::Encoding;
use claim::Because;
use solver::{Bool, Result};

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

    /// What the literals of a core stand for.
    #[must_use]
    pub fn because(&self, core: &[Bool]) -> Vec<Because> {
        let mut reasons: Vec<Because> = (self.reasons.switches.iter())
            .filter(|(switch, _)| core.contains(switch))
            .map(|(_, because)| because.clone())
            .collect();
        reasons.sort_unstable();
        reasons.dedup();
        reasons
    }
}
