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
        let mut lits: Vec<i32> = lits.iter().map(|l| l.dimacs()).collect();
        lits.sort_unstable();
        lits.dedup();
        self.inputs.push(lits.into_boxed_slice());
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
        // Premises that are repeated confuse some checkers.
        let mut assumptions = assumptions.to_vec();
        assumptions.sort_unstable();
        assumptions.dedup();
        // So does an empty premise: it becomes a variable that is true and false.
        let empty = self.inputs.iter().any(|c| c.is_empty()) || lemmas.iter().any(Vec::is_empty);
        let absurd = vars + 1;
        let contradiction = if empty { vec![[absurd], [-absurd]] } else { vec![] };
        let inputs = self.inputs.iter().map(|c| c.to_vec());
        let lemmas = lemmas.iter().map(|c| c.iter().map(|l| l.dimacs()).collect::<Vec<i32>>());
        let premises: Vec<Vec<i32>> = inputs
            .chain(lemmas)
            .filter(|c| !c.is_empty())
            .chain(assumptions.iter().map(|l| vec![l.dimacs()]))
            .chain(contradiction.iter().map(|c| c.to_vec()))
            .collect();
        let _ = writeln!(cnf, "p cnf {absurd} {}", premises.len());
        for clause in premises {
            line(&mut cnf, &mut clause.into_iter());
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
