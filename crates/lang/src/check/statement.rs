//! Statements.

use super::MAX_BOUND;
use super::body::Body;
use super::call::Outcome;
use super::place::Target;
use crate::ast::{self, BinaryOp, StatementKind as Syntax};
use crate::typed::{Block, Expr, ExprKind, Statement, StatementKind};
use crate::types::Type;
use crate::{Diagnostic, Span};
use ir::{Order, UpdateOp};
use std::collections::HashMap;

impl Body<'_> {
    /// Statements of the scope that is open.
    pub(super) fn statements(&mut self, statements: &[ast::Statement]) -> Block {
        let mut block = vec![];
        for statement in statements {
            self.statement(statement, &mut block);
        }
        block
    }

    /// Statements in a scope of their own.
    fn scoped(&mut self, statements: &[ast::Statement]) -> Block {
        self.scopes.push(HashMap::new());
        let block = self.statements(statements);
        self.scopes.pop();
        block
    }

    fn statement(&mut self, statement: &ast::Statement, out: &mut Block) {
        if let Some(label) = &statement.label
            && let Some(first) = self.labels.insert(label.text.clone(), label.span)
        {
            let error =
                Diagnostic::new(label.span, format!("the label `{}` stands twice in one body", label.text))
                    .here("again here")
                    .label(first, "first here");
            self.error(error);
        }
        let label = statement.label.as_ref().map(|label| label.text.clone());
        let span = statement.span;
        let mut push = |kind: StatementKind| out.push(Statement { label: label.clone(), kind, span });
        match &statement.kind {
            Syntax::Local { word, declarators } => {
                for declarator in declarators {
                    let span = declarator.name.span;
                    if let Some(kind) = self.local(*word, declarator) {
                        out.push(Statement { label: label.clone(), kind, span });
                    }
                }
            }
            Syntax::Assign { target, op: None, value } => {
                let (target, value) = (self.target(target), self.value(value));
                if let (Some(target), Some(value)) = (target, value)
                    && let Some(kind) = self.assign(target, value)
                {
                    push(kind);
                }
            }
            Syntax::Assign { target, op: Some(op), value } => {
                let (target, value) = (self.target(target), self.value(value));
                if let (Some(target), Some(value)) = (target, value)
                    && let Some(kind) = self.compound(target, *op, value, span)
                {
                    push(kind);
                }
            }
            Syntax::Step { target, up } => {
                let op = if *up { BinaryOp::Add } else { BinaryOp::Subtract };
                let one = Expr { kind: ExprKind::Int(1), ty: Type::INT, span };
                if let Some(target) = self.target(target)
                    && let Some(kind) = self.compound(target, op, one, span)
                {
                    push(kind);
                }
            }
            Syntax::Call(call) => {
                let kind = match &call.kind {
                    ast::ExprKind::Call { function, arguments } => {
                        match self.call(function, arguments, call.span) {
                            Some(Outcome::Value(Expr { kind: ExprKind::Call(id, arguments), .. })) => {
                                Some(StatementKind::Call(id, arguments))
                            }
                            Some(Outcome::Value(value)) => Some(StatementKind::Evaluate(value)),
                            Some(Outcome::Effect(kind)) => Some(kind),
                            None => None,
                        }
                    }
                    _ => self.value(call).map(StatementKind::Evaluate),
                };
                if let Some(kind) = kind {
                    push(kind);
                }
            }
            Syntax::If { condition, then, otherwise } => {
                let condition = self.truth(condition);
                let then = self.scoped(std::slice::from_ref(then));
                let otherwise = otherwise.as_ref().map_or(vec![], |s| self.scoped(std::slice::from_ref(s)));
                if let Some(condition) = condition {
                    push(StatementKind::If { condition, then, otherwise });
                }
            }
            Syntax::While { condition, bound, body } => {
                let condition = self.truth(condition);
                let bound = bound.as_ref().and_then(|bound| self.bound(bound));
                self.loops += 1;
                let body = self.scoped(std::slice::from_ref(body));
                self.loops -= 1;
                if let Some(condition) = condition {
                    push(StatementKind::While { condition, bound, body });
                }
            }
            Syntax::Break | Syntax::Continue => {
                let (word, kind) = match statement.kind {
                    Syntax::Break => ("break", StatementKind::Break),
                    _ => ("continue", StatementKind::Continue),
                };
                if self.loops == 0 {
                    self.error(Diagnostic::new(span, format!("`{word}` outside of a loop")));
                }
                push(kind);
            }
            Syntax::Return(value) => {
                if let Some(kind) = self.return_statement(value.as_ref(), span) {
                    push(kind);
                }
            }
            Syntax::Block(block) => push(StatementKind::Block(self.scoped(&block.statements))),
            Syntax::Atomic(block) => push(StatementKind::Atomic(self.scoped(&block.statements), block.end)),
            Syntax::Skip => {}
        }
    }

    fn local(&mut self, word: ast::TypeWord, declarator: &ast::Declarator) -> Option<StatementKind> {
        let ty = self.local_type(word, declarator);
        let span = declarator.name.span;
        // The initial value is checked before the name is known: `int x = x;` reads the outer `x`.
        let value = match &declarator.initial {
            None => Some(zero(ty, span)),
            Some(ast::Initial::Value(value)) => self.value(value),
            Some(ast::Initial::List { span, .. }) => {
                self.error(Diagnostic::new(*span, "a local has one initial value, without braces"));
                None
            }
        };
        let value = value.and_then(|value| self.convert(value, ty, "the initial value"));
        let local = self.declare(&declarator.name, ty);
        Some(StatementKind::Assign(local, value?))
    }

    fn assign(&mut self, target: Target, value: Expr) -> Option<StatementKind> {
        match target {
            Target::Local(local) => {
                let ty = self.locals[local.index()].ty;
                Some(StatementKind::Assign(local, self.convert(value, ty, "the value")?))
            }
            Target::Place(place) => {
                let value = self.convert(value, place.ty, "the value")?;
                let order = place.atomic.then_some(Order::SeqCst);
                Some(StatementKind::Store { place, value, order })
            }
        }
    }

    /// `a op= e`. On an atomic variable it is one atomic step, as in C.
    fn compound(&mut self, target: Target, op: BinaryOp, value: Expr, span: Span) -> Option<StatementKind> {
        match target {
            Target::Local(local) => {
                let ty = self.locals[local.index()].ty;
                let old = Expr { kind: ExprKind::Local(local), ty, span };
                let new = self.combine(op, old, value, span)?;
                Some(StatementKind::Assign(local, self.convert(new, ty, "the value")?))
            }
            Target::Place(place) if place.atomic => {
                let update = match op {
                    BinaryOp::Add => Some(UpdateOp::Add),
                    BinaryOp::Subtract => Some(UpdateOp::Sub),
                    BinaryOp::BitAnd => Some(UpdateOp::And),
                    BinaryOp::BitOr => Some(UpdateOp::Or),
                    BinaryOp::BitXor => Some(UpdateOp::Xor),
                    _ => None,
                };
                let (Some(update), Type::Int(_)) = (update, place.ty) else {
                    let message =
                        format!("`{}=` on an atomic `{}` is not one atomic step", op.sign(), place.ty);
                    let help = "write the read and the write as two statements, or a loop around `cas`";
                    self.error(Diagnostic::new(span, message).help(help));
                    return None;
                };
                let ty = place.ty;
                let value = Box::new(self.convert(value, ty, "the value")?);
                let kind = ExprKind::Update { op: update, place, value, order: Order::SeqCst };
                Some(StatementKind::Evaluate(Expr { kind, ty, span }))
            }
            Target::Place(place) => {
                let old = Expr { kind: ExprKind::Old, ty: place.ty, span };
                let new = self.combine(op, old, value, span)?;
                let value = self.convert(new, place.ty, "the value")?;
                Some(StatementKind::Modify { place, value })
            }
        }
    }

    fn bound(&mut self, bound: &ast::Literal) -> Option<u32> {
        match u32::try_from(bound.value) {
            Ok(n) if n <= MAX_BOUND => Some(n),
            _ => {
                let message = format!("the bound {} is too large", bound.text);
                self.error(Diagnostic::new(bound.span, message).help(format!("the largest is {MAX_BOUND}")));
                None
            }
        }
    }

    fn return_statement(&mut self, value: Option<&ast::Expr>, span: Span) -> Option<StatementKind> {
        match (value, self.returns) {
            (None, None) => Some(StatementKind::Return(None)),
            (Some(value), Some(ty)) => {
                let value = self.value(value)?;
                Some(StatementKind::Return(Some(self.convert(value, ty, "the returned value")?)))
            }
            (Some(value), None) => {
                self.value(value);
                let error = Diagnostic::new(value.span, "a value is returned where none is declared")
                    .help("a function that returns something is written `fn f() -> int { … }`; threads return nothing");
                self.error(error);
                None
            }
            (None, Some(ty)) => {
                self.error(Diagnostic::new(span, format!("`return` must give a value of type `{ty}`")));
                None
            }
        }
    }
}

/// What a local holds at the start.
fn zero(ty: Type, span: Span) -> Expr {
    let kind = if let Type::Pointer { .. } = ty { ExprKind::Null } else { ExprKind::Int(0) };
    Expr { kind, ty, span }
}
