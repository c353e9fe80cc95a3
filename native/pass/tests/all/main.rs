//! The tests of this crate in one program: a module for each subject.

mod common;
mod differential;
mod large;
mod linking;
mod programs;
mod snapshots;
mod units;
mod walk;
mod wide;
