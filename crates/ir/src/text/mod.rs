//! The text form of the IR: readable, one instruction per line, and exact: `parse(print(p)) == p` for
//! every program that passes [`verify`](fn@crate::verify).
//!
//! ```text
//! program "fig1.tb"
//! file !0 = "fig1.tb"
//! shape #0 = int 4 signed
//! global @x #0 = zero  !0:1:1
//!
//! function $T1() -> (i32:a signed) {  !0:3:1
//! b0:
//!   %0:a = load i32 @x  !t1 !0:4:5
//!   %1 = add i32 %0, 1i32  !0:5:9
//!   store %1, @x seq_cst  !0:5:5
//!   return %0
//! }
//!
//! thread T1 = $T1
//! ```
//!
//! A sigil says what a name is: `%` a value, `@` a global, `$` a function, `#` a shape, `b` and a number a
//! block, `!` a label or a position (file, line, column). Values carry their number, and the name and the
//! type where they are defined; the results' types stand behind the operation's word. Globals and functions
//! go by their names, followed by `#` and their number where a name is not the only one of its kind. A name
//! that is not letters, digits, `_`, `.` and `$` stands in quotes. `;` starts a comment.

mod lex;
mod name;
mod parse;
mod print;
mod words;

pub use parse::parse;
pub use print::print;

/// Why a text is no program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct ParseError {
    /// Line, counted from 1.
    pub line: u32,
    /// Column, counted in characters from 1.
    pub column: u32,
    /// What was expected, and what stands there.
    pub message: String,
}

#[cfg(test)]
mod tests;
