//! The words of the text form: one table for each enumeration, read in both directions.

use crate::{BinaryOp, CastKind, CheckKind, Order, Predicate, Quantifier, SyncKind, UpdateOp};

/// A table of items and their words.
pub(super) type Words<T> = [(T, &'static str)];

/// The word for `item`; every item is in its table (a test goes through them all).
pub(super) fn word<T: Copy + PartialEq>(table: &Words<T>, item: T) -> &'static str {
    table.iter().find(|(other, _)| *other == item).map_or("?", |(_, word)| word)
}

/// The item that `word` stands for.
pub(super) fn item<T: Copy>(table: &Words<T>, word: &str) -> Option<T> {
    table.iter().find(|(_, other)| *other == word).map(|(item, _)| *item)
}

pub(super) const BINARY: &Words<BinaryOp> = &[
    (BinaryOp::Add, "add"),
    (BinaryOp::Sub, "sub"),
    (BinaryOp::Mul, "mul"),
    (BinaryOp::UDiv, "udiv"),
    (BinaryOp::SDiv, "sdiv"),
    (BinaryOp::URem, "urem"),
    (BinaryOp::SRem, "srem"),
    (BinaryOp::Shl, "shl"),
    (BinaryOp::Lshr, "lshr"),
    (BinaryOp::Ashr, "ashr"),
    (BinaryOp::And, "and"),
    (BinaryOp::Or, "or"),
    (BinaryOp::Xor, "xor"),
];

pub(super) const PREDICATES: &Words<Predicate> = &[
    (Predicate::Eq, "eq"),
    (Predicate::Ne, "ne"),
    (Predicate::Ult, "ult"),
    (Predicate::Ule, "ule"),
    (Predicate::Ugt, "ugt"),
    (Predicate::Uge, "uge"),
    (Predicate::Slt, "slt"),
    (Predicate::Sle, "sle"),
    (Predicate::Sgt, "sgt"),
    (Predicate::Sge, "sge"),
];

pub(super) const CASTS: &Words<CastKind> = &[
    (CastKind::Trunc, "trunc"),
    (CastKind::Zext, "zext"),
    (CastKind::Sext, "sext"),
    (CastKind::PtrToInt, "ptrtoint"),
    (CastKind::IntToPtr, "inttoptr"),
    (CastKind::Reinterpret, "reinterpret"),
];

pub(super) const ORDERS: &Words<Order> = &[
    (Order::Relaxed, "relaxed"),
    (Order::Acquire, "acquire"),
    (Order::Release, "release"),
    (Order::AcqRel, "acq_rel"),
    (Order::SeqCst, "seq_cst"),
];

pub(super) const UPDATES: &Words<UpdateOp> = &[
    (UpdateOp::Exchange, "exchange"),
    (UpdateOp::Add, "add"),
    (UpdateOp::Sub, "sub"),
    (UpdateOp::And, "and"),
    (UpdateOp::Nand, "nand"),
    (UpdateOp::Or, "or"),
    (UpdateOp::Xor, "xor"),
    (UpdateOp::SMax, "smax"),
    (UpdateOp::SMin, "smin"),
    (UpdateOp::UMax, "umax"),
    (UpdateOp::UMin, "umin"),
];

pub(super) const CHECKS: &Words<CheckKind> =
    &[(CheckKind::Assert, "assert"), (CheckKind::Assume, "assume"), (CheckKind::Bound, "bound")];

pub(super) const QUANTIFIERS: &Words<Quantifier> =
    &[(Quantifier::Exists, "exists"), (Quantifier::NotExists, "not_exists"), (Quantifier::Forall, "forall")];

/// The kinds of synchronisation objects; their words are [`SyncKind::word`]'s.
pub(super) const SYNC_KINDS: [SyncKind; 6] = [
    SyncKind::Mutex,
    SyncKind::RecursiveMutex,
    SyncKind::RwLock,
    SyncKind::Condition,
    SyncKind::Semaphore,
    SyncKind::Barrier,
];
