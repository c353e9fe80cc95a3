//! Expressions of the concurrent trace program as terms of the solver (AV §4.2, Φ_VD): bit-vectors, one-bit ones as Booleans where
//! they decide something.

use crate::Encoding;
use ctp::{Expr, ExprId, ReadId};
use ir::{BinaryOp, Predicate};
use rustc_hash::FxHashMap;
use solver::{Bool, Bv, Result, Solver};

/// A term as word and, once somebody asked, as Boolean.
#[derive(Clone, Copy, Debug)]
enum Term {
    Word(Bv),
    Truth(Bool),
}

/// The terms of expressions that have been translated.
#[derive(Debug, Default)]
pub struct Terms {
    /// The value of each read.
    pub reads: Vec<Bv>,
    known: FxHashMap<ExprId, Term>,
}

impl Encoding<'_> {
    /// The value of an expression.
    ///
    /// # Errors
    /// If the solver refuses a term; that is a fault of ours.
    pub fn term(&mut self, id: ExprId) -> Result<Bv> {
        let term = translate(self, id, None)?;
        as_word(&mut self.solver, term)
    }

    /// Whether a one-bit expression is 1.
    ///
    /// # Errors
    /// As for [`Encoding::term`].
    pub fn condition(&mut self, id: ExprId) -> Result<Bool> {
        let term = translate(self, id, None)?;
        as_truth(&mut self.solver, term)
    }

    /// The value of an expression of a decision, if the read had this value.
    ///
    /// # Errors
    /// As for [`Encoding::term`].
    pub fn term_with(&mut self, id: ExprId, hole: Bv) -> Result<Bv> {
        let instead = Instead { hole: Some(hole), reads: FxHashMap::default() };
        let term = translate(self, id, Some(&instead))?;
        as_word(&mut self.solver, term)
    }

    /// Whether a one-bit expression would be 1 if these reads had other values.
    pub(crate) fn condition_with(&mut self, id: ExprId, reads: FxHashMap<ReadId, Bv>) -> Result<Bool> {
        let term = translate(self, id, Some(&Instead { hole: None, reads }))?;
        as_truth(&mut self.solver, term)
    }
}

/// What stands in the place of something else.
struct Instead {
    hole: Option<Bv>,
    reads: FxHashMap<ReadId, Bv>,
}

fn as_word(solver: &mut Solver, term: Term) -> Result<Bv> {
    match term {
        Term::Word(word) => Ok(word),
        Term::Truth(truth) => {
            let (one, zero) = (solver.bv_const(1, 1)?, solver.bv_const(0, 1)?);
            solver.bv_ite(truth, one, zero)
        }
    }
}

fn as_truth(solver: &mut Solver, term: Term) -> Result<Bool> {
    match term {
        Term::Truth(truth) => Ok(truth),
        Term::Word(word) => {
            let one = solver.bv_const(1, word.width())?;
            solver.bv_eq(word, one)
        }
    }
}

/// Translates an expression and all that it consists of. What has something else in its place is not kept.
fn translate(encoding: &mut Encoding<'_>, root: ExprId, instead: Option<&Instead>) -> Result<Term> {
    let ctp = encoding.ctp;
    let expressions = &ctp.expressions;
    let mut own: FxHashMap<ExprId, Term> = FxHashMap::default();
    let known = |encoding: &Encoding<'_>, own: &FxHashMap<ExprId, Term>, id: ExprId| match instead {
        Some(_) => own.get(&id).copied(),
        None => encoding.terms.known.get(&id).copied(),
    };
    let mut work = vec![root];
    while let Some(&id) = work.last() {
        if known(encoding, &own, id).is_some() {
            work.pop();
            continue;
        }
        let expr = expressions.get(id);
        let missing: Vec<ExprId> =
            expr.operands().filter(|&operand| known(encoding, &own, operand).is_none()).collect();
        if !missing.is_empty() {
            work.extend(missing);
            continue;
        }
        let width = expressions.width(id).bits();
        let get = |id| known(encoding, &own, id).ok_or(solver::Error::ReadValue);
        let reads = &encoding.terms.reads;
        let term = match expr {
            Expr::Read(read) => {
                let other = instead.and_then(|instead| instead.reads.get(&read).copied());
                Term::Word(other.unwrap_or(reads[read.index()]))
            }
            Expr::Hole => {
                Term::Word(instead.and_then(|instead| instead.hole).ok_or(solver::Error::ReadValue)?)
            }
            Expr::Const(bits) => Term::Word(encoding.solver.bv_const(bits, width)?),
            Expr::Unknown | Expr::Any(_) => Term::Word(encoding.solver.bv_var(width)?),
            Expr::Binary(op, a, b) => {
                let (a, b) = (get(a)?, get(b)?);
                binary(&mut encoding.solver, op, width, a, b)?
            }
            Expr::Compare(predicate, a, b) => {
                let (a, b) = (get(a)?, get(b)?);
                let (a, b) = (as_word(&mut encoding.solver, a)?, as_word(&mut encoding.solver, b)?);
                Term::Truth(compare(&mut encoding.solver, predicate, a, b)?)
            }
            Expr::Zext(a) => {
                let a = get(a)?;
                let a = as_word(&mut encoding.solver, a)?;
                Term::Word(encoding.solver.bv_zero_extend(a, width)?)
            }
            Expr::Sext(a) => {
                let a = get(a)?;
                let a = as_word(&mut encoding.solver, a)?;
                Term::Word(encoding.solver.bv_sign_extend(a, width)?)
            }
            Expr::Extract { value, low } => {
                let value = get(value)?;
                let value = as_word(&mut encoding.solver, value)?;
                Term::Word(encoding.solver.bv_extract(value, low + width - 1, low)?)
            }
            Expr::Concat { high, low } => {
                let (high, low) = (get(high)?, get(low)?);
                let (high, low) = (as_word(&mut encoding.solver, high)?, as_word(&mut encoding.solver, low)?);
                Term::Word(encoding.solver.bv_concat(high, low)?)
            }
            Expr::Select { condition, then, otherwise } => {
                let (condition, then, otherwise) = (get(condition)?, get(then)?, get(otherwise)?);
                let condition = as_truth(&mut encoding.solver, condition)?;
                if let (Term::Truth(then), Term::Truth(otherwise)) = (then, otherwise) {
                    Term::Truth(encoding.solver.ite(condition, then, otherwise)?)
                } else {
                    let then = as_word(&mut encoding.solver, then)?;
                    let otherwise = as_word(&mut encoding.solver, otherwise)?;
                    Term::Word(encoding.solver.bv_ite(condition, then, otherwise)?)
                }
            }
        };
        match instead {
            Some(_) => own.insert(id, term),
            None => encoding.terms.known.insert(id, term),
        };
    }
    known(encoding, &own, root).ok_or(solver::Error::ReadValue)
}

fn binary(solver: &mut Solver, op: BinaryOp, width: u32, a: Term, b: Term) -> Result<Term> {
    if width == 1 && matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor) {
        let (a, b) = (as_truth(solver, a)?, as_truth(solver, b)?);
        return Ok(Term::Truth(match op {
            BinaryOp::And => solver.and(&[a, b])?,
            BinaryOp::Or => solver.or(&[a, b])?,
            _ => solver.xor(a, b)?,
        }));
    }
    let (a, b) = (as_word(solver, a)?, as_word(solver, b)?);
    Ok(Term::Word(match op {
        BinaryOp::Add => solver.bv_add(a, b)?,
        BinaryOp::Sub => solver.bv_sub(a, b)?,
        BinaryOp::Mul => solver.bv_mul(a, b)?,
        BinaryOp::UDiv => solver.bv_udiv(a, b)?,
        BinaryOp::URem => solver.bv_urem(a, b)?,
        BinaryOp::SDiv => solver.bv_sdiv(a, b)?,
        BinaryOp::SRem => solver.bv_srem(a, b)?,
        BinaryOp::Shl => solver.bv_shl(a, b)?,
        BinaryOp::Lshr => solver.bv_lshr(a, b)?,
        BinaryOp::Ashr => solver.bv_ashr(a, b)?,
        BinaryOp::And => solver.bv_and(a, b)?,
        BinaryOp::Or => solver.bv_or(a, b)?,
        BinaryOp::Xor => solver.bv_xor(a, b)?,
    }))
}

fn compare(solver: &mut Solver, predicate: Predicate, a: Bv, b: Bv) -> Result<Bool> {
    match predicate {
        Predicate::Eq => solver.bv_eq(a, b),
        Predicate::Ne => {
            let equal = solver.bv_eq(a, b)?;
            solver.not(equal)
        }
        Predicate::Ult => solver.bv_ult(a, b),
        Predicate::Ule => solver.bv_ule(a, b),
        Predicate::Ugt => solver.bv_ult(b, a),
        Predicate::Uge => solver.bv_ule(b, a),
        Predicate::Slt => solver.bv_slt(a, b),
        Predicate::Sle => solver.bv_sle(a, b),
        Predicate::Sgt => solver.bv_slt(b, a),
        Predicate::Sge => solver.bv_sle(b, a),
    }
}
