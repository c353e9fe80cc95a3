//! Why something is forbidden in programs that are too large for the matrix of MM: the rules that are named
//! are enough, and each is needed.

use crate::common::compiled;
use check::{Checker, Core, Options, Verdict, Wanted};

/// Store buffering behind so many writes of other variables in each thread.
fn store_buffering(padding: usize) -> String {
    let writes = |name: &str| (0..padding).map(|n| format!("{name} = {n}; ")).collect::<String>();
    format!(
        "int x, y, p, q;
        thread A {{ {}x = 1; int r = y; }}
        thread B {{ {}y = 1; int r = x; }}
        exists (A.r == 0 && B.r == 0)",
        writes("p"),
        writes("q")
    )
}

fn core(checker: &Checker<'_>) -> Core {
    match checker.ask(Wanted::Condition).expect("it is decided") {
        Verdict::Forbidden(core) => core,
        Verdict::Allowed(execution) => panic!("{execution:?}"),
    }
}

fn names(core: &Core) -> Vec<String> {
    core.rules.iter().map(|(rule, _)| rule.clone()).collect()
}

fn is_allowed_without(checker: &Checker<'_>, off: &[String]) -> bool {
    let off = off.iter().fold(checker.clone(), |checker, rule| checker.without(rule).expect("a rule"));
    off.condition_verdict().expect("it is decided").expect("there is a condition")
}

#[test]
fn cores_of_large_programs_are_enough_and_minimal() {
    let program = compiled(&store_buffering(80));
    let checker = Checker::new(&program, Options::default());
    let core = core(&checker);
    assert!(core.order_is_given);
    assert_eq!(names(&core), ["requireProgramOrder", "globalReadValue", "localReadValue"]);
    let events: Vec<&str> = core.events.iter().map(|(_, what, _)| &**what).collect();
    assert_eq!(events, ["write x", "read y", "write y", "read x"]);
    let order = ["requireWeakTotalOrder", "requireTransitiveOrder", "requireAsymmetricOrder"];
    let others: Vec<String> = checker
        .rules()
        .into_iter()
        .filter(|rule| !names(&core).contains(rule) && !order.contains(&&**rule))
        .collect();
    assert!(!is_allowed_without(&checker, &others));
    for rule in names(&core) {
        let off: Vec<String> = others.iter().cloned().chain([rule.clone()]).collect();
        assert!(is_allowed_without(&checker, &off), "{rule} is not needed");
    }
}

/// Time and the matrix tell the same of a small program, but for the rules that time cannot do without.
#[test]
fn time_and_matrix_name_the_same_rules() {
    let (small, large) = (compiled(&store_buffering(0)), compiled(&store_buffering(80)));
    let small = core(&Checker::new(&small, Options::default()));
    let large = core(&Checker::new(&large, Options::default()));
    assert!(!small.order_is_given && large.order_is_given);
    let order = ["requireWeakTotalOrder", "requireTransitiveOrder"];
    let of_both: Vec<String> = names(&small).into_iter().filter(|rule| !order.contains(&&**rule)).collect();
    assert_eq!(of_both, names(&large));
    let what = |core: &Core| core.events.iter().map(|(_, what, _)| what.clone()).collect::<Vec<_>>();
    assert_eq!(what(&small), what(&large));
}

/// Without the rule about values a read may take one that nobody writes.
#[test]
fn reads_are_free_without_the_rule_about_their_values() {
    let program = compiled("int x; thread A { int r = x; } thread B { x = 1; } exists (A.r == 7 && x == 9)");
    let checker = Checker::new(&program, Options::default());
    assert!(!checker.condition_verdict().unwrap().unwrap());
    assert!(is_allowed_without(&checker, &["globalReadValue".to_owned()]));
    assert!(names(&core(&checker)).contains(&"globalReadValue".to_owned()));
}

#[test]
fn rules_of_order_cannot_be_switched_off_in_large_programs() {
    let program = compiled(&store_buffering(80));
    let checker = Checker::new(&program, Options::default());
    assert!(is_allowed_without(&checker, &["requireProgramOrder".to_owned()]));
    let without = checker.without("requireTransitiveOrder").unwrap().condition_verdict();
    assert!(matches!(without, Err(check::Error::TooLarge { most: 100 })), "{without:?}");
}
