//! Types of values: integers by width, addresses, and opaque bytes.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The width of an integer in bits, 1 to 128.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Width(u8);

impl Width {
    /// A truth value.
    pub const W1: Width = Width(1);
    /// A byte.
    pub const W8: Width = Width(8);
    /// Two bytes.
    pub const W16: Width = Width(16);
    /// Four bytes, C's `int`.
    pub const W32: Width = Width(32);
    /// Eight bytes, also the width of an address.
    pub const W64: Width = Width(64);

    /// A width, unless `bits` is outside 1..=128.
    #[must_use]
    pub fn new(bits: u8) -> Option<Width> {
        (1..=128).contains(&bits).then_some(Width(bits))
    }

    /// The number of bits.
    #[must_use]
    pub fn bits(self) -> u32 {
        u32::from(self.0)
    }

    /// How many bytes a value of this width takes in memory.
    #[must_use]
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// The value with all bits of this width set.
    #[must_use]
    pub fn mask(self) -> u128 {
        if self.0 == 128 { u128::MAX } else { (1 << self.0) - 1 }
    }
}

impl TryFrom<u8> for Width {
    type Error = String;

    fn try_from(bits: u8) -> Result<Self, String> {
        Width::new(bits).ok_or_else(|| format!("an integer of {bits} bits; widths are 1 to 128"))
    }
}

impl From<Width> for u8 {
    fn from(width: Width) -> u8 {
        width.0
    }
}

/// The type of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Type {
    /// An integer; signedness belongs to operations, not to values.
    Int(Width),
    /// An address, 64 bits.
    Ptr,
    /// Bytes whose content the analysis does not look into: floats, vectors, aggregates in registers.
    Opaque(u32),
}

impl Type {
    /// A truth value.
    pub const BOOL: Type = Type::Int(Width::W1);

    /// How many bytes a value takes in memory.
    #[must_use]
    pub fn bytes(self) -> u32 {
        match self {
            Type::Int(width) => width.bytes(),
            Type::Ptr => 8,
            Type::Opaque(bytes) => bytes,
        }
    }

    /// The width of the value as a bit-vector, unless it is opaque.
    #[must_use]
    pub fn width(self) -> Option<Width> {
        match self {
            Type::Int(width) => Some(width),
            Type::Ptr => Some(Width::W64),
            Type::Opaque(_) => None,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Int(width) => write!(f, "i{}", width.bits()),
            Type::Ptr => f.write_str("ptr"),
            Type::Opaque(bytes) => write!(f, "opaque{bytes}"),
        }
    }
}
