//! Operators: C's conversions, pointer arithmetic, comparisons.

use super::body::Body;
use super::expression::{converted, is_null};
use crate::ast::{self, BinaryOp, UnaryOp};
use crate::typed::{Expr, ExprKind};
use crate::types::Type;
use crate::{Diagnostic, Span};
use ir::Predicate;

impl Body<'_> {
    pub(super) fn unary(&mut self, op: UnaryOp, operand: &ast::Expr, span: Span) -> Option<Expr> {
        if op == UnaryOp::Not {
            let operand = self.truth(operand)?;
            return Some(Expr { kind: ExprKind::Not(Box::new(operand)), ty: Type::INT, span });
        }
        let operand = self.value(operand)?;
        let Type::Int(ty) = operand.ty else {
            let message = format!("`{}` cannot be applied to {}", op.sign(), operand.ty.with_article());
            self.error(Diagnostic::new(span, message));
            return None;
        };
        let ty = ty.promoted();
        let operand = converted(operand, ty);
        let kind = match (op, &operand.kind) {
            (UnaryOp::Plus, _) => return Some(Expr { span, ..operand }),
            (UnaryOp::Negate, ExprKind::Int(n)) => ExprKind::Int(super::constant::wrap(ty, -n)),
            (UnaryOp::Negate, _) => ExprKind::Negate(Box::new(operand)),
            _ => ExprKind::Complement(Box::new(operand)),
        };
        Some(Expr { kind, ty: Type::Int(ty), span })
    }

    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        lhs: &ast::Expr,
        rhs: &ast::Expr,
        span: Span,
    ) -> Option<Expr> {
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            let (lhs, rhs) = (self.truth(lhs), self.truth(rhs));
            let (lhs, rhs) = (Box::new(lhs?), Box::new(rhs?));
            let kind = if op == BinaryOp::And { ExprKind::And(lhs, rhs) } else { ExprKind::Or(lhs, rhs) };
            return Some(Expr { kind, ty: Type::INT, span });
        }
        let (lhs, rhs) = (self.value(lhs), self.value(rhs));
        self.combine(op, lhs?, rhs?, span)
    }

    /// Applies an operator to two checked values; not `&&` and `||`, whose operands are no plain values.
    pub(super) fn combine(&mut self, op: BinaryOp, lhs: Expr, rhs: Expr, span: Span) -> Option<Expr> {
        match (lhs.ty, rhs.ty) {
            (Type::Int(a), Type::Int(b)) => {
                let (l, r) = (Box::new(lhs), Box::new(rhs));
                if matches!(op, BinaryOp::ShiftLeft | BinaryOp::ShiftRight) {
                    let ty = a.promoted();
                    let op = match op {
                        BinaryOp::ShiftLeft => ir::BinaryOp::Shl,
                        _ if ty.signed() => ir::BinaryOp::Ashr,
                        _ => ir::BinaryOp::Lshr,
                    };
                    let kind = ExprKind::Shift(op, Box::new(converted(*l, ty)), r);
                    return Some(Expr { kind, ty: Type::Int(ty), span });
                }
                let ty = a.common(b);
                let (l, r) = (Box::new(converted(*l, ty)), Box::new(converted(*r, ty)));
                if let Some(predicate) = predicate(op, ty.signed()) {
                    return Some(Expr { kind: ExprKind::Compare(predicate, l, r), ty: Type::INT, span });
                }
                let op = arithmetic(op, ty.signed())?;
                Some(Expr { kind: ExprKind::Binary(op, l, r), ty: Type::Int(ty), span })
            }
            (Type::Pointer { .. }, Type::Int(_)) if matches!(op, BinaryOp::Add | BinaryOp::Subtract) => {
                let back = op == BinaryOp::Subtract;
                let ty = lhs.ty;
                let kind = ExprKind::Offset { pointer: Box::new(lhs), index: Box::new(rhs), back };
                Some(Expr { kind, ty, span })
            }
            (Type::Int(_), Type::Pointer { .. }) if op == BinaryOp::Add => {
                // The index is evaluated first, as it is written first.
                let ty = rhs.ty;
                let kind = ExprKind::Offset { pointer: Box::new(rhs), index: Box::new(lhs), back: false };
                Some(Expr { kind, ty, span })
            }
            (Type::Pointer { .. }, _) | (_, Type::Pointer { .. })
                if op.compares() && comparable(&lhs, &rhs) =>
            {
                let pointer = |e: &Expr| matches!(e.ty, Type::Pointer { .. });
                let ty = if pointer(&lhs) && !is_null(&lhs) || !pointer(&rhs) { lhs.ty } else { rhs.ty };
                let retyped = |e: Expr| if is_null(&e) { Expr { kind: ExprKind::Null, ty, ..e } } else { e };
                let predicate = predicate(op, false)?;
                let kind = ExprKind::Compare(predicate, Box::new(retyped(lhs)), Box::new(retyped(rhs)));
                Some(Expr { kind, ty: Type::INT, span })
            }
            (a, b) => {
                let verb = if op.compares() { "compare" } else { "combine" };
                let message =
                    format!("`{}` cannot {verb} {} and {}", op.sign(), a.with_article(), b.with_article());
                let mut error = Diagnostic::new(span, message)
                    .label(lhs.span, format!("`{a}`"))
                    .label(rhs.span, format!("`{b}`"));
                if a.pointee() == Some(b) || b.pointee() == Some(a) {
                    error = error.help("write `*` before the pointer for what it points to");
                }
                self.error(error);
                None
            }
        }
    }
}

/// Whether two values, one of them at least a pointer, can be compared.
fn comparable(lhs: &Expr, rhs: &Expr) -> bool {
    let with_null = |a: &Expr, b: &Expr| matches!(a.ty, Type::Pointer { .. }) && is_null(b);
    lhs.ty == rhs.ty || with_null(lhs, rhs) || with_null(rhs, lhs)
}

fn predicate(op: BinaryOp, signed: bool) -> Option<Predicate> {
    Some(match (op, signed) {
        (BinaryOp::Equal, _) => Predicate::Eq,
        (BinaryOp::NotEqual, _) => Predicate::Ne,
        (BinaryOp::Less, true) => Predicate::Slt,
        (BinaryOp::Less, false) => Predicate::Ult,
        (BinaryOp::LessEqual, true) => Predicate::Sle,
        (BinaryOp::LessEqual, false) => Predicate::Ule,
        (BinaryOp::Greater, true) => Predicate::Sgt,
        (BinaryOp::Greater, false) => Predicate::Ugt,
        (BinaryOp::GreaterEqual, true) => Predicate::Sge,
        (BinaryOp::GreaterEqual, false) => Predicate::Uge,
        _ => return None,
    })
}

fn arithmetic(op: BinaryOp, signed: bool) -> Option<ir::BinaryOp> {
    Some(match op {
        BinaryOp::Multiply => ir::BinaryOp::Mul,
        BinaryOp::Divide if signed => ir::BinaryOp::SDiv,
        BinaryOp::Divide => ir::BinaryOp::UDiv,
        BinaryOp::Remainder if signed => ir::BinaryOp::SRem,
        BinaryOp::Remainder => ir::BinaryOp::URem,
        BinaryOp::Add => ir::BinaryOp::Add,
        BinaryOp::Subtract => ir::BinaryOp::Sub,
        BinaryOp::BitAnd => ir::BinaryOp::And,
        BinaryOp::BitXor => ir::BinaryOp::Xor,
        BinaryOp::BitOr => ir::BinaryOp::Or,
        _ => return None,
    })
}
