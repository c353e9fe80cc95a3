//! What a caller can do wrong, as a value.

use crate::order::Point;

/// Why a call was refused. Nothing was changed by a call that returns one of these.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The handle was made by another solver (or by an earlier one).
    #[error("a handle of another solver was passed in")]
    Foreign,
    /// Bit-vectors have 1 to 128 bits.
    #[error("a bit-vector cannot have {0} bits: 1 to 128 are possible")]
    Width(u32),
    /// An operation needs both operands to have one width.
    #[error("operands of {left} and {right} bits: this operation needs equal widths")]
    MixedWidths {
        /// Width of the first operand.
        left: u32,
        /// Width of the second operand.
        right: u32,
    },
    /// Bits outside the operand were asked for, or in the wrong order.
    #[error("bits {high} down to {low} cannot be taken from {width} bits")]
    Extract {
        /// Highest bit asked for.
        high: u32,
        /// Lowest bit asked for.
        low: u32,
        /// Width of the operand.
        width: u32,
    },
    /// A fixed edge would make a point come before itself.
    #[error("{0} is already fixed to come before {1}: the opposite edge would close a cycle")]
    FixedCycle(Point, Point),
    /// A scope was closed that was not open.
    #[error("there is no open scope to close")]
    NoScope,
    /// More points than a chain can number, or more chains than can be numbered.
    #[error("too many points or chains")]
    TooMany,
    /// The value of a read must be a variable of its own, and not one of another read.
    #[error("the value of a read must be a bit-vector variable that no other read has")]
    ReadValue,
    /// Two writes of one location at one point: neither would be the last.
    #[error("two writes of one location are at {0}")]
    SamePoint(Point),
    /// The end of a section must be fixed after its begin.
    #[error("a section cannot end at {1} when it begins at {0}: the end must be fixed to come later")]
    Backwards(Point, Point),
    /// A text is not in the subset of SMT-LIB 2 that is read here.
    #[error("line {line}: {message}")]
    Parse {
        /// One-based line of the text.
        line: usize,
        /// What was found and what is accepted.
        message: String,
    },
}

/// Short form for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;
