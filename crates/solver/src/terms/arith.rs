//! Arithmetic constructors. Sums are kept in linear normal form, `constant + Σ factor × term`, so that
//! `x + 1 - x` is `1` and `(x + 2) + 3` is `x + 5` without search.

use super::value::{self, mask, signed};
use super::{Bank, BoolRef, BvNode, BvRef};

/// A sum under construction.
struct Linear {
    width: u32,
    constant: u128,
    addends: Vec<(BvRef, u128)>,
}

impl Bank {
    /// Adds `factor × term` to a linear form, opening sums and complements.
    fn accumulate(&self, sum: &mut Linear, term: BvRef, factor: u128) {
        let w = sum.width;
        match self.bv_node(term) {
            BvNode::Const(value) => {
                sum.constant = value::add(sum.constant, value::mul(*value, factor, w), w);
            }
            BvNode::Sum { constant, addends } => {
                sum.constant = value::add(sum.constant, value::mul(*constant, factor, w), w);
                for &(inner, f) in addends.iter() {
                    sum.addends.push((inner, value::mul(f, factor, w)));
                }
            }
            // ~x is -x - 1.
            &BvNode::Not(inner) => {
                let minus = value::neg(factor, w);
                sum.constant = value::add(sum.constant, minus, w);
                self.accumulate(sum, inner, minus);
            }
            _ => sum.addends.push((term, factor)),
        }
    }

    fn finish(&mut self, mut sum: Linear) -> BvRef {
        let w = sum.width;
        sum.addends.sort_unstable_by_key(|&(term, _)| term);
        let mut merged: Vec<(BvRef, u128)> = Vec::with_capacity(sum.addends.len());
        for (term, factor) in sum.addends {
            match merged.last_mut() {
                Some(last) if last.0 == term => last.1 = value::add(last.1, factor, w),
                _ => merged.push((term, factor)),
            }
        }
        merged.retain(|&(_, factor)| factor != 0);
        match (sum.constant, &merged[..]) {
            (constant, []) => self.bv_const(constant, w),
            (0, &[(term, 1)]) => term,
            // -x - 1 is written as a complement.
            (constant, &[(term, factor)]) if constant == mask(w) && factor == mask(w) => self.not(term),
            (constant, _) => self.intern_bv(BvNode::Sum { constant, addends: merged.into_boxed_slice() }, w),
        }
    }

    /// `constant + Σ factor × term`.
    pub(crate) fn linear(&mut self, constant: u128, addends: &[(BvRef, u128)], width: u32) -> BvRef {
        let mut sum = Linear { width, constant: constant & mask(width), addends: Vec::new() };
        for &(term, factor) in addends {
            self.accumulate(&mut sum, term, factor & mask(width));
        }
        self.finish(sum)
    }

    pub(crate) fn add(&mut self, a: BvRef, b: BvRef) -> BvRef {
        self.linear(0, &[(a, 1), (b, 1)], self.width(a))
    }

    pub(crate) fn sub(&mut self, a: BvRef, b: BvRef) -> BvRef {
        self.linear(0, &[(a, 1), (b, u128::MAX)], self.width(a))
    }

    pub(crate) fn neg(&mut self, a: BvRef) -> BvRef {
        self.linear(0, &[(a, u128::MAX)], self.width(a))
    }

    pub(crate) fn mul(&mut self, a: BvRef, b: BvRef) -> BvRef {
        let width = self.width(a);
        if let Some(factor) = self.constant(a) {
            return self.linear(0, &[(b, factor)], width);
        }
        if let Some(factor) = self.constant(b) {
            return self.linear(0, &[(a, factor)], width);
        }
        self.intern_bv(BvNode::Mul(a.min(b), a.max(b)), width)
    }

    pub(crate) fn udiv(&mut self, a: BvRef, b: BvRef) -> BvRef {
        let width = self.width(a);
        match (self.constant(a), self.constant(b)) {
            (Some(x), Some(y)) => return self.bv_const(value::udiv(x, y, width), width),
            (_, Some(1)) => return a,
            (_, Some(y)) if y.is_power_of_two() => {
                let by = self.bv_const(u128::from(y.trailing_zeros()), width);
                return self.lshr(a, by);
            }
            _ => {}
        }
        self.intern_bv(BvNode::Udiv(a, b), width)
    }

    pub(crate) fn urem(&mut self, a: BvRef, b: BvRef) -> BvRef {
        let width = self.width(a);
        match (self.constant(a), self.constant(b)) {
            (Some(x), Some(y)) => return self.bv_const(value::urem(x, y), width),
            (_, Some(y)) if y.is_power_of_two() => {
                let low = self.bv_const(y - 1, width);
                return self.bv_and(a, low);
            }
            (_, Some(0)) => return a,
            _ => {}
        }
        // A dividend that is surely smaller is the remainder.
        if self.facts(a).unsigned_range().1 < self.facts(b).unsigned_range().0 {
            return a;
        }
        self.intern_bv(BvNode::Urem(a, b), width)
    }

    /// Whether the sign bit is set.
    pub(crate) fn is_negative(&mut self, a: BvRef) -> BoolRef {
        let zero = self.bv_const(0, self.width(a));
        self.slt(a, zero)
    }

    fn absolute(&mut self, a: BvRef) -> (BoolRef, BvRef) {
        let negative = self.is_negative(a);
        let minus = self.neg(a);
        (negative, self.bv_ite(negative, minus, a))
    }

    /// Quotient rounded towards zero, as in C; `x / 0` is 1 for negative x and -1 otherwise, as in SMT-LIB.
    pub(crate) fn sdiv(&mut self, a: BvRef, b: BvRef) -> BvRef {
        let ((a_negative, a), (b_negative, b)) = (self.absolute(a), self.absolute(b));
        let quotient = self.udiv(a, b);
        let minus = self.neg(quotient);
        let same = self.iff(a_negative, b_negative);
        self.bv_ite(same, quotient, minus)
    }

    /// Remainder with the sign of the dividend, as in C.
    pub(crate) fn srem(&mut self, a: BvRef, b: BvRef) -> BvRef {
        let ((negative, a), (_, b)) = (self.absolute(a), self.absolute(b));
        let remainder = self.urem(a, b);
        let minus = self.neg(remainder);
        self.bv_ite(negative, minus, remainder)
    }

    /// Whether a single factor of the sum can be inverted, so that an equation can be solved for its term.
    pub(crate) fn solve_for_term(&self, sum: BvRef) -> Option<(BvRef, u128)> {
        let width = self.width(sum);
        match self.bv_node(sum) {
            BvNode::Sum { constant, addends } => match addends[..] {
                [(term, factor)] if factor & 1 == 1 => {
                    let root = value::mul(value::neg(*constant, width), value::inverse(factor), width);
                    Some((term, root))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// A factor as a signed number, for printing and blasting.
    pub(crate) fn signed_factor(&self, factor: u128, width: u32) -> i128 {
        signed(factor, width)
    }
}
