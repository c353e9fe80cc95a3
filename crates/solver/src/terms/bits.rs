//! Bitwise constructors, shifts, and those that cut and join words.

use super::value::{self, mask};
use super::{Bank, BoolRef, BvNode, BvRef};

impl Bank {
    pub(crate) fn not(&mut self, a: BvRef) -> BvRef {
        let width = self.width(a);
        match *self.bv_node(a) {
            BvNode::Const(value) => self.bv_const(!value, width),
            BvNode::Not(inner) => inner,
            _ => self.intern_bv(BvNode::Not(a), width),
        }
    }

    pub(crate) fn bv_and(&mut self, a: BvRef, b: BvRef) -> BvRef {
        let (a, b) = (a.min(b), a.max(b));
        let width = self.width(a);
        match (self.constant(a), self.constant(b)) {
            (Some(x), Some(y)) => return self.bv_const(x & y, width),
            (Some(0), _) | (_, Some(0)) => return self.bv_const(0, width),
            (Some(ones), _) if ones == mask(width) => return b,
            (_, Some(ones)) if ones == mask(width) => return a,
            _ => {}
        }
        if a == b {
            return a;
        }
        if self.complementary(a, b) {
            return self.bv_const(0, width);
        }
        self.intern_bv(BvNode::And(a, b), width)
    }

    pub(crate) fn bv_or(&mut self, a: BvRef, b: BvRef) -> BvRef {
        let (a, b) = (a.min(b), a.max(b));
        let width = self.width(a);
        match (self.constant(a), self.constant(b)) {
            (Some(x), Some(y)) => return self.bv_const(x | y, width),
            (Some(0), _) => return b,
            (_, Some(0)) => return a,
            _ => {}
        }
        if a == b {
            return a;
        }
        if self.complementary(a, b) {
            return self.bv_const(mask(width), width);
        }
        self.intern_bv(BvNode::Or(a, b), width)
    }

    pub(crate) fn bv_xor(&mut self, a: BvRef, b: BvRef) -> BvRef {
        let (a, b) = (a.min(b), a.max(b));
        let width = self.width(a);
        match (self.constant(a), self.constant(b)) {
            (Some(x), Some(y)) => return self.bv_const(x ^ y, width),
            (Some(0), _) => return b,
            (_, Some(0)) => return a,
            (Some(ones), _) if ones == mask(width) => return self.not(b),
            (_, Some(ones)) if ones == mask(width) => return self.not(a),
            _ => {}
        }
        if a == b {
            return self.bv_const(0, width);
        }
        if self.complementary(a, b) {
            return self.bv_const(mask(width), width);
        }
        self.intern_bv(BvNode::Xor(a, b), width)
    }

    fn complementary(&self, a: BvRef, b: BvRef) -> bool {
        *self.bv_node(a) == BvNode::Not(b) || *self.bv_node(b) == BvNode::Not(a)
    }

    pub(crate) fn shl(&mut self, a: BvRef, b: BvRef) -> BvRef {
        let width = self.width(a);
        match (self.constant(a), self.constant(b)) {
            (Some(x), Some(y)) => self.bv_const(value::shl(x, y, width), width),
            (_, Some(0)) => a,
            // A shift by a constant is a product, and so joins the linear forms.
            (_, Some(y)) => self.linear(0, &[(a, value::shl(1, y, width))], width),
            (Some(0), _) => a,
            _ => self.intern_bv(BvNode::Shl(a, b), width),
        }
    }

    pub(crate) fn lshr(&mut self, a: BvRef, b: BvRef) -> BvRef {
        let width = self.width(a);
        match (self.constant(a), self.constant(b)) {
            (Some(x), Some(y)) => self.bv_const(value::lshr(x, y, width), width),
            (_, Some(0)) | (Some(0), _) => a,
            (_, Some(y)) if y >= u128::from(width) => self.bv_const(0, width),
            _ => self.intern_bv(BvNode::Lshr(a, b), width),
        }
    }

    pub(crate) fn ashr(&mut self, a: BvRef, b: BvRef) -> BvRef {
        let width = self.width(a);
        match (self.constant(a), self.constant(b)) {
            (Some(x), Some(y)) => self.bv_const(value::ashr(x, y, width), width),
            (_, Some(0)) | (Some(0), _) => a,
            _ if self.facts(a).signed_range().0 >= 0 => self.lshr(a, b),
            _ => self.intern_bv(BvNode::Ashr(a, b), width),
        }
    }

    pub(crate) fn concat(&mut self, high: BvRef, low: BvRef) -> BvRef {
        let (high_width, low_width) = (self.width(high), self.width(low));
        let width = high_width + low_width;
        match (self.constant(high), self.constant(low)) {
            (Some(x), Some(y)) => self.bv_const((x << low_width) | y, width),
            (Some(0), _) => self.zero_extend(low, width),
            _ => self.intern_bv(BvNode::Concat(high, low), width),
        }
    }

    pub(crate) fn extract(&mut self, a: BvRef, high: u32, low: u32) -> BvRef {
        let width = self.width(a);
        if high + 1 == width && low == 0 {
            return a;
        }
        match *self.bv_node(a) {
            BvNode::Const(x) => return self.bv_const(value::extract(x, high, low), high - low + 1),
            BvNode::Extract(inner, _, offset) => return self.extract(inner, high + offset, low + offset),
            BvNode::Concat(_, part) if high < self.width(part) => return self.extract(part, high, low),
            BvNode::Concat(part, below) if low >= self.width(below) => {
                let offset = self.width(below);
                return self.extract(part, high - offset, low - offset);
            }
            BvNode::ZeroExtend(inner) | BvNode::SignExtend(inner) if high < self.width(inner) => {
                return self.extract(inner, high, low);
            }
            _ => {}
        }
        self.intern_bv(BvNode::Extract(a, high, low), high - low + 1)
    }

    pub(crate) fn zero_extend(&mut self, a: BvRef, width: u32) -> BvRef {
        if self.width(a) == width {
            return a;
        }
        match *self.bv_node(a) {
            BvNode::Const(x) => self.bv_const(x, width),
            BvNode::ZeroExtend(inner) => self.zero_extend(inner, width),
            _ => self.intern_bv(BvNode::ZeroExtend(a), width),
        }
    }

    pub(crate) fn sign_extend(&mut self, a: BvRef, width: u32) -> BvRef {
        let own = self.width(a);
        if own == width {
            return a;
        }
        if self.facts(a).signed_range().0 >= 0 {
            return self.zero_extend(a, width);
        }
        match *self.bv_node(a) {
            BvNode::Const(x) => self.bv_const(value::wrap(value::signed(x, own), width), width),
            BvNode::SignExtend(inner) => self.sign_extend(inner, width),
            _ => self.intern_bv(BvNode::SignExtend(a), width),
        }
    }

    pub(crate) fn bv_ite(&mut self, condition: BoolRef, then: BvRef, other: BvRef) -> BvRef {
        if condition.negated() {
            return self.bv_ite(!condition, other, then);
        }
        if condition == BoolRef::TRUE || then == other {
            return then;
        }
        let width = self.width(then);
        // A choice that repeats its condition inside is decided there.
        let then = match *self.bv_node(then) {
            BvNode::Ite(c, t, _) if c == condition => t,
            _ => then,
        };
        let other = match *self.bv_node(other) {
            BvNode::Ite(c, _, e) if c == condition => e,
            _ => other,
        };
        if then == other {
            return then;
        }
        self.intern_bv(BvNode::Ite(condition, then, other), width)
    }
}
