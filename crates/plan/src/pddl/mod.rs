//! Problems for other planners: PDDL out, plans in (PLAN §4.1, §4.3).
//!
//! [`Domain::new`] has the paper's facts and actions. It is plain STRIPS without parameters, so that every planner reads it; where a primitive
//! needs more than the paper has (counters, choices, effects that depend on the state) an action is written once for each case.
//! [`Domain::read`] finds the actions in what a planner has written, and gives them as a plan of ours, which is then checked like any other.

mod read;
mod write;

pub use read::PlanError;
pub use write::{Domain, WriteError};
