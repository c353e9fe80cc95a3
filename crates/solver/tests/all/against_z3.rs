//! Random formulas of all constraint kinds: our answer is that of z3 on the exported script, cores are unsat on
//! their own, what is exported can be read back, models and theory lemmas pass the independent checkers (which
//! panic inside `solve`).
//!
//! `THREADBARE_SOLVER_FUZZ=50000 cargo test -p threadbare-solver --release --test all against_z3` runs more of them;
//! `THREADBARE_SOLVER_SEED` starts elsewhere.

use crate::support::recipe::{Kitchen, Recipe};
use crate::support::rng::Rng;
use crate::support::smt::z3;
use crate::support::{number, panic_message};
use solver::{Answer, Options, Script, Solver};
use std::panic::{AssertUnwindSafe, catch_unwind};

const CHECKED: Options = Options { check: true, proof: false };

fn verdict(answer: &Answer) -> &'static str {
    match answer {
        Answer::Sat => "sat",
        Answer::Unsat(_) => "unsat",
        Answer::Unknown(_) => "unknown",
    }
}

/// Scripts and what they must give, or why the recipe failed by itself.
fn expectations(recipe: &Recipe) -> Result<Vec<(String, &'static str)>, String> {
    let cooked = catch_unwind(AssertUnwindSafe(|| Kitchen::cook(recipe, CHECKED)));
    let kitchen = cooked.map_err(|e| panic_message(&*e))?;
    let mut all = Vec::new();
    for query in &kitchen.queries {
        let said = verdict(&query.answer);
        let mut script =
            Script::new(&query.script, Solver::with_options(CHECKED)).map_err(|e| e.to_string())?;
        match script.next_answer() {
            Ok(Some(outcome)) if verdict(&outcome.answer) == said => {}
            other => return Err(format!("read back gives {other:?} and not {said}\n{}", query.script)),
        }
        all.push((query.script.clone(), said));
        all.extend(query.core_script.iter().map(|s| (s.clone(), "unsat")));
    }
    Ok(all)
}

fn failure(recipe: &Recipe) -> Option<String> {
    let expected = match expectations(recipe) {
        Ok(expected) => expected,
        Err(reason) => return Some(reason),
    };
    let scripts: Vec<String> = expected.iter().map(|(s, _)| s.clone()).collect();
    let verdicts = z3(&scripts);
    expected
        .iter()
        .zip(&verdicts)
        .find(|((_, ours), theirs)| ours != theirs && *theirs != "unknown")
        .map(|((script, ours), theirs)| format!("we say {ours}, z3 says {theirs}:\n{script}"))
}

fn shrink(mut recipe: Recipe) -> Recipe {
    'again: loop {
        for smaller in recipe.smaller() {
            if failure(&smaller).is_some() {
                recipe = smaller;
                continue 'again;
            }
        }
        return recipe;
    }
}

#[test]
fn answers_equal_those_of_z3() {
    let count = number("THREADBARE_SOLVER_FUZZ", 600);
    let seed = number("THREADBARE_SOLVER_SEED", 1);
    let (mut sat, mut unsat, mut given_up) = (0, 0, 0);
    let mut batch: Vec<(Recipe, Vec<(String, &'static str)>)> = Vec::new();
    for i in 0..count {
        let recipe = Recipe::random(&mut Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(i)));
        match expectations(&recipe) {
            Ok(expected) => batch.push((recipe, expected)),
            Err(reason) => {
                let small = shrink(recipe);
                panic!("{reason}\nsmallest: {small:?}\n{}", failure(&small).unwrap());
            }
        }
        if batch.len() < 250 && i + 1 < count {
            continue;
        }
        let scripts: Vec<String> = batch.iter().flat_map(|(_, e)| e.iter().map(|(s, _)| s.clone())).collect();
        let mut verdicts = z3(&scripts).into_iter();
        for (recipe, expected) in batch.drain(..) {
            for (_, ours) in expected {
                let theirs = verdicts.next().unwrap();
                if theirs == "unknown" {
                    given_up += 1;
                    continue;
                }
                if ours != theirs {
                    let small = shrink(recipe);
                    panic!("we say {ours}, z3 {theirs}\nsmallest: {small:?}\n{}", failure(&small).unwrap());
                }
                *if ours == "sat" { &mut sat } else { &mut unsat } += 1;
            }
        }
    }
    println!("{count} recipes: {sat} sat, {unsat} unsat; z3 gave up on {given_up}");
    assert!(given_up <= 1 + count / 1000, "z3 gave up on {given_up} of {count}");
    assert!(sat > count / 20 && unsat > count / 20, "the mix is lopsided: {sat} sat, {unsat} unsat");
}
