//! Building expressions, simplified: constant folding, and the laws that make split and joined values whole again.
//!
//! Folding uses [`ir::eval`], the one definition of arithmetic. Deeper simplification is the solver's.

use crate::expression::{Expr, Expressions};
use crate::{ExprId, ReadId};
use ir::{BinaryOp, CastKind, Predicate, UpdateOp, Width, eval};
use rustc_hash::FxHashMap;

impl Expressions {
    /// What is to be done with an operation on these operands: nothing to say, or it is settled.
    fn settled(&mut self, expr: Expr, width: Width) -> Option<ExprId> {
        let mut operands = expr.operands();
        let (mut constant, mut unknown) = (true, false);
        operands.by_ref().for_each(|operand| {
            constant &= self.constant(operand).is_some();
            unknown |= self.is_unknown(operand);
        });
        if unknown {
            return Some(self.unknown(width));
        }
        if constant {
            let value = self.value(expr, width)?;
            return Some(self.int(width, value));
        }
        None
    }

    /// Arithmetic. Dividing a constant by the constant zero gives a value that nobody knows; the caller has seen to that.
    pub fn binary(&mut self, op: BinaryOp, lhs: ExprId, rhs: ExprId) -> ExprId {
        let width = self.width(lhs);
        let expr = Expr::Binary(op, lhs, rhs);
        if let Some(id) = self.settled(expr, width) {
            return id;
        }
        let (l, r) = (self.constant(lhs), self.constant(rhs));
        if matches!(op, BinaryOp::UDiv | BinaryOp::SDiv | BinaryOp::URem | BinaryOp::SRem) && r == Some(0) {
            return self.unknown(width);
        }
        match (op, l, r) {
            (BinaryOp::Add | BinaryOp::Or | BinaryOp::Xor, Some(0), _) => rhs,
            (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Or | BinaryOp::Xor, _, Some(0))
            | (BinaryOp::Shl | BinaryOp::Lshr | BinaryOp::Ashr, _, Some(0))
            | (BinaryOp::Mul | BinaryOp::UDiv | BinaryOp::SDiv, _, Some(1)) => lhs,
            (BinaryOp::Mul, Some(1), _) => rhs,
            (BinaryOp::Mul | BinaryOp::And, Some(0), _) | (BinaryOp::Mul | BinaryOp::And, _, Some(0)) => {
                self.int(width, 0)
            }
            (BinaryOp::And, Some(mask), _) if mask == width.mask() => rhs,
            (BinaryOp::And, _, Some(mask)) if mask == width.mask() => lhs,
            (BinaryOp::And | BinaryOp::Or, ..) if lhs == rhs => lhs,
            (BinaryOp::Sub | BinaryOp::Xor, ..) if lhs == rhs => self.int(width, 0),
            (BinaryOp::Add, _, Some(c)) => self.add_constant(lhs, c, width),
            (BinaryOp::Add, Some(c), _) => self.add_constant(rhs, c, width),
            _ => self.operation(expr, width),
        }
    }

    /// `value + c`, with constants that are added one after the other made one.
    fn add_constant(&mut self, value: ExprId, c: u128, width: Width) -> ExprId {
        if let Expr::Binary(BinaryOp::Add, inner, by) = self.get(value)
            && let Some(by) = self.constant(by)
        {
            let sum = self.int(width, by.wrapping_add(c));
            return self.binary(BinaryOp::Add, inner, sum);
        }
        let by = self.int(width, c);
        self.operation(Expr::Binary(BinaryOp::Add, value, by), width)
    }

    /// Comparison.
    pub fn compare(&mut self, predicate: Predicate, lhs: ExprId, rhs: ExprId) -> ExprId {
        let expr = Expr::Compare(predicate, lhs, rhs);
        if let Some(id) = self.settled(expr, Width::W1) {
            return id;
        }
        if lhs == rhs {
            let holds = eval::compare(predicate, self.width(lhs), 0, 0);
            return self.bit(holds);
        }
        // A truth value that was widened and is compared with zero: what lowering makes of `if (a > b)`.
        if let (Expr::Zext(bit), Some(0)) = (self.get(lhs), self.constant(rhs))
            && self.width(bit) == Width::W1
        {
            match predicate {
                Predicate::Ne | Predicate::Ugt => return bit,
                Predicate::Eq => return self.not(bit),
                _ => {}
            }
        }
        if self.width(lhs) == Width::W1
            && let Some(c) = self.constant(rhs)
        {
            match (predicate, c) {
                (Predicate::Eq, 1) | (Predicate::Ne, 0) => return lhs,
                (Predicate::Eq, _) | (Predicate::Ne, _) => return self.not(lhs),
                _ => {}
            }
        }
        self.operation(expr, Width::W1)
    }

    /// Equality.
    pub fn equal(&mut self, lhs: ExprId, rhs: ExprId) -> ExprId {
        self.compare(Predicate::Eq, lhs, rhs)
    }

    /// Negation of a truth value.
    pub fn not(&mut self, bit: ExprId) -> ExprId {
        if let Expr::Compare(predicate, a, b) = self.get(bit) {
            let opposite = match predicate {
                Predicate::Eq => Predicate::Ne,
                Predicate::Ne => Predicate::Eq,
                Predicate::Ult => Predicate::Uge,
                Predicate::Ule => Predicate::Ugt,
                Predicate::Ugt => Predicate::Ule,
                Predicate::Uge => Predicate::Ult,
                Predicate::Slt => Predicate::Sge,
                Predicate::Sle => Predicate::Sgt,
                Predicate::Sgt => Predicate::Sle,
                Predicate::Sge => Predicate::Slt,
            };
            return self.compare(opposite, a, b);
        }
        let one = self.bit(true);
        self.binary(BinaryOp::Xor, bit, one)
    }

    /// Both of two truth values.
    pub fn and(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinaryOp::And, a, b)
    }

    /// One of two truth values, or both.
    pub fn or(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let one = Some(1);
        match self.constant(a) == one || self.constant(b) == one {
            true => self.bit(true),
            false => self.binary(BinaryOp::Or, a, b),
        }
    }

    /// The low bits, or more of them with zeros.
    pub fn resize(&mut self, value: ExprId, width: Width) -> ExprId {
        match self.width(value).cmp(&width) {
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Greater => self.extract(value, 0, width),
            std::cmp::Ordering::Less => {
                let (value, expr) = match self.get(value) {
                    Expr::Zext(inner) => (inner, Expr::Zext(inner)),
                    _ => (value, Expr::Zext(value)),
                };
                debug_assert!(self.width(value) < width);
                self.settled(expr, width).unwrap_or_else(|| self.operation(expr, width))
            }
        }
    }

    /// A change of width as the IR has it; `None` where the result is not followed.
    pub fn cast(&mut self, kind: CastKind, value: ExprId, width: Width) -> Option<ExprId> {
        match kind {
            CastKind::Trunc | CastKind::Zext | CastKind::PtrToInt | CastKind::IntToPtr => {
                Some(self.resize(value, width))
            }
            CastKind::Sext => Some(self.sign_extend(value, width)),
            CastKind::Reinterpret => (self.width(value) == width).then_some(value),
        }
    }

    /// Widened with the sign, or cut.
    pub fn sign_extend(&mut self, value: ExprId, width: Width) -> ExprId {
        if self.width(value) >= width {
            return self.resize(value, width);
        }
        let expr = Expr::Sext(value);
        self.settled(expr, width).unwrap_or_else(|| self.operation(expr, width))
    }

    /// The bits from `low` on; they are all inside the value.
    pub fn extract(&mut self, value: ExprId, low: u32, width: Width) -> ExprId {
        let whole = self.width(value);
        if low == 0 && whole == width {
            return value;
        }
        let expr = Expr::Extract { value, low };
        if let Some(id) = self.settled(expr, width) {
            return id;
        }
        match self.get(value) {
            Expr::Extract { value: inner, low: more } => self.extract(inner, low + more, width),
            Expr::Concat { low: lower, .. } if low + width.bits() <= self.width(lower).bits() => {
                self.extract(lower, low, width)
            }
            Expr::Concat { high, low: lower } if low >= self.width(lower).bits() => {
                let low = low - self.width(lower).bits();
                self.extract(high, low, width)
            }
            Expr::Zext(inner) if low + width.bits() <= self.width(inner).bits() => {
                self.extract(inner, low, width)
            }
            Expr::Zext(inner) if low >= self.width(inner).bits() => self.int(width, 0),
            Expr::Zext(inner) if low == 0 => self.resize(inner, width),
            Expr::Sext(inner) if low + width.bits() <= self.width(inner).bits() => {
                self.extract(inner, low, width)
            }
            _ => self.operation(expr, width),
        }
    }

    /// The bits of `high` above those of `low`; together at most 128.
    pub fn concat(&mut self, high: ExprId, low: ExprId) -> ExprId {
        let bits = self.width(high).bits() + self.width(low).bits();
        let width = Width::new(bits.min(128) as u8).unwrap_or(Width::W64);
        let expr = Expr::Concat { high, low };
        if let Some(id) = self.settled(expr, width) {
            return id;
        }
        // Neighbouring parts of one value are one part.
        let part = |expressions: &Expressions, id| match expressions.get(id) {
            Expr::Extract { value, low } => (value, low),
            _ => (id, 0),
        };
        let ((above, from), (below, to)) = (part(self, high), part(self, low));
        if above == below && from == to + self.width(low).bits() {
            return self.extract(below, to, width);
        }
        if self.constant(high) == Some(0) {
            return self.resize(low, width);
        }
        self.operation(expr, width)
    }

    /// `condition ? then : otherwise`.
    pub fn select(&mut self, condition: ExprId, then: ExprId, otherwise: ExprId) -> ExprId {
        match self.constant(condition) {
            Some(0) => return otherwise,
            Some(_) => return then,
            None if then == otherwise => return then,
            None => {}
        }
        let width = self.width(then);
        let expr = Expr::Select { condition, then, otherwise };
        let unknown = expr.operands().any(|operand| self.is_unknown(operand));
        if unknown { self.unknown(width) } else { self.operation(expr, width) }
    }

    /// The new value of an atomic read-modify-write.
    pub fn update(&mut self, op: UpdateOp, old: ExprId, operand: ExprId) -> ExprId {
        let pick = |expressions: &mut Expressions, predicate| {
            let less = expressions.compare(predicate, old, operand);
            expressions.select(less, old, operand)
        };
        match op {
            UpdateOp::Exchange => operand,
            UpdateOp::Add => self.binary(BinaryOp::Add, old, operand),
            UpdateOp::Sub => self.binary(BinaryOp::Sub, old, operand),
            UpdateOp::And => self.binary(BinaryOp::And, old, operand),
            UpdateOp::Or => self.binary(BinaryOp::Or, old, operand),
            UpdateOp::Xor => self.binary(BinaryOp::Xor, old, operand),
            UpdateOp::Nand => {
                let and = self.binary(BinaryOp::And, old, operand);
                let width = self.width(old);
                let ones = self.int(width, width.mask());
                self.binary(BinaryOp::Xor, and, ones)
            }
            UpdateOp::SMax => pick(self, Predicate::Sgt),
            UpdateOp::SMin => pick(self, Predicate::Slt),
            UpdateOp::UMax => pick(self, Predicate::Ugt),
            UpdateOp::UMin => pick(self, Predicate::Ult),
        }
    }

    /// An expression with other values in the place of its reads and of its hole; `None` leaves one as it is.
    pub fn replace(
        &mut self,
        root: ExprId,
        read: &mut dyn FnMut(&mut Expressions, ReadId) -> Option<ExprId>,
        hole: Option<ExprId>,
    ) -> ExprId {
        let mut new: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for id in self.reachable([root]) {
            let (expr, width) = (self.get(id), self.width(id));
            let at = |id: ExprId| new.get(&id).copied().unwrap_or(id);
            let replaced = match expr {
                Expr::Const(_) | Expr::Unknown | Expr::Any(_) => id,
                Expr::Hole => hole.unwrap_or(id),
                Expr::Read(of) => read(self, of).unwrap_or(id),
                Expr::Binary(op, a, b) => {
                    let (a, b) = (at(a), at(b));
                    self.binary(op, a, b)
                }
                Expr::Compare(predicate, a, b) => {
                    let (a, b) = (at(a), at(b));
                    self.compare(predicate, a, b)
                }
                Expr::Zext(a) => {
                    let a = at(a);
                    self.resize(a, width)
                }
                Expr::Sext(a) => {
                    let a = at(a);
                    self.sign_extend(a, width)
                }
                Expr::Extract { value, low } => {
                    let value = at(value);
                    self.extract(value, low, width)
                }
                Expr::Concat { high, low } => {
                    let (high, low) = (at(high), at(low));
                    self.concat(high, low)
                }
                Expr::Select { condition, then, otherwise } => {
                    let (condition, then, otherwise) = (at(condition), at(then), at(otherwise));
                    self.select(condition, then, otherwise)
                }
            };
            new.insert(id, replaced);
        }
        new.get(&root).copied().unwrap_or(root)
    }

    /// A function of the hole, applied to a value.
    pub fn apply(&mut self, function: ExprId, value: ExprId) -> ExprId {
        self.replace(function, &mut |_, _| None, Some(value))
    }
}
