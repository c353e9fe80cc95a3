//! What the arithmetic of the IR means, on plain integers.
//!
//! This is the one definition; the machine computes with it, and everything that reasons about the IR is
//! compared with it. Values are bits in a `u128`, none set above their width.

use crate::{BinaryOp, CastKind, Predicate, UpdateOp, Width};

/// The signed integer that `bits` of width `width` stand for.
#[must_use]
#[inline]
pub fn signed(width: Width, bits: u128) -> i128 {
    let unused = 128 - width.bits();
    ((bits << unused) as i128) >> unused
}

/// The bits of `width` that stand for `value`, cut.
#[must_use]
#[inline]
pub fn cut(width: Width, value: i128) -> u128 {
    value as u128 & width.mask()
}

/// Arithmetic; `None` is division by zero.
#[must_use]
#[inline]
pub fn binary(op: BinaryOp, width: Width, lhs: u128, rhs: u128) -> Option<u128> {
    let by_width = rhs >= u128::from(width.bits());
    let result = match op {
        BinaryOp::Add => lhs.wrapping_add(rhs),
        BinaryOp::Sub => lhs.wrapping_sub(rhs),
        BinaryOp::Mul => lhs.wrapping_mul(rhs),
        BinaryOp::UDiv => lhs.checked_div(rhs)?,
        BinaryOp::URem => lhs.checked_rem(rhs)?,
        BinaryOp::SDiv if rhs == 0 => return None,
        BinaryOp::SRem if rhs == 0 => return None,
        BinaryOp::SDiv => signed(width, lhs).wrapping_div(signed(width, rhs)) as u128,
        BinaryOp::SRem => signed(width, lhs).wrapping_rem(signed(width, rhs)) as u128,
        BinaryOp::Shl if by_width => 0,
        BinaryOp::Shl => lhs << rhs,
        BinaryOp::Lshr if by_width => 0,
        BinaryOp::Lshr => lhs >> rhs,
        BinaryOp::Ashr => (signed(width, lhs) >> rhs.min(u128::from(width.bits() - 1))) as u128,
        BinaryOp::And => lhs & rhs,
        BinaryOp::Or => lhs | rhs,
        BinaryOp::Xor => lhs ^ rhs,
    };
    Some(result & width.mask())
}

/// Comparison.
#[must_use]
#[inline]
pub fn compare(predicate: Predicate, width: Width, lhs: u128, rhs: u128) -> bool {
    let (slhs, srhs) = (signed(width, lhs), signed(width, rhs));
    match predicate {
        Predicate::Eq => lhs == rhs,
        Predicate::Ne => lhs != rhs,
        Predicate::Ult => lhs < rhs,
        Predicate::Ule => lhs <= rhs,
        Predicate::Ugt => lhs > rhs,
        Predicate::Uge => lhs >= rhs,
        Predicate::Slt => slhs < srhs,
        Predicate::Sle => slhs <= srhs,
        Predicate::Sgt => slhs > srhs,
        Predicate::Sge => slhs >= srhs,
    }
}

/// Change of width; `None` where the result is not followed.
#[must_use]
#[inline]
pub fn cast(kind: CastKind, from: Width, to: Width, bits: u128) -> Option<u128> {
    match kind {
        CastKind::Trunc | CastKind::Zext | CastKind::PtrToInt | CastKind::IntToPtr => Some(bits & to.mask()),
        CastKind::Sext => Some(cut(to, signed(from, bits))),
        CastKind::Reinterpret => None,
    }
}

/// The new value of an atomic read-modify-write.
#[must_use]
#[inline]
pub fn update(op: UpdateOp, width: Width, old: u128, operand: u128) -> u128 {
    let signed_less = signed(width, old) < signed(width, operand);
    let result = match op {
        UpdateOp::Exchange => operand,
        UpdateOp::Add => old.wrapping_add(operand),
        UpdateOp::Sub => old.wrapping_sub(operand),
        UpdateOp::And => old & operand,
        UpdateOp::Nand => !(old & operand),
        UpdateOp::Or => old | operand,
        UpdateOp::Xor => old ^ operand,
        UpdateOp::SMax => {
            if signed_less {
                operand
            } else {
                old
            }
        }
        UpdateOp::SMin => {
            if signed_less {
                old
            } else {
                operand
            }
        }
        UpdateOp::UMax => old.max(operand),
        UpdateOp::UMin => old.min(operand),
    };
    result & width.mask()
}
