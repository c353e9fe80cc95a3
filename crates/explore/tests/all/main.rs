//! The tests of this crate in one program: a module for each subject.

mod against_the_oracle;
mod classics;
mod common;
mod figures;
mod paths;
mod prune;
mod spins;
mod switches;
mod traced;
mod workers;
