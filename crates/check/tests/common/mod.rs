//! What the tests have in common.
#![allow(dead_code, reason = "each test uses a part of it")]

use lang::ast::File;
use machine::{Machine, Options};
use proptest::prelude::ProptestConfig;
use proptest::test_runner::FileFailurePersistence;

pub fn lowered(file: &File) -> ir::Program {
    let checked = lang::check(file).expect("random programs are well formed");
    let options =
        lang::LowerOptions { name: "random.tb".into(), path: "random.tb".into(), ..Default::default() };
    lang::lower(&checked, &options)
}

pub fn compiled(source: &str) -> ir::Program {
    let options = lang::LowerOptions { name: "test.tb".into(), path: "test.tb".into(), ..Default::default() };
    lang::compile(source, &options).unwrap_or_else(|errors| panic!("{errors:?}\n{source}"))
}

pub fn machine(program: ir::Program, spurious: bool) -> Machine {
    Machine::new(program, Options { spurious, ..Options::default() }).expect("random programs run")
}

/// How the random tests draw their cases.
pub fn config(cases: u32) -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(cases);
    let persistence = FileFailurePersistence::WithSource("regressions");
    ProptestConfig {
        cases,
        max_shrink_iters: 20_000,
        failure_persistence: Some(Box::new(persistence)),
        ..ProptestConfig::default()
    }
}
