//! Places in the source text.

use std::fmt;

/// A stretch of source text, and the line and column at which it begins.
///
/// All spans are equal: two syntax trees compare equal when they differ only in where they stand.
#[derive(Clone, Copy, Default)]
pub struct Span {
    /// Its first byte.
    pub start: u32,
    /// The byte after its last.
    pub end: u32,
    /// The line of its first character, counted from 1; 0 if it stands in no text.
    pub line: u32,
    /// The column of its first character, counted from 1 in characters.
    pub column: u32,
    /// The line of its last character.
    pub end_line: u32,
}

impl Span {
    /// From the start of `self` to the end of `last`.
    #[must_use]
    pub fn to(self, last: Span) -> Span {
        Span { end: last.end.max(self.start), end_line: last.end_line.max(self.line), ..self }
    }

    /// The bytes as a range.
    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}

impl Eq for Span {}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}
