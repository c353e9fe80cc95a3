//! The vocabulary of prediction, as plain data: what is asked, what is answered, what the user is told.
//!
//! A [`Candidate`] is an event tuple that would be a bug if feasible. An engine gives an [`Answer`]; if that is *feasible*
//! it has a [`Witness`], which the crate `witness` checks, and which is replayed. What comes out is a [`Finding`], and
//! the [`Statistics`] that AV Table 1 prints. How any of these come about is none of this crate's business.

mod answer;
mod candidate;
mod finding;
mod formula;
mod statistics;

pub use answer::{Answer, Because, Unknown, Witness};
pub use candidate::{Candidate, Deadlock, Pattern, Property, is_unserializable};
pub use finding::{Block, Cause, Consequence, Engine, Finding, Outside, Standing, Unconfirmed};
pub use formula::Formula;
pub use statistics::{Coverage, EngineStatistics, PhaseTimes, Statistics};
