//! Why a search that asks the solver is not possible.

use ctp::CtpError;
use subject::RunError;

/// Why the search was not possible.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The subject cannot be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A run cannot be made into a concurrent trace program.
    #[error(transparent)]
    Trace(#[from] CtpError),
    /// A run is too large for the solver.
    #[error("a run cannot be encoded: {0}")]
    Encode(#[from] encode::Error),
}
