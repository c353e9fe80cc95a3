//! Each bit-vector operation equals plain integer arithmetic: every pair of operands at widths 1 to 6, random
//! ones at 8 to 64, and products at 128. Each is decided by circuits (variables fixed by assertions), with rewriting
//! seen by the constant operands of the second half.

// Failing by `unwrap` is what a test does.
#![allow(clippy::unwrap_used)]

use crate::support::rng::Rng;
use solver::{Answer, Bool, Bv, Result, Solver};

const OPS: [&str; 22] = [
    "add", "sub", "mul", "udiv", "urem", "sdiv", "srem", "and", "or", "xor", "shl", "lshr", "ashr", "neg",
    "not", "eq", "ult", "ule", "slt", "sle", "zext", "sext",
];

fn mask(width: u32) -> u128 {
    if width == 128 { u128::MAX } else { (1 << width) - 1 }
}

fn signed(a: u128, width: u32) -> i128 {
    let sign = a >> (width - 1) & 1 == 1;
    if sign { (a | !mask(width)) as i128 } else { a as i128 }
}

/// The expected result, written down independently of the crate.
fn plain(op: &str, a: u128, b: u128, w: u32) -> u128 {
    let (x, y) = (signed(a, w), signed(b, w));
    let truth = u128::from;
    let result = match op {
        "add" => a.wrapping_add(b),
        "sub" => a.wrapping_sub(b),
        "mul" => a.wrapping_mul(b),
        "udiv" => a.checked_div(b).unwrap_or(mask(w)),
        "urem" => a.checked_rem(b).unwrap_or(a),
        "sdiv" => match y {
            0 => {
                if x < 0 {
                    1
                } else {
                    mask(w)
                }
            }
            _ => x.wrapping_div(y) as u128,
        },
        "srem" => match y {
            0 => a,
            _ => x.wrapping_rem(y) as u128,
        },
        "and" => a & b,
        "or" => a | b,
        "xor" => a ^ b,
        "shl" => {
            if b >= u128::from(w) {
                0
            } else {
                a << b
            }
        }
        "lshr" => {
            if b >= u128::from(w) {
                0
            } else {
                a >> b
            }
        }
        "ashr" => (x >> b.min(127)) as u128,
        "neg" => a.wrapping_neg(),
        "not" => !a,
        "eq" => truth(a == b),
        "ult" => truth(a < b),
        "ule" => truth(a <= b),
        "slt" => truth(x < y),
        "sle" => truth(x <= y),
        "zext" => a,
        "sext" => x as u128,
        _ => unreachable!(),
    };
    match op {
        "eq" | "ult" | "ule" | "slt" | "sle" => result,
        "zext" | "sext" => result & mask((w + 3).min(128)),
        _ => result & mask(w),
    }
}

fn apply(s: &mut Solver, op: &str, a: Bv, b: Bv) -> Result<Bv> {
    let as_word = |s: &mut Solver, b: Bool| {
        let (one, zero) = (s.bv_const(1, 1)?, s.bv_const(0, 1)?);
        s.bv_ite(b, one, zero)
    };
    let wide = (a.width() + 3).min(128);
    let comparison = match op {
        "add" => return s.bv_add(a, b),
        "sub" => return s.bv_sub(a, b),
        "mul" => return s.bv_mul(a, b),
        "udiv" => return s.bv_udiv(a, b),
        "urem" => return s.bv_urem(a, b),
        "sdiv" => return s.bv_sdiv(a, b),
        "srem" => return s.bv_srem(a, b),
        "and" => return s.bv_and(a, b),
        "or" => return s.bv_or(a, b),
        "xor" => return s.bv_xor(a, b),
        "shl" => return s.bv_shl(a, b),
        "lshr" => return s.bv_lshr(a, b),
        "ashr" => return s.bv_ashr(a, b),
        "neg" => return s.bv_neg(a),
        "not" => return s.bv_not(a),
        "zext" => return s.bv_zero_extend(a, wide),
        "sext" => return s.bv_sign_extend(a, wide),
        "eq" => s.bv_eq(a, b)?,
        "ult" => s.bv_ult(a, b)?,
        "ule" => s.bv_ule(a, b)?,
        "slt" => s.bv_slt(a, b)?,
        _ => s.bv_sle(a, b)?,
    };
    as_word(s, comparison)
}

/// One solver per width: variables a and b, all results; each pair of values is a query by assumptions.
struct Bench {
    solver: Solver,
    a: Bv,
    b: Bv,
    results: Vec<Bv>,
    differs: Vec<Bool>,
}

impl Bench {
    fn new(width: u32) -> Result<Bench> {
        let mut solver = Solver::new();
        let (a, b) = (solver.bv_var(width)?, solver.bv_var(width)?);
        let results = OPS.iter().map(|op| apply(&mut solver, op, a, b)).collect::<Result<Vec<_>>>()?;
        Ok(Bench { solver, a, b, results, differs: Vec::new() })
    }

    fn check(&mut self, x: u128, y: u128) -> Result<()> {
        let s = &mut self.solver;
        let w = self.a.width();
        let (cx, cy) = (s.bv_const(x, w)?, s.bv_const(y, w)?);
        let mut assumptions = vec![s.bv_eq(self.a, cx)?, s.bv_eq(self.b, cy)?];
        self.differs.clear();
        let mut turned = Vec::new();
        for (op, &result) in OPS.iter().zip(&self.results) {
            let expected = plain(op, x, y, w);
            let constant = s.bv_const(expected, result.width())?;
            let equal = s.bv_eq(result, constant)?;
            self.differs.push(s.not(equal)?);
            // With constant operands it is rewriting alone that gives the result.
            let folded = apply(s, op, cx, cy)?;
            assert_eq!(folded, constant, "{op} of the constants {x} and {y} at width {w}");
            // With one constant, comparisons are turned around and solved.
            if ["eq", "ult", "ule", "slt", "sle"].contains(op) {
                for (left, right) in [(cx, self.b), (self.a, cy)] {
                    let half = apply(s, op, left, right)?;
                    let equal = s.bv_eq(half, constant)?;
                    turned.push(s.not(equal)?);
                }
            }
        }
        let any = s.or(&[&self.differs[..], &turned].concat())?;
        assumptions.push(any);
        if s.solve(&assumptions)? == Answer::Sat {
            let model = s.model().unwrap();
            for (op, (&differs, &result)) in OPS.iter().zip(self.differs.iter().zip(&self.results)) {
                assert!(!model.holds(differs)?, "{op} of {x} and {y} at width {w}: {}", model.value(result)?);
            }
            panic!("a comparison with one constant of {x} and {y} at width {w} is wrong");
        }
        Ok(())
    }
}

#[test]
fn all_operands_at_widths_1_to_6() -> Result<()> {
    for width in 1..=6 {
        let mut bench = Bench::new(width)?;
        for x in 0..1u128 << width {
            for y in 0..1u128 << width {
                bench.check(x, y)?;
            }
        }
    }
    Ok(())
}

#[test]
fn random_operands_at_widths_8_to_128() -> Result<()> {
    let mut rng = Rng::new(5);
    for width in [8, 13, 16, 31, 32, 64, 128] {
        let mut bench = Bench::new(width)?;
        for _ in 0..if width > 64 { 6 } else { 25 } {
            let mut number = || {
                let full = u128::from(rng.next()) << 64 | u128::from(rng.next());
                // Small numbers, powers of two and their neighbours are more telling than random ones.
                match rng.below(4) {
                    0 => full & mask(width),
                    1 => full & 15,
                    2 => (1u128 << rng.below(width as usize)).wrapping_sub(full & 1) & mask(width),
                    _ => (full & 7).wrapping_neg() & mask(width),
                }
            };
            let (x, y) = (number(), number());
            bench.check(x, y)?;
        }
    }
    Ok(())
}

#[test]
fn concatenation_and_extraction_are_inverse() -> Result<()> {
    let mut s = Solver::new();
    let (a, b) = (s.bv_var(5)?, s.bv_var(3)?);
    let both = s.bv_concat(a, b)?;
    let (high, low) = (s.bv_extract(both, 7, 3)?, s.bv_extract(both, 2, 0)?);
    assert_eq!((high, low), (a, b));
    let middle = s.bv_extract(both, 4, 1)?;
    let nine = s.bv_const(9, 4)?;
    let is_nine = s.bv_eq(middle, nine)?;
    s.assert(is_nine)?;
    assert_eq!(s.solve(&[])?, Answer::Sat);
    let model = s.model().unwrap();
    assert_eq!(model.value(both)? >> 1 & 15, 9);
    Ok(())
}

#[test]
fn linear_forms_decide_equations_without_search() -> Result<()> {
    let mut s = Solver::new();
    let (x, y) = (s.bv_var(32)?, s.bv_var(32)?);
    let (one, three) = (s.bv_const(1, 32)?, s.bv_const(3, 32)?);
    let sum = s.bv_add(x, y)?;
    let back = s.bv_sub(sum, y)?;
    assert_eq!(back, x);
    let next = s.bv_add(x, one)?;
    assert_eq!(s.bv_eq(next, x)?, s.bool_const(false));
    // 3x = 1 has exactly one solution modulo 2^32.
    let triple = s.bv_mul(x, three)?;
    let equation = s.bv_eq(triple, one)?;
    let root = s.bv_const(0xaaaa_aaab, 32)?;
    assert_eq!(equation, s.bv_eq(x, root)?);
    Ok(())
}

#[test]
fn factoring_needs_the_multiplier_and_finds_the_factors() -> Result<()> {
    let mut s = Solver::new();
    let (x, y) = (s.bv_var(64)?, s.bv_var(64)?);
    let limit = s.bv_const(1 << 12, 64)?;
    let one = s.bv_const(1, 64)?;
    for v in [x, y] {
        let (small, large) = (s.bv_ult(v, limit)?, s.bv_ult(one, v)?);
        s.assert(small)?;
        s.assert(large)?;
    }
    let product = s.bv_mul(x, y)?;
    let number = s.bv_const(3_599 * 61, 64)?;
    let equal = s.bv_eq(product, number)?;
    s.assert(equal)?;
    assert_eq!(s.solve(&[])?, Answer::Sat);
    let model = s.model().unwrap();
    assert_eq!(model.value(x)? * model.value(y)?, 3_599 * 61);
    assert!(s.statistics().repairs > 0, "the multiplier is deferred at first");
    Ok(())
}

#[test]
fn c_says_where_division_and_shifts_are_defined() -> Result<()> {
    let mut s = Solver::new();
    let (least, minus, zero, two) =
        (s.bv_const(0x80, 8)?, s.bv_const(0xff, 8)?, s.bv_const(0, 8)?, s.bv_const(2, 8)?);
    let (yes, no) = (s.bool_const(true), s.bool_const(false));
    assert_eq!(s.division_is_defined(two, zero, false)?, no);
    assert_eq!(s.division_is_defined(least, minus, false)?, yes);
    assert_eq!(s.division_is_defined(least, minus, true)?, no);
    assert_eq!(s.division_is_defined(two, minus, true)?, yes);
    assert_eq!(s.shift_is_defined(two)?, yes);
    assert_eq!(s.shift_is_defined(least)?, no);
    Ok(())
}
