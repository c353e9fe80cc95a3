//! The plain evaluator: the value of a term when the variables have given values.
//!
//! Shares nothing with rewriting or bit-blasting but the meaning of single operations ([`value`]).

use super::value;
use super::walk::Task;
use super::{Bank, BoolNode, BoolRef, BvNode, BvRef};
use crate::order::At;

/// Values of the leaves of terms.
pub(crate) trait Leaves {
    fn bool_var(&self, var: u32) -> bool;
    fn bv_var(&self, var: u32) -> u128;
    fn before(&self, first: At, second: At) -> bool;
}

/// Remembers what it has computed; one per assignment of the leaves.
pub(crate) struct Evaluator<'a, L> {
    bank: &'a Bank,
    leaves: &'a L,
    bools: Vec<Option<bool>>,
    bvs: Vec<Option<u128>>,
}

impl<'a, L: Leaves> Evaluator<'a, L> {
    pub(crate) fn new(bank: &'a Bank, leaves: &'a L) -> Self {
        Evaluator { bank, leaves, bools: vec![None; bank.bools()], bvs: vec![None; bank.bvs()] }
    }

    /// The value of a Boolean term.
    pub(crate) fn bool(&mut self, term: BoolRef) -> bool {
        self.run(Task::Bool(term));
        self.known_bool(term)
    }

    pub(crate) fn bv(&mut self, term: BvRef) -> u128 {
        self.run(Task::Bv(term));
        self.known_bv(term)
    }

    fn known_bool(&self, term: BoolRef) -> bool {
        self.bools[term.node()].is_some_and(|v| v != term.negated())
    }

    fn known_bv(&self, term: BvRef) -> u128 {
        self.bvs[term.index()].unwrap_or(0)
    }

    fn run(&mut self, task: Task) {
        let mut stack = vec![task];
        while let Some(ready) = self.bank.next_ready(&mut stack, |t| self.knows(t)) {
            match ready {
                Task::Bool(t) => self.bools[t.node()] = Some(self.compute_bool(t.positive())),
                Task::Bv(t) => self.bvs[t.index()] = Some(self.compute_bv(t)),
            }
        }
    }

    fn knows(&self, task: Task) -> bool {
        match task {
            Task::Bool(t) => self.bools[t.node()].is_some(),
            Task::Bv(t) => self.bvs[t.index()].is_some(),
        }
    }

    fn compute_bool(&self, term: BoolRef) -> bool {
        match self.bank.bool_node(term) {
            BoolNode::True => true,
            BoolNode::Var(var) => self.leaves.bool_var(*var),
            BoolNode::And(parts) => parts.iter().all(|&p| self.known_bool(p)),
            &BoolNode::Ite(c, t, e) => {
                if self.known_bool(c) {
                    self.known_bool(t)
                } else {
                    self.known_bool(e)
                }
            }
            &BoolNode::Iff(a, b) => self.known_bool(a) == self.known_bool(b),
            &BoolNode::Eq(a, b) => self.known_bv(a) == self.known_bv(b),
            &BoolNode::Ult(a, b) => self.known_bv(a) < self.known_bv(b),
            &BoolNode::Slt(a, b) => {
                let w = self.bank.width(a);
                value::signed(self.known_bv(a), w) < value::signed(self.known_bv(b), w)
            }
            &BoolNode::Before(a, b) => self.leaves.before(a, b),
        }
    }

    fn compute_bv(&self, term: BvRef) -> u128 {
        let w = self.bank.width(term);
        let v = |t: BvRef| self.known_bv(t);
        match *self.bank.bv_node(term) {
            BvNode::Const(value) => value,
            BvNode::Var(var) => self.leaves.bv_var(var) & value::mask(w),
            BvNode::Sum { constant, ref addends } => addends
                .iter()
                .fold(constant, |sum, &(t, factor)| value::add(sum, value::mul(v(t), factor, w), w)),
            BvNode::Mul(a, b) => value::mul(v(a), v(b), w),
            BvNode::Udiv(a, b) => value::udiv(v(a), v(b), w),
            BvNode::Urem(a, b) => value::urem(v(a), v(b)),
            BvNode::Not(a) => !v(a) & value::mask(w),
            BvNode::And(a, b) => v(a) & v(b),
            BvNode::Or(a, b) => v(a) | v(b),
            BvNode::Xor(a, b) => v(a) ^ v(b),
            BvNode::Shl(a, b) => value::shl(v(a), v(b), w),
            BvNode::Lshr(a, b) => value::lshr(v(a), v(b), w),
            BvNode::Ashr(a, b) => value::ashr(v(a), v(b), w),
            BvNode::Concat(a, b) => (v(a) << self.bank.width(b)) | v(b),
            BvNode::Extract(a, high, low) => value::extract(v(a), high, low),
            BvNode::ZeroExtend(a) => v(a),
            BvNode::SignExtend(a) => value::wrap(value::signed(v(a), self.bank.width(a)), w),
            BvNode::Ite(c, t, e) => {
                if self.known_bool(c) {
                    v(t)
                } else {
                    v(e)
                }
            }
        }
    }
}
