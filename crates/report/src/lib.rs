//! What users are told: runs and explorations as text, with excerpts of the source.
//!
//! Everything here turns data into text and decides nothing. Colour is the caller's choice; the plain form is what the
//! snapshot tests show.

mod exploration;
mod outcome;
mod source;
mod statistics;

pub use exploration::exploration;
pub use outcome::{outcome, summary, violates};
pub use source::{Mark, Sources};
pub use statistics::{Rebuilt, statistics};
