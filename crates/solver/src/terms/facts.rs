//! What is known of a bit-vector term whatever its variables are: bits, and ranges as an unsigned and as a
//! signed number.
//!
//! The facts decide comparisons when a term is built, and tell the bit-blaster how many bits a term really
//! needs ([`Facts::needed`]): a sum of small numbers is added with few bits, and the others are copies of
//! zero or of the sign. That is width narrowing without a change of meaning: overflow stays what it is.

use super::value::{mask, signed, wrap};
use super::{Bank, BvNode, BvRef};

/// Sound bounds of one term.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Facts {
    width: u32,
    /// Bits that are surely zero, and surely one.
    zeros: u128,
    ones: u128,
    low: u128,
    high: u128,
    signed_low: i128,
    signed_high: i128,
}

/// The low bits that carry information; those above are zero or copies of the highest carried bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Needed {
    Unsigned(u32),
    Signed(u32),
}

impl Facts {
    pub(crate) fn unknown(width: u32) -> Facts {
        Facts {
            width,
            zeros: 0,
            ones: 0,
            low: 0,
            high: mask(width),
            signed_low: signed(1 << (width - 1), width),
            signed_high: (mask(width) >> 1) as i128,
        }
    }

    pub(crate) fn exactly(value: u128, width: u32) -> Facts {
        let s = signed(value, width);
        let zeros = !value & mask(width);
        Facts { width, zeros, ones: value, low: value, high: value, signed_low: s, signed_high: s }
    }

    /// Facts of a term that lies between two signed numbers (which must fit).
    pub(crate) fn between(low: i128, high: i128, width: u32) -> Facts {
        let mut facts = Facts::unknown(width);
        facts.signed_low = facts.signed_low.max(low);
        facts.signed_high = facts.signed_high.min(high);
        facts.settled()
    }

    pub(crate) fn single(&self) -> Option<u128> {
        (self.low == self.high).then_some(self.low)
    }

    pub(crate) fn unsigned_range(&self) -> (u128, u128) {
        (self.low, self.high)
    }

    pub(crate) fn signed_range(&self) -> (i128, i128) {
        (self.signed_low, self.signed_high)
    }

    /// The value of a bit, if it is known.
    pub(crate) fn bit(&self, bit: u32) -> Option<bool> {
        if self.ones >> bit & 1 == 1 {
            Some(true)
        } else if self.zeros >> bit & 1 == 1 {
            Some(false)
        } else {
            None
        }
    }

    /// Whether the bits of the two surely differ somewhere, or their ranges do not meet.
    pub(crate) fn disjoint(&self, other: &Facts) -> bool {
        self.ones & other.zeros != 0
            || self.zeros & other.ones != 0
            || self.high < other.low
            || other.high < self.low
            || self.signed_high < other.signed_low
            || other.signed_high < self.signed_low
    }

    pub(crate) fn needed(&self) -> Needed {
        let unsigned = 128 - self.high.leading_zeros();
        let bits = |s: i128| 129 - if s < 0 { (!s).leading_zeros() } else { s.leading_zeros() };
        let signed = bits(self.signed_low).max(bits(self.signed_high));
        if unsigned <= signed { Needed::Unsigned(unsigned) } else { Needed::Signed(signed.min(self.width)) }
    }

    /// The union of two facts: what is known when either may hold.
    pub(crate) fn either(&self, other: &Facts) -> Facts {
        Facts {
            width: self.width,
            zeros: self.zeros & other.zeros,
            ones: self.ones & other.ones,
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            signed_low: self.signed_low.min(other.signed_low),
            signed_high: self.signed_high.max(other.signed_high),
        }
    }

    /// Lets bits and ranges inform each other.
    fn settled(mut self) -> Facts {
        let w = self.width;
        let half = 1u128 << (w - 1);
        for _ in 0..2 {
            self.low = self.low.max(self.ones);
            self.high = self.high.min(!self.zeros & mask(w));
            if self.signed_low >= 0 {
                self.low = self.low.max(self.signed_low as u128);
                self.high = self.high.min(self.signed_high as u128);
            } else if self.signed_high < 0 {
                self.low = self.low.max(wrap(self.signed_low, w));
                self.high = self.high.min(wrap(self.signed_high, w));
            }
            if self.high < half || self.low >= half {
                self.signed_low = self.signed_low.max(signed(self.low, w));
                self.signed_high = self.signed_high.min(signed(self.high, w));
            }
            // The common leading bits of both bounds are known.
            let differ = 128 - (self.low ^ self.high).leading_zeros();
            let same = mask(w) & !mask(differ);
            self.ones |= self.low & same;
            self.zeros |= !self.low & same;
        }
        self
    }

    /// Facts of a node from the facts of its operands.
    pub(crate) fn of(node: &BvNode, width: u32, bank: &Bank, facts: impl Fn(BvRef) -> Facts) -> Facts {
        let mut f = Facts::unknown(width);
        match *node {
            BvNode::Const(value) => return Facts::exactly(value, width),
            BvNode::Var(_) => return f,
            BvNode::Sum { constant, ref addends } => f.sum(constant, addends, &facts),
            BvNode::Mul(a, b) => f.product(&facts(a), &facts(b)),
            BvNode::Udiv(a, b) => {
                let (a, b) = (facts(a), facts(b));
                f.low = a.low.checked_div(b.high).unwrap_or(mask(width));
                f.high = a.high.checked_div(b.low).unwrap_or(mask(width));
            }
            BvNode::Urem(a, b) => {
                let (a, b) = (facts(a), facts(b));
                f.high = if b.low > 0 { a.high.min(b.high - 1) } else { a.high };
            }
            BvNode::Not(a) => {
                let a = facts(a);
                (f.zeros, f.ones) = (a.ones, a.zeros);
                (f.low, f.high) = (mask(width) - a.high, mask(width) - a.low);
                (f.signed_low, f.signed_high) = (!a.signed_high, !a.signed_low);
            }
            BvNode::And(a, b) => {
                let (a, b) = (facts(a), facts(b));
                (f.zeros, f.ones) = (a.zeros | b.zeros, a.ones & b.ones);
                f.high = a.high.min(b.high);
            }
            BvNode::Or(a, b) => {
                let (a, b) = (facts(a), facts(b));
                (f.zeros, f.ones) = (a.zeros & b.zeros, a.ones | b.ones);
                f.low = a.low.max(b.low);
            }
            BvNode::Xor(a, b) => {
                let (a, b) = (facts(a), facts(b));
                f.zeros = (a.zeros & b.zeros) | (a.ones & b.ones);
                f.ones = (a.zeros & b.ones) | (a.ones & b.zeros);
            }
            BvNode::Shl(a, b) => {
                let (a, b) = (facts(a), facts(b));
                if let Some(by) = b.single().filter(|&by| by < u128::from(width)) {
                    f.zeros = ((a.zeros << by) | mask(by as u32)) & mask(width);
                    f.ones = (a.ones << by) & mask(width);
                }
            }
            BvNode::Lshr(a, b) => {
                let (a, b) = (facts(a), facts(b));
                f.high = a.high;
                if let Some(by) = b.single().filter(|&by| by < u128::from(width)) {
                    (f.low, f.high) = (a.low >> by, a.high >> by);
                    f.ones = a.ones >> by;
                    f.zeros = a.zeros >> by;
                }
            }
            BvNode::Ashr(a, _) => {
                let a = facts(a);
                f.signed_low = a.signed_low.min(0);
                f.signed_high = a.signed_high.max(-1);
            }
            BvNode::Concat(a, b) => {
                let (low_width, a, b) = (bank.width(b), facts(a), facts(b));
                f.zeros = (a.zeros << low_width) | b.zeros;
                f.ones = (a.ones << low_width) | b.ones;
                f.low = (a.low << low_width) | b.low;
                f.high = (a.high << low_width) | b.high;
            }
            BvNode::Extract(a, high, low) => {
                let a = facts(a);
                f.zeros = (a.zeros >> low) & mask(high - low + 1);
                f.ones = (a.ones >> low) & mask(high - low + 1);
                if a.high <= mask(high + 1) {
                    (f.low, f.high) = (a.low >> low, a.high >> low);
                }
            }
            BvNode::ZeroExtend(a) => {
                let a = facts(a);
                f.zeros = a.zeros | (mask(width) & !mask(a.width));
                f.ones = a.ones;
                (f.low, f.high) = (a.low, a.high);
            }
            BvNode::SignExtend(a) => {
                let a = facts(a);
                (f.signed_low, f.signed_high) = (a.signed_low, a.signed_high);
                let below = mask(a.width - 1);
                (f.zeros, f.ones) = (a.zeros & below, a.ones & below);
            }
            BvNode::Ite(_, a, b) => f = facts(a).either(&facts(b)),
        }
        f.settled()
    }

    /// Interval arithmetic, kept when nothing wraps; each of three readings of the numbers is tried.
    fn sum(&mut self, constant: u128, addends: &[(BvRef, u128)], facts: &impl Fn(BvRef) -> Facts) {
        let w = self.width;
        let add = |constant: i128, bounds: &dyn Fn(&Facts) -> Option<(i128, i128)>| {
            addends.iter().try_fold((constant, constant), |(low, high), &(term, factor)| {
                let (a, b) = bounds(&facts(term))?;
                let factor = signed(factor, w);
                let (x, y) = (a.checked_mul(factor)?, b.checked_mul(factor)?);
                Some((low.checked_add(x.min(y))?, high.checked_add(x.max(y))?))
            })
        };
        let as_signed = |f: &Facts| Some((f.signed_low, f.signed_high));
        let as_unsigned = |f: &Facts| Some((i128::try_from(f.low).ok()?, i128::try_from(f.high).ok()?));
        if let Some((low, high)) = add(signed(constant, w), &as_signed)
            && low >= self.signed_low
            && high <= self.signed_high
        {
            (self.signed_low, self.signed_high) = (low, high);
        }
        let constants = [Some(signed(constant, w)), i128::try_from(constant).ok()];
        for constant in constants.into_iter().flatten() {
            if let Some((low, high)) = add(constant, &as_unsigned)
                && low >= 0
                && high as u128 <= mask(w)
            {
                (self.low, self.high) = (low as u128, high as u128);
                return;
            }
        }
    }

    fn product(&mut self, a: &Facts, b: &Facts) {
        if let Some(high) = a.high.checked_mul(b.high).filter(|&h| h <= mask(self.width)) {
            (self.low, self.high) = (a.low * b.low, high);
        }
        let mut corners = [(a.signed_low, b.signed_low), (a.signed_low, b.signed_high)]
            .into_iter()
            .chain([(a.signed_high, b.signed_low), (a.signed_high, b.signed_high)])
            .map(|(x, y)| x.checked_mul(y));
        let first = corners.next().flatten();
        let bounds = first
            .and_then(|f| corners.try_fold((f, f), |(low, high), c| c.map(|c| (low.min(c), high.max(c)))));
        if let Some((low, high)) = bounds
            && low >= self.signed_low
            && high <= self.signed_high
        {
            (self.signed_low, self.signed_high) = (low, high);
        }
    }
}
