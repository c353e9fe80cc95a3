//! Operators, their signs and how tightly they bind.

/// An operator before its operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum UnaryOp {
    Plus,
    Negate,
    Not,
    Complement,
    Dereference,
    AddressOf,
}

impl UnaryOp {
    /// Every operator with its sign.
    pub const ALL: [(UnaryOp, &'static str); 6] = [
        (UnaryOp::Plus, "+"),
        (UnaryOp::Negate, "-"),
        (UnaryOp::Not, "!"),
        (UnaryOp::Complement, "~"),
        (UnaryOp::Dereference, "*"),
        (UnaryOp::AddressOf, "&"),
    ];

    /// Its sign.
    #[must_use]
    pub fn sign(self) -> &'static str {
        Self::ALL.iter().find(|(op, _)| *op == self).map_or("", |(_, sign)| sign)
    }
}

/// An operator between two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum BinaryOp {
    Multiply,
    Divide,
    Remainder,
    Add,
    Subtract,
    ShiftLeft,
    ShiftRight,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    BitAnd,
    BitXor,
    BitOr,
    And,
    Or,
}

impl BinaryOp {
    /// Every operator with its sign and how tightly it binds, as in C.
    pub const ALL: [(BinaryOp, &'static str, u8); 18] = [
        (BinaryOp::Multiply, "*", 10),
        (BinaryOp::Divide, "/", 10),
        (BinaryOp::Remainder, "%", 10),
        (BinaryOp::Add, "+", 9),
        (BinaryOp::Subtract, "-", 9),
        (BinaryOp::ShiftLeft, "<<", 8),
        (BinaryOp::ShiftRight, ">>", 8),
        (BinaryOp::Less, "<", 7),
        (BinaryOp::LessEqual, "<=", 7),
        (BinaryOp::Greater, ">", 7),
        (BinaryOp::GreaterEqual, ">=", 7),
        (BinaryOp::Equal, "==", 6),
        (BinaryOp::NotEqual, "!=", 6),
        (BinaryOp::BitAnd, "&", 5),
        (BinaryOp::BitXor, "^", 4),
        (BinaryOp::BitOr, "|", 3),
        (BinaryOp::And, "&&", 2),
        (BinaryOp::Or, "||", 1),
    ];

    /// Its sign.
    #[must_use]
    pub fn sign(self) -> &'static str {
        Self::ALL.iter().find(|(op, ..)| *op == self).map_or("", |(_, sign, _)| sign)
    }

    /// How tightly it binds; more binds tighter.
    #[must_use]
    pub fn tightness(self) -> u8 {
        Self::ALL.iter().find(|(op, ..)| *op == self).map_or(0, |(.., tightness)| *tightness)
    }

    /// Whether it compares.
    #[must_use]
    pub fn compares(self) -> bool {
        matches!(self.tightness(), 6 | 7)
    }
}
