//! The tests of this crate in one program: a module for each subject.

mod along;
mod common;
mod faults;
mod ir_only;
mod language_document;
mod logging;
mod primitives;
mod races;
mod random;
