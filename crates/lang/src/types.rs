//! Types of values, and C's rules for mixing them.

use ir::Width;
use std::fmt;

/// An integer type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum IntType {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
}

impl IntType {
    /// How many bits it has.
    #[must_use]
    pub fn width(self) -> Width {
        match self {
            IntType::I8 | IntType::U8 => Width::W8,
            IntType::I16 | IntType::U16 => Width::W16,
            IntType::I32 | IntType::U32 => Width::W32,
            IntType::I64 | IntType::U64 => Width::W64,
        }
    }

    /// Whether it has negative values.
    #[must_use]
    pub fn signed(self) -> bool {
        matches!(self, IntType::I8 | IntType::I16 | IntType::I32 | IntType::I64)
    }

    /// C's integer promotion: types narrower than `int` become `int`, which holds all their values.
    #[must_use]
    pub fn promoted(self) -> IntType {
        if self.width() < Width::W32 { IntType::I32 } else { self }
    }

    /// C's usual arithmetic conversions: the wider of the promoted types wins, at one width the unsigned.
    #[must_use]
    pub fn common(self, other: IntType) -> IntType {
        let (a, b) = (self.promoted(), other.promoted());
        match a.width().cmp(&b.width()) {
            std::cmp::Ordering::Less => b,
            std::cmp::Ordering::Greater => a,
            std::cmp::Ordering::Equal if a.signed() => b,
            std::cmp::Ordering::Equal => a,
        }
    }
}

impl fmt::Display for IntType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            IntType::I8 => "i8",
            IntType::I16 => "i16",
            IntType::I32 => "int",
            IntType::I64 => "i64",
            IntType::U8 => "u8",
            IntType::U16 => "u16",
            IntType::U32 => "u32",
            IntType::U64 => "u64",
        })
    }
}

/// The type of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// An integer.
    Int(IntType),
    /// An address.
    Pointer {
        /// Of an integer of this type, at the end of the chain.
        to: IntType,
        /// How many stars, at least 1.
        depth: u8,
    },
    /// The handle of a forked thread.
    Thread,
}

impl Type {
    /// C's `int`.
    pub const INT: Type = Type::Int(IntType::I32);

    /// The pointer to this, unless it is a handle.
    #[must_use]
    pub fn pointer(self) -> Option<Type> {
        match self {
            Type::Int(to) => Some(Type::Pointer { to, depth: 1 }),
            Type::Pointer { to, depth } => Some(Type::Pointer { to, depth: depth.checked_add(1)? }),
            Type::Thread => None,
        }
    }

    /// What a pointer of this type points to, if it is one.
    #[must_use]
    pub fn pointee(self) -> Option<Type> {
        match self {
            Type::Pointer { to, depth: 1 } => Some(Type::Int(to)),
            Type::Pointer { to, depth } => Some(Type::Pointer { to, depth: depth - 1 }),
            _ => None,
        }
    }

    /// How many bytes a value takes.
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            Type::Int(int) => u64::from(int.width().bytes()),
            Type::Pointer { .. } | Type::Thread => 8,
        }
    }

    /// The type of the value in the program IR.
    #[must_use]
    pub fn lowered(self) -> ir::Type {
        match self {
            Type::Int(int) => ir::Type::Int(int.width()),
            Type::Pointer { .. } => ir::Type::Ptr,
            Type::Thread => ir::Type::Int(Width::W64),
        }
    }

    /// The type with its article, for messages.
    #[must_use]
    pub fn with_article(self) -> String {
        let name = self.to_string();
        if name.starts_with('i') { format!("an `{name}`") } else { format!("a `{name}`") }
    }

    /// Whether its values are shown with a sign.
    #[must_use]
    pub fn signed(self) -> bool {
        matches!(self, Type::Int(int) if int.signed())
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Int(int) => int.fmt(f),
            Type::Pointer { to, depth } => write!(f, "{to}{:*<1$}", "", usize::from(*depth)),
            Type::Thread => f.write_str("thread"),
        }
    }
}
