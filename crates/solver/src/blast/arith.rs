//! Circuits of arithmetic: comparison, sums, products, quotients, shifts.

use super::gates::{Cnf, Gates};
use crate::lit::Lit;

impl Gates {
    /// Unsigned `a < b`, from the lowest bit up. Repeated pairs (copies of a sign) change nothing.
    pub(crate) fn less(&mut self, cnf: &mut impl Cnf, a: &[Lit], b: &[Lit]) -> Lit {
        let mut less = Lit::FALSE;
        let mut last = None;
        for (&x, &y) in a.iter().zip(b) {
            if last != Some((x, y)) {
                less = self.majority(cnf, -x, y, less);
                last = Some((x, y));
            }
        }
        less
    }

    fn add(&mut self, cnf: &mut impl Cnf, a: &[Lit], b: &[Lit], mut carry: Lit) -> Vec<Lit> {
        let mut sum = Vec::with_capacity(a.len());
        for (&x, &y) in a.iter().zip(b) {
            sum.push(self.xor3(cnf, x, y, carry));
            carry = self.majority(cnf, x, y, carry);
        }
        sum
    }

    /// Adds all rows: three at a time to two without carry chains, then one chain.
    fn add_rows(&mut self, cnf: &mut impl Cnf, mut rows: Vec<Vec<Lit>>, count: usize) -> Vec<Lit> {
        while rows.len() > 2 {
            let mut next = Vec::with_capacity(rows.len() * 2 / 3 + 2);
            for group in rows.chunks(3) {
                let [a, b, c] = group else {
                    next.extend(group.iter().cloned());
                    continue;
                };
                let (mut sums, mut carries) = (Vec::with_capacity(count), vec![Lit::FALSE]);
                for i in 0..count {
                    sums.push(self.xor3(cnf, a[i], b[i], c[i]));
                    carries.push(self.majority(cnf, a[i], b[i], c[i]));
                }
                carries.truncate(count);
                next.push(sums);
                next.push(carries);
            }
            rows = next;
        }
        match &rows[..] {
            [] => vec![Lit::FALSE; count],
            [one] => one.clone(),
            [a, b, ..] => self.add(cnf, a, b, Lit::FALSE),
        }
    }

    /// `constant + Σ factor × row`, modulo 2^count. Factors are written with digits -1, 0, 1 so that few rows
    /// arise; a row that is subtracted is complemented, and its missing one goes to the constant.
    pub(crate) fn linear(
        &mut self,
        cnf: &mut impl Cnf,
        constant: u128,
        addends: &[(Vec<Lit>, i128)],
        count: usize,
    ) -> Vec<Lit> {
        let mut constant = constant;
        let mut rows = Vec::new();
        for (bits, factor) in addends {
            let mut factor = *factor;
            let mut shift = 0;
            while factor != 0 && shift < count {
                let digit = if factor & 1 == 0 { 0 } else { 2 - (factor & 3) };
                if digit != 0 {
                    let minus = digit < 0;
                    let mut row = vec![Lit::constant(minus); shift];
                    row.extend(bits[..count - shift].iter().map(|&l| l.xor(minus)));
                    rows.push(row);
                    constant = constant.wrapping_add(u128::from(minus));
                }
                factor = (factor >> 1) + i128::from(digit < 0);
                shift += 1;
            }
        }
        let constant_row: Vec<Lit> =
            (0..count).map(|i| Lit::constant(i < 128 && constant >> i & 1 == 1)).collect();
        if constant_row.contains(&Lit::TRUE) {
            rows.push(constant_row);
        }
        self.add_rows(cnf, rows, count)
    }

    /// The product modulo 2^len.
    pub(crate) fn product(&mut self, cnf: &mut impl Cnf, a: &[Lit], b: &[Lit]) -> Vec<Lit> {
        let count = a.len();
        let constants = |bits: &[Lit]| bits.iter().filter(|l| **l == Lit::FALSE).count();
        let (a, b) = if constants(b) >= constants(a) { (a, b) } else { (b, a) };
        let mut rows = Vec::new();
        for (shift, &bit) in b.iter().enumerate() {
            if bit != Lit::FALSE {
                let mut row = vec![Lit::FALSE; shift];
                row.extend(a[..count - shift].iter().map(|&l| self.and(cnf, l, bit)));
                rows.push(row);
            }
        }
        self.add_rows(cnf, rows, count)
    }

    /// Quotient and remainder by long division; by zero they come out as all ones and the dividend.
    pub(crate) fn divide(&mut self, cnf: &mut impl Cnf, a: &[Lit], b: &[Lit]) -> (Vec<Lit>, Vec<Lit>) {
        let count = a.len();
        let mut quotient = vec![Lit::FALSE; count];
        // One bit more than the operands, for the bit that is shifted in.
        let mut divisor = b.to_vec();
        divisor.push(Lit::FALSE);
        let mut remainder = vec![Lit::FALSE; count + 1];
        for i in (0..count).rev() {
            remainder.pop();
            remainder.insert(0, a[i]);
            let less = self.less(cnf, &remainder, &divisor);
            let negated: Vec<Lit> = divisor.iter().map(|&l| -l).collect();
            let difference = self.add(cnf, &remainder, &negated, Lit::TRUE);
            quotient[i] = -less;
            remainder =
                remainder.iter().zip(difference).map(|(&old, new)| self.ite(cnf, less, old, new)).collect();
        }
        remainder.truncate(count);
        (quotient, remainder)
    }

    /// Shifts towards the lowest bit by the number `by`, filling with `fill`.
    pub(crate) fn shift_right(&mut self, cnf: &mut impl Cnf, a: &[Lit], by: &[Lit], fill: Lit) -> Vec<Lit> {
        let count = a.len();
        let mut bits = a.to_vec();
        let mut far = Vec::new();
        for (stage, &bit) in by.iter().enumerate() {
            if stage < usize::BITS as usize - 1 && 1usize << stage < count {
                let step = 1usize << stage;
                bits = (0..count)
                    .map(|i| {
                        let moved = bits.get(i + step).copied().unwrap_or(fill);
                        self.ite(cnf, bit, moved, bits[i])
                    })
                    .collect();
            } else {
                far.push(-bit);
            }
        }
        let near = self.and_all(cnf, far);
        bits.into_iter().map(|l| self.ite(cnf, near, l, fill)).collect()
    }
}
