//! The tests of this crate in one program: a module for each subject.

mod analysis;
mod fuzz_text;
mod verify;
mod verify_flow;
