//! Boolean constructors: and, or, if-then-else, equivalence, cardinality, and order literals.

use super::{Bank, BoolNode, BoolRef};
use crate::order::At;

impl Bank {
    pub(crate) fn and(&mut self, terms: impl IntoIterator<Item = BoolRef>) -> BoolRef {
        let mut flat = Vec::new();
        for term in terms {
            match self.bool_node(term) {
                BoolNode::And(inner) if !term.negated() => flat.extend_from_slice(inner),
                _ => flat.push(term),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        flat.retain(|&t| t != BoolRef::TRUE);
        // A term and its negation are neighbours after sorting.
        if flat.contains(&BoolRef::FALSE) || flat.windows(2).any(|w| w[0] == !w[1]) {
            return BoolRef::FALSE;
        }
        match flat[..] {
            [] => BoolRef::TRUE,
            [one] => one,
            _ => self.intern_bool(BoolNode::And(flat.into_boxed_slice())),
        }
    }

    pub(crate) fn or(&mut self, terms: impl IntoIterator<Item = BoolRef>) -> BoolRef {
        !self.and(terms.into_iter().map(|t| !t))
    }

    pub(crate) fn ite(&mut self, condition: BoolRef, then: BoolRef, other: BoolRef) -> BoolRef {
        if condition.negated() {
            return self.ite(!condition, other, then);
        }
        if condition == BoolRef::TRUE || then == other {
            return then;
        }
        match (then.as_constant(), other.as_constant()) {
            (Some(true), _) => return self.or([condition, other]),
            (Some(false), _) => return self.and([!condition, other]),
            (_, Some(true)) => return self.or([!condition, then]),
            (_, Some(false)) => return self.and([condition, then]),
            _ => {}
        }
        if then == !other {
            return self.iff(condition, then);
        }
        let flip = then.negated();
        self.intern_bool(BoolNode::Ite(condition, then.xor(flip), other.xor(flip))).xor(flip)
    }

    pub(crate) fn iff(&mut self, a: BoolRef, b: BoolRef) -> BoolRef {
        let flip = a.negated() != b.negated();
        let (a, b) = (a.positive(), b.positive());
        if a == b {
            return BoolRef::constant(!flip);
        }
        let (a, b) = (a.min(b), a.max(b));
        if a == BoolRef::TRUE {
            return b.xor(flip);
        }
        self.intern_bool(BoolNode::Iff(a, b)).xor(flip)
    }

    /// At most `limit` of the terms: a sequential counter, where `count[j]` says "more than j so far".
    pub(crate) fn at_most(&mut self, limit: usize, terms: &[BoolRef]) -> BoolRef {
        let mut count = vec![BoolRef::FALSE; limit];
        let mut fine = BoolRef::TRUE;
        for &term in terms {
            let full = count.last().copied().unwrap_or(BoolRef::TRUE);
            let over = self.and([full, term]);
            fine = self.and([fine, !over]);
            for j in (0..limit).rev() {
                let below = if j == 0 { BoolRef::TRUE } else { count[j - 1] };
                let up = self.and([below, term]);
                count[j] = self.or([count[j], up]);
            }
        }
        fine
    }

    /// The literal for the order of two points of different chains.
    pub(crate) fn before(&mut self, first: At, second: At) -> BoolRef {
        debug_assert_ne!(first.chain, second.chain);
        let flip = second < first;
        let (a, b) = (first.min(second), first.max(second));
        self.intern_bool(BoolNode::Before(a, b)).xor(flip)
    }
}
