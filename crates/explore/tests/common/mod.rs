//! What the tests have in common.

use lang::ast::File;
use machine::{Machine, Options};
use proptest::prelude::ProptestConfig;
use proptest::test_runner::FileFailurePersistence;

pub fn machine(file: &File, spurious: bool) -> Machine {
    let checked = lang::check(file).expect("random programs are well formed");
    let options =
        lang::LowerOptions { name: "random.tb".into(), path: "random.tb".into(), ..Default::default() };
    let program = lang::lower(&checked, &options);
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
