//! The tests of this crate in one program: a module for each subject.

mod atomicity;
mod common;
mod cores;
mod figures;
mod fuzz_readers;
mod litmus_files;
mod litmus_table;
mod models;
mod outcomes;
mod races;
mod store_buffers;
