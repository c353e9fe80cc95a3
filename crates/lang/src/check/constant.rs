//! Values that must be known before the program runs: initial values, sizes, numbers of tokens.

use crate::typed::{Constant, Expr, ExprKind, Place, PlaceBase};
use crate::types::{IntType, Type};
use ir::eval;

/// The number that `value`, cut to the type, stands for.
pub(crate) fn wrap(ty: IntType, value: i128) -> i128 {
    let bits = eval::cut(ty.width(), value);
    if ty.signed() { eval::signed(ty.width(), bits) } else { bits as i128 }
}

/// Evaluates an expression that reads nothing; `None` if it does, or divides by zero.
pub(super) fn evaluate(expr: &Expr) -> Option<Constant> {
    let int = |e: &Expr| match evaluate(e)? {
        Constant::Int(value) => Some(value),
        _ => None,
    };
    let truth = |e: &Expr| {
        Some(match evaluate(e)? {
            Constant::Int(value) => value != 0,
            Constant::Null => false,
            Constant::Address { .. } => true,
        })
    };
    let value = match &expr.kind {
        ExprKind::Int(value) => *value,
        ExprKind::Null => return Some(Constant::Null),
        ExprKind::Negate(e) => -int(e)?,
        ExprKind::Complement(e) => !int(e)?,
        ExprKind::Not(e) => i128::from(!truth(e)?),
        ExprKind::Convert(e) => int(e)?,
        ExprKind::Binary(op, lhs, rhs) => {
            let Type::Int(ty) = expr.ty else { return None };
            let bits = |value| eval::cut(ty.width(), value);
            eval::binary(*op, ty.width(), bits(int(lhs)?), bits(int(rhs)?))? as i128
        }
        ExprKind::Shift(op, lhs, rhs) => {
            let Type::Int(ty) = expr.ty else { return None };
            // A negative count is a large unsigned one, as at run time.
            let count = int(rhs)? as u128;
            eval::binary(*op, ty.width(), eval::cut(ty.width(), int(lhs)?), count)? as i128
        }
        ExprKind::Compare(predicate, lhs, rhs) => {
            let Type::Int(ty) = lhs.ty else { return None };
            let bits = |value| eval::cut(ty.width(), value);
            i128::from(eval::compare(*predicate, ty.width(), bits(int(lhs)?), bits(int(rhs)?)))
        }
        ExprKind::And(lhs, rhs) => i128::from(truth(lhs)? && truth(rhs)?),
        ExprKind::Or(lhs, rhs) => i128::from(truth(lhs)? || truth(rhs)?),
        ExprKind::Conditional(condition, then, otherwise) => {
            return if truth(condition)? { evaluate(then) } else { evaluate(otherwise) };
        }
        ExprKind::AddressOf(place) => return address(place),
        ExprKind::Offset { pointer, index, back } => {
            let step = int(index)?;
            let step = if *back { -step } else { step };
            return moved(evaluate(pointer)?, step, expr.ty.pointee()?);
        }
        _ => return None,
    };
    match expr.ty {
        Type::Int(ty) => Some(Constant::Int(wrap(ty, value))),
        _ => None,
    }
}

fn address(place: &Place) -> Option<Constant> {
    let base = match &place.base {
        PlaceBase::Global(global) => Constant::Address { global: *global, offset: 0 },
        PlaceBase::Pointer(pointer) => evaluate(pointer)?,
    };
    match &place.index {
        None => Some(base),
        Some(index) => match evaluate(index)? {
            Constant::Int(index) => moved(base, index, place.ty),
            _ => None,
        },
    }
}

fn moved(base: Constant, index: i128, element: Type) -> Option<Constant> {
    match base {
        Constant::Address { global, offset } => {
            let offset = index.checked_mul(i128::from(element.bytes()))?.checked_add(i128::from(offset))?;
            Some(Constant::Address { global, offset: i64::try_from(offset).ok()? })
        }
        Constant::Null if index == 0 => Some(Constant::Null),
        _ => None,
    }
}
