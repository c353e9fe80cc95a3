//! Random SMT-LIB scripts that declare, assert, open and close scopes and ask in between: each answer is that of z3 to
//! the same script, and each model that we print is one by z3's reading of what is asserted there.
//!
//! `THREADBARE_SOLVER_FUZZ=50000 cargo test -p threadbare-solver --release --test all scripts_against_z3` runs more of them;
//! `THREADBARE_SOLVER_SEED` starts elsewhere.

// Failing by `unwrap` is what a test does.
#![allow(clippy::unwrap_used)]

use crate::support::rng::Rng;
use crate::support::script::RandomScript;
use crate::support::smt::z3_all;
use crate::support::{number, panic_message};
use solver::{Answer, Options, Script, Solver};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What z3 is given, and what it must say to it.
struct Expected {
    script: String,
    answers: Vec<&'static str>,
}

/// Carries a script out with our solver: its answers, and a question for z3 behind each model.
fn expected(random: &RandomScript) -> Result<Expected, String> {
    let rendered = random.render();
    let text = rendered.text();
    let run = || -> Result<Expected, String> {
        let wrong = |reason: String| format!("{reason}\n{text}");
        let solver = Solver::with_options(Options { check: true, proof: false });
        let mut script = Script::new(&text, solver).map_err(|e| wrong(e.to_string()))?;
        let mut expected = Expected { script: String::new(), answers: vec![] };
        for piece in &rendered.pieces {
            expected.script.push_str(&piece.text);
            let outcome = script.next_answer().map_err(|e| wrong(e.to_string()))?;
            match outcome.ok_or_else(|| wrong("an answer is missing".into()))?.answer {
                Answer::Sat => {
                    let model = script.model().map_err(|e| wrong(e.to_string()))?;
                    expected.script += &is_a_model(&model.unwrap(), &piece.assumed);
                    expected.answers.extend(["sat", "sat"]);
                }
                Answer::Unsat(_) => expected.answers.push("unsat"),
                Answer::Unknown(stop) => return Err(wrong(format!("no answer: {stop:?}"))),
            }
        }
        match script.next_answer() {
            Ok(None) => Ok(expected),
            other => Err(wrong(format!("the script should be over: {other:?}"))),
        }
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|e| Err(panic_message(&*e)))
}

/// Asks whether the constants can have these values, here and with these assumptions.
fn is_a_model(model: &str, assumed: &[String]) -> String {
    let mut text = String::from("(push 1)\n");
    for line in model.lines().filter_map(|l| l.trim().strip_prefix("(define-fun ")) {
        let (name, rest) = line.split_once(" () ").unwrap();
        let value = match rest.strip_prefix("(_ BitVec ") {
            Some(rest) => rest.split_once(") ").unwrap().1,
            None => rest.split_once(' ').unwrap().1,
        };
        let value = value.strip_suffix(')').unwrap();
        text += &format!("(assert (= {name} {value}))\n");
    }
    assumed.iter().for_each(|a| text += &format!("(assert {a})\n"));
    text + "(check-sat)\n(pop 1)\n"
}

fn failure(random: &RandomScript) -> Option<String> {
    let expected = match expected(random) {
        Ok(expected) => expected,
        Err(reason) => return Some(reason),
    };
    let theirs = z3_all(std::slice::from_ref(&expected.script)).remove(0);
    (theirs != expected.answers)
        .then(|| format!("we say {:?}, z3 says {theirs:?}:\n{}", expected.answers, expected.script))
}

/// Removes commands for as long as something is still wrong, and says what.
fn shrink(mut random: RandomScript) -> String {
    let mut reason = failure(&random).unwrap();
    'again: loop {
        for smaller in random.smaller() {
            if let Some(found) = failure(&smaller) {
                (random, reason) = (smaller, found);
                continue 'again;
            }
        }
        return reason;
    }
}

#[test]
fn answers_to_random_scripts_equal_those_of_z3() {
    let count = number("THREADBARE_SOLVER_FUZZ", 600);
    let seed = number("THREADBARE_SOLVER_SEED", 1);
    let (mut sat, mut unsat, mut given_up) = (0, 0, 0);
    let mut batch: Vec<(RandomScript, Expected)> = Vec::new();
    for i in 0..count {
        let random = RandomScript::new(&mut Rng::new(seed.wrapping_mul(7_000_003).wrapping_add(i)));
        match expected(&random) {
            Ok(expected) => batch.push((random, expected)),
            Err(_) => panic!("{}", shrink(random)),
        }
        if batch.len() < 250 && i + 1 < count {
            continue;
        }
        let scripts: Vec<String> = batch.iter().map(|(_, e)| e.script.clone()).collect();
        for ((random, expected), theirs) in batch.drain(..).zip(z3_all(&scripts)) {
            if theirs.iter().any(|answer| answer == "unknown") {
                given_up += 1;
                continue;
            }
            if expected.answers != theirs {
                panic!("{}", shrink(random));
            }
            unsat += theirs.iter().filter(|a| *a == "unsat").count();
            // The other half are the questions about models.
            sat += theirs.iter().filter(|a| *a == "sat").count() / 2;
        }
    }
    println!("{count} scripts: {sat} sat, {unsat} unsat; z3 gave up on {given_up}");
    assert!(given_up <= 1 + count / 1000, "z3 gave up on {given_up} of {count}");
    let few = count as usize / 2;
    assert!(sat > few && unsat > few, "the mix is lopsided: {sat} sat, {unsat} unsat");
}
