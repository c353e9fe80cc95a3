//! Literals of the SAT level.

use std::ops::Neg;

/// A SAT variable or its negation, in DIMACS form.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Lit(i32);

impl Lit {
    /// Variable 1 is true by a unit clause; constants are literals of it.
    pub(crate) const TRUE: Lit = Lit(1);
    pub(crate) const FALSE: Lit = Lit(-1);

    pub(crate) fn new(dimacs: i32) -> Lit {
        debug_assert!(dimacs != 0 && dimacs != i32::MIN);
        Lit(dimacs)
    }

    pub(crate) fn dimacs(self) -> i32 {
        self.0
    }

    pub(crate) fn var(self) -> usize {
        self.0.unsigned_abs() as usize
    }

    /// Dense number of the literal: two per variable.
    pub(crate) fn code(self) -> usize {
        self.var() * 2 + usize::from(self.0 < 0)
    }

    pub(crate) fn is_negative(self) -> bool {
        self.0 < 0
    }

    pub(crate) fn xor(self, negate: bool) -> Lit {
        if negate { -self } else { self }
    }

    pub(crate) fn constant(value: bool) -> Lit {
        if value { Lit::TRUE } else { Lit::FALSE }
    }

    pub(crate) fn is_constant(self) -> bool {
        self.var() == 1
    }
}

impl Neg for Lit {
    type Output = Lit;
    fn neg(self) -> Lit {
        Lit(-self.0)
    }
}
