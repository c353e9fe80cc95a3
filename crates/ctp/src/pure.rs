//! Instructions that only compute, on expressions: the same ones that the machine computes, with the same meaning.

use crate::space::OFFSET_BITS;
use crate::{ExprId, Expressions};
use ir::{BinaryOp, Op, Predicate, Width};

/// Whether an instruction only computes.
pub fn is_pure(op: &Op) -> bool {
    matches!(
        op,
        Op::Binary { .. } | Op::Compare { .. } | Op::Cast { .. } | Op::Select { .. } | Op::Address { .. }
    )
}

/// What an instruction computes.
pub struct Computed {
    pub value: ExprId,
    /// What must not be zero.
    pub divisor: Option<ExprId>,
    /// Indices that must be small for the address to be exact, each with the bound on both sides.
    pub far: Vec<(ExprId, u64)>,
}

/// Computes an instruction, given its operands in the order of [`Op::for_each_operand`] and the width of its result.
/// `None` if it does not only compute, or if its result is not followed.
pub fn compute(
    expressions: &mut Expressions,
    compiled: bool,
    op: &Op,
    operands: &[ExprId],
    width: Width,
) -> Option<Computed> {
    let mut divisor = None;
    let mut far = vec![];
    let value = match (op, operands) {
        (Op::Binary { op, .. }, &[lhs, rhs]) => {
            let divides = matches!(op, BinaryOp::UDiv | BinaryOp::SDiv | BinaryOp::URem | BinaryOp::SRem);
            divisor = divides.then_some(rhs);
            expressions.binary(*op, lhs, rhs)
        }
        (Op::Compare { predicate, .. }, &[lhs, rhs]) => expressions.compare(*predicate, lhs, rhs),
        (Op::Cast { kind, .. }, &[value]) => expressions.cast(*kind, value, width)?,
        (Op::Select { .. }, &[condition, then, otherwise]) => expressions.select(condition, then, otherwise),
        (Op::Address { offset, terms, .. }, &[base, ref indices @ ..]) => {
            let offset = expressions.int(Width::W64, *offset as i128 as u128);
            let mut address = expressions.binary(BinaryOp::Add, base, offset);
            for (&index, &(_, stride)) in indices.iter().zip(terms) {
                if !compiled && expressions.is_symbolic(index) {
                    far.extend(bound(expressions, index, stride));
                }
                let index = expressions.sign_extend(index, Width::W64);
                let stride = expressions.int(Width::W64, stride as i128 as u128);
                let part = expressions.binary(BinaryOp::Mul, index, stride);
                address = expressions.binary(BinaryOp::Add, address, part);
            }
            address
        }
        _ => return None,
    };
    Some(Computed { value, divisor, far })
}

/// In the machine an address stays inside the offsets of what it points to. Plain addition does so too if the index is below
/// a bound; `None` if its type says that it is.
fn bound(expressions: &Expressions, index: ExprId, stride: i64) -> Option<(ExprId, u64)> {
    let bound = (1_u64 << (OFFSET_BITS - 2)) / stride.unsigned_abs().max(1);
    let bits = expressions.width(index).bits();
    let small = bits <= 64 && (1_u64 << (bits - 1)) <= bound;
    (!small).then_some((index, bound.max(1)))
}

/// One bit: an index is below a bound on both sides.
pub fn is_near(expressions: &mut Expressions, index: ExprId, bound: u64) -> ExprId {
    let width = expressions.width(index);
    let (low, high) = (-i128::from(bound), i128::from(bound));
    let (low, high) = (expressions.int(width, low as u128), expressions.int(width, high as u128));
    let above = expressions.compare(Predicate::Sge, index, low);
    let below = expressions.compare(Predicate::Slt, index, high);
    expressions.and(above, below)
}
