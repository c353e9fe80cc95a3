//! Arithmetic that also tells whether it overflowed.

use super::{Body, Result};
use crate::llvm::Value;
use ir::{BinaryOp, CastKind, Op, Operand, Predicate, Type, Width};

impl Body<'_> {
    /// `llvm.*.with.overflow`; whether it is one that could be said exactly.
    pub(super) fn overflowing(&mut self, call: Value, name: &str, operands: &[Operand]) -> Result<bool> {
        let Some(kind) = name.strip_suffix(".with.overflow") else { return Ok(false) };
        let &[a, b] = operands else { return Ok(false) };
        let Type::Int(width) = self.type_of(&a) else { return Ok(false) };
        let Some((result, wraps)) = self.overflow(kind, width, a, b) else { return Ok(false) };
        self.pair(call, result, wraps)?;
        Ok(true)
    }

    /// The result, and whether it is not the true one.
    pub(super) fn overflow(
        &mut self,
        kind: &str,
        width: Width,
        a: Operand,
        b: Operand,
    ) -> Option<(Operand, Operand)> {
        let zero = Operand::int(width, 0);
        Some(match kind {
            "uadd" => {
                let sum = self.binary(BinaryOp::Add, a, b);
                (sum, self.compare(Predicate::Ult, sum, a))
            }
            "usub" => {
                let difference = self.binary(BinaryOp::Sub, a, b);
                (difference, self.compare(Predicate::Ult, a, b))
            }
            "sadd" => {
                // The operands have one sign and the sum has the other.
                let sum = self.binary(BinaryOp::Add, a, b);
                let (left, right) = (self.binary(BinaryOp::Xor, a, sum), self.binary(BinaryOp::Xor, b, sum));
                let both = self.binary(BinaryOp::And, left, right);
                (sum, self.compare(Predicate::Slt, both, zero))
            }
            "ssub" => {
                // The operands have different signs and the difference has not the first's.
                let difference = self.binary(BinaryOp::Sub, a, b);
                let signs = self.binary(BinaryOp::Xor, a, b);
                let changed = self.binary(BinaryOp::Xor, a, difference);
                let both = self.binary(BinaryOp::And, signs, changed);
                (difference, self.compare(Predicate::Slt, both, zero))
            }
            "umul" | "smul" => {
                // In twice the width nothing is lost.
                let wide = Width::new(u8::try_from(width.bits() * 2).ok()?)?;
                let kind = if kind == "umul" { CastKind::Zext } else { CastKind::Sext };
                let widened = |body: &mut Self, value| body.emit(Type::Int(wide), Op::Cast { kind, value });
                let (wide_a, wide_b) = (widened(self, a), widened(self, b));
                let product = self.binary(BinaryOp::Mul, wide_a, wide_b);
                let cut = Op::Cast { kind: CastKind::Trunc, value: product };
                let result = self.emit(Type::Int(width), cut);
                let again = widened(self, result);
                (result, self.compare(Predicate::Ne, again, product))
            }
            _ => return None,
        })
    }
}
