//! The callbacks that CaDiCaL makes during its search (IPASIR-UP).

use super::Theory;
use crate::lit::Lit;
use cadical_sys::ExternalPropagator;

/// What is being handed over literal by literal.
#[derive(Default)]
pub(super) struct Output {
    position: usize,
    reason_open: bool,
    conflict_given: bool,
}

impl Output {
    /// The conflict was resolved by backtracking: the next one is a new one.
    pub(super) fn conflict_taken(&mut self) {
        self.conflict_given = false;
    }
}

impl ExternalPropagator for Theory {
    fn are_reasons_forgettable(&mut self) -> bool {
        true
    }

    fn notify_assignment(&mut self, lits: &[i32]) {
        for &lit in lits {
            self.assign(Lit::new(lit));
        }
    }

    fn notify_new_decision_level(&mut self) {
        self.new_level();
    }

    fn notify_backtrack(&mut self, new_level: usize) {
        self.backtrack(new_level);
    }

    fn cb_check_found_model(&mut self, _model: &[i32]) -> bool {
        self.absorb();
        let pending = self.cb_propagate();
        if pending != 0 {
            // All is assigned, so this literal is false: its reason is the conflict.
            self.explain(Lit::new(pending));
            std::mem::swap(&mut self.clause, &mut self.conflict_clause);
            self.conflict = true;
        }
        if !self.conflict {
            self.accept_model();
        }
        !self.conflict
    }

    fn cb_propagate(&mut self) -> i32 {
        self.absorb();
        if self.conflict {
            return 0;
        }
        while let Some(&lit) = self.queue.get(self.head) {
            self.head += 1;
            if self.value(lit) != 1 {
                return lit.dimacs();
            }
        }
        0
    }

    fn cb_add_reason_clause_lit(&mut self, propagated_lit: i32) -> i32 {
        if !self.output.reason_open {
            self.explain(Lit::new(propagated_lit));
            self.output.reason_open = true;
            self.output.position = 0;
        }
        let literal = self.clause.get(self.output.position).map_or(0, |l| l.dimacs());
        self.output.position += 1;
        self.output.reason_open = literal != 0;
        literal
    }

    fn cb_has_external_clause(&mut self, is_forgettable: &mut bool) -> bool {
        *is_forgettable = true;
        self.output.position = 0;
        self.conflict && !std::mem::replace(&mut self.output.conflict_given, self.conflict)
    }

    fn cb_add_external_clause_lit(&mut self) -> i32 {
        let literal = self.conflict_clause.get(self.output.position).map_or(0, |l| l.dimacs());
        self.output.position += 1;
        literal
    }
}
