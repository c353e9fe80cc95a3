//! Why a program or a model cannot be checked.

use ir::Position;

/// Why there is no verdict.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The program uses what is not modelled here.
    #[error("{what} cannot be checked")]
    Unsupported {
        /// What.
        what: String,
        /// Where.
        position: Option<Position>,
    },
    /// A loop goes on and on, and nobody has said how far to follow it.
    #[error("this loop has no bound: write `bound N` behind its condition, or give --loop-bound N")]
    Unbounded {
        /// Where.
        position: Option<Position>,
    },
    /// Unrolled, the program is too large.
    #[error("the program has more than {most} events when its loops are unrolled")]
    TooLarge {
        /// How many events there may be.
        most: usize,
    },
    /// No rule of the model has this name.
    #[error("the model has no rule `{name}`; it has {known}")]
    NoSuchRule {
        /// The name that was given.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// The solver gave up.
    #[error("the solver gave up: {0:?}")]
    Stopped(solver::Stop),
    /// A mistake in the use of the solver.
    #[error(transparent)]
    Solver(#[from] solver::Error),
}

impl Error {
    /// Where in the program the cause stands.
    #[must_use]
    pub fn position(&self) -> Option<Position> {
        match self {
            Error::Unsupported { position, .. } | Error::Unbounded { position } => *position,
            _ => None,
        }
    }
}

/// The result of what can fail in this way.
pub type Result<T> = std::result::Result<T, Error>;
