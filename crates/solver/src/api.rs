//! Building terms.
//!
//! Bit-vector operations have SMT-LIB's meaning. For machine integers of C it is the same wherever C defines
//! the result; [`Solver::division_is_defined`] and [`Solver::shift_is_defined`] say where that is.

use crate::error::{Error, Result};
use crate::solver::Solver;
use crate::terms::value::mask;
use crate::terms::{Bool, BoolRef, Bv, BvRef, MAX_WIDTH};

/// Booleans.
impl Solver {
    /// A new Boolean variable.
    pub fn bool_var(&mut self) -> Bool {
        let term = self.bank.bool_var();
        self.own(term)
    }

    /// A Boolean constant.
    pub fn bool_const(&self, value: bool) -> Bool {
        self.own(BoolRef::constant(value))
    }

    /// Negation.
    pub fn not(&self, a: Bool) -> Result<Bool> {
        let a = self.own_bool(a)?;
        Ok(self.own(!a))
    }

    /// All of them; true for none.
    pub fn and(&mut self, terms: &[Bool]) -> Result<Bool> {
        let terms = self.own_bools(terms)?;
        let term = self.bank.and(terms);
        Ok(self.own(term))
    }

    /// Any of them; false for none.
    pub fn or(&mut self, terms: &[Bool]) -> Result<Bool> {
        let terms = self.own_bools(terms)?;
        let term = self.bank.or(terms);
        Ok(self.own(term))
    }

    /// `a` implies `b`.
    pub fn implies(&mut self, a: Bool, b: Bool) -> Result<Bool> {
        let not_a = self.not(a)?;
        self.or(&[not_a, b])
    }

    /// Both or neither.
    pub fn iff(&mut self, a: Bool, b: Bool) -> Result<Bool> {
        let (a, b) = (self.own_bool(a)?, self.own_bool(b)?);
        let term = self.bank.iff(a, b);
        Ok(self.own(term))
    }

    /// Exactly one of two.
    pub fn xor(&mut self, a: Bool, b: Bool) -> Result<Bool> {
        let same = self.iff(a, b)?;
        self.not(same)
    }

    /// `then` if the condition holds, else `other`.
    pub fn ite(&mut self, condition: Bool, then: Bool, other: Bool) -> Result<Bool> {
        let (c, t, e) = (self.own_bool(condition)?, self.own_bool(then)?, self.own_bool(other)?);
        let term = self.bank.ite(c, t, e);
        Ok(self.own(term))
    }

    /// At most `limit` of them.
    pub fn at_most(&mut self, limit: usize, terms: &[Bool]) -> Result<Bool> {
        let terms = self.own_bools(terms)?;
        let term = if limit >= terms.len() { BoolRef::TRUE } else { self.bank.at_most(limit, &terms) };
        Ok(self.own(term))
    }

    /// At least `limit` of them.
    pub fn at_least(&mut self, limit: usize, terms: &[Bool]) -> Result<Bool> {
        match terms.len().checked_sub(limit) {
            None => Ok(self.bool_const(false)),
            Some(rest) => {
                let negated: Vec<Bool> = terms.iter().map(|&t| self.not(t)).collect::<Result<_>>()?;
                self.at_most(rest, &negated)
            }
        }
    }

    fn own_bools(&self, terms: &[Bool]) -> Result<Vec<BoolRef>> {
        terms.iter().map(|&t| self.own_bool(t)).collect()
    }
}

macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident => $bank:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(&mut self, a: Bv, b: Bv) -> Result<Bv> {
            let (a, b) = self.same_width(a, b)?;
            let term = self.bank.$bank(a, b);
            Ok(self.own_word(term))
        }
    )*};
}

macro_rules! comparison {
    ($($(#[$doc:meta])* $name:ident => |$bank:ident, $a:ident, $b:ident| $body:expr;)*) => {$(
        $(#[$doc])*
        pub fn $name(&mut self, a: Bv, b: Bv) -> Result<Bool> {
            let ($a, $b) = self.same_width(a, b)?;
            let $bank = &mut self.bank;
            let term = $body;
            Ok(self.own(term))
        }
    )*};
}

/// Bit-vectors.
impl Solver {
    /// A new variable of 1 to 128 bits.
    pub fn bv_var(&mut self, width: u32) -> Result<Bv> {
        check_width(width)?;
        let term = self.bank.bv_var(width);
        Ok(self.own_word(term))
    }

    /// A constant, taken modulo 2^width.
    pub fn bv_const(&mut self, value: u128, width: u32) -> Result<Bv> {
        check_width(width)?;
        let term = self.bank.bv_const(value, width);
        Ok(self.own_word(term))
    }

    /// A signed constant, taken modulo 2^width.
    pub fn bv_signed(&mut self, value: i128, width: u32) -> Result<Bv> {
        check_width(width)?;
        self.bv_const(value as u128 & mask(width), width)
    }

    binary! {
        /// Sum, wrapping.
        bv_add => add;
        /// Difference, wrapping.
        bv_sub => sub;
        /// Product, wrapping.
        bv_mul => mul;
        /// Unsigned quotient; all ones when dividing by zero.
        bv_udiv => udiv;
        /// Unsigned remainder; the dividend when dividing by zero.
        bv_urem => urem;
        /// Signed quotient, rounded towards zero.
        bv_sdiv => sdiv;
        /// Signed remainder, with the sign of the dividend.
        bv_srem => srem;
        /// Bitwise and.
        bv_and => bv_and;
        /// Bitwise or.
        bv_or => bv_or;
        /// Bitwise exclusive or.
        bv_xor => bv_xor;
        /// Shift to the left; zero for shifts by the width or more.
        bv_shl => shl;
        /// Shift to the right with zeros; zero for shifts by the width or more.
        bv_lshr => lshr;
        /// Shift to the right with the sign; only signs for shifts by the width or more.
        bv_ashr => ashr;
    }

    comparison! {
        /// Equality.
        bv_eq => |bank, a, b| bank.eq(a, b);
        /// Unsigned less than.
        bv_ult => |bank, a, b| bank.ult(a, b);
        /// Unsigned less than or equal.
        bv_ule => |bank, a, b| !bank.ult(b, a);
        /// Signed less than.
        bv_slt => |bank, a, b| bank.slt(a, b);
        /// Signed less than or equal.
        bv_sle => |bank, a, b| !bank.slt(b, a);
    }

    /// Negation, wrapping.
    pub fn bv_neg(&mut self, a: Bv) -> Result<Bv> {
        let a = self.own_bv(a)?;
        let term = self.bank.neg(a);
        Ok(self.own_word(term))
    }

    /// Bitwise complement.
    pub fn bv_not(&mut self, a: Bv) -> Result<Bv> {
        let a = self.own_bv(a)?;
        let term = self.bank.not(a);
        Ok(self.own_word(term))
    }

    /// `high` above `low`.
    pub fn bv_concat(&mut self, high: Bv, low: Bv) -> Result<Bv> {
        let (a, b) = (self.own_bv(high)?, self.own_bv(low)?);
        check_width(high.width + low.width)?;
        let term = self.bank.concat(a, b);
        Ok(self.own_word(term))
    }

    /// Bits `high` down to `low`.
    pub fn bv_extract(&mut self, a: Bv, high: u32, low: u32) -> Result<Bv> {
        let term = self.own_bv(a)?;
        if high < low || high >= a.width {
            return Err(Error::Extract { high, low, width: a.width });
        }
        let term = self.bank.extract(term, high, low);
        Ok(self.own_word(term))
    }

    /// Widens with zeros, to the given width.
    pub fn bv_zero_extend(&mut self, a: Bv, width: u32) -> Result<Bv> {
        let term = self.widen(a, width)?;
        let term = self.bank.zero_extend(term, width);
        Ok(self.own_word(term))
    }

    /// Widens with the sign, to the given width.
    pub fn bv_sign_extend(&mut self, a: Bv, width: u32) -> Result<Bv> {
        let term = self.widen(a, width)?;
        let term = self.bank.sign_extend(term, width);
        Ok(self.own_word(term))
    }

    /// `then` if the condition holds, else `other`.
    pub fn bv_ite(&mut self, condition: Bool, then: Bv, other: Bv) -> Result<Bv> {
        let condition = self.own_bool(condition)?;
        let (then, other) = self.same_width(then, other)?;
        let term = self.bank.bv_ite(condition, then, other);
        Ok(self.own_word(term))
    }

    /// Where C defines `a / b` and `a % b`: `b` is not zero, and (signed) it is not the least number by -1.
    pub fn division_is_defined(&mut self, a: Bv, b: Bv, signed: bool) -> Result<Bool> {
        let (x, y) = self.same_width(a, b)?;
        let width = a.width;
        let zero = self.bank.bv_const(0, width);
        let nonzero = !self.bank.eq(y, zero);
        if !signed {
            return Ok(self.own(nonzero));
        }
        let (least, minus_one) =
            (self.bank.bv_const(1 << (width - 1), width), self.bank.bv_const(u128::MAX, width));
        let (a_least, b_minus) = (self.bank.eq(x, least), self.bank.eq(y, minus_one));
        let overflow = self.bank.and([a_least, b_minus]);
        let term = self.bank.and([nonzero, !overflow]);
        Ok(self.own(term))
    }

    /// Where C defines a shift by `by`: it is below the width.
    pub fn shift_is_defined(&mut self, by: Bv) -> Result<Bool> {
        let term = self.own_bv(by)?;
        // Every width fits in as many bits.
        let width = self.bank.bv_const(u128::from(by.width), by.width);
        let term = self.bank.ult(term, width);
        Ok(self.own(term))
    }

    fn widen(&self, a: Bv, width: u32) -> Result<BvRef> {
        check_width(width)?;
        if width < a.width {
            return Err(Error::MixedWidths { left: a.width, right: width });
        }
        self.own_bv(a)
    }

    fn same_width(&self, a: Bv, b: Bv) -> Result<(BvRef, BvRef)> {
        let (x, y) = (self.own_bv(a)?, self.own_bv(b)?);
        if a.width == b.width {
            Ok((x, y))
        } else {
            Err(Error::MixedWidths { left: a.width, right: b.width })
        }
    }

    pub(crate) fn own_word(&self, term: BvRef) -> Bv {
        Bv { term, width: self.bank.width(term), owner: self.owner }
    }
}

fn check_width(width: u32) -> Result<()> {
    if (1..=MAX_WIDTH).contains(&width) { Ok(()) } else { Err(Error::Width(width)) }
}
