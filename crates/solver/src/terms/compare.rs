//! Comparisons, decided from facts where possible, and equations solved where possible.

use super::value::{mask, wrap};
use super::{Bank, BoolNode, BoolRef, BvNode, BvRef};

impl Bank {
    pub(crate) fn eq(&mut self, a: BvRef, b: BvRef) -> BoolRef {
        if a == b {
            return BoolRef::TRUE;
        }
        if self.facts(a).disjoint(self.facts(b)) {
            return BoolRef::FALSE;
        }
        if let Some(answer) = self.eq_of_choice(a, b) {
            return answer;
        }
        // Sums: bring all to one side, so that common terms cancel, and solve for a lone term.
        if self.is_sum(a) || self.is_sum(b) {
            let difference = self.sub(a, b);
            if let Some(value) = self.constant(difference) {
                return BoolRef::constant(value == 0);
            }
            let width = self.width(a);
            if let Some((term, root)) = self.solve_for_term(difference) {
                let root = self.bv_const(root, width);
                return self.eq(term, root);
            }
            let zero = self.bv_const(0, width);
            if self.facts(difference).disjoint(self.facts(zero)) {
                return BoolRef::FALSE;
            }
            if let Some((left, right)) = self.split(difference) {
                let (left, right) = (left.min(right), left.max(right));
                return self.intern_bool(BoolNode::Eq(left, right));
            }
        }
        self.intern_bool(BoolNode::Eq(a.min(b), a.max(b)))
    }

    fn is_sum(&self, a: BvRef) -> bool {
        matches!(self.bv_node(a), BvNode::Sum { .. })
    }

    /// Writes `d = 0` as `left = right` with the terms of negative factor on the right; `d` and `-d` give the same.
    fn split(&mut self, difference: BvRef) -> Option<(BvRef, BvRef)> {
        let width = self.width(difference);
        let BvNode::Sum { constant, addends } = self.bv_node(difference) else { return None };
        let negative = |factor: u128| factor & mask(width) > mask(width) / 2;
        let flip = negative(addends[0].1);
        let turn = |number: u128| if flip { number.wrapping_neg() } else { number };
        let constant = turn(*constant).wrapping_neg();
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for &(term, factor) in addends.iter() {
            let factor = turn(factor);
            if negative(factor) {
                right.push((term, factor.wrapping_neg()));
            } else {
                left.push((term, factor));
            }
        }
        let left = self.linear(0, &left, width);
        let right = self.linear(constant, &right, width);
        Some((left, right))
    }

    /// `ite(c, x, y) = z` where z differs surely from one branch, or all are constants.
    fn eq_of_choice(&mut self, a: BvRef, b: BvRef) -> Option<BoolRef> {
        for (choice, other) in [(a, b), (b, a)] {
            if let BvNode::Ite(condition, then, otherwise) = *self.bv_node(choice) {
                let decided = |bank: &Bank, x: BvRef| x == other || bank.facts(x).disjoint(bank.facts(other));
                if decided(self, then) || decided(self, otherwise) {
                    let (x, y) = (self.eq(then, other), self.eq(otherwise, other));
                    return Some(self.ite(condition, x, y));
                }
            }
        }
        None
    }

    pub(crate) fn ult(&mut self, a: BvRef, b: BvRef) -> BoolRef {
        if a == b {
            return BoolRef::FALSE;
        }
        let width = self.width(a);
        let ((a_low, a_high), (b_low, b_high)) =
            (self.facts(a).unsigned_range(), self.facts(b).unsigned_range());
        if a_high < b_low {
            return BoolRef::TRUE;
        }
        if a_low >= b_high {
            return BoolRef::FALSE;
        }
        // Against the end of the other's range it is an equation.
        if let Some(x) = self.constant(b).filter(|&x| x == a_low + 1) {
            let end = self.bv_const(x - 1, width);
            return self.eq(a, end);
        }
        if let Some(x) = self.constant(a).filter(|&x| x + 1 == b_high) {
            let end = self.bv_const(x + 1, width);
            return self.eq(b, end);
        }
        // A constant is on the right, so that `5 < x` and `x < 6` are one literal. It is below the largest number here.
        if let Some(x) = self.constant(a) {
            let next = self.bv_const(x + 1, width);
            return !self.intern_bool(BoolNode::Ult(b, next));
        }
        self.intern_bool(BoolNode::Ult(a, b))
    }

    pub(crate) fn slt(&mut self, a: BvRef, b: BvRef) -> BoolRef {
        if a == b {
            return BoolRef::FALSE;
        }
        let width = self.width(a);
        let ((a_low, a_high), (b_low, b_high)) = (self.facts(a).signed_range(), self.facts(b).signed_range());
        if a_high < b_low {
            return BoolRef::TRUE;
        }
        if a_low >= b_high {
            return BoolRef::FALSE;
        }
        if a_low >= 0 && b_low >= 0 {
            return self.ult(a, b);
        }
        if self.constant(b).is_some() && b_low == a_low + 1 {
            let end = self.bv_const(wrap(a_low, width), width);
            return self.eq(a, end);
        }
        if self.constant(a).is_some() && a_low + 1 == b_high {
            let end = self.bv_const(wrap(b_high, width), width);
            return self.eq(b, end);
        }
        if self.constant(a).is_some() {
            let next = self.bv_const(wrap(a_low + 1, width), width);
            return !self.intern_bool(BoolNode::Slt(b, next));
        }
        self.intern_bool(BoolNode::Slt(a, b))
    }
}
