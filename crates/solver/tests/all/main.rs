//! The tests of this crate in one program: a module for each subject.

mod against_z3;
mod bit_vectors;
mod interface;
mod proofs;
mod scripts_against_z3;
mod small_traces;
mod smtlib;
mod support;
