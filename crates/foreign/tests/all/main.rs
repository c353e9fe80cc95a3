//! The tests of this crate in one program: a module for each subject.

mod common;
mod formats;
mod fuzz_formats;
mod round_trip;
