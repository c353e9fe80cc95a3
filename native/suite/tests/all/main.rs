//! The tests of this crate in one program: a module for each subject.

mod coverage;
mod explore;
mod faults;
mod findings;
mod narrow_window;
mod prediction;
mod programs;
mod random_twins;
mod real_code;
mod refinement;
mod server;
mod turns;
mod twins;
