//! The tests of this crate in one program: a module for each subject.

mod common;
mod file;
mod fits;
mod fuzz_file;
mod show;
