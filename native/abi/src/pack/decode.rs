//! Unpacking units. Nothing is believed: a program that writes through a wild pointer may have written into its log.

use super::{AS_EXPECTED, Known, MOST_UNITS, NEW_PERIOD, NOTHING, WHOLE, expected, unzigzag};
use crate::unit::{SITE_BITS, Unit};
use alloc::vec::Vec;

/// Unpacks a piece of `count` units into `units`, which is emptied before. `None` if the bytes are not what [`super::Packer`] makes.
/// `known` has seen all pieces before.
pub fn unpack(known: &mut Known, bytes: &[u8], count: usize, units: &mut Vec<Unit>) -> Option<()> {
    units.clear();
    if count > MOST_UNITS {
        return None;
    }
    let mut unpacking = Unpacking { known, units, differences: Vec::with_capacity(count), period: 0 };
    let mut input = Input(bytes);
    while unpacking.units.len() < count {
        let before = input.number(1)? as usize;
        let codes = input.number(1)? as u8;
        for _ in 0..before {
            let guess = unpacking.guess()?;
            let difference = unpacking.expected_difference()?;
            unpacking.push(guess, difference);
        }
        let (place, value) = (codes & 15, codes >> 4);
        let place = match place {
            NOTHING => continue,
            WHOLE => input.number(8)?,
            _ => {
                if place >= NEW_PERIOD {
                    unpacking.period = input.number(2)? as usize;
                }
                let off = unzigzag(input.number(usize::from(place % NEW_PERIOD))?) << SITE_BITS;
                unpacking.guess()?.wrapping_add(off)
            }
        };
        let difference = match value {
            AS_EXPECTED => unpacking.expected_difference()?,
            0..=8 => unzigzag(input.number(usize::from(value))?),
            _ => return None,
        };
        unpacking.push(place, difference);
    }
    (unpacking.units.len() == count && input.0.is_empty()).then_some(())
}

struct Unpacking<'u> {
    known: &'u mut Known,
    units: &'u mut Vec<Unit>,
    differences: Vec<u64>,
    period: usize,
}

impl Unpacking<'_> {
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

struct Input<'b>(&'b [u8]);

impl Input<'_> {
    /// The next so many bytes, at most eight.
    fn number(&mut self, bytes: usize) -> Option<u64> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }
}
