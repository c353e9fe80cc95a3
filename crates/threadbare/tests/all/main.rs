//! The tests of this crate in one program: a module for each subject.

mod beside;
mod browser;
mod cli;
mod common;
mod compiled;
mod damaged_traces;
mod design;
mod formats;
mod generated;
mod interrupt;
mod keeping;
mod order;
