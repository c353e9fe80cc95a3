//! Symbolic values: what an instruction computes, as a constant where it is one and as a term of the solver elsewhere.
//!
//! Constants are computed by `ir::eval`, so loops over constants unroll without the solver. Each value knows the
//! reads that it is made from: these are the data and address dependencies of the events that use it.

use crate::Result;
use crate::event::EventId;
use ir::{BinaryOp, CastKind, Predicate, UpdateOp, Width, eval};
use solver::{Bool, Bv, Solver};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The reads that something depends on.
pub type Sources = Rc<BTreeSet<EventId>>;

/// A value of a thread.
#[derive(Clone, Debug)]
pub struct Value {
    pub width: Width,
    pub bits: Bits,
    pub sources: Sources,
    /// For an address: the piece of memory that it lies in, if that does not depend on anything.
    pub piece: Option<u64>,
}

/// What a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bits {
    Known(u128),
    /// One bit.
    Flag(Bool),
    Term(Bv),
}

impl Value {
    pub fn known(width: Width, bits: u128) -> Value {
        Value { width, bits: Bits::Known(bits & width.mask()), sources: Sources::default(), piece: None }
    }

    pub fn term(width: Width, term: Bv, sources: Sources) -> Value {
        Value { width, bits: Bits::Term(term), sources, piece: None }
    }

    pub fn flag(flag: Bool, sources: Sources) -> Value {
        Value { width: Width::W1, bits: Bits::Flag(flag), sources, piece: None }
    }

    pub fn constant(&self) -> Option<u128> {
        match self.bits {
            Bits::Known(bits) => Some(bits),
            _ => None,
        }
    }
}

/// All sources of two values.
pub fn union(a: &Sources, b: &Sources) -> Sources {
    match (a.is_empty(), b.is_empty()) {
        (_, true) => a.clone(),
        (true, _) => b.clone(),
        _ if Rc::ptr_eq(a, b) => a.clone(),
        _ => Rc::new(a.union(b).copied().collect()),
    }
}

/// Builds values; owns the solver while a program is unfolded.
pub struct Terms {
    pub solver: Solver,
    pub yes: Bool,
    pub no: Bool,
}

impl Terms {
    pub fn new(solver: Solver) -> Terms {
        let (yes, no) = (solver.bool_const(true), solver.bool_const(false));
        Terms { solver, yes, no }
    }

    pub fn bv(&mut self, value: &Value) -> Result<Bv> {
        let width = value.width.bits();
        Ok(match value.bits {
            Bits::Known(bits) => self.solver.bv_const(bits, width)?,
            Bits::Term(term) => term,
            Bits::Flag(flag) => {
                let (one, zero) = (self.solver.bv_const(1, 1)?, self.solver.bv_const(0, 1)?);
                self.solver.bv_ite(flag, one, zero)?
            }
        })
    }

    /// Whether the lowest bit is set.
    pub fn truth(&mut self, value: &Value) -> Result<Bool> {
        Ok(match value.bits {
            Bits::Known(bits) => self.solver.bool_const(bits & 1 == 1),
            Bits::Flag(flag) => flag,
            Bits::Term(term) => {
                let low = self.solver.bv_extract(term, 0, 0)?;
                let one = self.solver.bv_const(1, 1)?;
                self.solver.bv_eq(low, one)?
            }
        })
    }

    pub fn constant_bool(&self, flag: Bool) -> Option<bool> {
        if flag == self.yes {
            Some(true)
        } else if flag == self.no {
            Some(false)
        } else {
            None
        }
    }

    pub fn and(&mut self, a: Bool, b: Bool) -> Result<Bool> {
        Ok(self.solver.and(&[a, b])?)
    }

    pub fn or(&mut self, a: Bool, b: Bool) -> Result<Bool> {
        Ok(self.solver.or(&[a, b])?)
    }

    pub fn not(&mut self, a: Bool) -> Result<Bool> {
        Ok(self.solver.not(a)?)
    }

    pub fn equals(&mut self, a: &Value, b: &Value) -> Result<Bool> {
        if let (Some(a), Some(b)) = (a.constant(), b.constant()) {
            return Ok(self.solver.bool_const(a == b));
        }
        let (x, y) = (self.bv(a)?, self.bv(b)?);
        Ok(self.solver.bv_eq(x, y)?)
    }

    pub fn equals_bits(&mut self, a: &Value, bits: u128) -> Result<Bool> {
        let other = Value::known(a.width, bits);
        self.equals(a, &other)
    }

    /// `then` if the condition holds, else `other`.
    pub fn choose(&mut self, condition: Bool, then: &Value, other: &Value) -> Result<Value> {
        if condition == self.yes || then.bits == other.bits {
            return Ok(Value { sources: union(&then.sources, &other.sources), ..then.clone() });
        }
        if condition == self.no {
            return Ok(other.clone());
        }
        let sources = union(&then.sources, &other.sources);
        let piece = then.piece.filter(|_| then.piece == other.piece);
        if then.width == Width::W1 {
            let (a, b) = (self.truth(then)?, self.truth(other)?);
            return Ok(Value { piece, ..Value::flag(self.solver.ite(condition, a, b)?, sources) });
        }
        let (a, b) = (self.bv(then)?, self.bv(other)?);
        let term = self.solver.bv_ite(condition, a, b)?;
        Ok(Value { piece, ..Value::term(then.width, term, sources) })
    }

    /// Arithmetic, and when it faults (division by zero).
    pub fn binary(&mut self, op: BinaryOp, a: &Value, b: &Value) -> Result<(Value, Bool)> {
        let width = a.width;
        let divides = matches!(op, BinaryOp::UDiv | BinaryOp::SDiv | BinaryOp::URem | BinaryOp::SRem);
        let faults = if divides { self.equals_bits(b, 0)? } else { self.no };
        let sources = union(&a.sources, &b.sources);
        if let (Some(x), Some(y)) = (a.constant(), b.constant()) {
            let bits = eval::binary(op, width, x, y).unwrap_or(0);
            return Ok((Value { sources, ..Value::known(width, bits) }, faults));
        }
        if width == Width::W1 && matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor) {
            let (x, y) = (self.truth(a)?, self.truth(b)?);
            let flag = match op {
                BinaryOp::And => self.solver.and(&[x, y])?,
                BinaryOp::Or => self.solver.or(&[x, y])?,
                _ => self.solver.xor(x, y)?,
            };
            return Ok((Value::flag(flag, sources), faults));
        }
        let (x, y) = (self.bv(a)?, self.bv(b)?);
        let s = &mut self.solver;
        let term = match op {
            BinaryOp::Add => s.bv_add(x, y),
            BinaryOp::Sub => s.bv_sub(x, y),
            BinaryOp::Mul => s.bv_mul(x, y),
            BinaryOp::UDiv => s.bv_udiv(x, y),
            BinaryOp::SDiv => s.bv_sdiv(x, y),
            BinaryOp::URem => s.bv_urem(x, y),
            BinaryOp::SRem => s.bv_srem(x, y),
            BinaryOp::Shl => s.bv_shl(x, y),
            BinaryOp::Lshr => s.bv_lshr(x, y),
            BinaryOp::Ashr => s.bv_ashr(x, y),
            BinaryOp::And => s.bv_and(x, y),
            BinaryOp::Or => s.bv_or(x, y),
            BinaryOp::Xor => s.bv_xor(x, y),
        }?;
        Ok((Value::term(width, term, sources), faults))
    }

    pub fn compare(&mut self, predicate: Predicate, a: &Value, b: &Value) -> Result<Value> {
        let sources = union(&a.sources, &b.sources);
        if let (Some(x), Some(y)) = (a.constant(), b.constant()) {
            let holds = eval::compare(predicate, a.width, x, y);
            return Ok(Value { sources, ..Value::known(Width::W1, u128::from(holds)) });
        }
        let (x, y) = (self.bv(a)?, self.bv(b)?);
        let s = &mut self.solver;
        let flag = match predicate {
            Predicate::Eq => s.bv_eq(x, y)?,
            Predicate::Ne => {
                let same = s.bv_eq(x, y)?;
                s.not(same)?
            }
            Predicate::Ult => s.bv_ult(x, y)?,
            Predicate::Ule => s.bv_ule(x, y)?,
            Predicate::Ugt => s.bv_ult(y, x)?,
            Predicate::Uge => s.bv_ule(y, x)?,
            Predicate::Slt => s.bv_slt(x, y)?,
            Predicate::Sle => s.bv_sle(x, y)?,
            Predicate::Sgt => s.bv_slt(y, x)?,
            Predicate::Sge => s.bv_sle(y, x)?,
        };
        Ok(Value::flag(flag, sources))
    }

    /// Change of width; `None` where the IR does not say what comes out.
    pub fn cast(&mut self, kind: CastKind, value: &Value, to: Width) -> Result<Option<Value>> {
        if let Some(bits) = value.constant() {
            let cast = eval::cast(kind, value.width, to, bits);
            return Ok(cast.map(|bits| Value { sources: value.sources.clone(), ..Value::known(to, bits) }));
        }
        let term = self.bv(value)?;
        let s = &mut self.solver;
        let term = match kind {
            CastKind::Reinterpret => return Ok(None),
            _ if to == value.width => term,
            CastKind::Sext => s.bv_sign_extend(term, to.bits())?,
            _ if to < value.width => s.bv_extract(term, to.bits() - 1, 0)?,
            _ => s.bv_zero_extend(term, to.bits())?,
        };
        Ok(Some(Value::term(to, term, value.sources.clone())))
    }

    /// The new value of an atomic read-modify-write.
    pub fn update(&mut self, op: UpdateOp, old: &Value, operand: &Value) -> Result<Value> {
        let plain = |terms: &mut Terms, op| Ok(terms.binary(op, old, operand)?.0);
        let pick = |terms: &mut Terms, predicate| {
            let keep = terms.compare(predicate, old, operand)?;
            let keep = terms.truth(&keep)?;
            terms.choose(keep, old, operand)
        };
        match op {
            UpdateOp::Exchange => Ok(operand.clone()),
            UpdateOp::Add => plain(self, BinaryOp::Add),
            UpdateOp::Sub => plain(self, BinaryOp::Sub),
            UpdateOp::And => plain(self, BinaryOp::And),
            UpdateOp::Or => plain(self, BinaryOp::Or),
            UpdateOp::Xor => plain(self, BinaryOp::Xor),
            UpdateOp::Nand => {
                let both = plain(self, BinaryOp::And)?;
                let ones = Value::known(old.width, old.width.mask());
                Ok(self.binary(BinaryOp::Xor, &both, &ones)?.0)
            }
            UpdateOp::SMax => pick(self, Predicate::Sge),
            UpdateOp::SMin => pick(self, Predicate::Sle),
            UpdateOp::UMax => pick(self, Predicate::Uge),
            UpdateOp::UMin => pick(self, Predicate::Ule),
        }
    }
}
