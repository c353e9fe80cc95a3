//! Bounds that flow with a value.
//!
//! With bits alone, "at least 5" says nothing about where a value came from until it is known to the last bit. So
//! values that flow through memory get literals for a few thresholds besides their bits, and equality says that they
//! agree on these too (the order encoding of constraint solvers, beside the logarithmic one). A constant that was added
//! only moves the threshold: `x + 1 ≥ 5` is the literal of `x ≥ 4`.

use super::{Blaster, Cnf};
use crate::lit::Lit;
use crate::terms::facts::Facts;
use crate::terms::value::{signed, wrap};
use crate::terms::walk::Task;
use crate::terms::{Bank, BvNode, BvRef};

impl Blaster {
    /// Says by clauses that two terms agree on being at least each threshold, whenever `when` holds.
    pub(crate) fn same_bounds_when(
        &mut self,
        bank: &Bank,
        cnf: &mut impl Cnf,
        when: Lit,
        [a, b]: [BvRef; 2],
        thresholds: &[i128],
    ) {
        for &threshold in thresholds {
            let x = self.at_least(bank, cnf, a, threshold);
            let y = self.at_least(bank, cnf, b, threshold);
            if x != y {
                cnf.clause(&[-when, -x, y]);
                cnf.clause(&[-when, x, -y]);
            }
        }
    }

    /// The literal "this term, as a signed number, is at least that much".
    fn at_least(&mut self, bank: &Bank, cnf: &mut impl Cnf, term: BvRef, threshold: i128) -> Lit {
        self.run(bank, cnf, Task::Bv(term));
        let (low, high) = self.own_facts(bank, term).signed_range();
        if threshold <= low {
            return Lit::TRUE;
        }
        if threshold > high {
            return Lit::FALSE;
        }
        let width = bank.width(term);
        if let BvNode::Sum { constant, addends } = bank.bv_node(term)
            && let [(part, 1)] = addends[..]
        {
            let (part_low, part_high) = self.own_facts(bank, part).signed_range();
            let by = signed(*constant, width);
            // Only if the sum does not wrap.
            if part_low.checked_add(by) == Some(low) && part_high.checked_add(by) == Some(high) {
                return self.at_least(bank, cnf, part, threshold - by);
            }
        }
        // The sign weighs the other way round.
        let (mut value, threshold) = (self.bits(term).to_vec(), wrap(threshold, width));
        let mut limit: Vec<Lit> = (0..width).map(|i| Lit::constant(threshold >> i & 1 == 1)).collect();
        let top = width as usize - 1;
        std::mem::swap(&mut value[top], &mut limit[top]);
        -self.gates.less(cnf, &value, &limit)
    }

    fn own_facts(&self, bank: &Bank, term: BvRef) -> Facts {
        self.facts[term.index()].unwrap_or_else(|| *bank.facts(term))
    }
}
