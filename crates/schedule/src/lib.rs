//! Who runs when: schedules, the names of threads in them, and strategies.
//!
//! A [`Strategy`] is plain data that says how the choices of a run are made; a [`Schedule`] is the list of choices
//! that one run made, and following it makes them again. What a strategy means is in [`Scheduler`], which
//! every subject asks at the same points, so that a seed means the same everywhere.
//!
//! The runtime in compiled programs is built on this crate. That is why nothing here knows events or files: what this
//! crate depends on is compiled for every one of those programs.

mod schedule;
mod scheduler;
mod strategy;
mod thread;
mod turn;

pub use schedule::{Choice, Schedule, ScheduleError, Segment, ShortScheduleError};
pub use scheduler::{Departure, Ready, Scheduler, SplitMix64};
pub use strategy::Strategy;
pub use thread::{ThreadId, ThreadIdError};
pub use turn::Turn;
