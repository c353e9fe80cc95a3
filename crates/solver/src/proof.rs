//! A record of the clauses that CaDiCaL was given and those that it derived, for checkers that are not ours.
//!
//! The clauses of the theory are premises here (they are verified by [`crate::check`]), the rest must follow.
//! Deletions are left out: every step then stays valid however clauses come back between queries.

use crate::lit::Lit;
use cadical_sys::ProofTracer;
use std::fmt::Write;

#[derive(Default)]
pub(crate) struct ProofLog {
    inputs: Vec<Box<[i32]>>,
    derived: Vec<Box<[i32]>>,
}

impl ProofLog {
    pub(crate) fn input(&mut self, lits: &[Lit]) {
        self.inputs.push(lits.iter().map(|l| l.dimacs()).collect());
    }

    /// The premises in DIMACS and the derivation in DRAT text form.
    pub(crate) fn write(&self, vars: i32, lemmas: &[Vec<Lit>], assumptions: &[Lit]) -> (String, String) {
        let mut cnf = String::new();
        let mut drat = String::new();
        let line = |text: &mut String, lits: &mut dyn Iterator<Item = i32>| {
            for lit in lits {
                // Writing to a string cannot fail.
                let _ = write!(text, "{lit} ");
            }
            text.push_str("0\n");
        };
        let count = self.inputs.len() + lemmas.len() + assumptions.len();
        let _ = writeln!(cnf, "p cnf {vars} {count}");
        for clause in &self.inputs {
            line(&mut cnf, &mut clause.iter().copied());
        }
        for clause in lemmas {
            line(&mut cnf, &mut clause.iter().map(|l| l.dimacs()));
        }
        for lit in assumptions {
            line(&mut cnf, &mut std::iter::once(lit.dimacs()));
        }
        for clause in &self.derived {
            line(&mut drat, &mut clause.iter().copied());
        }
        drat.push_str("0\n");
        (cnf, drat)
    }
}

impl ProofTracer for ProofLog {
    fn add_original_clause(&mut self, _id: i64, _redundant: bool, _clause: &[i32], _restored: bool) {}

    fn add_derived_clause(
        &mut self,
        _id: i64,
        _redundant: bool,
        witness: i32,
        clause: &[i32],
        _from: &[i64],
    ) {
        let mut clause: Box<[i32]> = clause.into();
        // A clause that is only RAT names its pivot first.
        if let Some(pivot) = clause.iter().position(|&l| l == witness) {
            clause.swap(0, pivot);
        }
        self.derived.push(clause);
    }

    fn delete_clause(&mut self, _id: i64, _redundant: bool, _clause: &[i32]) {}
    fn weaken_minus(&mut self, _id: i64, _clause: &[i32]) {}
    fn strengthen(&mut self, _id: i64) {}
    fn finalize_clause(&mut self, _id: i64, _clause: &[i32]) {}
    fn add_assumption(&mut self, _lit: i32) {}
    fn add_constraint(&mut self, _clause: &[i32]) {}
    fn reset_assumptions(&mut self) {}

    fn add_assumption_clause(&mut self, _id: i64, clause: &[i32], _from: &[i64]) {
        self.derived.push(clause.into());
    }

    fn conclude_sat(&mut self, _conclusion_type: i32, _model: &[i32]) {}
    fn conclude_unsat(&mut self, _conclusion_type: i32, _clause_ids: &[i64]) {}
    fn conclude_unknown(&mut self, _trail: &[i32]) {}
}
