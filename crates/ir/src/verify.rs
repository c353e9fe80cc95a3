//! The verifier.
use crate::Program;
/// Why a program is not well formed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct VerifyError(pub String);
/// Checks a program.
pub fn verify(_program: &Program) -> Result<(), Vec<VerifyError>> {
    Ok(())
}
