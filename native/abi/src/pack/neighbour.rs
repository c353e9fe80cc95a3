//! Packing where nothing repeats: each unit is guessed from the one before it.
//!
//! A walk through a list, or the building of a tree, has no period. But what comes behind a load of `node->next` is mostly an access a
//! few bytes from what was loaded, and behind a store of a field one of the next field. So for each site, and each outcome of a branch,
//! there is *one* guess of what comes behind it ([`Behind`]): a way to its first word ([`Place`]) and one to its value ([`Value`]). While it
//! is right, nothing is changed and units are only counted, which is what makes this fast. A unit that is not as guessed is a *literal*; it
//! is told by one of the other ways, or in bytes. Once is no reason to guess otherwise; then the way that would have been right twice is the
//! next guess, and a value that no way leads to is told where it stands, without a literal.
//!
//! The two bytes at the start of a literal, from the lowest bits on:
//!
//! | bits | what |
//! |---|---|
//! | 6 | how many units as guessed come before this one |
//! | 5 | first word: one of [`place`] |
//! | 5 | value: one of [`value`] |
//!
//! Behind a literal that begins a note stand the units of the note, which is no news about what comes behind what: for each a byte, how
//! many of its bytes are told, and these; the others are as the last one told. A text of one letter, or a short note, takes few bytes.

use super::decode::{number, take};
use super::encode::Output;
use super::{bytes_of, unzigzag, zigzag};
use crate::unit::{ALLOC, BYTES, FREE, MOST_SITES, SITE_BITS, Unit};
use alloc::{boxed::Box, vec, vec::Vec};

const SITES: usize = 1 << 10;
const ADDRESSES: usize = 1 << 12;

/// How the first word of a literal is told.
mod place {
    /// So many bytes, at most seven: a byte for how far its site, and others for how far its address, is from the last access.
    pub const NEAR: u8 = 0;
    /// As it is.
    pub const WHOLE: u8 = 8;
    /// As guessed.
    pub const RIGHT: u8 = 9;
    /// As far from one of the bases as that of the last literal here.
    pub const BASES: u8 = 10;
    /// The head of a note whose number is that of the last one and of the events since.
    pub const COUNTED: u8 = 15;
    /// There is no unit, only those before.
    pub const NOTHING: u8 = 16;
    /// As [`NEAR`], but from that of the last literal here.
    pub const NEAR_LAST: u8 = 17;
}

/// How the value of a literal is told: 0 to 8, so many bytes of its distance from the last one here.
mod value {
    /// As guessed.
    pub const RIGHT: u8 = 9;
    /// The last one at that address, of the few that are remembered.
    pub const MEMORY: u8 = 10;
    /// That of the unit before.
    pub const BEFORE: u8 = 11;
    /// Two bytes: the number of bytes of a note, which follows.
    pub const NOTE: u8 = 12;
}

/// At most so many units are counted by one literal.
const MOST_RUN: usize = (1 << 6) - 1;

/// A value that was wrong so often in a row is told from then on, without a literal.
const TOLD: u8 = 3;

/// Bytes of a literal at most, without those of a note: two of its head, the first word, the value.
const LITERAL: usize = 2 + 8 + 8;

/// How a first word is guessed: last time's distance from one of [`At::bases`].
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Place {
    /// From nothing: the same.
    #[default]
    Same,
    /// From where the last address among the values points.
    Pointed,
    /// From the last access.
    Step,
    /// From the access before the last one.
    Further,
    /// From where the last other address among the values pointed.
    PointedBefore,
}

const BASES: usize = 5;

/// How a value is guessed.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Value {
    /// The first word is a mark in place of an address: nothing is remembered of the memory there. As far from that of last time as that was
    /// from the one before.
    #[default]
    Mark,
    /// A mark, and the value is as far from that of the unit before as last time.
    BeforeMark,
    /// A mark, and the value is told.
    ToldMark,
    /// As far from that of last time as that was from the one before.
    Last,
    /// The last one at that address.
    Memory,
    /// As far from that of the unit before as last time.
    Before,
    /// It is told: its distance from that of last time, in [`Behind::width`] bytes.
    Told,
}

/// What is guessed to come behind a site.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Behind {
    /// How far the first word of the last literal was from each of [`At::bases`].
    offs: [u64; BASES],
    value: u64,
    growth: u64,
    before: i16,
    /// The lowest bits of a growth that was not as guessed.
    grew: u16,
    place_by: Place,
    value_by: Value,
    /// The most bytes that the value took when it was told the last times.
    width: u8,
    /// How often the guess was wrong in a row.
    missed: u8,
}

impl Behind {
    /// The value that goes on as the last ones did.
    #[inline(always)]
    fn last(&self) -> u64 {
        self.value.wrapping_add(self.growth)
    }

    /// The first words that come behind, one for each base.
    #[inline(always)]
    fn places(&self, at: &At) -> [u64; BASES] {
        core::array::from_fn(|n| at.bases[n].wrapping_add(self.offs[n]))
    }

    /// The one that is guessed.
    #[inline(always)]
    fn place(&self, at: &At) -> u64 {
        at.bases[self.place_by as usize].wrapping_add(self.offs[self.place_by as usize])
    }
}

/// Guesses the next unit.
struct Guesser {
    behind: Box<[Behind; SITES]>,
    /// The last values at addresses; of two addresses with one place here the later one is known.
    memory: Box<[u64; ADDRESSES]>,
    at: At,
}

/// Where the guesser is.
#[derive(Clone, Copy, Default)]
struct At {
    /// What first words may be near, as [`Place`] says: nothing; where the last value points that looks like an address; the last access, and the one
    /// before it; where the last other value pointed. Marks are no accesses.
    bases: [u64; BASES],
    /// The last value.
    value: u64,
    /// Which guess is next.
    context: usize,
    /// How many units there were, each note counted as one.
    count: u64,
    /// How much more the number of the last note was.
    lead: u64,
}

impl At {
    /// Goes on to the next unit, behind this one.
    #[inline(always)]
    fn go_on<const ACCESS: bool>(&mut self, unit: Unit) {
        let Unit { place, value } = unit;
        if ACCESS {
            self.bases[Place::Further as usize] = self.bases[Place::Step as usize];
            self.bases[Place::Step as usize] = place;
            self.context = place as usize;
        } else {
            // What comes behind a branch depends on its outcome; allocations have the site of their call, whose result comes behind.
            let kind = if is_allocation(place) { 2 } else { value & 1 };
            self.context = (place ^ kind << 8) as usize;
        }
        self.value = value;
        if looks_like_address(value) {
            let pointer = value << SITE_BITS;
            let last = self.bases[Place::Pointed as usize];
            let before = &mut self.bases[Place::PointedBefore as usize];
            *before = if pointer == last { *before } else { last };
            self.bases[Place::Pointed as usize] = pointer;
        }
    }

    /// The same behind any unit, whose value is then in memory.
    #[inline(always)]
    fn go_on_behind(&mut self, unit: Unit, memory: &mut u64) {
        match is_mark(unit.place) {
            true => self.go_on::<false>(unit),
            false => {
                *memory = unit.value;
                self.go_on::<true>(unit);
            }
        }
    }

    /// The first word of a note whose number is that of the last one and of the events since.
    fn counted(&self) -> u64 {
        self.count.wrapping_add(self.lead) << SITE_BITS
    }

    /// Learns from the head of a note.
    fn note(&mut self, head: Unit) {
        self.lead = (head.place >> SITE_BITS).wrapping_sub(self.count);
    }
}

impl Default for Guesser {
    fn default() -> Guesser {
        let behind = vec![Behind::default(); SITES].into_boxed_slice();
        let memory = vec![0; ADDRESSES].into_boxed_slice();
        Guesser {
            behind: behind.try_into().unwrap_or_else(|_| unreachable!("it has the length of the array")),
            memory: memory.try_into().unwrap_or_else(|_| unreachable!("it has the length of the array")),
            at: At::default(),
        }
    }
}

/// Either side's part in following the guesses.
trait Side {
    /// Whether this is the first word.
    fn place(&mut self, guess: u64) -> bool;
    /// Whether this is the value.
    fn value(&mut self, guess: u64) -> bool;
    /// The value, told by its distance from the last one in so many bytes; this is in memory. `None` if it is not.
    fn told(&mut self, last: u64, width: u8, memory: u64) -> Option<u64>;
}

/// Where the last value at an address is remembered.
#[inline(always)]
fn index(place: u64) -> usize {
    (place >> (SITE_BITS + 2)) as usize % ADDRESSES
}

#[inline(always)]
fn is_mark(place: u64) -> bool {
    place >> (SITE_BITS + 12) == 0 || is_allocation(place)
}

/// Memory allocated or given back.
#[inline(always)]
fn is_allocation(place: u64) -> bool {
    place >> (SITE_BITS + 37) == ALLOC >> 37
}
const _: () = assert!(size_of::<Behind>() == 64);
const _: () = assert!(ALLOC >> 37 == FREE >> 37 && ALLOC.trailing_zeros() >= 37);

/// Numbers are mostly smaller than addresses.
#[inline(always)]
fn looks_like_address(value: u64) -> bool {
    (value >> 32).wrapping_sub(1) < (1 << 15) - 1
}

impl Guesser {
    /// Goes on by a guess, if it is right.
    #[inline(always)]
    fn follow(&mut self, at: &mut At, side: &mut impl Side) -> bool {
        let behind = &mut self.behind[at.context % SITES];
        let place = behind.place(at);
        if !side.place(place) {
            return false;
        }
        let memory = &mut self.memory[index(place)];
        match behind.value_by {
            Value::Mark => {
                let value = behind.last();
                if !side.value(value) {
                    return false;
                }
                behind.value = value;
                at.go_on::<false>(Unit { place, value });
            }
            Value::BeforeMark => {
                let value = at.value.wrapping_add(behind.before as u64);
                if !side.value(value) {
                    return false;
                }
                at.go_on::<false>(Unit { place, value });
            }
            Value::ToldMark => {
                let Some(value) = side.told(behind.value, behind.width, behind.value) else { return false };
                behind.value = value;
                at.go_on::<false>(Unit { place, value });
            }
            Value::Last => {
                let value = behind.last();
                if !side.value(value) {
                    return false;
                }
                behind.value = value;
                *memory = value;
                at.go_on::<true>(Unit { place, value });
            }
            Value::Memory => {
                let value = *memory;
                if !side.value(value) {
                    return false;
                }
                at.go_on::<true>(Unit { place, value });
            }
            Value::Before => {
                let value = at.value.wrapping_add(behind.before as u64);
                if !side.value(value) {
                    return false;
                }
                *memory = value;
                at.go_on::<true>(Unit { place, value });
            }
            Value::Told => {
                let Some(value) = side.told(behind.value, behind.width, *memory) else { return false };
                behind.value = value;
                *memory = value;
                at.go_on::<true>(Unit { place, value });
            }
        }
        behind.missed = 0;
        true
    }

    /// The value that is guessed for a first word.
    #[inline(always)]
    fn value(&self, at: &At, place: u64) -> u64 {
        let behind = &self.behind[at.context % SITES];
        match behind.value_by {
            Value::Memory => self.memory[index(place)],
            Value::Before | Value::BeforeMark => at.value.wrapping_add(behind.before as u64),
            _ => behind.last(),
        }
    }

    /// Learns from a literal.
    #[inline(always)]
    fn learn(&mut self, at: &mut At, unit: Unit, place_code: u8, value_code: u8) {
        let Unit { place, value } = unit;
        let behind = &mut self.behind[at.context % SITES];
        let memory = &mut self.memory[index(place)];
        let is_mark = is_mark(place);
        let missed = behind.missed;
        // What is new here is not yet wrong.
        let is_new = missed != 0 && place_code != place::RIGHT;
        behind.missed = if is_new { 1 } else { TOLD.min(missed + 1) };
        // Once is no reason to guess otherwise: the other outcome of a branch, or one value out of line.
        if missed == 0 && place_code != place::RIGHT {
            return at.go_on_behind(unit, memory);
        }
        if missed == 0 && matches!(behind.value_by, Value::Last | Value::Mark) {
            behind.value = behind.last();
            return at.go_on_behind(unit, memory);
        }
        if value_code != value::RIGHT {
            let before = value.wrapping_sub(at.value);
            let growth = value.wrapping_sub(behind.value);
            let grows = growth as u16 == behind.grew;
            // The outcomes of a branch are not told: most are as last time.
            let is_outcome = is_mark && value <= 1;
            let is_told = (1..8).contains(&value_code) && place_code == place::RIGHT && !is_outcome;
            behind.width = match is_told {
                false => 0,
                true if missed < 2 => value_code,
                true => behind.width.max(value_code),
            };
            behind.value_by = match () {
                () if grows => Value::Last,
                () if *memory == value && !is_mark => Value::Memory,
                () if behind.before as u64 == before => Value::Before,
                () if behind.missed == TOLD && is_told => Value::Told,
                () => Value::Last,
            };
            behind.growth = if grows { growth } else { behind.growth };
            (behind.grew, behind.before) = (growth as u16, before as i16);
        }
        behind.value = value;
        if place_code != place::RIGHT {
            let offs = at.bases.map(|base| place.wrapping_sub(base));
            behind.place_by = match () {
                () if is_mark || behind.offs[0] == offs[0] => Place::Same,
                () if behind.offs[1] == offs[1] => Place::Pointed,
                () if behind.offs[2] == offs[2] => Place::Step,
                () if behind.offs[3] == offs[3] => Place::Further,
                () if behind.offs[4] == offs[4] => Place::PointedBefore,
                () if behind.place_by == Place::Pointed => Place::Pointed,
                () => Place::Step,
            };
            behind.offs = offs;
        }
        behind.value_by = match (behind.value_by, is_mark) {
            (Value::Told | Value::ToldMark, true) => Value::ToldMark,
            (Value::Before | Value::BeforeMark, true) => Value::BeforeMark,
            (_, true) => Value::Mark,
            (Value::ToldMark, false) => Value::Told,
            (Value::BeforeMark, false) => Value::Before,
            (Value::Mark, false) => Value::Last,
            (by, false) => by,
        };
        at.go_on_behind(unit, memory);
    }
}

/// How far a first word is from another one, in at most seven bytes.
#[inline(always)]
fn near(place: u64, other: u64) -> Option<u64> {
    let sites = u64::from(MOST_SITES);
    let site = zigzag((place & sites).wrapping_sub(other & sites));
    let address = zigzag((place >> SITE_BITS).wrapping_sub(other >> SITE_BITS));
    (site < 1 << 8 && address < 1 << 48).then_some(address << 8 | site)
}

/// The first word so far from another one.
fn from(other: u64, near: u64) -> u64 {
    let sites = u64::from(MOST_SITES);
    let site = (other & sites).wrapping_add(unzigzag(near & 0xff)) & sites;
    let address = (other >> SITE_BITS).wrapping_add(unzigzag(near >> 8));
    address << SITE_BITS | site
}

/// The units that a note takes behind its head, if a unit is the head of one.
#[inline(always)]
fn note_units(head: Unit) -> Option<usize> {
    let is_note = head.place & u64::from(MOST_SITES) == 0 && head.value >> 16 == 0;
    is_note.then(|| (head.value as usize).div_ceil(BYTES))
}

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
    /// If `output` has less room than [`super::most_bytes`].
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
    let behind = &guesser.behind[at.context % SITES];
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
        () if guesser.memory[index(unit.place)] == unit.value => (value::MEMORY, 0),
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
                    let last = guesser.behind[at.context % SITES].offs[Place::Same as usize];
                    from(last, number(&mut input, usize::from(place_code - place::NEAR_LAST))?)
                }
                place::RIGHT => guesser.behind[at.context % SITES].place(&at),
                place::COUNTED => at.counted(),
                place::BASES..place::COUNTED => {
                    let places = guesser.behind[at.context % SITES].places(&at);
                    places[usize::from(place_code - place::BASES)]
                }
                place::NOTHING => continue,
            };
            let value = match value_code {
                0..=8 => {
                    let last = guesser.behind[at.context % SITES].value;
                    last.wrapping_add(unzigzag(number(&mut input, usize::from(value_code))?))
                }
                value::RIGHT => guesser.value(&at, place),
                value::MEMORY => guesser.memory[index(place)],
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
