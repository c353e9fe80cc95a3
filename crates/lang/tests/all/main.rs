//! The tests of this crate in one program: a module for each subject.

mod common;
mod document;
mod errors;
mod format;
#[cfg(feature = "random")]
mod fuzz_source;
mod limits;
mod lower;
