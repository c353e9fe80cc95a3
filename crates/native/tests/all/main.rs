//! The tests of this crate in one program: a module for each subject.

mod cc;
mod common;
mod fuzz_log;
mod fuzz_section;
mod link;
mod linked;
mod log;
mod rebuild;
mod refuse;
