//! How single words look: names, references, and the word that an operation begins with.

use super::words::{BINARY, CASTS, CHECKS, PREDICATES, UPDATES, word};
use crate::{BlockId, Op, ShapeId, SyncOp};
use std::fmt::{self, Display, Write};

/// Whether a character may stand in a name without quotes.
pub(super) fn is_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '.' | '$')
}

/// Whether a name without quotes may start with it. Not with a sigil, nor like a number.
pub(super) fn is_name_start(character: char) -> bool {
    character.is_ascii_alphabetic() || character == '_'
}

/// A name behind a sigil: bare where that is unmistakable, else in quotes.
pub(super) struct Name<'s>(pub &'s str);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bare = self.0.starts_with(is_name_start) && self.0.chars().all(is_name);
        if bare { f.write_str(self.0) } else { Quoted(self.0).fmt(f) }
    }
}

/// A name in quotes; backslash, quote and control characters are escaped, so that it stays on its line.
pub(super) struct Quoted<'s>(pub &'s str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for character in self.0.chars() {
            match character {
                '"' | '\\' => {
                    f.write_char('\\')?;
                    f.write_char(character)?;
                }
                '\n' => f.write_str("\\n")?,
                '\t' => f.write_str("\\t")?,
                // The separators are not control characters, but many editors break lines at them.
                c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                    write!(f, "\\u{{{:x}}}", u32::from(c))?;
                }
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

/// A block, by its number.
pub(super) struct BlockName(pub BlockId);

impl Display for BlockName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b{}", self.0.0)
    }
}

/// A shape, by its number.
pub(super) struct ShapeName(pub ShapeId);

impl Display for ShapeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0.0)
    }
}

/// What an operation begins with.
pub(super) struct OpWord<'o>(pub &'o Op);

impl Display for OpWord<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Op::Binary { op, .. } => word(BINARY, *op),
            Op::Compare { predicate, .. } => return write!(f, "cmp {}", word(PREDICATES, *predicate)),
            Op::Cast { kind, .. } => word(CASTS, *kind),
            Op::Select { .. } => "select",
            Op::Phi { .. } => "phi",
            Op::Address { .. } => "address",
            Op::Load { .. } => "load",
            Op::Store { .. } => "store",
            Op::Update { op, .. } => return write!(f, "rmw {}", word(UPDATES, *op)),
            Op::CompareExchange { weak: false, .. } => "cmpxchg",
            Op::CompareExchange { weak: true, .. } => "cmpxchg weak",
            Op::Fence { .. } => "fence",
            Op::StackAlloc { .. } => "stack_alloc",
            Op::HeapAlloc { .. } => "heap_alloc",
            Op::Free { .. } => "free",
            Op::MemoryCopy { overlap: false, .. } => "memcpy",
            Op::MemoryCopy { overlap: true, .. } => "memmove",
            Op::MemorySet { .. } => "memset",
            Op::Call { .. } => "call",
            Op::Fork { .. } => "fork",
            Op::Sync { op, .. } => word(&SyncOp::ALL, *op),
            Op::Check { kind, .. } => word(CHECKS, *kind),
            Op::Opaque { memory: false, .. } => "opaque",
            Op::Opaque { memory: true, .. } => "opaque memory",
        })
    }
}
