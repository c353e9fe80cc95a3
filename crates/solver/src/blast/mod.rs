//! From words to bits: each term becomes literals, once.
//!
//! Only the bits that carry information are built ([`Facts::needed`]); the others are zeros or copies of the
//! sign. Multipliers and dividers are *deferred*: their result is at first any bits, and the circuit is built
//! only when a model gets the result wrong ([`Blaster::repair`]). Many queries never need it.

mod arith;
mod bounds;
mod gates;

pub(crate) use gates::{Cnf, Gates};

use crate::lit::Lit;
use crate::terms::facts::{Facts, Needed};
use crate::terms::value;
use crate::terms::walk::Task;
use crate::terms::{Bank, BoolNode, BoolRef, BvNode, BvRef};

/// Operands with at most this many partial products are multiplied or divided at once.
const EAGER_CELLS: usize = 36;

/// A product, quotient or remainder whose circuit has not been built.
struct Deferred {
    term: BvRef,
    bits: Vec<Lit>,
}

#[derive(Default)]
pub(crate) struct Blaster {
    bools: Vec<Option<Lit>>,
    bvs: Vec<Option<Box<[Lit]>>>,
    facts: Vec<Option<Facts>>,
    gates: Gates,
    deferred: Vec<Deferred>,
}

impl Blaster {
    /// The literal of a Boolean term.
    pub(crate) fn bool(&mut self, bank: &Bank, cnf: &mut impl Cnf, term: BoolRef) -> Lit {
        self.run(bank, cnf, Task::Bool(term));
        self.bool_lit(term)
    }

    /// The literals of a bit-vector term, lowest first.
    pub(crate) fn bv(&mut self, bank: &Bank, cnf: &mut impl Cnf, term: BvRef) -> &[Lit] {
        self.run(bank, cnf, Task::Bv(term));
        self.bits(term)
    }

    /// The literal of a term, if it was needed so far.
    pub(crate) fn known_bool(&self, term: BoolRef) -> Option<Lit> {
        self.bools.get(term.node()).copied().flatten().map(|l| l.xor(term.negated()))
    }

    /// The literals of a term, if they were needed so far.
    pub(crate) fn known_bv(&self, term: BvRef) -> Option<&[Lit]> {
        self.bvs.get(term.index()).and_then(|b| b.as_deref())
    }

    /// Gives a Boolean variable that was not yet needed a literal.
    pub(crate) fn define(&mut self, bank: &Bank, term: BoolRef, lit: Lit) {
        self.bools.resize(bank.bools(), None);
        debug_assert!(self.bools[term.node()].is_none());
        self.bools[term.node()] = Some(lit.xor(term.negated()));
    }

    /// Tells that a variable, not yet blasted, lies within bounds by reasons outside of the terms.
    pub(crate) fn bound(&mut self, term: BvRef, facts: Facts) {
        if self.known_bv(term).is_none() {
            if self.facts.len() <= term.index() {
                self.facts.resize(term.index() + 1, None);
            }
            self.facts[term.index()] = Some(facts);
        }
    }

    /// Says by clauses that two terms are equal whenever `when` holds.
    pub(crate) fn equal_when(&mut self, bank: &Bank, cnf: &mut impl Cnf, when: Lit, a: BvRef, b: BvRef) {
        self.run(bank, cnf, Task::Bv(a));
        self.run(bank, cnf, Task::Bv(b));
        let mut last = None;
        for (&x, &y) in self.bits(a).iter().zip(self.bits(b)) {
            if x != y && last != Some((x, y)) {
                cnf.clause(&[-when, -x, y]);
                cnf.clause(&[-when, x, -y]);
                last = Some((x, y));
            }
        }
    }

    fn bool_lit(&self, term: BoolRef) -> Lit {
        debug_assert!(self.bools[term.node()].is_some());
        self.bools[term.node()].unwrap_or(Lit::TRUE).xor(term.negated())
    }

    fn bits(&self, term: BvRef) -> &[Lit] {
        debug_assert!(self.bvs[term.index()].is_some());
        self.bvs[term.index()].as_deref().unwrap_or(&[])
    }

    fn run(&mut self, bank: &Bank, cnf: &mut impl Cnf, task: Task) {
        self.bools.resize(bank.bools(), None);
        self.bvs.resize_with(bank.bvs(), || None);
        self.facts.resize(bank.bvs(), None);
        let mut stack = vec![task];
        while let Some(ready) = bank.next_ready(&mut stack, |t| self.knows(t)) {
            match ready {
                Task::Bool(t) => self.bools[t.node()] = Some(self.build_bool(bank, cnf, t.positive())),
                Task::Bv(t) => self.bvs[t.index()] = Some(self.build_bv(bank, cnf, t)),
            }
        }
    }

    fn knows(&self, task: Task) -> bool {
        match task {
            Task::Bool(t) => self.bools[t.node()].is_some(),
            Task::Bv(t) => self.bvs[t.index()].is_some(),
        }
    }

    fn build_bool(&mut self, bank: &Bank, cnf: &mut impl Cnf, term: BoolRef) -> Lit {
        match bank.bool_node(term) {
            BoolNode::True => Lit::TRUE,
            BoolNode::Var(_) => cnf.fresh(),
            BoolNode::And(parts) => {
                let parts: Vec<Lit> = parts.iter().map(|&p| self.bool_lit(p)).collect();
                self.gates.and_all(cnf, parts)
            }
            &BoolNode::Ite(c, t, e) => {
                let (c, t, e) = (self.bool_lit(c), self.bool_lit(t), self.bool_lit(e));
                self.gates.ite(cnf, c, t, e)
            }
            &BoolNode::Iff(a, b) => -self.gates.xor(cnf, self.bool_lit(a), self.bool_lit(b)),
            &BoolNode::Eq(a, b) => {
                let pairs: Vec<_> = self.bits(a).iter().copied().zip(self.bits(b).iter().copied()).collect();
                let same: Vec<Lit> = pairs.into_iter().map(|(x, y)| -self.gates.xor(cnf, x, y)).collect();
                self.gates.and_all(cnf, same)
            }
            &BoolNode::Ult(a, b) => {
                let (a, b) = (self.bits(a).to_vec(), self.bits(b).to_vec());
                self.gates.less(cnf, &a, &b)
            }
            &BoolNode::Slt(a, b) => {
                let (mut a, mut b) = (self.bits(a).to_vec(), self.bits(b).to_vec());
                let top = a.len() - 1;
                // The sign weighs the other way round.
                std::mem::swap(&mut a[top], &mut b[top]);
                self.gates.less(cnf, &a, &b)
            }
            &BoolNode::Before(a, b) => cnf.order(a, b),
        }
    }

    fn build_bv(&mut self, bank: &Bank, cnf: &mut impl Cnf, term: BvRef) -> Box<[Lit]> {
        let width = bank.width(term);
        let facts = *self.facts[term.index()].get_or_insert_with(|| Facts::unknown(width));
        let facts = match bank.bv_node(term) {
            BvNode::Var(_) => facts,
            node => {
                let own = |t: BvRef| self.facts[t.index()].unwrap_or_else(|| *bank.facts(t));
                Facts::of(node, width, bank, own)
            }
        };
        self.facts[term.index()] = Some(facts);
        let (count, fill_sign) = match facts.needed() {
            Needed::Unsigned(bits) => (bits as usize, false),
            Needed::Signed(bits) => (bits as usize, true),
        };
        let mut bits = self.low_bits(bank, cnf, term, count);
        bits.truncate(count);
        for (i, bit) in bits.iter_mut().enumerate() {
            if let Some(value) = facts.bit(i as u32) {
                *bit = Lit::constant(value);
            }
        }
        let fill = if fill_sign { bits.last().copied().unwrap_or(Lit::FALSE) } else { Lit::FALSE };
        bits.resize(width as usize, fill);
        bits.into_boxed_slice()
    }

    /// The lowest `count` bits of a term (or more), given those of its operands.
    fn low_bits(&mut self, bank: &Bank, cnf: &mut impl Cnf, term: BvRef, count: usize) -> Vec<Lit> {
        let width = bank.width(term);
        match *bank.bv_node(term) {
            BvNode::Const(value) => (0..count).map(|i| Lit::constant(value >> i & 1 == 1)).collect(),
            BvNode::Var(_) => (0..count).map(|_| cnf.fresh()).collect(),
            BvNode::Sum { constant, ref addends } => {
                let rows: Vec<(Vec<Lit>, i128)> = addends
                    .iter()
                    .map(|&(t, f)| (self.bits(t)[..count].to_vec(), bank.signed_factor(f, width)))
                    .collect();
                self.gates.linear(cnf, constant, &rows, count)
            }
            BvNode::Mul(a, b) => {
                let cells = self.significant(a).min(count) * self.significant(b).min(count);
                if cells <= EAGER_CELLS {
                    let (a, b) = (self.bits(a)[..count].to_vec(), self.bits(b)[..count].to_vec());
                    return self.gates.product(cnf, &a, &b);
                }
                self.defer(cnf, term, count)
            }
            BvNode::Udiv(a, b) | BvNode::Urem(a, b) => {
                let cells = self.significant(a) * self.significant(b);
                if cells <= EAGER_CELLS {
                    return self.division(bank, cnf, term);
                }
                self.defer(cnf, term, count)
            }
            BvNode::Not(a) => self.bits(a)[..count].iter().map(|&l| -l).collect(),
            BvNode::And(a, b) => self.zip(cnf, a, b, count, |g, c, x, y| g.and(c, x, y)),
            BvNode::Or(a, b) => self.zip(cnf, a, b, count, |g, c, x, y| -g.and(c, -x, -y)),
            BvNode::Xor(a, b) => self.zip(cnf, a, b, count, |g, c, x, y| g.xor(c, x, y)),
            BvNode::Shl(a, b) => {
                let (mut a, b) = (self.bits(a).to_vec(), self.bits(b).to_vec());
                a.reverse();
                let mut shifted = self.gates.shift_right(cnf, &a, &b, Lit::FALSE);
                shifted.reverse();
                shifted
            }
            BvNode::Lshr(a, b) => {
                let (a, b) = (self.bits(a).to_vec(), self.bits(b).to_vec());
                self.gates.shift_right(cnf, &a, &b, Lit::FALSE)
            }
            BvNode::Ashr(a, b) => {
                let (a, b) = (self.bits(a).to_vec(), self.bits(b).to_vec());
                let sign = a[a.len() - 1];
                self.gates.shift_right(cnf, &a, &b, sign)
            }
            BvNode::Concat(high, low) => {
                self.bits(low).iter().chain(self.bits(high)).copied().take(count).collect()
            }
            BvNode::Extract(a, _, low) => self.bits(a)[low as usize..].iter().copied().take(count).collect(),
            BvNode::ZeroExtend(a) => {
                let zeros = std::iter::repeat(Lit::FALSE);
                self.bits(a).iter().copied().chain(zeros).take(count).collect()
            }
            BvNode::SignExtend(a) => {
                let bits = self.bits(a);
                let sign = bits.last().copied().unwrap_or(Lit::FALSE);
                bits.iter().copied().chain(std::iter::repeat(sign)).take(count).collect()
            }
            BvNode::Ite(c, t, e) => {
                let c = self.bool_lit(c);
                self.zip(cnf, t, e, count, |g, cnf, x, y| g.ite(cnf, c, x, y))
            }
        }
    }

    fn zip<C: Cnf>(
        &mut self,
        cnf: &mut C,
        a: BvRef,
        b: BvRef,
        count: usize,
        mut gate: impl FnMut(&mut Gates, &mut C, Lit, Lit) -> Lit,
    ) -> Vec<Lit> {
        let pairs: Vec<_> =
            self.bits(a).iter().copied().zip(self.bits(b).iter().copied()).take(count).collect();
        pairs.into_iter().map(|(x, y)| gate(&mut self.gates, cnf, x, y)).collect()
    }

    /// How many low bits of a term are not constant zeros above.
    fn significant(&self, term: BvRef) -> usize {
        self.bits(term).iter().rposition(|&l| l != Lit::FALSE).map_or(0, |i| i + 1)
    }

    fn defer(&mut self, cnf: &mut impl Cnf, term: BvRef, count: usize) -> Vec<Lit> {
        let bits: Vec<Lit> = (0..count).map(|_| cnf.fresh()).collect();
        self.deferred.push(Deferred { term, bits: bits.clone() });
        bits
    }

    fn division(&mut self, bank: &Bank, cnf: &mut impl Cnf, term: BvRef) -> Vec<Lit> {
        let (BvNode::Udiv(a, b) | BvNode::Urem(a, b)) = *bank.bv_node(term) else { return Vec::new() };
        let (x, y) = (self.bits(a).to_vec(), self.bits(b).to_vec());
        let (quotient, remainder) = self.gates.divide(cnf, &x, &y);
        if matches!(bank.bv_node(term), BvNode::Udiv(..)) { quotient } else { remainder }
    }

    /// Compares each deferred result with what it should be under `value`; builds the circuits of those that
    /// are wrong. Returns whether there were any.
    pub(crate) fn repair(&mut self, bank: &Bank, cnf: &mut impl Cnf, value: impl Fn(Lit) -> bool) -> bool {
        let number =
            |bits: &[Lit]| bits.iter().enumerate().fold(0u128, |n, (i, &l)| n | (u128::from(value(l)) << i));
        let mut wrong = Vec::new();
        for (index, deferred) in self.deferred.iter().enumerate() {
            let width = bank.width(deferred.term);
            let (BvNode::Mul(a, b) | BvNode::Udiv(a, b) | BvNode::Urem(a, b)) = *bank.bv_node(deferred.term)
            else {
                continue;
            };
            let (x, y) = (number(self.bits(a)), number(self.bits(b)));
            let should = match bank.bv_node(deferred.term) {
                BvNode::Mul(..) => value::mul(x, y, width),
                BvNode::Udiv(..) => value::udiv(x, y, width),
                _ => value::urem(x, y),
            };
            if number(self.bits(deferred.term)) != should {
                wrong.push(index);
            }
        }
        for &index in wrong.iter().rev() {
            let Deferred { term, bits } = self.deferred.swap_remove(index);
            let circuit = match *bank.bv_node(term) {
                BvNode::Mul(a, b) => {
                    let count = bits.len();
                    let (a, b) = (self.bits(a)[..count].to_vec(), self.bits(b)[..count].to_vec());
                    self.gates.product(cnf, &a, &b)
                }
                _ => self.division(bank, cnf, term),
            };
            // The bits of the term include those that its facts made constant.
            let own: Vec<Lit> = self.bits(term)[..bits.len()].to_vec();
            for (x, y) in own.into_iter().zip(circuit) {
                cnf.clause(&[-x, y]);
                cnf.clause(&[x, -y]);
            }
        }
        !wrong.is_empty()
    }
}
