//! Conditions: one bit, or two ways.
//!
//! `&&`, `||` and `?:` branch only where a skipped operand could be noticed: where it reads shared memory,
//! calls, or can fault. Elsewhere both sides are computed and joined without a branch, so that conditions on
//! locals make no events.

use super::{FunctionLowering, position};
use crate::typed::{Expr, ExprKind, Place, PlaceBase};
use ir::{BinaryOp, BlockId, Op, Operand, Predicate, Terminator, Type, Width};

impl FunctionLowering<'_> {
    /// The value of a condition as one bit.
    pub(super) fn truth(&mut self, expr: &Expr) -> Operand {
        let place = position(expr.span);
        match &expr.kind {
            ExprKind::Compare(predicate, lhs, rhs) => {
                let (lhs, rhs) = (self.value(lhs), self.value(rhs));
                self.compare(*predicate, lhs, rhs, place)
            }
            ExprKind::Not(operand) => {
                let operand = self.truth(operand);
                self.arithmetic(BinaryOp::Xor, operand, bit(true), place)
            }
            ExprKind::And(lhs, rhs) | ExprKind::Or(lhs, rhs) => {
                let and = matches!(expr.kind, ExprKind::And(..));
                if is_silent(rhs) {
                    let (lhs, rhs) = (self.truth(lhs), self.truth(rhs));
                    let op = if and { BinaryOp::And } else { BinaryOp::Or };
                    return self.arithmetic(op, lhs, rhs, place);
                }
                let result = self.builder.variable(Type::BOOL, None);
                let (more, join) = (self.builder.block(), self.builder.block());
                let first = self.truth(lhs);
                self.builder.write(result, bit(!and));
                let (then, otherwise) = if and { (more, join) } else { (join, more) };
                self.two_ways(first, then, otherwise, place);
                self.builder.seal(more);
                self.builder.begin(more);
                if self.builder.reachable() {
                    let second = self.truth(rhs);
                    self.builder.write(result, second);
                    self.builder.end(Terminator::Jump(join), None, false);
                }
                self.builder.seal(join);
                self.builder.begin(join);
                self.builder.read(result)
            }
            ExprKind::CompareExchange { .. } => self.compare_exchange(expr),
            _ => {
                let value = self.value(expr);
                let zero = match self.builder.type_of(value) {
                    Type::Int(width) => Operand::int(width, 0),
                    _ => Operand::Null,
                };
                self.compare(Predicate::Ne, value, zero, place)
            }
        }
    }

    /// Ends the block with a branch on a condition.
    pub(super) fn branch(&mut self, expr: &Expr, then: BlockId, otherwise: BlockId) {
        let place = position(expr.span);
        match &expr.kind {
            ExprKind::Not(operand) => self.branch(operand, otherwise, then),
            ExprKind::And(lhs, rhs) if !is_silent(rhs) => {
                let more = self.builder.block();
                self.branch(lhs, more, otherwise);
                self.go_on(more, rhs, then, otherwise);
            }
            ExprKind::Or(lhs, rhs) if !is_silent(rhs) => {
                let more = self.builder.block();
                self.branch(lhs, then, more);
                self.go_on(more, rhs, then, otherwise);
            }
            _ => {
                let condition = self.truth(expr);
                self.two_ways(condition, then, otherwise, place);
            }
        }
    }

    fn go_on(&mut self, more: BlockId, rhs: &Expr, then: BlockId, otherwise: BlockId) {
        self.builder.seal(more);
        self.builder.begin(more);
        if self.builder.reachable() {
            self.branch(rhs, then, otherwise);
        }
    }

    /// Ends the block: one way if the condition is a constant, else two.
    fn two_ways(
        &mut self,
        condition: Operand,
        then: BlockId,
        otherwise: BlockId,
        place: Option<ir::Position>,
    ) {
        let terminator = match condition {
            Operand::Const { bits: 0, .. } => Terminator::Jump(otherwise),
            Operand::Const { .. } => Terminator::Jump(then),
            condition => Terminator::Branch { condition, then, otherwise },
        };
        let labelled = matches!(terminator, Terminator::Branch { .. });
        self.builder.end(terminator, place, labelled);
    }

    /// `c ? a : b`
    pub(super) fn conditional(
        &mut self,
        condition: &Expr,
        then: &Expr,
        otherwise: &Expr,
        expr: &Expr,
    ) -> Operand {
        let place = position(expr.span);
        if is_silent(then) && is_silent(otherwise) {
            let condition = self.truth(condition);
            let (then, otherwise) = (self.value(then), self.value(otherwise));
            return match condition {
                Operand::Const { bits: 0, .. } => otherwise,
                Operand::Const { .. } => then,
                condition => {
                    let ty = expr.ty.lowered();
                    self.emit_one(Op::Select { condition, then, otherwise }, ty, place)
                }
            };
        }
        let result = self.builder.variable(expr.ty.lowered(), None);
        let (then_block, else_block, join) =
            (self.builder.block(), self.builder.block(), self.builder.block());
        self.branch(condition, then_block, else_block);
        for (block, value) in [(then_block, then), (else_block, otherwise)] {
            self.builder.seal(block);
            self.builder.begin(block);
            if self.builder.reachable() {
                let value = self.value(value);
                self.builder.write(result, value);
                self.builder.end(Terminator::Jump(join), None, false);
            }
        }
        self.builder.seal(join);
        self.builder.begin(join);
        self.builder.read(result)
    }
}

/// A truth value.
fn bit(value: bool) -> Operand {
    Operand::int(Width::W1, i128::from(value))
}

/// Whether nobody can tell if the expression is evaluated: it reads no shared memory, has no effect and cannot
/// fault.
fn is_silent(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(_) | ExprKind::Null | ExprKind::Local(_) | ExprKind::Old => true,
        ExprKind::AddressOf(place) => is_silent_address(place),
        ExprKind::Negate(e) | ExprKind::Complement(e) | ExprKind::Not(e) | ExprKind::Convert(e) => {
            is_silent(e)
        }
        ExprKind::Binary(BinaryOp::SDiv | BinaryOp::UDiv | BinaryOp::SRem | BinaryOp::URem, lhs, rhs) => {
            is_silent(lhs) && matches!(rhs.kind, ExprKind::Int(n) if n != 0)
        }
        ExprKind::Binary(_, lhs, rhs)
        | ExprKind::Shift(_, lhs, rhs)
        | ExprKind::Compare(_, lhs, rhs)
        | ExprKind::And(lhs, rhs)
        | ExprKind::Or(lhs, rhs) => is_silent(lhs) && is_silent(rhs),
        ExprKind::Conditional(condition, then, otherwise) => {
            is_silent(condition) && is_silent(then) && is_silent(otherwise)
        }
        ExprKind::Offset { pointer, index, .. } => is_silent(pointer) && is_silent(index),
        ExprKind::Load(..)
        | ExprKind::Call(..)
        | ExprKind::Fork(..)
        | ExprKind::Alloc(..)
        | ExprKind::Sync(..)
        | ExprKind::Update { .. }
        | ExprKind::CompareExchange { .. } => false,
    }
}

fn is_silent_address(place: &Place) -> bool {
    let base = match &place.base {
        PlaceBase::Global(_) => true,
        PlaceBase::Pointer(pointer) => is_silent(pointer),
    };
    base && place.index.as_deref().is_none_or(is_silent)
}
