//! What the bit-vector operations mean, on plain integers.
//!
//! A value of width `w` is a `u128` below 2^w. Division and remainder by zero are SMT-LIB's: `x / 0` is all
//! ones, `x % 0` is `x`; shifts by the width or more give zero (or the sign). Where C defines the result, it
//! is the same.

/// All ones of a width.
pub(crate) fn mask(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1u128 << width) - 1 }
}

/// The value as a signed number.
pub(crate) fn signed(value: u128, width: u32) -> i128 {
    let unused = 128 - width;
    ((value << unused) as i128) >> unused
}

/// A signed number, wrapped to the width.
pub(crate) fn wrap(value: i128, width: u32) -> u128 {
    value as u128 & mask(width)
}

pub(crate) fn add(a: u128, b: u128, width: u32) -> u128 {
    a.wrapping_add(b) & mask(width)
}

pub(crate) fn neg(a: u128, width: u32) -> u128 {
    a.wrapping_neg() & mask(width)
}

pub(crate) fn mul(a: u128, b: u128, width: u32) -> u128 {
    a.wrapping_mul(b) & mask(width)
}

pub(crate) fn udiv(a: u128, b: u128, width: u32) -> u128 {
    a.checked_div(b).unwrap_or(mask(width))
}

pub(crate) fn urem(a: u128, b: u128) -> u128 {
    a.checked_rem(b).unwrap_or(a)
}

pub(crate) fn shl(a: u128, b: u128, width: u32) -> u128 {
    if b >= u128::from(width) { 0 } else { (a << b) & mask(width) }
}

pub(crate) fn lshr(a: u128, b: u128, width: u32) -> u128 {
    if b >= u128::from(width) { 0 } else { a >> b }
}

pub(crate) fn ashr(a: u128, b: u128, width: u32) -> u128 {
    let by = b.min(u128::from(width - 1)) as u32;
    wrap(signed(a, width) >> by, width)
}

pub(crate) fn extract(a: u128, high: u32, low: u32) -> u128 {
    (a >> low) & mask(high - low + 1)
}

/// The number x with `odd * x = 1` at any width up to 128 (Newton's iteration).
pub(crate) fn inverse(odd: u128) -> u128 {
    let mut x = odd;
    for _ in 0..7 {
        x = x.wrapping_mul(2u128.wrapping_sub(odd.wrapping_mul(x)));
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_of_each_odd_number_multiplies_to_one() {
        for odd in (1..2000u128).step_by(2).chain([u128::MAX, u128::MAX - 2]) {
            assert_eq!(odd.wrapping_mul(inverse(odd)), 1);
        }
    }

    #[test]
    fn signed_and_wrap_are_inverse() {
        assert_eq!(signed(0xff, 8), -1);
        assert_eq!(wrap(-1, 8), 0xff);
        assert_eq!(signed(1 << 127, 128), i128::MIN);
        assert_eq!(ashr(0x80, 3, 8), 0xf0);
        assert_eq!(ashr(0x80, 100, 8), 0xff);
    }
}
