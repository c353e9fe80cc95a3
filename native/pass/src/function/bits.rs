//! Counting and moving bits, by the well-known sequences of masks and shifts (Warren, *Hacker's Delight*, ch. 5 and 7).
//! The IR's shifts by the width give 0, so that the borders need no care.

use super::Body;
use ir::{BinaryOp, CastKind, Op, Operand, Type, Width};

/// A pattern of `bits` bits: blocks of `half` ones below blocks of `half` zeros.
fn low_halves(width: Width, half: u32) -> Operand {
    let block = (1u128 << half) - 1;
    let mut bits = 0;
    for at in (0..width.bits()).step_by(2 * half as usize) {
        bits |= block << at;
    }
    Operand::Const { width, bits: bits & width.mask() }
}

impl Body<'_> {
    /// Swaps each block of `half` bits with its neighbour.
    fn swap_halves(&mut self, value: Operand, width: Width, half: u32) -> Operand {
        let (mask, by) = (low_halves(width, half), Operand::int(width, half.into()));
        let high = self.binary(BinaryOp::Lshr, value, by);
        let high = self.binary(BinaryOp::And, high, mask);
        let low = self.binary(BinaryOp::And, value, mask);
        let low = self.binary(BinaryOp::Shl, low, by);
        self.binary(BinaryOp::Or, high, low)
    }

    /// Widths of whole bytes that are powers of two; `None` for the others.
    pub(super) fn byte_swap(&mut self, value: Operand, width: Width) -> Option<Operand> {
        let usual = width.bits().is_power_of_two() && width.bits() >= 16;
        usual.then(|| {
            let halves = (3..7).map(|n| 1 << n).take_while(|&half| half < width.bits());
            halves.fold(value, |value, half| self.swap_halves(value, width, half))
        })
    }

    /// Widths that are powers of two; `None` for the others.
    pub(super) fn bit_reverse(&mut self, value: Operand, width: Width) -> Option<Operand> {
        width.bits().is_power_of_two().then(|| {
            let halves = (0..7).map(|n| 1 << n).take_while(|&half| half < width.bits());
            halves.fold(value, |value, half| self.swap_halves(value, width, half))
        })
    }

    /// The number of ones. Neighbouring counts are added; they fit, because each block is wide enough for its count.
    pub(super) fn population(&mut self, value: Operand, width: Width) -> Option<Operand> {
        if width == Width::W1 {
            return Some(value);
        }
        // Odd widths are counted in the next power of two: a count of n bits fits into n bits for n > 1.
        let wide = Width::new(u8::try_from(width.bits().next_power_of_two()).ok()?)?;
        let mut count = match wide == width {
            true => value,
            false => self.emit(Type::Int(wide), Op::Cast { kind: CastKind::Zext, value }),
        };
        for half in (0..7).map(|n| 1 << n).take_while(|&half| half < wide.bits()) {
            let (mask, by) = (low_halves(wide, half), Operand::int(wide, half.into()));
            let low = self.binary(BinaryOp::And, count, mask);
            let high = self.binary(BinaryOp::Lshr, count, by);
            let high = self.binary(BinaryOp::And, high, mask);
            count = self.binary(BinaryOp::Add, low, high);
        }
        Some(match wide == width {
            true => count,
            false => self.emit(Type::Int(width), Op::Cast { kind: CastKind::Trunc, value: count }),
        })
    }

    /// The ones of `!x & (x - 1)` are the zeros behind the last one; all bits if there is none.
    pub(super) fn trailing_zeros(&mut self, value: Operand, width: Width) -> Option<Operand> {
        let inverted = self.binary(BinaryOp::Xor, value, Operand::int(width, -1));
        let below = self.binary(BinaryOp::Sub, value, Operand::int(width, 1));
        let zeros = self.binary(BinaryOp::And, inverted, below);
        self.population(zeros, width)
    }

    /// Copies the first one into all places behind it; the zeros that stay are those before it.
    pub(super) fn leading_zeros(&mut self, value: Operand, width: Width) -> Option<Operand> {
        let mut filled = value;
        for by in (0..7).map(|n| 1 << n).take_while(|&by| by < width.bits()) {
            let shifted = self.binary(BinaryOp::Lshr, filled, Operand::int(width, by.into()));
            filled = self.binary(BinaryOp::Or, filled, shifted);
        }
        let zeros = self.binary(BinaryOp::Xor, filled, Operand::int(width, -1));
        self.population(zeros, width)
    }

    /// A shift over two words; by rotating if both are one.
    pub(super) fn funnel(&mut self, left: bool, high: Operand, low: Operand, by: Operand) -> Operand {
        let Type::Int(width) = self.type_of(&high) else { return Operand::Unknown(self.type_of(&high)) };
        let bits = Operand::int(width, width.bits().into());
        let by = self.binary(BinaryOp::URem, by, bits);
        let rest = self.binary(BinaryOp::Sub, bits, by);
        let (of_high, of_low) = if left { (by, rest) } else { (rest, by) };
        let high = self.binary(BinaryOp::Shl, high, of_high);
        let low = self.binary(BinaryOp::Lshr, low, of_low);
        self.binary(BinaryOp::Or, high, low)
    }
}
