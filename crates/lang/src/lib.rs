//! The model language `.tb`: a small concurrent language for litmus tests, papers' examples and teaching.
//!
//! A source text is [parsed](parse) into a syntax tree, [checked](check) into a typed program and
//! [lowered](lower) to program IR; [`compile`] does all three. [`format`](fn@format) writes a program in the one
//! canonical way. Errors are [`Diagnostic`]s, several for one text, that [`render`] shows as a compiler would. The
//! language is described in `docs/language.md`.

pub mod ast;
mod check;
mod diagnostic;
mod format;
mod lexer;
mod lower;
mod parser;
#[cfg(test)]
mod properties;
#[cfg(any(test, feature = "random"))]
pub mod random;
mod span;
pub mod typed;
pub mod types;

pub use check::{MAX_BOUND, MAX_MEMORY, check};
pub use diagnostic::{Diagnostic, MAX_ERRORS, render};
pub use format::{format, print};
pub use lexer::MAX_SOURCE;
pub use lower::{LowerOptions, lower};
pub use parser::{MAX_DEPTH, parse};
pub use span::Span;

/// From source text to program IR.
pub fn compile(source: &str, options: &LowerOptions) -> Result<ir::Program, Vec<Diagnostic>> {
    let file = parse(source)?;
    let program = check(&file)?;
    Ok(lower(&program, options))
}
