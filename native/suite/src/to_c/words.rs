//! Words of C for types, operators and orders.

use super::{LeftOut, Result};
use ir::{BinaryOp, Order, Predicate, UpdateOp};
use lang::types::{IntType, Type};

/// A type.
pub fn ty(ty: Type) -> String {
    match ty {
        Type::Int(int) => int_type(int).to_owned(),
        Type::Pointer { to, depth } => format!("{} {}", int_type(to), "*".repeat(usize::from(depth))),
        Type::Thread => "pthread_t".to_owned(),
    }
}

fn int_type(int: IntType) -> &'static str {
    match int {
        IntType::I8 => "int8_t",
        IntType::I16 => "int16_t",
        IntType::I32 => "int",
        IntType::I64 => "int64_t",
        IntType::U8 => "uint8_t",
        IntType::U16 => "uint16_t",
        IntType::U32 => "uint32_t",
        IntType::U64 => "uint64_t",
    }
}

/// A number of a type, cut to its width.
pub fn number(value: i128, of: Type) -> String {
    let Type::Int(int) = of else { return format!("(({})0)", ty(of)) };
    let bits = int.width().bits();
    let cut = value as u128 & (u128::MAX >> (128 - bits));
    let is_negative = int.signed() && cut >> (bits - 1) == 1;
    match (is_negative, int) {
        (false, IntType::I32) => format!("{cut}"),
        // As an unsigned number: the smallest one has no literal of its own.
        _ => format!("(({}){cut}u)", int_type(int)),
    }
}

/// An operator whose result C and the model agree on for all operands, as far as overflow wraps.
pub fn binary(op: BinaryOp) -> Result<&'static str> {
    Ok(match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::And => "&",
        BinaryOp::Or => "|",
        BinaryOp::Xor => "^",
        BinaryOp::UDiv | BinaryOp::SDiv => "/",
        BinaryOp::URem | BinaryOp::SRem => "%",
        BinaryOp::Shl | BinaryOp::Lshr | BinaryOp::Ashr => return Err(LeftOut("a shift as arithmetic")),
    })
}

/// A comparison; the operands' type says whether signs count.
pub fn predicate(predicate: Predicate) -> &'static str {
    match predicate {
        Predicate::Eq => "==",
        Predicate::Ne => "!=",
        Predicate::Ult | Predicate::Slt => "<",
        Predicate::Ule | Predicate::Sle => "<=",
        Predicate::Ugt | Predicate::Sgt => ">",
        Predicate::Uge | Predicate::Sge => ">=",
    }
}

/// A memory order.
pub fn order(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "__ATOMIC_RELAXED",
        Order::Acquire => "__ATOMIC_ACQUIRE",
        Order::Release => "__ATOMIC_RELEASE",
        Order::AcqRel => "__ATOMIC_ACQ_REL",
        Order::SeqCst => "__ATOMIC_SEQ_CST",
    }
}

/// The function of an atomic update.
pub fn update(op: UpdateOp) -> Result<&'static str> {
    Ok(match op {
        UpdateOp::Exchange => "__atomic_exchange_n",
        UpdateOp::Add => "__atomic_fetch_add",
        UpdateOp::Sub => "__atomic_fetch_sub",
        UpdateOp::And => "__atomic_fetch_and",
        UpdateOp::Or => "__atomic_fetch_or",
        UpdateOp::Xor => "__atomic_fetch_xor",
        _ => return Err(LeftOut("an update that the model language has no word for")),
    })
}
