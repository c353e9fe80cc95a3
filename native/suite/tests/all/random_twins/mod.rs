//! Random programs, in the model language and in C: what the oracle says of the one is what exploration finds of the other.
//!
//! `PROPTEST_CASES` sets how many programs each test compiles, `PROPTEST_RNG_SEED` draws others than those of `make test`.

#[path = "../../../../../crates/explore/tests/all/common/mod.rs"]
mod common;
mod compare;
mod compared;
mod found;
mod pair;
mod programs;

use compare::compare;
use compared::Compared;
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use std::cell::RefCell;
use suite::Twin;

/// So many programs each test draws.
const CASES: u32 = 80;

/// Compares programs that are drawn; most of them can be.
fn most_are_alike(sources: impl Strategy<Value = String>) {
    let mut config = lang::random::config(CASES);
    config.source_file = Some(file!());
    // Each case is a program to compile: there is not the time for many smaller ones.
    config.max_shrink_iters = 300;
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(2014);
    }
    let compared = RefCell::new(Compared::default());
    let result = TestRunner::new(config).run(&sources, |source| {
        let file = lang::parse(&source).expect("it parses");
        match Twin::new(&file) {
            Err(why) => compared.borrow_mut().left_out(why.0),
            Ok(twin) => compared.borrow_mut().add(&compare(&twin).map_err(TestCaseError::fail)?),
        }
        Ok(())
    });
    let compared = compared.into_inner();
    println!("{compared:#?}");
    if let Err(error) = result {
        panic!("{error}");
    }
    assert!(compared.programs * 2 > compared.drawn(), "only few could be compared: {compared:?}");
}

#[test]
fn programs_of_many_kinds_are_alike() {
    most_are_alike(programs::of_many_kinds());
}

#[test]
fn programs_with_pointers_are_alike() {
    most_are_alike(programs::pointing());
}

#[test]
fn programs_in_which_threads_branch_are_alike() {
    most_are_alike(programs::branching());
}

#[test]
fn programs_in_which_threads_synchronise_are_alike() {
    most_are_alike(programs::synchronising());
}
