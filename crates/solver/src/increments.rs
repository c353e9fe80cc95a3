//! A read that sees a high count has enough increments before it.
//!
//! A value that flows through memory passes each write at most once ([`crate::ranges`]). So in a group of locations
//! whose values start at no more than `s`, a read of `k` or more must have writes before it that add up to at least
//! `k - s`; the same downwards. Search alone finds that out chain by chain, one for each order of the increments:
//! it is the pigeonhole principle. Said once for each comparison of a read with a constant, as a counter over "this
//! write is before the read", it is found by propagation:
//!
//! ```text
//!   x starts at 0 and is written by four increments;     r ≥ 3  ⟹  at most 1 of  r ─▶ w1, r ─▶ w2, r ─▶ w3, r ─▶ w4
//!   r reads x
//! ```

use crate::lit::Lit;
use crate::order::At;
use crate::solver::Solver;
use crate::terms::value::signed;
use crate::terms::{Bank, BoolNode, BoolRef, BvRef};
use rustc_hash::FxHashMap;

/// At most so many thresholds get literals.
const MAX_THRESHOLDS: usize = 12;

/// Counters larger than this (writes times how many may be late) say too little for what they cost.
const MAX_CELLS: usize = 400;

/// Locations that values flow around between.
#[derive(Default)]
pub(crate) struct Group {
    /// What values can be before any step, absent reads (zero) included.
    start: (i128, i128),
    /// Writes that add a constant to what was read before, in this group.
    steps: Vec<(At, i128)>,
    /// What its reads are compared with.
    compared: Option<(i128, i128)>,
}

impl Group {
    pub(crate) fn start(&mut self, low: i128, high: i128) {
        self.start = (self.start.0.min(low), self.start.1.max(high));
    }

    pub(crate) fn step(&mut self, at: At, by: i128) {
        if by != 0 {
            self.steps.push((at, by));
        }
    }

    /// Bounds of all values: each step is taken at most once.
    pub(crate) fn range(&self) -> (i128, i128) {
        let down = self.steps.iter().fold(0i128, |sum, s| sum.saturating_add(s.1.min(0)));
        let up = self.steps.iter().fold(0i128, |sum, s| sum.saturating_add(s.1.max(0)));
        (self.start.0.saturating_add(down), self.start.1.saturating_add(up))
    }
}

/// What is known of the flow of values, and how far the comparisons of the bank have been looked at.
#[derive(Default)]
pub(crate) struct Increments {
    groups: Vec<Group>,
    reads: FxHashMap<BvRef, (At, usize)>,
    seen: usize,
    /// Comparisons of reads that no clause mentions so far.
    idle: Vec<BoolRef>,
}

impl Increments {
    /// Adds groups; returns the number of the first.
    pub(crate) fn add(&mut self, groups: Vec<Group>) -> usize {
        let first = self.groups.len();
        self.groups.extend(groups);
        first
    }

    pub(crate) fn group(&self, index: usize) -> &Group {
        &self.groups[index]
    }

    /// Bounds of this value that matter: all between the smallest and the largest that reads of its group are compared with
    /// (a chain of increments goes through all of them).
    pub(crate) fn thresholds(&self, value: BvRef) -> Vec<i128> {
        let compared = self.reads.get(&value).and_then(|&(_, group)| self.groups[group].compared);
        let range = compared.map_or(0..0, |(low, high)| low..high.saturating_add(1));
        range.take(MAX_THRESHOLDS).collect()
    }

    /// A read whose values stay in the range of its group without wrapping.
    pub(crate) fn read(&mut self, value: BvRef, at: At, group: usize) {
        self.reads.insert(value, (at, group));
    }
}

/// "The literal implies that the value is at least (or at most) this much."
struct Claim {
    when: BoolRef,
    bound: i128,
    upwards: bool,
}

impl Increments {
    /// What follows from either answer to a comparison with a constant, if it is about a read.
    fn claims(&self, bank: &Bank, term: BoolRef) -> Option<(At, usize, [Claim; 2])> {
        let number = |t: BvRef| bank.constant(t).map(|c| signed(c, bank.width(t)));
        let (value, least, most) = match *bank.bool_node(term) {
            BoolNode::Eq(a, b) => {
                let (value, k) = number(b).map(|k| (a, k)).or(number(a).map(|k| (b, k)))?;
                (value, (term, k), (term, k))
            }
            // Constants are on the right; nothing is compared with the smallest number.
            BoolNode::Slt(a, b) | BoolNode::Ult(a, b) => {
                number(b).map(|k| (a, (!term, k), (term, k.saturating_sub(1))))?
            }
            _ => return None,
        };
        let &(at, group) = self.reads.get(&value)?;
        // Numbers without a sign are only meant where they are the same with one.
        if matches!(bank.bool_node(term), BoolNode::Ult(..))
            && (self.groups[group].range().0 < 0 || least.1 < 0)
        {
            return None;
        }
        let least = Claim { when: least.0, bound: least.1, upwards: true };
        let most = Claim { when: most.0, bound: most.1, upwards: false };
        Some((at, group, [least, most]))
    }
}

impl Solver {
    /// Looks for comparisons of reads among the terms that are new.
    pub(crate) fn find_comparisons(&mut self) {
        let increments = &mut self.encoded.increments;
        for node in increments.seen..self.bank.bools() {
            let term = BoolRef::of_node(node);
            let Some((_, group, claims)) = increments.claims(&self.bank, term) else { continue };
            increments.idle.push(term);
            for claim in claims {
                let threshold = claim.bound.saturating_add(i128::from(!claim.upwards));
                let compared = &mut increments.groups[group].compared;
                let (low, high) = compared.unwrap_or((threshold, threshold));
                *compared = Some((low.min(threshold), high.max(threshold)));
            }
        }
        increments.seen = self.bank.bools();
    }

    /// Adds what follows from the comparisons that clauses have begun to mention.
    pub(crate) fn encode_increments(&mut self) {
        self.find_comparisons();
        for term in std::mem::take(&mut self.encoded.increments.idle) {
            if self.blaster.known_bool(term).is_none() {
                self.encoded.increments.idle.push(term);
            } else if let Some((read, group, claims)) = self.encoded.increments.claims(&self.bank, term) {
                claims.iter().for_each(|claim| self.encode_claim(read, group, claim));
            }
        }
    }

    fn encode_claim(&mut self, read: At, group: usize, claim: &Claim) {
        let Group { start, ref steps, .. } = self.encoded.increments.groups[group];
        let (sign, needed) = if claim.upwards {
            (1, claim.bound.checked_sub(start.1))
        } else {
            (-1, start.0.checked_sub(claim.bound))
        };
        let Some(needed) = needed.filter(|&n| n > 0) else { return };
        // What the steps that can be before the read add up to beyond what is needed: so much of them may be late.
        let (mut spare, mut open) = (-needed, Vec::new());
        for &(at, by) in steps {
            let by = by.saturating_mul(sign);
            if by > 0 && !self.fixed.reaches(read, at) {
                spare = spare.saturating_add(by);
                if !self.fixed.before(at, read) {
                    open.push((at, by));
                }
            }
        }
        if spare < 0 {
            self.encode_assertion(!claim.when, Lit::TRUE);
            return;
        }
        // Counted in what all of them are multiples of; one that weighs more than may be late weighs just that.
        let unit = open.iter().fold(0, |unit, s| greatest_common_divisor(unit, s.1)).max(1);
        let Ok(spare) = usize::try_from(spare / unit) else { return };
        let weight = |by: i128| usize::try_from(by / unit).unwrap_or(usize::MAX).min(spare.saturating_add(1));
        let count = open.iter().fold(0usize, |sum, s| sum.saturating_add(weight(s.1)));
        if count <= spare || spare.saturating_add(1).saturating_mul(count) > MAX_CELLS {
            return;
        }
        let mut late = Vec::with_capacity(count);
        for &(at, by) in &open {
            let after = !self.before_term(at, read);
            late.extend(std::iter::repeat_n(after, weight(by)));
        }
        let enough = self.bank.at_most(spare, &late);
        let implied = self.bank.or([!claim.when, enough]);
        self.encode_assertion(implied, Lit::TRUE);
    }
}

fn greatest_common_divisor(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
