//! What users are told: runs and explorations as text, with excerpts of the source.
//!
//! Everything here turns data into text and decides nothing. Colour is the caller's choice; the plain form is what the
//! snapshot tests show.

mod check;
mod check_graph;
mod check_svg;
mod exploration;
mod explored;
mod finding;
mod github;
mod html;
mod json;
mod outcome;
mod perfetto;
mod prediction;
mod run_tree;
mod sarif;
mod source;
mod statistics;
mod why_not;

pub use check::{Checked, check, check_json, check_table};
pub use check_graph::check_dot;
pub use check_svg::check_svg;
pub use exploration::{exploration, incomplete};
pub use explored::{Explored, FinalState, Verdict};
pub use finding::{Description, Kind, Place, Recorded, Telling, describe, describe_result};
pub use github::github;
pub use html::html;
pub use json::{FINDINGS_VERSION, json};
pub use outcome::{outcome, summary, violates};
pub use perfetto::perfetto;
pub use prediction::{Report, gather, prediction, prediction_statistics};
pub use run_tree::RunTree;
pub use sarif::sarif;
pub use source::{Mark, Sources};
pub use statistics::{Rebuilt, statistics};
pub use why_not::{candidates, why_not};
