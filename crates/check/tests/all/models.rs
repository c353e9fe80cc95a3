//! Model files: what is read, what is refused where, and what recursion and closures mean.

use crate::common::compiled;
use check::cat::{Model, names};
use check::{Checker, Options};

fn parse(source: &str) -> Result<Model, Box<check::cat::ModelError>> {
    Model::parse("test.cat", source, &mut |_| None)
}

#[test]
fn shipped_models_are_read() {
    assert!(names().all(|name| Model::shipped(name).is_some()));
    assert_eq!(Model::shipped("tso").unwrap().rules(), ["atomicity", "uniproc", "tso"]);
}

#[test]
fn what_is_not_understood_is_refused_at_its_place() {
    let cases = [
        ("acyclic po | zf", 1, "`zf` is not defined"),
        ("let x = po\nacyclic [x]", 2, "this is a relation, and a set is needed"),
        ("acyclic W ; rf", 1, "this is a set, and a relation is needed"),
        ("procedure p() = empty 0 end", 1, "`procedure` is a part of cat that is not supported"),
        ("include \"nowhere.cat\"", 1, "there is no file `nowhere.cat`"),
        ("acyclic (po", 1, "expected `)`"),
        ("let r = po\n\nbecause r", 3, "`because` begins no statement"),
        ("(* no end", 1, "this comment has no end"),
        ("acyclic po ! rf", 1, "`!` is not understood"),
        ("~empty rf", 1, "expected a statement"),
        ("let f(x) = x+\nacyclic f(po, rf)", 2, "takes 1 arguments"),
    ];
    for (source, line, message) in cases {
        let error = parse(source).expect_err(message);
        let first = &error.errors[0];
        assert!(first.message.contains(message) && first.span.line == line, "{source}: {first:?}");
    }
}

const SB: &str = "int x, y;
thread A { int r; x = 1; r = y; }
thread B { int r; y = 1; r = x; }
exists (A.r == 0 && B.r == 0)";

fn allowed(model: &str) -> bool {
    let program = compiled(SB);
    let model = parse(model).unwrap_or_else(|error| panic!("{:?}", error.errors));
    Checker::new(&program, Options::default())
        .under(&model)
        .condition_verdict()
        .expect("the tests' own input is fine")
        .expect("the tests' own input is fine")
}

#[test]
fn the_same_model_can_be_written_in_many_ways() {
    for forbidding in [
        "acyclic po | rf | co | fr",
        "irreflexive (po | rf | co | fr)+",
        "let com = rf | co | rf^-1 ; co\nacyclic po | com as sc",
        "let rec hb = po | rf | co | fr | (hb ; hb)\nirreflexive hb",
        "let both(a, b) = a | b\nacyclic both(po, both(rf, both(co, fr)))",
        "let all = (po | rf | co | fr)*\nempty (all ; [_]) & (all^-1 ; id) \\ id",
        "empty id & (po ; fr ; po ; fr)",
        "include \"sc.cat\"",
    ] {
        assert!(!allowed(forbidding), "{forbidding}");
    }
    for allowing in
        ["acyclic (po \\ (W * R)) | rf | co | fr", "acyclic po & loc | rf | co | fr", "empty 0", "show po"]
    {
        assert!(allowed(allowing), "{allowing}");
    }
}

#[test]
fn flags_are_raised_and_forbid_nothing() {
    let program = compiled("int x; thread A { x = 1; } thread B { int r = x; } exists (B.r == 1)");
    let model = Model::shipped("rc11").unwrap();
    let checker = Checker::new(&program, Options::default()).under(&model);
    let flags: Vec<String> = checker.flags().unwrap().into_iter().map(|(name, _)| name).collect();
    assert_eq!(flags, ["race"]);
    assert_eq!(checker.condition_verdict().unwrap(), Some(true));
    let locked = compiled(
        "int x; mutex m; thread A { lock(m); x = 1; unlock(m); } thread B { lock(m); int r = x; unlock(m); }",
    );
    assert!(Checker::new(&locked, Options::default()).under(&model).flags().unwrap().is_empty());
}

/// Locks mean the same under every shipped model: programs without races do not see the difference.
#[test]
fn locks_make_every_model_sequentially_consistent() {
    let program = compiled(
        "int x, y; mutex m;
         thread A { int r; lock(m); x = 1; unlock(m); lock(m); r = y; unlock(m); }
         thread B { int r; lock(m); y = 1; unlock(m); lock(m); r = x; unlock(m); }
         exists (A.r == 0 && B.r == 0)",
    );
    for name in names() {
        let model = Model::shipped(name).unwrap();
        let allowed = Checker::new(&program, Options::default()).under(&model).condition_verdict().unwrap();
        assert_eq!(allowed, Some(false), "{name}");
    }
}

/// Values do not come out of nothing, unless the rule that says so is switched off
/// (docs/design/memory-models.md, "Thin air").
#[test]
fn no_thin_air_is_a_rule_with_a_name() {
    let program = compiled(
        "int x, y;
         thread A { int r1 = x; y = r1; }
         thread B { int r2 = y; x = r2; }
         exists (A.r1 == 42)",
    );
    for name in ["coherence", "pram", "processor"] {
        let model = Model::shipped(name).unwrap();
        let checker = Checker::new(&program, Options::default()).under(&model);
        assert_eq!(checker.condition_verdict().unwrap(), Some(false), "{name}");
        let without = checker.without("noThinAir").unwrap();
        assert_eq!(without.condition_verdict().unwrap(), Some(true), "{name}");
    }
}
