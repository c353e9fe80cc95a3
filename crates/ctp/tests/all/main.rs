//! The tests of this crate in one program: a module for each subject.

mod common;
mod examples;
mod random;
mod show;
