//! Prediction by planning (PLAN; docs/design/engines.md, "Plan"): runs that bring about what a candidate asks
//! for, as plans.
//!
//! A recorded run says what each thread does as long as its reads see what they saw. So each event is an action that needs what it needed
//! then: that its thread has come there, that the location it reads was last written by somebody who wrote the same value, that the lock
//! it takes is free. What a candidate asks for is the goal, and every plan is a run of the program (PLAN Theorem 1, *precisely predictable
//! runs*). Local computation is not looked at, and nothing is encoded for a solver; in return schedules in which a thread would read
//! something else and still go on as recorded are missed.
//!
//! [`Problem::new`] makes the problem from a concurrent trace program or a slice of one, [`Problem::solve`] is the planner,
//! [`Problem::witness`] the schedule of a plan. With [`Data::Ignored`] the same problem asks for lock-valid runs, as Penelope predicts
//! them. Goals are orders of events, or formulas of temporal logic ([`claim::Formula`]). [`pddl`] writes a problem for other planners.

mod alone;
mod build;
mod formula;
mod gains;
mod goal;
mod memory;
mod outside;
pub mod pddl;
mod problem;
mod relaxed;
mod relevant;
mod search;
mod sync;
mod triple;

pub use build::Data;
pub use goal::{Goal, Until};
pub use outside::{Outside, OutsideError};
pub use problem::{
    Condition, Content, Effect, Meaning, Problem, State, Step, ThreadNumber, ThreadSteps, Variable, WRITER,
    Way,
};
pub use search::{Action, Limits, Outcome};
