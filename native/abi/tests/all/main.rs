//! The tests of this crate in one program: a module for each subject.

mod head;
mod pack;
