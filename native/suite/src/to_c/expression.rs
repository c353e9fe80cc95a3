//! Expressions. What reads memory, synchronises or can fault is a statement before the one that uses its value; the rest is
//! C's own expression.

use super::{LeftOut, Result, words};
use crate::to_c::statement::Body;
use ir::BinaryOp;
use lang::typed::{Expr, ExprKind, Place, PlaceBase};
use lang::types::Type;

impl Body<'_> {
    /// The value of an expression, which nothing that follows changes.
    pub fn value(&mut self, expr: &Expr) -> Result<String> {
        let at = expr.span;
        Ok(match &expr.kind {
            ExprKind::Int(value) => words::number(*value, expr.ty),
            ExprKind::Null => format!("(({})0)", words::ty(expr.ty)),
            ExprKind::Local(local) => self.local(*local),
            ExprKind::Old => self.old.clone().ok_or(LeftOut("an old value outside of an assignment"))?,
            ExprKind::Load(place, order) => {
                let from = self.place(place)?;
                self.load(&from, expr.ty, *order, at)
            }
            ExprKind::AddressOf(place) => format!("(&{})", self.place(place)?),
            ExprKind::Negate(operand) => format!("(-{})", self.value(operand)?),
            ExprKind::Complement(operand) => format!("(~{})", self.value(operand)?),
            ExprKind::Not(operand) => format!("(!{})", self.value(operand)?),
            ExprKind::Binary(op, lhs, rhs) => {
                let (lhs, rhs) = (self.value(lhs)?, self.value(rhs)?);
                match op {
                    BinaryOp::SDiv | BinaryOp::UDiv | BinaryOp::SRem | BinaryOp::URem => {
                        let quotient = divided(*op, &lhs, &rhs)?;
                        self.give(expr.ty, &quotient, at)
                    }
                    op => format!("({lhs} {} {rhs})", words::binary(*op)?),
                }
            }
            ExprKind::Shift(op, lhs, rhs) => {
                let ExprKind::Int(count) = rhs.kind else { return Err(LeftOut("a shift by a variable")) };
                let lhs = self.value(lhs)?;
                shifted(*op, &lhs, count, expr.ty)
            }
            ExprKind::Compare(predicate, lhs, rhs) => {
                let (lhs, rhs) = (self.value(lhs)?, self.value(rhs)?);
                format!("({lhs} {} {rhs})", words::predicate(*predicate))
            }
            ExprKind::And(lhs, rhs) | ExprKind::Or(lhs, rhs) if is_silent(rhs) => {
                let (lhs, rhs) = (self.value(lhs)?, self.value(rhs)?);
                let op = if matches!(expr.kind, ExprKind::And(..)) { "&" } else { "|" };
                format!("(({lhs} != 0) {op} ({rhs} != 0))")
            }
            ExprKind::Conditional(condition, then, otherwise) if is_silent(then) && is_silent(otherwise) => {
                let (condition, then) = (self.value(condition)?, self.value(then)?);
                let otherwise = self.value(otherwise)?;
                // Without a branch, as in the model.
                let mask = format!("-({})({condition} != 0)", words::ty(expr.ty));
                format!("({otherwise} ^ (({then} ^ {otherwise}) & {mask}))")
            }
            ExprKind::And(..) | ExprKind::Or(..) | ExprKind::Conditional(..) => {
                let ways = self.ways(expr)?;
                let name = self.lines.name();
                self.lines.push(&format!("{} {name} = {ways};", words::ty(expr.ty)));
                name
            }
            ExprKind::Convert(operand) => format!("(({}){})", words::ty(expr.ty), self.value(operand)?),
            ExprKind::Offset { pointer, index, back } => {
                let (pointer, index) = (self.value(pointer)?, self.value(index)?);
                format!("({pointer} {} {index})", if *back { "-" } else { "+" })
            }
            ExprKind::Call(function, arguments) => {
                let call = self.call(*function, arguments)?;
                let name = self.lines.name();
                self.lines.push(&format!("{} {name} = {call};", words::ty(expr.ty)));
                name
            }
            ExprKind::Fork(function, arguments) => self.fork(*function, arguments, at)?,
            ExprKind::Alloc(ty, count) => {
                let count = self.value(count)?;
                self.give(expr.ty, &format!("calloc({count}, sizeof({}))", words::ty(*ty)), at)
            }
            ExprKind::Sync(op, operands) => self.asked(*op, operands, at)?,
            ExprKind::Update { op, place, value, order } => self.update(*op, place, value, *order, at)?,
            ExprKind::CompareExchange {
                place,
                expected,
                new,
                success,
                failure,
                found: None,
                weak: false,
            } => self.compare_and_swap(place, (expected, new), (*success, *failure), at)?,
            ExprKind::CompareExchange { .. } => return Err(LeftOut("compare_exchange")),
        })
    }

    /// A condition that is evaluated where it stands, and only there.
    pub fn condition(&mut self, expr: &Expr) -> Result<String> {
        match &expr.kind {
            ExprKind::Not(operand) => Ok(format!("!{}", self.condition(operand)?)),
            ExprKind::And(_, rhs) | ExprKind::Or(_, rhs) if !is_silent(rhs) => self.ways(expr),
            _ => self.value(expr),
        }
    }

    /// `&&`, `||` and `?:`, whose operands are evaluated where C does.
    fn ways(&mut self, expr: &Expr) -> Result<String> {
        Ok(match &expr.kind {
            ExprKind::And(lhs, rhs) => format!("({} && {})", self.condition(lhs)?, self.inside(rhs)?),
            ExprKind::Or(lhs, rhs) => format!("({} || {})", self.condition(lhs)?, self.inside(rhs)?),
            ExprKind::Conditional(condition, then, otherwise) => {
                let condition = self.condition(condition)?;
                format!("({condition} ? {} : {})", self.inside(then)?, self.inside(otherwise)?)
            }
            _ => return Err(LeftOut("an expression of one way")),
        })
    }

    /// An expression with what it needs, as one: `({ int v1 = READ(x); v1 == 1; })`.
    pub fn inside(&mut self, expr: &Expr) -> Result<String> {
        let mut result = Ok(String::new());
        let (lines, ()) = self.apart(|body| {
            result = body.condition(expr).map(|value| {
                body.lines.push(&format!("{value};"));
                value
            });
        });
        let value = result?;
        match lines.len() {
            1 => Ok(value),
            _ => Ok(format!("({{\n{}\n}})", lines.join("\n"))),
        }
    }
}

/// A quotient or remainder as the model has it: the smallest number divided by -1 is itself, where a processor traps.
fn divided(op: BinaryOp, lhs: &str, rhs: &str) -> Result<String> {
    let sign = words::binary(op)?;
    Ok(match op {
        BinaryOp::SDiv => format!("({lhs} / ({rhs} + 2 * ({rhs} == -1))) * (1 - 2 * ({rhs} == -1))"),
        BinaryOp::SRem => format!("{lhs} % ({rhs} + 2 * ({rhs} == -1))"),
        _ => format!("{lhs} {sign} {rhs}"),
    })
}

/// A shift by a constant, where C has none by the width or more.
fn shifted(op: BinaryOp, lhs: &str, count: i128, ty: Type) -> String {
    let bits = i128::from(ty.bytes()) * 8;
    let is_too_far = !(0..bits).contains(&count);
    match op {
        BinaryOp::Ashr if is_too_far => format!("({lhs} >> {})", bits - 1),
        _ if is_too_far => words::number(0, ty),
        BinaryOp::Shl => format!("({lhs} << {count})"),
        _ => format!("({lhs} >> {count})"),
    }
}

/// Whether the model evaluates it without a branch, because nobody can tell (`lang/src/lower/condition.rs`).
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
        _ => false,
    }
}

fn is_silent_address(place: &Place) -> bool {
    let base = match &place.base {
        PlaceBase::Global(_) => true,
        PlaceBase::Pointer(pointer) => is_silent(pointer),
    };
    base && place.index.as_deref().is_none_or(is_silent)
}
