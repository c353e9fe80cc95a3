//! Packing: what is not as guessed becomes a literal.

use super::guess::Side;
use super::tables::{At, Guesser, Place};
use super::{MOST_RUN, near, note_units, place, value};
use crate::pack::encode::Output;
use crate::pack::{bytes_of, zigzag};
use crate::unit::{BYTES, Unit};

/// Bytes of a literal at most, without those of a note: two of its head, the first word, the value.
const LITERAL: usize = 2 + 8 + 8;

/// What packs units that do not repeat.
#[derive(Default)]
pub struct Neighbours {
    guesser: Guesser,
}

/// Where the codes of a literal go.
struct Codes {
    place: *mut u16,
}

impl Codes {
    #[inline(always)]
    fn put(self, before: usize, place: u8, value: u8) {
        let codes = before as u16 | u16::from(place) << 6 | u16::from(value) << 11;
        // SAFETY: there is room, see `Output::put`.
        unsafe { self.place.write_unaligned(codes.to_le()) };
    }
}

impl Output {
    /// Leaves room for the codes of a literal.
    #[inline(always)]
    fn leave_codes(&mut self) -> Codes {
        let codes = Codes { place: self.next.cast() };
        self.put(0, 2);
        codes
    }

    /// Puts a unit of a note, as far as its bytes are not all as the one before them; `last` is the last byte so far.
    #[inline(always)]
    fn put_part(&mut self, unit: Unit, last: u8) -> u8 {
        let bytes = u128::from(unit.place) | u128::from(unit.value) << 64;
        let differs = bytes ^ (bytes << 8 | u128::from(last));
        let told = BYTES - differs.leading_zeros() as usize / 8;
        self.put(told as u64, 1);
        self.put(unit.place, 8);
        self.put(unit.value, 8);
        self.next = self.next.wrapping_sub(BYTES - told);
        (unit.value >> 56) as u8
    }
}

/// The bytes that so many units take at most, with the slack behind the last of them.
const fn most_bytes(units: usize) -> usize {
    (units + 1) * LITERAL + BYTES
}

/// What packs, at one unit.
struct Packs<'o> {
    unit: Unit,
    out: &'o mut Output,
}

impl Side for Packs<'_> {
    #[inline(always)]
    fn place(&mut self, guess: u64) -> bool {
        guess == self.unit.place
    }

    #[inline(always)]
    fn value(&mut self, guess: u64) -> bool {
        guess == self.unit.value
    }

    #[inline(always)]
    fn told(&mut self, last: u64, width: u8, memory: u64) -> Option<u64> {
        let value = self.unit.value;
        let folded = zigzag(value.wrapping_sub(last));
        // A value that need not be told is better guessed from now on.
        let wrong = (folded >> ((8 * u32::from(width)) & 63) != 0) | (value == last) | (value == memory);
        if wrong {
            return None;
        }
        self.out.put(folded, usize::from(width));
        Some(value)
    }
}

impl Neighbours {
    /// Packs units; how many bytes they take.
    ///
    /// # Panics
    /// If `output` has less room than [`crate::pack::most_bytes`].
    pub fn pack(&mut self, units: &[Unit], output: &mut [u8]) -> usize {
        assert!(output.len() >= most_bytes(units.len()));
        let guesser = &mut self.guesser;
        let mut out = Output { next: output.as_mut_ptr() };
        let mut at = guesser.at;
        let mut rest = units;
        while !rest.is_empty() {
            // The codes stand before what the units before the literal tell.
            let codes = out.leave_codes();
            let run = &rest[..rest.len().min(MOST_RUN)];
            let follow = |&unit: &Unit| !guesser.follow(&mut at, &mut Packs { unit, out: &mut out });
            let wrong = run.iter().position(follow);
            let right = wrong.unwrap_or(run.len());
            at.count = at.count.wrapping_add(right as u64);
            rest = &rest[right..];
            let Some((&unit, behind)) = rest.split_first().filter(|_| wrong.is_some()) else {
                codes.put(right, place::NOTHING, 0);
                continue;
            };
            at.count = at.count.wrapping_add(1);
            rest = behind;
            let Some((parts, behind)) = note_units(unit).and_then(|units| behind.split_at_checked(units))
            else {
                let (place, value) = literal(guesser, &mut at, &mut out, unit);
                codes.put(right, place, value);
                continue;
            };
            rest = behind;
            let code = if at.counted() == unit.place { place::COUNTED } else { place::WHOLE };
            at.note(unit);
            codes.put(right, code, value::NOTE);
            out.put(unit.place, if code == place::WHOLE { 8 } else { 0 });
            out.put(unit.value, 2);
            parts.iter().fold(0, |last, &part| out.put_part(part, last));
        }
        guesser.at = at;
        out.next as usize - output.as_ptr() as usize
    }
}

/// Tells a unit that is not as guessed and begins no note; its codes.
#[inline(always)]
fn literal(guesser: &mut Guesser, at: &mut At, out: &mut Output, unit: Unit) -> (u8, u8) {
    let behind = guesser.behind(at);
    let (place_code, place, place_bytes) = match behind.place(at) == unit.place {
        true => (place::RIGHT, 0, 0),
        false => match behind.places(at).iter().position(|&other| other == unit.place) {
            Some(base) => (place::BASES + base as u8, 0, 0),
            None => told(unit.place, at.bases[Place::Step as usize], behind.offs[Place::Same as usize]),
        },
    };
    let value = zigzag(unit.value.wrapping_sub(behind.value));
    let (value_code, value_bytes) = match () {
        () if guesser.value(at, unit.place) == unit.value => (value::RIGHT, 0),
        () if guesser.memory(unit.place) == unit.value => (value::MEMORY, 0),
        () if at.value == unit.value => (value::BEFORE, 0),
        () => (bytes_of(value) as u8, bytes_of(value)),
    };
    out.put(place, place_bytes);
    out.put(value, value_bytes);
    guesser.learn(at, unit, place_code, value_code);
    (place_code, value_code)
}

/// Tells a first word in as few bytes as can be: the code, and the bytes.
#[inline(always)]
fn told(place: u64, access: u64, last: u64) -> (u8, u64, usize) {
    let bytes = |near: Option<u64>| near.map_or((place, 8), |near| (near, bytes_of(near)));
    let ((near, count), (near_last, count_last)) = (bytes(near(place, access)), bytes(near(place, last)));
    match () {
        () if count_last < count => (place::NEAR_LAST + count_last as u8, near_last, count_last),
        () => (place::NEAR + count as u8, near, count),
    }
}
