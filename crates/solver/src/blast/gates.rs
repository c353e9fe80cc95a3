//! Logic gates as clauses, each built once for the same inputs, with constants folded away.

use crate::lit::Lit;
use crate::order::At;
use rustc_hash::FxHashMap;

/// Where clauses go.
pub(crate) trait Cnf {
    /// A new variable.
    fn fresh(&mut self) -> Lit;
    /// Adds a clause.
    fn clause(&mut self, lits: &[Lit]);
    /// The literal that says that the first point is before the second.
    fn order(&mut self, first: At, second: At) -> Lit;
}

#[derive(PartialEq, Eq, Hash, Clone, Copy)]
enum Gate {
    And(Lit, Lit),
    Xor(Lit, Lit),
    Xor3(Lit, Lit, Lit),
    Ite(Lit, Lit, Lit),
    Majority(Lit, Lit, Lit),
}

/// The gates built so far.
#[derive(Default)]
pub(crate) struct Gates {
    built: FxHashMap<Gate, Lit>,
}

impl Gates {
    fn build(&mut self, cnf: &mut impl Cnf, gate: Gate) -> Lit {
        if let Some(&lit) = self.built.get(&gate) {
            return lit;
        }
        let o = cnf.fresh();
        match gate {
            Gate::And(a, b) => {
                cnf.clause(&[-o, a]);
                cnf.clause(&[-o, b]);
                cnf.clause(&[o, -a, -b]);
            }
            Gate::Xor(a, b) => {
                cnf.clause(&[-o, a, b]);
                cnf.clause(&[-o, -a, -b]);
                cnf.clause(&[o, -a, b]);
                cnf.clause(&[o, a, -b]);
            }
            Gate::Xor3(a, b, c) => {
                for signs in 0..8u32 {
                    let s = |i: u32| signs >> i & 1 == 1;
                    let odd = s(0) ^ s(1) ^ s(2);
                    cnf.clause(&[a.xor(s(0)), b.xor(s(1)), c.xor(s(2)), o.xor(!odd)]);
                }
            }
            Gate::Ite(c, t, e) => {
                cnf.clause(&[-c, -t, o]);
                cnf.clause(&[-c, t, -o]);
                cnf.clause(&[c, -e, o]);
                cnf.clause(&[c, e, -o]);
                cnf.clause(&[-t, -e, o]);
                cnf.clause(&[t, e, -o]);
            }
            Gate::Majority(a, b, c) => {
                for (x, y) in [(a, b), (a, c), (b, c)] {
                    cnf.clause(&[-x, -y, o]);
                    cnf.clause(&[x, y, -o]);
                }
            }
        }
        self.built.insert(gate, o);
        o
    }

    pub(crate) fn and(&mut self, cnf: &mut impl Cnf, a: Lit, b: Lit) -> Lit {
        if a == Lit::FALSE || b == Lit::FALSE || a == -b {
            return Lit::FALSE;
        }
        if a == Lit::TRUE || a == b {
            return b;
        }
        if b == Lit::TRUE {
            return a;
        }
        self.build(cnf, Gate::And(a.min(b), a.max(b)))
    }

    pub(crate) fn and_all(&mut self, cnf: &mut impl Cnf, mut parts: Vec<Lit>) -> Lit {
        parts.sort_unstable();
        parts.dedup();
        parts.retain(|&l| l != Lit::TRUE);
        if parts.contains(&Lit::FALSE) || parts.iter().any(|&l| parts.binary_search(&-l).is_ok()) {
            return Lit::FALSE;
        }
        match parts[..] {
            [] => Lit::TRUE,
            [one] => one,
            [a, b] => self.and(cnf, a, b),
            _ => {
                let o = cnf.fresh();
                let mut long: Vec<Lit> = parts.iter().map(|&l| -l).collect();
                long.push(o);
                cnf.clause(&long);
                for l in parts {
                    cnf.clause(&[-o, l]);
                }
                o
            }
        }
    }

    pub(crate) fn xor(&mut self, cnf: &mut impl Cnf, a: Lit, b: Lit) -> Lit {
        if a.is_constant() {
            return b.xor(a == Lit::TRUE);
        }
        if b.is_constant() {
            return a.xor(b == Lit::TRUE);
        }
        let flip = a.is_negative() != b.is_negative();
        let (a, b) = (a.xor(a.is_negative()), b.xor(b.is_negative()));
        if a == b {
            return Lit::constant(flip);
        }
        self.build(cnf, Gate::Xor(a.min(b), a.max(b))).xor(flip)
    }

    pub(crate) fn xor3(&mut self, cnf: &mut impl Cnf, a: Lit, b: Lit, c: Lit) -> Lit {
        let same = |x: Lit, y: Lit| x.var() == y.var();
        if a.is_constant() || b.is_constant() || same(a, b) {
            let ab = self.xor(cnf, a, b);
            return self.xor(cnf, ab, c);
        }
        if c.is_constant() || same(b, c) {
            let bc = self.xor(cnf, b, c);
            return self.xor(cnf, a, bc);
        }
        if same(a, c) {
            let ac = self.xor(cnf, a, c);
            return self.xor(cnf, ac, b);
        }
        let flip = a.is_negative() ^ b.is_negative() ^ c.is_negative();
        let mut all = [a, b, c].map(|l| l.xor(l.is_negative()));
        all.sort_unstable();
        self.build(cnf, Gate::Xor3(all[0], all[1], all[2])).xor(flip)
    }

    pub(crate) fn ite(&mut self, cnf: &mut impl Cnf, c: Lit, t: Lit, e: Lit) -> Lit {
        if c == Lit::TRUE || t == e {
            return t;
        }
        if c == Lit::FALSE {
            return e;
        }
        if t == -e {
            return -self.xor(cnf, c, t);
        }
        if t == Lit::TRUE || t == c {
            return -self.and(cnf, -c, -e);
        }
        if t == Lit::FALSE || t == -c {
            return self.and(cnf, -c, e);
        }
        if e == Lit::TRUE || e == -c {
            return -self.and(cnf, c, -t);
        }
        if e == Lit::FALSE || e == c {
            return self.and(cnf, c, t);
        }
        let (c, t, e) = if c.is_negative() { (-c, e, t) } else { (c, t, e) };
        let flip = t.is_negative();
        self.build(cnf, Gate::Ite(c, t.xor(flip), e.xor(flip))).xor(flip)
    }

    /// At least two of three: the carry of a full adder.
    pub(crate) fn majority(&mut self, cnf: &mut impl Cnf, a: Lit, b: Lit, c: Lit) -> Lit {
        for (x, y, z) in [(a, b, c), (a, c, b), (b, c, a)] {
            if x == y {
                return x;
            }
            if x == -y {
                return z;
            }
        }
        for (x, y, z) in [(a, b, c), (b, a, c), (c, a, b)] {
            if x == Lit::TRUE {
                return -self.and(cnf, -y, -z);
            }
            if x == Lit::FALSE {
                return self.and(cnf, y, z);
            }
        }
        let mut all = [a, b, c];
        all.sort_unstable_by_key(|l| (l.var(), l.is_negative()));
        let flip = all[0].is_negative();
        let all = all.map(|l| l.xor(flip));
        self.build(cnf, Gate::Majority(all[0], all[1], all[2])).xor(flip)
    }
}
