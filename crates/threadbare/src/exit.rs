//! Exit codes.

use std::process::ExitCode;

/// How the command ends, as scripts see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// Nothing was found, and the stated coverage was reached.
    Clean = 0,
    /// Something was found.
    Findings = 1,
    /// Wrong use or bad input.
    BadInput = 2,
    /// A limit was hit, and nothing was found up to it.
    Limit = 3,
    /// The subject misbehaved in the recorded run itself.
    Misbehaved = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}
