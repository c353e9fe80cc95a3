//! Systematic search: what can a program do under *any* schedule, without running every one of them?
//!
//! [`dpor`] goes through all schedules up to the order of independent steps, one run for each class of equivalent ones. It knows
//! subjects only as [`subject::Steps`]: a run that can be taken on step by step and taken back. [`paths`] needs one run for all schedules in which
//! each thread goes the same way, and asks the solver for the next one. [`prune`] runs step by step too, and leaves out what the solver knows to show nothing new. [`sample`] draws schedules, for programs
//! of which there are too many.

mod among;
mod arena;
mod bounded;
mod departures;
pub mod dpor;
mod ends;
mod error;
mod parts;
pub mod paths;
pub mod prune;
mod question;
mod rounds;
mod run;
mod sample;
mod shortened;
mod traced;
mod tree;

pub use bounded::search_bounded;
pub use dpor::{Limits, Reduction, Statistics, search};
pub use error::Error;
pub use parts::{Part, by_workers, parts, search_part};
pub use sample::{Found, Sampled, Wrong, draw, least_probability, sample};
pub use shortened::without_rounds;
pub use traced::Traced;
