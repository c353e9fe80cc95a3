//! Prediction: from one trace to the bugs that other schedules of the same run show (AV;
//! docs/design/candidates.md, docs/design/engines.md and docs/design/witnesses.md).
//!
//! [`candidates()`] makes the event tuples that would be bugs, [`Filters`] discard those that are surely infeasible, the engine
//! [`Symbolic`] decides the others and gives a witness for each that is feasible, and [`confirm()`] re-runs the subject along it. Other
//! engines ([`Planning`], [`Sync`]) can be asked in its place or before it ([`Engines`]).
//! [`predict`] and [`predict_and_confirm`] go the whole way.

pub mod candidates;
mod confirm;
mod difference;
mod engines;
mod failure;
mod far;
mod filters;
mod findings;
mod normal;
pub mod pattern;
mod places;
pub mod planning;
mod prediction;
mod rearranged;
mod refine;
pub mod symbolic;
mod sync;
mod time;
mod trim;
mod wakeups;
mod windows;

pub use candidates::deadlock::circles;
pub use candidates::{Candidates, Wanted, candidates};
pub use confirm::{Replayed, confirm};
pub use encode::{Interrupter, Limits, Mode, Model};
pub use engines::Engines;
pub use failure::recorded_failure;
pub use filters::{Filter, Filters};
pub use normal::Normal;
pub use planning::Planning;
pub use prediction::{Options, PredictError, Prediction, Progress, predict, predict_and_confirm};
pub use symbolic::Symbolic;
pub use sync::Sync;
pub use windows::{Sizes, Windows};
