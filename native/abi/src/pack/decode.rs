//! Unpacking units. Nothing is believed: a program that writes through a wild pointer may have written into its log.

use super::neighbour::Unpacking;
use super::{
    AS_EXPECTED, Known, MOST_UNITS, NEIGHBOURS, NEW_PERIOD, NOTHING, PACKED, WHOLE, expected, unzigzag,
};
use crate::unit::{SITE_BITS, Unit};
use alloc::vec::Vec;

/// Unpacks a piece of `count` units into `units`, which is emptied before. `None` if the bytes are not what [`super::Packer`] makes.
/// `known` has seen all pieces before.
pub fn unpack(known: &mut Known, bytes: &[u8], count: usize, units: &mut Vec<Unit>) -> Option<()> {
    units.clear();
    if count > MOST_UNITS {
        return None;
    }
    let mut unpacking = Periods { known, units, differences: Vec::with_capacity(count), period: 0 };
    let mut input = bytes;
    while unpacking.units.len() < count {
        let before = number(&mut input, 1)? as usize;
        let codes = number(&mut input, 1)? as u8;
        for _ in 0..before {
            let guess = unpacking.guess()?;
            let difference = unpacking.expected_difference()?;
            unpacking.push(guess, difference);
        }
        let (place, value) = (codes & 15, codes >> 4);
        let place = match place {
            NOTHING => continue,
            WHOLE => number(&mut input, 8)?,
            _ => {
                if place >= NEW_PERIOD {
                    unpacking.period = number(&mut input, 2)? as usize;
                }
                let off = unzigzag(number(&mut input, usize::from(place % NEW_PERIOD))?) << SITE_BITS;
                unpacking.guess()?.wrapping_add(off)
            }
        };
        let difference = match value {
            AS_EXPECTED => unpacking.expected_difference()?,
            0..=8 => unzigzag(number(&mut input, usize::from(value))?),
            _ => return None,
        };
        unpacking.push(place, difference);
    }
    (unpacking.units.len() == count && input.is_empty()).then_some(())
}

struct Periods<'u> {
    known: &'u mut Known,
    units: &'u mut Vec<Unit>,
    differences: Vec<u64>,
    period: usize,
}

impl Periods<'_> {
    /// The number of the unit a period before the next one.
    fn one(&self) -> Option<usize> {
        self.units.len().checked_sub(self.period).filter(|_| self.period != 0)
    }

    fn guess(&self) -> Option<u64> {
        let at = self.one()?;
        let one = self.units[at].place;
        Some(at.checked_sub(self.period).map_or(one, |two| expected(one, self.units[two].place)))
    }

    fn expected_difference(&self) -> Option<u64> {
        Some(self.differences[self.one()?])
    }

    fn push(&mut self, place: u64, difference: u64) {
        let known = self.known.at(place);
        *known = known.wrapping_add(difference);
        self.units.push(Unit { place, value: *known });
        self.differences.push(difference);
    }
}

/// The next so many bytes as a number, at most eight.
pub(super) fn number(input: &mut &[u8], bytes: usize) -> Option<u64> {
    Some(
        take(input, bytes)
            .filter(|_| bytes <= 8)?
            .iter()
            .rev()
            .fold(0, |number, &byte| number << 8 | u64::from(byte)),
    )
}

/// The next so many bytes.
pub(super) fn take<'b>(input: &mut &'b [u8], bytes: usize) -> Option<&'b [u8]> {
    let (taken, rest) = input.split_at_checked(bytes)?;
    *input = rest;
    Some(taken)
}

/// What unpacks the pieces of a log, one after the other. There is nothing in it before the first one.
#[derive(Default)]
pub struct Unpacker {
    known: Option<Known>,
    neighbours: Option<Unpacking>,
}

impl Unpacker {
    /// Unpacks the piece behind a head into `units`. `None` if its bytes are not what a packer makes.
    pub fn unpack(&mut self, head: Unit, bytes: &[u8], units: &mut Vec<Unit>) -> Option<()> {
        let count = usize::try_from(head.place >> SITE_BITS).ok()?;
        match head.value & NEIGHBOURS {
            0 => unpack(self.known.get_or_insert_default(), bytes, count, units),
            _ => self.neighbours.get_or_insert_default().unpack(bytes, count, units),
        }
    }
}

/// The number of bytes of a piece, if a unit is the head of one.
#[must_use]
pub fn piece_bytes(head: Unit) -> Option<usize> {
    let is_piece = head.site() == 0 && head.value & PACKED != 0;
    is_piece.then(|| usize::try_from(head.value & !(PACKED | NEIGHBOURS)).ok()).flatten()
}
