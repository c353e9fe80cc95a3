//! The formatter: one canonical way to write a program.
//!
//! Indentation is four spaces, a statement has a line of its own, assignments are written `=`, comparisons `==`,
//! locks `lock(m)`. Comments stay where they are, before or behind what they stand before or behind; of several blank
//! lines one stays. Long lines are not broken.

mod expression;
mod item;
mod layout;
mod statement;

use crate::Diagnostic;
use crate::ast::{Expr, File};
use crate::lexer::lex;
use crate::parser::parse_tokens;
use layout::Printer;

/// The program in canonical form.
pub fn format(source: &str) -> Result<String, Vec<Diagnostic>> {
    let lexed = lex(source);
    let file = parse_tokens(source, &lexed)?;
    let mut printer = Printer::new(&lexed.tokens, &lexed.comments);
    printer.file(&file);
    Ok(printer.finish())
}

/// A syntax tree as source text, with no comments.
#[must_use]
pub fn print(file: &File) -> String {
    let mut printer = Printer::new(&[], &[]);
    printer.file(file);
    printer.finish()
}

/// An expression in canonical form.
#[must_use]
pub fn expression(expr: &Expr) -> String {
    let mut printer = Printer::new(&[], &[]);
    printer.expression(expr);
    printer.finish()
}
