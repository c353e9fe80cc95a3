//! Terms: Booleans and bit-vectors, stored once each (hash-consed) and rewritten as words when built.
//!
//! A term that is built twice is the same number, so equality of terms is equality of numbers and each is
//! bit-blasted once. The constructors normalise: constants are folded, sums are kept in linear normal form
//! ([`arith`]), comparisons are decided from known bits and ranges where possible ([`facts`]).

mod arith;
mod bits;
mod boolean;
mod compare;
pub(crate) mod eval;
pub(crate) mod facts;
pub(crate) mod value;
pub(crate) mod walk;

use crate::order::{At, Owner};
use facts::Facts;
use rustc_hash::FxHashMap;

/// The widest bit-vector.
pub const MAX_WIDTH: u32 = 128;

/// A Boolean term of some solver.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Bool {
    pub(crate) term: BoolRef,
    pub(crate) owner: Owner,
}

/// A bit-vector term of some solver.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Bv {
    pub(crate) term: BvRef,
    pub(crate) width: u32,
    pub(crate) owner: Owner,
}

impl Bv {
    /// How many bits the term has.
    pub fn width(self) -> u32 {
        self.width
    }
}

/// Index of a Boolean node, with its lowest bit set when negated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct BoolRef(pub(crate) u32);

impl BoolRef {
    pub(crate) const TRUE: BoolRef = BoolRef(0);
    pub(crate) const FALSE: BoolRef = BoolRef(1);

    pub(crate) fn node(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub(crate) fn of_node(node: usize) -> BoolRef {
        BoolRef((node as u32) << 1)
    }

    pub(crate) fn negated(self) -> bool {
        self.0 & 1 == 1
    }

    pub(crate) fn xor(self, negate: bool) -> BoolRef {
        BoolRef(self.0 ^ u32::from(negate))
    }

    pub(crate) fn positive(self) -> BoolRef {
        BoolRef(self.0 & !1)
    }

    pub(crate) fn constant(value: bool) -> BoolRef {
        BoolRef(u32::from(!value))
    }

    pub(crate) fn as_constant(self) -> Option<bool> {
        (self.node() == 0).then_some(!self.negated())
    }
}

impl std::ops::Not for BoolRef {
    type Output = BoolRef;
    fn not(self) -> BoolRef {
        self.xor(true)
    }
}

/// Index of a bit-vector node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct BvRef(pub(crate) u32);

impl BvRef {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum BoolNode {
    True,
    Var(u32),
    /// Sorted, without repetition, at least two.
    And(Box<[BoolRef]>),
    /// The condition and the second are not negated.
    Ite(BoolRef, BoolRef, BoolRef),
    /// Neither is negated; first below second.
    Iff(BoolRef, BoolRef),
    Eq(BvRef, BvRef),
    Ult(BvRef, BvRef),
    Slt(BvRef, BvRef),
    /// Points of different chains, the smaller first.
    Before(At, At),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum BvNode {
    Const(u128),
    Var(u32),
    /// constant + Σ factor × term, modulo 2^width; terms sorted, factors not zero, not a lone 1 × term + 0.
    Sum {
        constant: u128,
        addends: Box<[(BvRef, u128)]>,
    },
    Mul(BvRef, BvRef),
    Udiv(BvRef, BvRef),
    Urem(BvRef, BvRef),
    Not(BvRef),
    And(BvRef, BvRef),
    Or(BvRef, BvRef),
    Xor(BvRef, BvRef),
    Shl(BvRef, BvRef),
    Lshr(BvRef, BvRef),
    Ashr(BvRef, BvRef),
    /// High part, low part.
    Concat(BvRef, BvRef),
    /// Operand, highest bit, lowest bit.
    Extract(BvRef, u32, u32),
    ZeroExtend(BvRef),
    SignExtend(BvRef),
    Ite(BoolRef, BvRef, BvRef),
}

/// All terms of a solver.
pub(crate) struct Bank {
    bools: Vec<BoolNode>,
    bool_index: FxHashMap<BoolNode, u32>,
    bvs: Vec<(BvNode, u32)>,
    bv_index: FxHashMap<(BvNode, u32), u32>,
    facts: Vec<Facts>,
    bool_vars: u32,
    bv_vars: u32,
}

impl Bank {
    pub(crate) fn new() -> Bank {
        let mut bank = Bank {
            bools: Vec::new(),
            bool_index: FxHashMap::default(),
            bvs: Vec::new(),
            bv_index: FxHashMap::default(),
            facts: Vec::new(),
            bool_vars: 0,
            bv_vars: 0,
        };
        bank.intern_bool(BoolNode::True);
        bank
    }

    pub(crate) fn bool_node(&self, term: BoolRef) -> &BoolNode {
        &self.bools[term.node()]
    }

    pub(crate) fn bv_node(&self, term: BvRef) -> &BvNode {
        &self.bvs[term.index()].0
    }

    pub(crate) fn bools(&self) -> usize {
        self.bools.len()
    }

    pub(crate) fn bvs(&self) -> usize {
        self.bvs.len()
    }

    pub(crate) fn width(&self, term: BvRef) -> u32 {
        self.bvs[term.index()].1
    }

    pub(crate) fn facts(&self, term: BvRef) -> &Facts {
        &self.facts[term.index()]
    }

    /// The value, if the term is a constant.
    pub(crate) fn constant(&self, term: BvRef) -> Option<u128> {
        match *self.bv_node(term) {
            BvNode::Const(value) => Some(value),
            _ => None,
        }
    }

    fn intern_bool(&mut self, node: BoolNode) -> BoolRef {
        if let Some(&index) = self.bool_index.get(&node) {
            return BoolRef(index << 1);
        }
        let index = self.bools.len() as u32;
        self.bools.push(node.clone());
        self.bool_index.insert(node, index);
        BoolRef(index << 1)
    }

    /// Stores a node as it is. A node whose facts leave one value becomes that constant.
    fn intern_bv(&mut self, node: BvNode, width: u32) -> BvRef {
        let key = (node, width);
        if let Some(&index) = self.bv_index.get(&key) {
            return BvRef(index);
        }
        let facts = Facts::of(&key.0, width, self, |term| self.facts[term.index()]);
        if let (Some(value), false) = (facts.single(), matches!(key.0, BvNode::Const(_))) {
            let constant = self.bv_const(value, width);
            self.bv_index.insert(key, constant.0);
            return constant;
        }
        let index = self.bvs.len() as u32;
        self.bvs.push(key.clone());
        self.bv_index.insert(key, index);
        self.facts.push(facts);
        BvRef(index)
    }

    pub(crate) fn bool_var(&mut self) -> BoolRef {
        self.bool_vars += 1;
        self.intern_bool(BoolNode::Var(self.bool_vars - 1))
    }

    pub(crate) fn bv_var(&mut self, width: u32) -> BvRef {
        self.bv_vars += 1;
        self.intern_bv(BvNode::Var(self.bv_vars - 1), width)
    }

    pub(crate) fn bv_const(&mut self, value: u128, width: u32) -> BvRef {
        self.intern_bv(BvNode::Const(value & value::mask(width)), width)
    }

    /// Calls `visit` with each Boolean variable and its term.
    pub(crate) fn each_bool_var(&self, mut visit: impl FnMut(u32, BoolRef)) {
        for (i, node) in self.bools.iter().enumerate() {
            if let BoolNode::Var(var) = *node {
                visit(var, BoolRef((i as u32) << 1));
            }
        }
    }

    /// Calls `visit` with each bit-vector variable and its term.
    pub(crate) fn each_bv_var(&self, mut visit: impl FnMut(u32, BvRef)) {
        for (i, (node, _)) in self.bvs.iter().enumerate() {
            if let BvNode::Var(var) = *node {
                visit(var, BvRef(i as u32));
            }
        }
    }
}
