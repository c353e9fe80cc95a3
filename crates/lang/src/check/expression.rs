//! Expressions: from names and signs to typed values.

use super::body::{Body, Context, Found};
use super::call::Outcome;
use super::constant::wrap;
use super::global::literal_type;
use crate::ast::{self, UnaryOp};
use crate::typed::{Expr, ExprKind};
use crate::types::{IntType, Type};
use crate::{Diagnostic, Span};

impl Body<'_> {
    /// An expression that has a value; `None` if an error was reported.
    pub(super) fn value(&mut self, expr: &ast::Expr) -> Option<Expr> {
        let span = expr.span;
        match &expr.kind {
            ast::ExprKind::Literal(literal) => {
                let ty = literal_type(literal.value, literal.unsigned);
                Some(Expr { kind: ExprKind::Int(i128::from(literal.value)), ty: Type::Int(ty), span })
            }
            ast::ExprKind::Null => Some(Expr { kind: ExprKind::Null, ty: NULL, span }),
            ast::ExprKind::Paren(inner) => self.value(inner),
            ast::ExprKind::Name(_) | ast::ExprKind::Index { .. } => self.read(expr),
            ast::ExprKind::Unary { op: UnaryOp::Dereference, .. } => self.read(expr),
            ast::ExprKind::Unary { op: UnaryOp::AddressOf, operand } => self.address_of(operand, span),
            ast::ExprKind::Unary { op, operand } => self.unary(*op, operand, span),
            ast::ExprKind::Binary { op, lhs, rhs } => self.binary(*op, lhs, rhs, span),
            ast::ExprKind::Conditional { condition, then, otherwise } => {
                self.conditional(condition, then, otherwise, span)
            }
            ast::ExprKind::Cast { ty, operand } => self.cast(ty, operand, span),
            ast::ExprKind::Observed { thread, local } => self.observed_local(thread, local, span),
            ast::ExprKind::Call { function, arguments } => match self.call(function, arguments, span)? {
                Outcome::Value(value) => Some(value),
                Outcome::Effect(_) => {
                    let error = Diagnostic::new(span, format!("`{}` gives no value", function.text))
                        .help("use it as a statement of its own");
                    self.error(error);
                    None
                }
            },
            ast::ExprKind::Fork { function, arguments } => {
                self.only_in_code(span, "a fork")?;
                let (id, arguments) = self.user_call(function, arguments, span)?;
                Some(Expr { kind: ExprKind::Fork(id, arguments), ty: Type::Thread, span })
            }
            ast::ExprKind::Alloc { ty, count } => {
                self.only_in_code(span, "an allocation")?;
                let element = self.checker.type_of(ty);
                let Some(pointer) = element.pointer() else {
                    self.error(Diagnostic::new(ty.span, "handles of threads cannot stand on the heap"));
                    return None;
                };
                let count = match count {
                    Some(count) => self.integer(count, "the number of elements")?,
                    None => Expr { kind: ExprKind::Int(1), ty: Type::INT, span },
                };
                if let ExprKind::Int(n) = count.kind
                    && n * i128::from(element.bytes()) > i128::from(super::MAX_MEMORY)
                {
                    let message = format!("an allocation of more than {} bytes", super::MAX_MEMORY);
                    self.error(Diagnostic::new(count.span, message));
                    return None;
                }
                Some(Expr { kind: ExprKind::Alloc(element, Box::new(count)), ty: pointer, span })
            }
        }
    }

    /// Reports an operation that initial values and final conditions cannot have.
    pub(super) fn only_in_code(&mut self, span: Span, what: &str) -> Option<()> {
        let place = match self.context {
            Context::Code => return Some(()),
            Context::Constant => "an initial value or a size",
            Context::Final => "the final condition",
        };
        self.error(Diagnostic::new(span, format!("{what} cannot stand in {place}")));
        None
    }

    /// An expression with an integer value.
    pub(super) fn integer(&mut self, expr: &ast::Expr, what: &str) -> Option<Expr> {
        let value = self.value(expr)?;
        if let Type::Int(_) = value.ty {
            return Some(value);
        }
        let message = format!("{what} must be an integer, not `{}`", value.ty);
        self.error(Diagnostic::new(expr.span, message));
        None
    }

    /// An expression that is true or false: an integer, or a pointer that is null or not.
    pub(super) fn truth(&mut self, expr: &ast::Expr) -> Option<Expr> {
        let value = self.value(expr)?;
        if value.ty == Type::Thread {
            let error = Diagnostic::new(expr.span, "a thread's handle is neither true nor false")
                .help("`join(t)` waits for the thread");
            self.error(error);
            return None;
        }
        Some(value)
    }

    /// Converts a value to a type as an assignment does. Integers are cut or widened; pointers must agree.
    pub(super) fn convert(&mut self, value: Expr, to: Type, what: &str) -> Option<Expr> {
        match (value.ty, to) {
            _ if value.ty == to => Some(value),
            (Type::Int(_), Type::Int(ty)) => Some(converted(value, ty)),
            (_, Type::Pointer { .. }) if is_null(&value) => {
                Some(Expr { kind: ExprKind::Null, ty: to, span: value.span })
            }
            (from, to) => {
                let mut error =
                    Diagnostic::new(value.span, format!("{what} must be of type `{to}`, not `{from}`"));
                match (from, to) {
                    (Type::Int(_), Type::Pointer { .. }) => {
                        error =
                            error.help("a pointer is made by `&x`, `alloc` or `null`, never from an integer");
                    }
                    (from, to) if from.pointee() == Some(to) => {
                        error = error.help("write `*` before it for what it points to");
                    }
                    _ => {}
                }
                self.error(error);
                None
            }
        }
    }

    fn conditional(
        &mut self,
        condition: &ast::Expr,
        then: &ast::Expr,
        otherwise: &ast::Expr,
        span: Span,
    ) -> Option<Expr> {
        let condition = self.truth(condition);
        let (then, otherwise) = (self.value(then), self.value(otherwise));
        let (condition, then, otherwise) = (condition?, then?, otherwise?);
        let ty = match (then.ty, otherwise.ty) {
            (Type::Int(a), Type::Int(b)) => Type::Int(a.common(b)),
            (_, pointer @ Type::Pointer { .. }) if is_null(&then) => pointer,
            (pointer, _) => pointer,
        };
        let then = self.convert(then, ty, "this value")?;
        let otherwise = self.convert(otherwise, ty, "the value behind `:`")?;
        let kind = ExprKind::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise));
        Some(Expr { kind, ty, span })
    }

    fn cast(&mut self, ty: &ast::TypeName, operand: &ast::Expr, span: Span) -> Option<Expr> {
        let to = self.checker.type_of(ty);
        let value = self.value(operand)?;
        match (value.ty, to) {
            (Type::Int(_), Type::Int(int)) => Some(Expr { span, ..converted(value, int) }),
            (from, to) => {
                let mut error =
                    Diagnostic::new(span, format!("{} cannot be cast to `{to}`", from.with_article()));
                if matches!(from, Type::Pointer { .. }) || matches!(to, Type::Pointer { .. }) {
                    error = error.help("pointers keep their type; casts are for integers");
                }
                self.error(error);
                None
            }
        }
    }

    /// `T1.r1`
    fn observed_local(&mut self, thread: &ast::Name, local: &ast::Name, span: Span) -> Option<Expr> {
        if self.context != Context::Final {
            let error =
                Diagnostic::new(span, "the locals of a thread can be named in the final condition only")
                    .help("use a shared variable");
            self.error(error);
            return None;
        }
        self.final_local(thread, local, span)
    }

    /// The value of a local that a name has been found to stand for, or the read of a shared variable.
    fn read(&mut self, expr: &ast::Expr) -> Option<Expr> {
        if let ast::ExprKind::Name(name) = &expr.kind {
            match self.find(name, expr.span)? {
                Found::Local(local) => {
                    let ty = self.locals[local.index()].ty;
                    return Some(Expr { kind: ExprKind::Local(local), ty, span: expr.span });
                }
                Found::Shared(id) if self.checker.global_heads[id.index()].array => {
                    return self.array_address(id, expr.span);
                }
                _ => {}
            }
        }
        let place = self.place(expr, "a value")?;
        let order = (place.atomic && self.context == Context::Code).then_some(ir::Order::SeqCst);
        Some(Expr { ty: place.ty, kind: ExprKind::Load(place, order), span: expr.span })
    }
}

/// The type that `null` has until something else is known.
const NULL: Type = Type::Pointer { to: IntType::I32, depth: 1 };

/// Whether this is `null`, or the literal 0, which C lets stand for it.
pub(super) fn is_null(value: &Expr) -> bool {
    matches!(value.kind, ExprKind::Null | ExprKind::Int(0))
}

/// An integer value as a value of another integer type.
pub(super) fn converted(value: Expr, ty: IntType) -> Expr {
    let span = value.span;
    match value.kind {
        _ if value.ty == Type::Int(ty) => value,
        ExprKind::Int(n) => Expr { kind: ExprKind::Int(wrap(ty, n)), ty: Type::Int(ty), span },
        _ => Expr { kind: ExprKind::Convert(Box::new(value)), ty: Type::Int(ty), span },
    }
}
