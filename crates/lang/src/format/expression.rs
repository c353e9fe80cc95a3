//! Expressions in canonical form.
//!
//! Parentheses stand where the tree has them; where a tree that was not parsed lacks one that it needs, it is put
//! in.

use super::Printer;
use crate::ast::{Expr, ExprKind, TypeName, UnaryOp};

/// How tightly the loosest expression binds that may stand somewhere; numbers as
/// [`BinaryOp::tightness`](crate::ast::BinaryOp::tightness), below and beyond them the rest.
const ANYTHING: u8 = 0;
const PREFIXED: u8 = 11;
const SUFFIXED: u8 = 12;

impl Printer<'_> {
    pub(super) fn expression(&mut self, expr: &Expr) {
        self.operand(expr, ANYTHING);
    }

    fn operand(&mut self, expr: &Expr, least: u8) {
        let bare = tightness(expr) >= least;
        if !bare {
            self.write("(");
        }
        self.bare(expr);
        if !bare {
            self.write(")");
        }
    }

    fn bare(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Literal(literal) => {
                self.comments_before(expr.span);
                self.write(&literal.text);
            }
            ExprKind::Null => {
                self.comments_before(expr.span);
                self.write("null");
            }
            ExprKind::Name(name) => {
                self.comments_before(expr.span);
                self.write(name);
            }
            ExprKind::Observed { thread, local } => {
                self.comments_before(expr.span);
                self.write(&thread.text);
                self.write(".");
                self.write(&local.text);
            }
            ExprKind::Paren(inner) => {
                self.comments_before(expr.span);
                self.write("(");
                self.expression(inner);
                self.write(")");
            }
            ExprKind::Unary { op, operand } => {
                self.comments_before(expr.span);
                self.write(op.sign());
                // `- -x` must not become `--x`, nor `& &x` `&&x`.
                if let ExprKind::Unary { op: inner, .. } = &operand.kind
                    && inner == op
                    && matches!(op, UnaryOp::Plus | UnaryOp::Negate | UnaryOp::AddressOf)
                {
                    self.write(" ");
                }
                self.operand(operand, PREFIXED);
            }
            ExprKind::Binary { op, lhs, rhs } => {
                self.operand(lhs, op.tightness());
                self.write(" ");
                self.write(op.sign());
                self.write(" ");
                self.operand(rhs, op.tightness() + 1);
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                self.operand(condition, 1);
                self.write(" ? ");
                self.expression(then);
                self.write(" : ");
                self.expression(otherwise);
            }
            ExprKind::Cast { ty, operand } => {
                self.comments_before(expr.span);
                self.write("(");
                self.type_name(ty);
                self.write(") ");
                self.operand(operand, PREFIXED);
            }
            ExprKind::Index { base, index } => {
                self.operand(base, SUFFIXED);
                self.write("[");
                self.expression(index);
                self.write("]");
            }
            ExprKind::Call { function, arguments } => {
                self.comments_before(expr.span);
                self.write(&function.text);
                self.arguments(arguments);
            }
            ExprKind::Alloc { ty, count } => {
                self.comments_before(expr.span);
                self.write("alloc(");
                self.type_name(ty);
                if let Some(count) = count {
                    self.write(", ");
                    self.expression(count);
                }
                self.write(")");
            }
            ExprKind::Fork { function, arguments } => {
                self.comments_before(expr.span);
                self.write("fork ");
                self.write(&function.text);
                self.arguments(arguments);
            }
        }
    }

    fn arguments(&mut self, arguments: &[Expr]) {
        self.write("(");
        self.list(arguments);
        self.write(")");
    }

    /// Expressions with commas between them.
    pub(super) fn list(&mut self, expressions: &[Expr]) {
        for (n, expression) in expressions.iter().enumerate() {
            if n > 0 {
                self.write(", ");
            }
            self.expression(expression);
        }
    }

    pub(super) fn type_name(&mut self, ty: &TypeName) {
        self.comments_before(ty.span);
        self.write(ty.word.word());
        self.write(&"*".repeat(usize::from(ty.stars)));
    }
}

fn tightness(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::Conditional { .. } => 0,
        ExprKind::Binary { op, .. } => op.tightness(),
        ExprKind::Unary { .. } | ExprKind::Cast { .. } => PREFIXED,
        _ => SUFFIXED,
    }
}
