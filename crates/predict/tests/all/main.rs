//! The tests of this crate in one program: a module for each subject.

mod av_table;
mod broken;
mod common;
mod figures;
mod foreign;
mod full;
mod fuzz_pattern;
mod fuzz_plan;
mod goals;
mod limits;
mod pddl;
mod planning;
mod random;
mod sync;
mod wakeups;
mod windows;
