//! Syntax trees that come from no text.

use crate::Span;
use crate::ast::{
    BinaryOp, Block, Expr, ExprKind, Literal, Name, Statement, StatementKind, TypeName, TypeWord, UnaryOp,
};

fn nowhere() -> Span {
    Span::default()
}

pub(super) fn name(text: &str) -> Name {
    Name { text: text.to_owned(), span: nowhere() }
}

fn expr(kind: ExprKind) -> Expr {
    Expr { kind, span: nowhere() }
}

pub(super) fn variable(text: &str) -> Expr {
    expr(ExprKind::Name(text.to_owned()))
}

pub(super) fn literal(value: u64) -> Literal {
    Literal { text: value.to_string(), value, unsigned: false, span: nowhere() }
}

/// A number; a negative one is a literal behind a sign.
pub(super) fn number(value: i64) -> Expr {
    let positive = expr(ExprKind::Literal(literal(value.unsigned_abs())));
    if value < 0 { unary(UnaryOp::Negate, positive) } else { positive }
}

pub(super) fn null() -> Expr {
    expr(ExprKind::Null)
}

/// Parentheses around what binds more loosely than an operator's operand may.
fn paren(inner: Expr) -> Expr {
    match inner.kind {
        ExprKind::Binary { .. } | ExprKind::Conditional { .. } => expr(ExprKind::Paren(Box::new(inner))),
        _ => inner,
    }
}

pub(super) fn unary(op: UnaryOp, operand: Expr) -> Expr {
    expr(ExprKind::Unary { op, operand: Box::new(paren(operand)) })
}

pub(super) fn binary(op: BinaryOp, lhs: Expr, rhs: Expr) -> Expr {
    expr(ExprKind::Binary { op, lhs: Box::new(paren(lhs)), rhs: Box::new(paren(rhs)) })
}

pub(super) fn conditional(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    let (condition, then, otherwise) =
        (Box::new(paren(condition)), Box::new(paren(then)), Box::new(paren(otherwise)));
    expr(ExprKind::Conditional { condition, then, otherwise })
}

pub(super) fn cast(word: TypeWord, operand: Expr) -> Expr {
    expr(ExprKind::Cast { ty: type_name(word, 0), operand: Box::new(paren(operand)) })
}

pub(super) fn type_name(word: TypeWord, stars: u8) -> TypeName {
    TypeName { word, stars, span: nowhere() }
}

pub(super) fn index(base: &str, index: Expr) -> Expr {
    expr(ExprKind::Index { base: Box::new(variable(base)), index: Box::new(index) })
}

pub(super) fn dereference(pointer: &str) -> Expr {
    unary(UnaryOp::Dereference, variable(pointer))
}

pub(super) fn address(of: Expr) -> Expr {
    // `&a[1]` needs no parentheses: a suffix binds tighter.
    unary(UnaryOp::AddressOf, of)
}

pub(super) fn call(function: &str, arguments: Vec<Expr>) -> Expr {
    expr(ExprKind::Call { function: name(function), arguments })
}

pub(super) fn fork(function: &str, arguments: Vec<Expr>) -> Expr {
    expr(ExprKind::Fork { function: name(function), arguments })
}

pub(super) fn alloc(word: TypeWord, count: Option<u64>) -> Expr {
    let count = count.map(|n| Box::new(expr(ExprKind::Literal(literal(n)))));
    expr(ExprKind::Alloc { ty: type_name(word, 0), count })
}

pub(super) fn observed(thread: &str, local: &str) -> Expr {
    expr(ExprKind::Observed { thread: name(thread), local: name(local) })
}

pub(super) fn statement(kind: StatementKind) -> Statement {
    Statement { label: None, kind, span: nowhere() }
}

pub(super) fn run(function: &str, arguments: Vec<Expr>) -> Statement {
    statement(StatementKind::Call(call(function, arguments)))
}

/// An operation on one synchronisation object.
pub(super) fn sync(function: &str, object: &str) -> Statement {
    run(function, vec![variable(object)])
}

pub(super) fn assign(target: Expr, value: Expr) -> Statement {
    statement(StatementKind::Assign { target, op: None, value })
}

pub(super) fn block(statements: Vec<Statement>) -> Block {
    Block { statements, span: nowhere(), end: nowhere() }
}

fn braced(statements: Vec<Statement>) -> Box<Statement> {
    Box::new(statement(StatementKind::Block(block(statements))))
}

pub(super) fn if_else(condition: Expr, then: Vec<Statement>, otherwise: Option<Vec<Statement>>) -> Statement {
    statement(StatementKind::If { condition, then: braced(then), otherwise: otherwise.map(braced) })
}

pub(super) fn while_loop(condition: Expr, bound: u64, body: Vec<Statement>) -> Statement {
    statement(StatementKind::While { condition, bound: Some(literal(bound)), body: braced(body) })
}

pub(super) fn atomic(statements: Vec<Statement>) -> Statement {
    statement(StatementKind::Atomic(block(statements)))
}
