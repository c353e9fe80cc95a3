//! Unpacking. Nothing is believed of the bytes.

use super::guess::Side;
use super::tables::{Guesser, Place};
use super::{MOST_RUN, from, note_units, place, value};
use crate::pack::decode::{number, take};
use crate::pack::{MOST_UNITS, unzigzag};
use crate::unit::{BYTES, Unit};
use alloc::vec::Vec;

/// What unpacks them again; it has seen all such pieces before.
#[derive(Default)]
pub struct Unpacking {
    guesser: Guesser,
}

impl Unpacking {
    /// Unpacks a piece of `count` units into `units`, which is emptied before. `None` if the bytes are not what [`super::Neighbours`] makes.
    pub fn unpack(&mut self, bytes: &[u8], count: usize, units: &mut Vec<Unit>) -> Option<()> {
        units.clear();
        if count > MOST_UNITS {
            return None;
        }
        let guesser = &mut self.guesser;
        let mut at = guesser.at;
        let mut input = bytes;
        while units.len() < count {
            let head = number(&mut input, 2)?;
            let before = head as usize & MOST_RUN;
            if before > count - units.len() {
                return None;
            }
            for _ in 0..before {
                let mut side = Unpacks { unit: Unit::default(), input: &mut input };
                if !guesser.follow(&mut at, &mut side) {
                    return None;
                }
                units.push(side.unit);
            }
            at.count = at.count.wrapping_add(before as u64);
            let (place_code, value_code) = ((head >> 6) as u8 & 31, (head >> 11) as u8);
            if place_code == place::NOTHING {
                continue;
            }
            at.count = at.count.wrapping_add(1);
            let left = (count - units.len()).checked_sub(1)?;
            let place = match place_code {
                place::NEAR..place::WHOLE => {
                    from(at.bases[Place::Step as usize], number(&mut input, usize::from(place_code))?)
                }
                place::WHOLE => number(&mut input, 8)?,
                place::NEAR_LAST.. => {
                    let last = guesser.behind(&at).offs[Place::Same as usize];
                    from(last, number(&mut input, usize::from(place_code - place::NEAR_LAST))?)
                }
                place::RIGHT => guesser.behind(&at).place(&at),
                place::COUNTED => at.counted(),
                place::BASES..place::COUNTED => {
                    let places = guesser.behind(&at).places(&at);
                    places[usize::from(place_code - place::BASES)]
                }
                place::NOTHING => continue,
            };
            let value = match value_code {
                0..=8 => {
                    let last = guesser.behind(&at).value;
                    last.wrapping_add(unzigzag(number(&mut input, usize::from(value_code))?))
                }
                value::RIGHT => guesser.value(&at, place),
                value::MEMORY => guesser.memory(place),
                value::BEFORE => at.value,
                value::NOTE => {
                    let head = Unit { place, value: number(&mut input, 2)? };
                    let parts = note_units(head).filter(|&parts| parts <= left)?;
                    at.note(head);
                    units.push(head);
                    (0..parts).try_fold(0, |last, _| part(&mut input, last, units))?;
                    continue;
                }
                _ => return None,
            };
            let unit = Unit { place, value };
            units.push(unit);
            guesser.learn(&mut at, unit, place_code, value_code);
        }
        guesser.at = at;
        input.is_empty().then_some(())
    }
}

/// What unpacks, at one unit.
struct Unpacks<'i, 'b> {
    unit: Unit,
    input: &'i mut &'b [u8],
}

impl Side for Unpacks<'_, '_> {
    #[inline(always)]
    fn place(&mut self, guess: u64) -> bool {
        self.unit.place = guess;
        true
    }

    #[inline(always)]
    fn value(&mut self, guess: u64) -> bool {
        self.unit.value = guess;
        true
    }

    #[inline(always)]
    fn told(&mut self, last: u64, width: u8, _: u64) -> Option<u64> {
        self.unit.value = last.wrapping_add(unzigzag(number(self.input, usize::from(width))?));
        Some(self.unit.value)
    }
}

/// Unpacks a unit of a note, behind this byte; the last byte then.
fn part(input: &mut &[u8], last: u8, units: &mut Vec<Unit>) -> Option<u8> {
    let count = number(input, 1)? as usize;
    let told = take(input, count).filter(|_| count <= BYTES)?;
    let mut bytes = [*told.last().unwrap_or(&last); BYTES];
    bytes[..count].copy_from_slice(told);
    let both = u128::from_le_bytes(bytes);
    units.push(Unit { place: both as u64, value: (both >> 64) as u64 });
    Some(bytes[BYTES - 1])
}
