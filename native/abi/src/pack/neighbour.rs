//! Packing where nothing repeats: each unit is guessed from the one before it.
//!
//! A walk through a list, or the building of a tree, has no period. But what comes behind a load of `node->next` is mostly an access a
//! few bytes from what was loaded, and behind a store of a field one of the next field. So for each site there is what came behind it
//! last time ([`Behind`]), and one of three guesses for the first word is often right, as is one of three for the value:
//!
//! | code | first word | value |
//! |---|---|---|
//! | 0 | as far from the first word before as last time | the last one at that address, of the few that are remembered |
//! | 1 | as far from where the last value points that looks like an address as last time | that of the unit before |
//! | 2 | the same as last time | as far from that of last time as that was from the one before |
//! | 3 | told: its distance from the first word before | told: its distance from that of last time |
//!
//! Four bits a unit, two of them for each code, come first; then, for each unit with something to tell, a byte with the two numbers of
//! bytes, and these. Both sides make the same guesses, because both learn each unit ([`Guesser`]).

use super::{bytes_of, unzigzag, zigzag};
use crate::unit::{SITE_BITS, Unit};
use alloc::{boxed::Box, vec, vec::Vec};

const SITES: usize = 1 << 10;
const ADDRESSES: usize = 1 << 12;

/// The code of what is told.
const TOLD: u8 = 3;

/// What came behind units of a site last time.
#[derive(Clone, Copy, Default)]
struct Behind {
    /// How far its first word was from the one before, and from where the last address among the values points.
    step: u64,
    pointed: u64,
    place: u64,
    value: u64,
    /// By how much the value differed from the one of the time before.
    growth: u64,
}

/// Guesses the next unit.
struct Guesser {
    behind: Box<[Behind; SITES]>,
    /// The last values at addresses; of two addresses with one place here the later one is known.
    memory: Box<[u64; ADDRESSES]>,
    before: Unit,
    /// The last value that looks like an address.
    pointer: u64,
}

impl Default for Guesser {
    fn default() -> Guesser {
        let whole = |_| unreachable!("it has the length of the array");
        let behind = vec![Behind::default(); SITES].into_boxed_slice();
        let memory = vec![0; ADDRESSES].into_boxed_slice();
        Guesser {
            behind: behind.try_into().unwrap_or_else(whole),
            memory: memory.try_into().unwrap_or_else(|_| unreachable!("it has the length of the array")),
            before: Unit::default(),
            pointer: 0,
        }
    }
}

impl Guesser {
    /// What came behind the last unit's site last time.
    #[inline(always)]
    fn behind(&mut self) -> &mut Behind {
        &mut self.behind[self.before.place as usize % SITES]
    }

    #[inline(always)]
    fn memory(&mut self, place: u64) -> &mut u64 {
        let address = place >> SITE_BITS;
        &mut self.memory[(address >> 3 ^ address << 9) as usize % ADDRESSES]
    }

    /// The three guesses for the first word.
    #[inline(always)]
    fn places(&mut self) -> [u64; 3] {
        let (before, behind) = (self.before, *self.behind());
        let step = before.place.wrapping_add(behind.step);
        [step, (self.pointer << SITE_BITS).wrapping_add(behind.pointed), behind.place]
    }

    /// The three guesses for the value of a unit with this first word.
    #[inline(always)]
    fn values(&mut self, place: u64) -> [u64; 3] {
        let behind = *self.behind();
        [*self.memory(place), self.before.value, behind.value.wrapping_add(behind.growth)]
    }

    #[inline(always)]
    fn learn(&mut self, unit: Unit) {
        let Unit { place, value } = unit;
        let (before, last) = (self.before, self.behind().value);
        *self.behind() = Behind {
            step: place.wrapping_sub(before.place),
            pointed: place.wrapping_sub(self.pointer << SITE_BITS),
            place,
            value,
            growth: value.wrapping_sub(last),
        };
        *self.memory(place) = value;
        self.before = unit;
        self.pointer = if looks_like_address(value) { value } else { self.pointer };
    }
}

/// Numbers are mostly smaller than addresses.
#[inline(always)]
fn looks_like_address(value: u64) -> bool {
    value >> 22 != 0 && value >> 47 == 0
}

/// The code of the first guess that is right.
#[inline(always)]
fn code(guesses: [u64; 3], word: u64) -> u8 {
    match () {
        () if guesses[0] == word => 0,
        () if guesses[1] == word => 1,
        () if guesses[2] == word => 2,
        () => TOLD,
    }
}

/// What packs units that do not repeat.
#[derive(Default)]
pub struct Neighbours {
    guesser: Guesser,
}

/// The bytes that so many units take at most, with the slack behind the last of them.
const fn most_bytes(units: usize) -> usize {
    units.div_ceil(2) + units * 17 + 8
}

impl Neighbours {
    /// Packs units; how many bytes they take.
    ///
    /// # Panics
    /// If `output` has less room than [`super::most_bytes`].
    pub fn pack(&mut self, units: &[Unit], output: &mut [u8]) -> usize {
        assert!(output.len() >= most_bytes(units.len()));
        let (codes, told) = output.split_at_mut(units.len().div_ceil(2));
        let mut next = told.as_mut_ptr();
        let (pairs, rest) = units.as_chunks::<2>();
        let mut codes = codes.iter_mut();
        for [one, two] in pairs {
            let low = self.unit(*one, &mut next);
            let high = self.unit(*two, &mut next);
            if let Some(both) = codes.next() {
                *both = low | high << 4;
            }
        }
        if let (Some(&one), Some(last)) = (rest.first(), codes.next()) {
            *last = self.unit(one, &mut next);
        }
        next as usize - output.as_ptr() as usize
    }

    /// Writes what is to be told of a unit; its codes.
    #[inline(always)]
    fn unit(&mut self, unit: Unit, next: &mut *mut u8) -> u8 {
        let guesser = &mut self.guesser;
        let place_code = code(guesser.places(), unit.place);
        let value_code = code(guesser.values(unit.place), unit.value);
        if place_code == TOLD || value_code == TOLD {
            let place = zigzag(unit.place.wrapping_sub(guesser.before.place));
            let value = zigzag(unit.value.wrapping_sub(guesser.behind().value));
            let place_bytes = if place_code == TOLD { bytes_of(place) } else { 0 };
            let value_bytes = if value_code == TOLD { bytes_of(value) } else { 0 };
            // SAFETY: `pack` has asked for room for 17 bytes of each unit, and eight more.
            unsafe {
                next.write((place_bytes | value_bytes << 4) as u8);
                *next = next.add(1);
                next.cast::<u64>().write_unaligned(place.to_le());
                *next = next.add(place_bytes);
                next.cast::<u64>().write_unaligned(value.to_le());
                *next = next.add(value_bytes);
            }
        }
        guesser.learn(unit);
        place_code | value_code << 2
    }
}

/// What unpacks them again; it has seen all such pieces before.
#[derive(Default)]
pub struct Unpacking {
    guesser: Guesser,
}

impl Unpacking {
    /// Unpacks a piece of `count` units into `units`, which is emptied before. `None` if the bytes are not what [`Neighbours`] makes.
    pub fn unpack(&mut self, bytes: &[u8], count: usize, units: &mut Vec<Unit>) -> Option<()> {
        units.clear();
        if count > super::MOST_UNITS {
            return None;
        }
        let (codes, mut told) = bytes.split_at_checked(count.div_ceil(2))?;
        for n in 0..count {
            let codes = codes[n / 2] >> (4 * (n % 2)) & 15;
            let (place_code, value_code) = (codes & 3, codes >> 2);
            let lengths = match place_code == TOLD || value_code == TOLD {
                true => super::decode::number(&mut told, 1)? as usize,
                false => 0,
            };
            let guesser = &mut self.guesser;
            let off = unzigzag(super::decode::number(&mut told, lengths & 15)?);
            let place = match guesser.places().get(usize::from(place_code)) {
                Some(&guess) => guess,
                None => guesser.before.place.wrapping_add(off),
            };
            let off = unzigzag(super::decode::number(&mut told, lengths >> 4)?);
            let value = match guesser.values(place).get(usize::from(value_code)) {
                Some(&guess) => guess,
                None => guesser.behind().value.wrapping_add(off),
            };
            let unit = Unit { place, value };
            guesser.learn(unit);
            units.push(unit);
        }
        told.is_empty().then_some(())
    }
}
