//! The SAT solver with the theory connected to it: CaDiCaL through its external propagator interface.
//!
//! Variables that the theory looks at are *observed*, from their first moment: CaDiCaL may eliminate others
//! between searches, and an eliminated variable cannot be observed any more.

use crate::blast::Cnf;
use crate::check::Checker;
use crate::limits::{Limits, Stop, Watchdog};
use crate::lit::Lit;
use crate::order::At;
use crate::proof::ProofLog;
use crate::theory::Theory;
use cadical_sys::{CaDiCal, Status};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// What the SAT search says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Sat,
    Unsat,
    Unknown(Stop),
}

pub(crate) struct Sat {
    cadical: CaDiCal,
    pub(crate) theory: Rc<RefCell<Theory>>,
    pub(crate) watchdog: Rc<RefCell<Watchdog>>,
    proof: Option<Rc<RefCell<ProofLog>>>,
    vars: i32,
    clauses: u64,
    observed: FxHashMap<Lit, Lit>,
    values: Values,
}

/// The assignment of the last model.
#[derive(Default)]
pub(crate) struct Values(Vec<i8>);

impl Values {
    pub(crate) fn holds(&self, lit: Lit) -> bool {
        let value = self.0.get(lit.var()).copied().unwrap_or(-1);
        if lit.is_negative() { value < 0 } else { value > 0 }
    }
}

impl Sat {
    pub(crate) fn new(check: bool, proof: bool) -> Sat {
        let mut cadical = CaDiCal::new();
        // Backtracking out of order would break the stacks of the theory.
        cadical.set("chrono", 0);
        // Reasons of propagations only when conflict analysis needs them.
        cadical.set("exteagerreasons", 0);
        let mut theory = Theory::default();
        theory.checker = check.then(Box::default);
        theory.lemmas = proof.then(Vec::new);
        let theory = Rc::new(RefCell::new(theory));
        let watchdog = Rc::new(RefCell::new(Watchdog::default()));
        let proof = proof.then(|| {
            let log = Rc::new(RefCell::new(ProofLog::default()));
            cadical.connect_proof_tracer1(Rc::clone(&log), false, false);
            log
        });
        cadical.connect_external_propagator(Rc::clone(&theory));
        cadical.connect_terminator(Rc::clone(&watchdog));
        let observed = FxHashMap::default();
        let mut sat = Sat {
            cadical,
            theory,
            watchdog,
            proof,
            vars: 1,
            clauses: 0,
            observed,
            values: Values::default(),
        };
        sat.add(&[Lit::TRUE]);
        sat
    }

    fn add(&mut self, lits: &[Lit]) {
        self.clauses += 1;
        for &lit in lits {
            self.cadical.add(lit.dimacs());
        }
        self.cadical.add(0);
        if let Some(proof) = &self.proof {
            proof.borrow_mut().input(lits);
        }
    }

    /// A new variable that the theory is told about.
    pub(crate) fn fresh_observed(&mut self) -> Lit {
        let lit = self.fresh();
        self.cadical.add_observed_var(lit.dimacs());
        self.theory.borrow_mut().ensure(lit);
        lit
    }

    /// An observed literal that equals the given one.
    pub(crate) fn observe(&mut self, lit: Lit) -> Lit {
        if lit.is_constant() {
            return lit;
        }
        let positive = lit.xor(lit.is_negative());
        let own = match self.observed.get(&positive) {
            Some(&own) => own,
            None => {
                let own = self.fresh_observed();
                self.clause(&[-own, positive]);
                self.clause(&[own, -positive]);
                self.mark_observed(positive, own);
                own
            }
        };
        own.xor(lit.is_negative())
    }

    /// Remembers that `own` is observed and equals `lit`.
    pub(crate) fn mark_observed(&mut self, lit: Lit, own: Lit) {
        let flip = lit.is_negative();
        self.observed.insert(lit.xor(flip), own.xor(flip));
    }

    /// The search tries this literal first when it has to decide on it.
    pub(crate) fn prefer(&mut self, lit: Lit) {
        if !lit.is_constant() {
            self.cadical.phase(lit.dimacs());
        }
    }

    pub(crate) fn checker(&mut self, declare: impl FnOnce(&mut Checker)) {
        if let Some(checker) = &mut self.theory.borrow_mut().checker {
            declare(checker);
        }
    }

    pub(crate) fn solve(&mut self, assumptions: &[Lit], limits: &Limits) -> Verdict {
        if self.watchdog.borrow_mut().look() {
            return Verdict::Unknown(self.stop());
        }
        self.theory.borrow_mut().settle();
        for &lit in assumptions {
            self.cadical.assume(lit.dimacs());
        }
        if let Some(conflicts) = limits.conflicts {
            self.cadical.limit("conflicts", i32::try_from(conflicts).unwrap_or(i32::MAX));
        }
        let status = self.cadical.solve();
        match status {
            Status::SATISFIABLE => {
                self.values.0.clear();
                self.values.0.resize(self.vars as usize + 1, 0);
                for var in 1..=self.vars {
                    self.values.0[var as usize] = if self.cadical.val(var) > 0 { 1 } else { -1 };
                }
                Verdict::Sat
            }
            Status::UNSATISFIABLE => Verdict::Unsat,
            Status::UNKNOWN => Verdict::Unknown(self.stop()),
        }
    }

    fn stop(&self) -> Stop {
        self.watchdog.borrow().cause.unwrap_or(Stop::Conflicts)
    }

    /// The value of a literal in the last model.
    pub(crate) fn value(&self, lit: Lit) -> bool {
        self.values.holds(lit)
    }

    /// The model, while clauses are added because of it.
    pub(crate) fn take_values(&mut self) -> Values {
        std::mem::take(&mut self.values)
    }

    pub(crate) fn give_back(&mut self, values: Values) {
        self.values = values;
    }

    /// Whether an assumption was needed for the last "unsat".
    pub(crate) fn failed(&mut self, lit: Lit) -> bool {
        self.cadical.failed(lit.dimacs())
    }

    pub(crate) fn size(&self) -> (u64, u64) {
        (self.vars as u64, self.clauses)
    }

    pub(crate) fn statistic(&self, name: &str) -> i64 {
        self.cadical.get_statistic_value(name)
    }

    /// The formula with the theory's lemmas, and the derivation, if they were recorded.
    pub(crate) fn proof(&self, assumptions: &[Lit]) -> Option<(String, String)> {
        let log = self.proof.as_ref()?.borrow();
        let theory = self.theory.borrow();
        Some(log.write(self.vars, theory.lemmas.as_deref().unwrap_or(&[]), assumptions))
    }
}

impl Cnf for Sat {
    fn fresh(&mut self) -> Lit {
        self.vars += 1;
        Lit::new(self.vars)
    }

    fn clause(&mut self, lits: &[Lit]) {
        if lits.contains(&Lit::TRUE) {
            return;
        }
        if lits.contains(&Lit::FALSE) {
            let kept: Vec<Lit> = lits.iter().copied().filter(|&l| l != Lit::FALSE).collect();
            self.add(&kept);
        } else {
            self.add(lits);
        }
    }

    fn order(&mut self, first: At, second: At) -> Lit {
        let lit = self.fresh_observed();
        self.mark_observed(lit, lit);
        let mut theory = self.theory.borrow_mut();
        theory.edge_when(lit, first, second);
        theory.edge_when(-lit, second, first);
        drop(theory);
        self.checker(|c| {
            c.edge(lit, first, second);
            c.edge(-lit, second, first);
        });
        lit
    }
}
