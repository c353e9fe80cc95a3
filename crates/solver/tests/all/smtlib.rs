//! The reader of SMT-LIB 2 scripts.

// Failing by `unwrap` is what a test does.
#![allow(clippy::unwrap_used)]

use crate::support::rng::Rng;
use solver::{Answer, Error, Script, Solver};

fn answers(text: &str) -> Result<Vec<Answer>, Error> {
    let mut script = Script::new(text, Solver::new())?;
    let mut all = vec![];
    while let Some(outcome) = script.next_answer()? {
        all.push(outcome.answer);
    }
    Ok(all)
}

fn message(text: &str) -> String {
    answers(text).unwrap_err().to_string()
}

#[test]
fn a_script_with_scopes_and_assumptions_is_carried_out() {
    let text = "
        (set-logic ALL) ; comment
        (declare-const a Int) (declare-const b Int) (declare-fun c () Int)
        (declare-const p Bool)
        (declare-const x (_ BitVec 8))
        (assert (< a b))
        (assert (< b c))
        (assert (=> p (< c a)))
        (assert (= (bvadd x #x01) (_ bv0 8)))
        (check-sat)
        (check-sat-assuming (p))
        (check-sat-assuming ((not p)))
        (push 1)
        (assert (or (< c b) (bvult x #b00000010)))
        (check-sat)
        (pop 1)
        (check-sat)
        (exit)
        (check-sat)";
    let all = answers(text).unwrap();
    let sat: Vec<bool> = all.iter().map(|a| *a == Answer::Sat).collect();
    assert_eq!(sat, [true, false, true, false, true]);
    assert!(matches!(&all[1], Answer::Unsat(core) if core.len() == 1));
}

#[test]
fn a_model_is_printed_as_definitions() {
    let text =
        "(declare-const b Int)(declare-const a Int)(declare-const p Bool)(declare-const x (_ BitVec 4))
        (assert (< a b))(assert p)(assert (= x #xa))(check-sat)(assert (< b a))(check-sat)";
    let mut script = Script::new(text, Solver::new()).unwrap();
    assert_eq!(script.next_answer().unwrap().unwrap().answer, Answer::Sat);
    let expected = "(
  (define-fun b () Int 1)
  (define-fun a () Int 0)
  (define-fun p () Bool true)
  (define-fun x () (_ BitVec 4) (_ bv10 4))
)
";
    assert_eq!(script.model().unwrap().unwrap(), expected);
    assert_eq!(script.next_answer().unwrap().unwrap().line, 2);
    assert_eq!(script.model().unwrap(), None);
}

#[test]
fn contradictory_orders_are_unsat_and_not_an_error() {
    let text = "(declare-const a Int)(declare-const b Int)(assert (< a b))(assert (< b a))(check-sat)";
    assert!(matches!(answers(text).unwrap()[..], [Answer::Unsat(_)]));
    let text = "(declare-const a Int)(assert (< a a))(check-sat)";
    assert!(matches!(answers(text).unwrap()[..], [Answer::Unsat(_)]));
}

#[test]
fn what_is_outside_of_the_subset_is_refused_with_its_line() {
    assert_eq!(
        message("(declare-const a Int)\n(declare-const b Int)\n(assert (not (< a b)))"),
        "line 3: order may only be used positively: integers may be equal, points may not"
    );
    assert_eq!(message("(assert\n x)"), "line 2: x is not declared");
    assert_eq!(message("(check-sat"), "line 1: no closing parenthesis");
    assert_eq!(message("\n)"), "line 2: a closing parenthesis too many");
    assert_eq!(
        message("(declare-const x (_ BitVec 0))"),
        "line 1: a bit-vector cannot have 0 bits: 1 to 128 are possible"
    );
    assert_eq!(message("(declare-const x Bool)(declare-const x Bool)"), "line 1: x is declared twice");
    assert_eq!(message("(pop 1)"), "line 1: there is no open scope to close");
    assert_eq!(
        message("(define-fun f ((x Int)) Bool true)"),
        "line 1: functions with arguments are not read here"
    );
    assert_eq!(message("(maximize x)"), "line 1: this command is not in the subset that is read here");
}

#[test]
fn damaged_scripts_give_errors_and_never_panic() {
    let good = "(declare-const a Int)(declare-const b Int)(declare-const p Bool)(declare-const x (_ BitVec 8))
        (define-fun f () Bool (and p (bvslt x ((_ extract 7 0) (concat x #x1f)))))
        (assert (ite p (< a b) (< b a)))(assert (=> f (= x (bvmul x (_ bv3 8)))))(push 1)(check-sat-assuming (f p))(pop 1)";
    assert_eq!(answers(good).unwrap().len(), 1);
    let mut rng = Rng::new(3);
    let mut refused = 0;
    for _ in 0..3000 {
        let mut bytes = good.as_bytes().to_vec();
        for _ in 0..1 + rng.below(4) {
            if bytes.len() < 2 {
                break;
            }
            let (i, j) = (rng.below(bytes.len()), rng.below(bytes.len()));
            match rng.below(4) {
                0 => bytes[i] = b"()_ x01#|\"<-"[rng.below(12)],
                1 => drop(bytes.remove(i)),
                2 => bytes.swap(i, j),
                _ => bytes.truncate(i.max(1)),
            }
        }
        refused += usize::from(answers(&String::from_utf8_lossy(&bytes)).is_err());
    }
    assert!(refused > 1000, "{refused}");
    let long = format!("(assert {}true{})(check-sat)", "(not ".repeat(1900), ")".repeat(1900));
    assert_eq!(answers(&long).unwrap(), [Answer::Sat]);
    // Definitions that mention order are expanded where they are used: that must not go on for ever, nor too deep.
    let mut wide = String::from("(declare-const a Int)(declare-const b Int)(define-fun f0 () Bool (< a b))");
    let mut tall = wide.clone();
    for i in 1..5000 {
        wide += &format!("(define-fun f{i} () Bool (and f{0} f{0}))", i - 1);
        tall += &format!("(define-fun f{i} () Bool (or f{}))", i - 1);
    }
    assert!(message(&(wide + "(assert f40)")).contains("too many"));
    assert!(message(&(tall + "(assert f4999)")).contains("too deeply"));
    let deep = "(".repeat(100_000) + &")".repeat(100_000);
    assert_eq!(message(&deep), "line 1: nested too deeply");
}

#[test]
fn an_order_that_is_asserted_after_a_question_does_not_hold_for_it() {
    // The reader makes chains of what is ordered from the start; it once took later assertions for that too.
    let text = "
        (declare-const a Int) (declare-const b Int) (declare-const c Int)
        (assert (< a b))
        (assert (and (< a c) (< c b)))
        (check-sat)
        (assert (< b c))
        (check-sat)";
    let answers = answers(text).unwrap();
    assert!(matches!(answers[..], [Answer::Sat, Answer::Unsat(_)]), "{answers:?}");
}

#[test]
fn a_name_goes_away_with_its_scope_and_can_be_given_again() {
    let text = "
        (declare-const a Int)
        (push 1)
        (declare-const b Int) (define-fun f () Bool (< a b))
        (assert f)
        (check-sat)
        (pop 1)
        (push 1)
        (declare-const b Bool) (define-fun f () Bool (not b))
        (assert (and f b))
        (check-sat)
        (pop 1)";
    let answers = answers(text).unwrap();
    assert!(matches!(answers[..], [Answer::Sat, Answer::Unsat(_)]), "{answers:?}");
    assert_eq!(message("(push 1)(declare-const b Bool)(pop 1)\n(assert b)"), "line 2: b is not declared");
    assert_eq!(
        message("(declare-const b Int)(push 1)\n(declare-const b Int)"),
        "line 2: b is declared twice"
    );
    assert_eq!(
        message("(assert (< a b))\n(declare-const a Int)(declare-const b Int)"),
        "line 1: a is not declared"
    );
}
