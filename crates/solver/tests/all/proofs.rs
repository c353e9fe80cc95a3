//! "Unsat" is proved to a checker that is not ours: the crate `rate`, a DRAT checker. Its premises are our
//! clauses and the lemmas of the theory, which our own checker verifies one by one.
//!
//! `make setup-test` installs it; `RATE` names another binary. `THREADBARE_SOLVER_PROOFS=2000` checks more.

use crate::support::recipe::{Kitchen, Recipe, Statement};
use crate::support::rng::Rng;
use solver::{Answer, Options};
use std::process::Command;

const PROVED: Options = Options { check: true, proof: true };

fn checker() -> String {
    let installed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/bin/rate");
    let program = std::env::var("RATE").unwrap_or_else(|_| installed.into());
    let runs = Command::new(&program).arg("--version").output();
    assert!(runs.is_ok(), "{program} is needed for this test: `make setup-test` installs it");
    program
}

#[test]
fn unsat_answers_have_proofs_that_another_checker_accepts() {
    let count = std::env::var("THREADBARE_SOLVER_PROOFS").ok().and_then(|v| v.parse().ok()).unwrap_or(60);
    let checker = checker();
    let directory = std::env::temp_dir().join(format!("threadbare-proofs-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let (mut proved, mut with_lemmas, mut seed) = (0, 0, 0);
    while proved < count {
        seed += 1;
        let recipe = Recipe::random(&mut Rng::new(seed));
        let mut kitchen = Kitchen::new(&recipe, PROVED);
        for statement in &recipe.statements {
            kitchen.step(statement).unwrap();
            let Statement::Solve(_) = statement else { continue };
            if !matches!(kitchen.queries.last().unwrap().answer, Answer::Unsat(_)) {
                continue;
            }
            let (cnf, drat) = kitchen.solver.proof().unwrap();
            with_lemmas += usize::from(kitchen.solver.statistics().lemmas_checked > 0);
            proved += 1;
            let (formula, proof) = (directory.join("formula.cnf"), directory.join("proof.drat"));
            std::fs::write(&formula, &cnf).unwrap();
            std::fs::write(&proof, &drat).unwrap();
            let output = Command::new(&checker).arg(&formula).arg(&proof).output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(
                said.contains("s VERIFIED"),
                "seed {seed}: {said}{}\n{cnf}\n{drat}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
    assert!(with_lemmas > count / 4, "only {with_lemmas} of {proved} proofs used the theory");
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn a_proof_of_something_else_is_not_accepted() {
    let checker = checker();
    let directory = std::env::temp_dir().join(format!("threadbare-no-proof-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let (formula, proof) = (directory.join("formula.cnf"), directory.join("proof.drat"));
    std::fs::write(&formula, "p cnf 2 2\n1 2 0\n-1 2 0\n").unwrap();
    std::fs::write(&proof, "2 0\n0\n").unwrap();
    let output = Command::new(checker).arg(&formula).arg(&proof).output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stdout).contains("s VERIFIED"));
    std::fs::remove_dir_all(&directory).unwrap();
}
