//! Shared by the tests: random formulas and scripts as data that can be shrunk, and an SMT solver to compare with.

// Each test uses a part, and failing by `unwrap` is what a test does.
#![allow(dead_code, clippy::unwrap_used)]

pub mod recipe;
pub mod rng;
pub mod script;
pub mod smt;

/// A number from the environment.
pub fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// What a panic said.
pub fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or(panic.downcast_ref::<&str>().map(|t| t.to_string())).unwrap_or_else(|| "panicked".into())
}
