//! Shared by the tests: random formulas as data that can be shrunk, and an SMT solver to compare with.

// Each test uses a part, and failing by `unwrap` is what a test does.
#![allow(dead_code, clippy::unwrap_used)]

pub mod recipe;
pub mod rng;
pub mod smt;
