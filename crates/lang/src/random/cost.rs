//! How many events a statement can make at most.

use super::environment::{COUNTER, HEAP, LOCALS, NARROW};
use crate::ast::{Expr, ExprKind, Statement, StatementKind, UnaryOp};

/// An upper bound of the number of events (accesses of shared memory, synchronisation, branches, checks) that
/// these statements make in one run. It is meant for programs of this module, whose loops all have bounds.
#[must_use]
pub fn events(statements: &[Statement]) -> usize {
    statements.iter().map(statement).fold(0, usize::saturating_add)
}

fn statement(statement: &Statement) -> usize {
    match &statement.kind {
        StatementKind::Local { .. }
        | StatementKind::Break
        | StatementKind::Continue
        | StatementKind::Skip => 0,
        StatementKind::Assign { target, op, value } => {
            let reads = usize::from(op.is_some());
            write(target) * (1 + reads) + place(target) + read(value)
        }
        StatementKind::Step { target, .. } => write(target) * 2 + place(target),
        StatementKind::Call(call) => read(call),
        StatementKind::If { condition, then, otherwise } => {
            let then = self::statement(then);
            let otherwise = otherwise.as_ref().map_or(0, |s| self::statement(s));
            condition_cost(condition) + then.max(otherwise)
        }
        StatementKind::While { condition, bound, body } => {
            let rounds = bound.as_ref().map_or(usize::MAX, |bound| bound.value as usize);
            let round = condition_cost(condition) + self::statement(body);
            round.saturating_mul(rounds).saturating_add(condition_cost(condition))
        }
        StatementKind::Return(value) => value.as_ref().map_or(0, read),
        StatementKind::Block(block) => events(&block.statements),
        StatementKind::Atomic(block) => 2 + events(&block.statements),
    }
}

/// Reads and the branch of a condition.
fn condition_cost(condition: &Expr) -> usize {
    1 + read(condition)
}

/// Whether assigning to it is an event.
fn write(target: &Expr) -> usize {
    usize::from(!is_local(target))
}

/// Reads for finding out where a target is.
fn place(target: &Expr) -> usize {
    match &target.kind {
        ExprKind::Paren(inner) => place(inner),
        ExprKind::Index { base, index } => base_cost(base) + read(index),
        ExprKind::Unary { op: UnaryOp::Dereference, operand } => read(operand),
        _ => 0,
    }
}

/// Reads for finding the start of an array or where a pointer points.
fn base_cost(base: &Expr) -> usize {
    // The array of the environment is no pointer: its name costs nothing.
    if matches!(&base.kind, ExprKind::Name(name) if name == super::environment::ARRAY) {
        0
    } else {
        read(base)
    }
}

fn is_local(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Name(name) => {
            LOCALS.contains(&name.as_str())
                || [COUNTER, HEAP, NARROW].contains(&name.as_str())
                || name == "id"
        }
        ExprKind::Paren(inner) => is_local(inner),
        _ => false,
    }
}

fn read(expr: &Expr) -> usize {
    match &expr.kind {
        ExprKind::Literal(_) | ExprKind::Null | ExprKind::Observed { .. } => 0,
        ExprKind::Name(_) => usize::from(!is_local(expr)),
        ExprKind::Paren(inner) => read(inner),
        ExprKind::Unary { op: UnaryOp::AddressOf, operand } => place(operand),
        ExprKind::Unary { op: UnaryOp::Dereference, operand } => 1 + read(operand),
        ExprKind::Unary { operand, .. } | ExprKind::Cast { operand, .. } => read(operand),
        // One for the branch that `&&` and `||` may be.
        ExprKind::Binary { op, lhs, rhs } => usize::from(op.tightness() <= 2) + read(lhs) + read(rhs),
        ExprKind::Conditional { condition, then, otherwise } => {
            condition_cost(condition) + read(then).max(read(otherwise))
        }
        ExprKind::Index { base, index } => 1 + base_cost(base) + read(index),
        ExprKind::Call { function, arguments } => {
            let inside = match function.text.as_str() {
                "add_to" => 3,
                "wait" | "timedwait" | "arrive" | "copy" => 2,
                _ => 1,
            };
            // Objects and places cost nothing by themselves; counting them keeps this an upper bound.
            let first_is_place = !matches!(function.text.as_str(), "assert" | "assume" | "add_to" | "free");
            let skip = usize::from(first_is_place);
            let places: usize = arguments.iter().take(skip).map(place).sum();
            inside + places + arguments.iter().skip(skip).map(read).sum::<usize>()
        }
        ExprKind::Alloc { count, .. } => 1 + count.as_ref().map_or(0, |count| read(count)),
        ExprKind::Fork { arguments, .. } => 1 + arguments.iter().map(read).sum::<usize>(),
    }
}
