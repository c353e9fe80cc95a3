//! The standard litmus tests under each model, with the verdicts known from the literature.

use crate::common::compiled;
use check::cat::Model;
use check::{Checker, Options, Verdict, Wanted};

/// Models in the order of the columns.
const MODELS: [&str; 8] = ["sc", "tso", "pso", "coherence", "pram", "causal", "processor", "rc11"];

/// A name, a program with the outcome in question, and for each model whether it is allowed (`y`) or not (`-`). rc11 is asked about the
/// program with relaxed accesses unless it says others.
///
/// SC to PSO: J. Alglave, L. Maranget, M. Tautschnig, "Herding cats", TOPLAS 2014, and P. Sewell et al., "x86-TSO", CACM 2010; PSO: SPARC V8
/// manual, App. K. Coherence, PRAM, causal and processor consistency: the definitions collected in R. Steinke, G. Nutt, "A unified theory of
/// shared memory consistency", JACM 2004. RC11: O. Lahav et al., "Repairing sequential consistency in C/C++11", PLDI 2017.
const TABLE: &[(&str, &str, &str)] = &[
    //                                                                                       sc tso pso coh pram caus proc rc11
    ("SB", "T: store(x,1,R); r0=load(y,R) | store(y,1,R); r0=load(x,R) ? A.r0==0 && B.r0==0", "-yyyyyyy"),
    (
        "SB+fences",
        "T: store(x,1,R); fence(); r0=load(y,R) | store(y,1,R); fence(); r0=load(x,R) ? A.r0==0 && B.r0==0",
        "---yyyy-",
    ),
    ("SB+sc", "T: store(x,1); r0=load(y) | store(y,1); r0=load(x) ? A.r0==0 && B.r0==0", "---yyyy-"),
    (
        "SB+rel+acq",
        "T: store(x,1,release); r0=load(y,acquire) | store(y,1,release); r0=load(x,acquire) ? A.r0==0 && B.r0==0",
        "-yyyyyyy",
    ),
    ("MP", "T: store(x,1,R); store(y,1,R) | r0=load(y,R); r1=load(x,R) ? B.r0==1 && B.r1==0", "--yy---y"),
    (
        "MP+fences",
        "T: store(x,1,R); fence(); store(y,1,R) | r0=load(y,R); fence(); r1=load(x,R) ? B.r0==1 && B.r1==0",
        "---y----",
    ),
    (
        "MP+rel+acq",
        "T: store(x,1,R); store(y,1,release) | r0=load(y,acquire); r1=load(x,R) ? B.r0==1 && B.r1==0",
        "---y----",
    ),
    ("LB", "T: r0=load(x,R); store(y,1,R) | r0=load(y,R); store(x,1,R) ? A.r0==1 && B.r0==1", "---yy-y-"),
    (
        "LB+datas",
        "T: r0=load(x,R); store(y,r0,R) | r0=load(y,R); store(x,r0,R) ? A.r0==1 && B.r0==1",
        "--------",
    ),
    (
        "IRIW",
        "T: store(x,1,R) | store(y,1,R) | r0=load(x,R); r1=load(y,R) | r0=load(y,R); r1=load(x,R) ? C.r0==1 && C.r1==0 && D.r0==1 && D.r1==0",
        "---yyyyy",
    ),
    (
        "IRIW+fences",
        "T: store(x,1,R) | store(y,1,R) | r0=load(x,R); fence(); r1=load(y,R) | r0=load(y,R); fence(); r1=load(x,R) ? C.r0==1 && C.r1==0 && D.r0==1 && D.r1==0",
        "---yyyy-",
    ),
    (
        "IRIW+acq",
        "T: store(x,1,release) | store(y,1,release) | r0=load(x,acquire); r1=load(y,acquire) | r0=load(y,acquire); r1=load(x,acquire) ? C.r0==1 && C.r1==0 && D.r0==1 && D.r1==0",
        "---yyyyy",
    ),
    (
        "WRC",
        "T: store(x,1,R) | r0=load(x,R); store(y,1,R) | r0=load(y,R); r1=load(x,R) ? B.r0==1 && C.r0==1 && C.r1==0",
        "---yy-yy",
    ),
    (
        "WRC+rel+acq",
        "T: store(x,1,R) | r0=load(x,R); store(y,1,release) | r0=load(y,acquire); r1=load(x,R) ? B.r0==1 && C.r0==1 && C.r1==0",
        "---yy-y-",
    ),
    (
        "RWC",
        "T: store(x,1,R) | r0=load(x,R); r1=load(y,R) | store(y,1,R); r0=load(x,R) ? B.r0==1 && B.r1==0 && C.r0==0",
        "-yyyyyyy",
    ),
    (
        "RWC+fences",
        "T: store(x,1,R) | r0=load(x,R); fence(); r1=load(y,R) | store(y,1,R); fence(); r0=load(x,R) ? B.r0==1 && B.r1==0 && C.r0==0",
        "---yyyy-",
    ),
    ("2+2W", "T: store(x,1,R); store(y,2,R) | store(y,1,R); store(x,2,R) ? x==1 && y==1", "--yyyy-y"),
    (
        "2+2W+fences",
        "T: store(x,1,R); fence(); store(y,2,R) | store(y,1,R); fence(); store(x,2,R) ? x==1 && y==1",
        "---yyy--",
    ),
    ("R", "T: store(x,1,R); store(y,1,R) | store(y,2,R); r0=load(x,R) ? y==2 && B.r0==0", "-yyyyy-y"),
    (
        "R+fences",
        "T: store(x,1,R); fence(); store(y,1,R) | store(y,2,R); fence(); r0=load(x,R) ? y==2 && B.r0==0",
        "---yyy--",
    ),
    ("S", "T: store(x,2,R); store(y,1,R) | r0=load(y,R); store(x,1,R) ? x==2 && B.r0==1", "--yyyy-y"),
    (
        "S+rel+acq",
        "T: store(x,2,R); store(y,1,release) | r0=load(y,acquire); store(x,1,R) ? x==2 && B.r0==1",
        "---yyy--",
    ),
    ("CoRR", "T: store(x,1,R) | r0=load(x,R); r1=load(x,R) ? B.r0==1 && B.r1==0", "--------"),
    ("CoWW", "T: store(x,1,R); store(x,2,R) ? x==1", "--------"),
    ("CoRW", "T: r0=load(x,R); store(x,1,R) | store(x,2,R) ? A.r0==2 && x==2", "----yy--"),
    ("CoWR", "T: store(x,1,R); r0=load(x,R) | store(x,2,R) ? A.r0==2 && x==1", "----yy--"),
];

/// The program of a row in the model language.
fn program(row: &str) -> String {
    let (body, question) = row.split_once('?').expect("the tests' own input is fine");
    let body = body.strip_prefix("T:").expect("the tests' own input is fine");
    let mut text = "int x, y;\n".to_owned();
    for (thread, name) in body.split('|').zip(["A", "B", "C", "D"]) {
        let body = thread.replace(",R)", ", relaxed)");
        text.push_str(&format!("thread {name} {{ int r0, r1; {}; }}\n", body.trim()));
    }
    text.push_str(&format!("exists ({})\n", question.trim()));
    text
}

#[test]
fn standard_litmus_tests_have_the_verdicts_of_the_literature() {
    let mut wrong = vec![];
    for (name, row, expected) in TABLE {
        let program = compiled(&program(row));
        let found: String = MODELS
            .iter()
            .map(|model| {
                let model = Model::shipped(model).unwrap();
                let verdict = Checker::new(&program, Options::default()).under(&model).ask(Wanted::Condition);
                if verdict.unwrap().is_allowed() { 'y' } else { '-' }
            })
            .collect();
        if found != *expected {
            wrong.push(format!("{name:14} expected {expected}, found {found}"));
        }
        let native = Checker::new(&program, Options::default()).ask(Wanted::Condition).unwrap();
        assert_eq!(native.is_allowed(), expected.starts_with('y'), "{name} under MM's rules");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every core of the table: with its rules alone the outcome stays forbidden, with any one of them removed it does not.
#[test]
fn cores_are_enough_and_minimal() {
    let is_allowed = |checker: &Checker<'_>, off: &[String]| {
        let off = off.iter().fold(checker.clone(), |checker, rule| checker.without(rule).unwrap());
        off.condition_verdict().unwrap().unwrap()
    };
    for (name, row, expected) in TABLE {
        let program = compiled(&program(row));
        let plain = Checker::new(&program, Options::default());
        let models: Vec<Option<Model>> = MODELS
            .iter()
            .zip(expected.chars())
            .filter(|(_, verdict)| *verdict == '-')
            .map(|(model, _)| Some(Model::shipped(model).unwrap()))
            .chain(expected.starts_with('-').then_some(None))
            .collect();
        for model in &models {
            let checker = match model {
                Some(model) => plain.clone().under(model),
                None => plain.clone(),
            };
            let Verdict::Forbidden(core) = checker.ask(Wanted::Condition).unwrap() else { panic!("{name}") };
            let core: Vec<String> = core.rules.into_iter().map(|(rule, _)| rule).collect();
            let others: Vec<String> =
                checker.rules().into_iter().filter(|rule| !core.contains(rule)).collect();
            assert!(!core.is_empty() && !is_allowed(&checker, &others), "{name}: {core:?} are not enough");
            for rule in &core {
                let off: Vec<String> = others.iter().chain([rule]).cloned().collect();
                assert!(is_allowed(&checker, &off), "{name}: {rule} is not needed");
            }
        }
    }
}
