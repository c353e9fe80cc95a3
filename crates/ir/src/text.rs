//! The text form of the IR.
use crate::Program;
/// Why a text is no program.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ParseError {
    /// Line, counted from 1.
    pub line: u32,
    /// What was expected.
    pub message: String,
}
/// The text form of a program.
#[must_use]
pub fn print(program: &Program) -> String {
    format!("{program:?}")
}
/// Reads the text form.
pub fn parse(_text: &str) -> Result<Program, ParseError> {
    Err(ParseError { line: 0, message: "being written".into() })
}
