//! Shared by the tests: random formulas as data that can be shrunk, and an SMT solver to compare with.

#![allow(dead_code)]

pub mod recipe;
pub mod rng;
pub mod smt;
