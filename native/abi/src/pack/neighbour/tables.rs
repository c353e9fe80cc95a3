//! What is remembered of the units so far: what came behind each site, what is in memory, and where the last accesses were.

use crate::unit::{ALLOC, FREE, SITE_BITS, Unit};
use alloc::{boxed::Box, vec};

const SITES: usize = 1 << 10;
const ADDRESSES: usize = 1 << 12;

/// How a first word is guessed: last time's distance from one of [`At::bases`].
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Place {
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

pub(super) const BASES: usize = 5;

/// How a value is guessed.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Value {
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
pub(super) struct Behind {
    /// How far the first word of the last literal was from each of [`At::bases`].
    pub(super) offs: [u64; BASES],
    pub(super) value: u64,
    pub(super) growth: u64,
    pub(super) before: i16,
    /// The lowest bits of a growth that was not as guessed.
    pub(super) grew: u16,
    pub(super) place_by: Place,
    pub(super) value_by: Value,
    /// The most bytes that the value took when it was told the last times.
    pub(super) width: u8,
    /// How often the guess was wrong in a row.
    pub(super) missed: u8,
}

impl Behind {
    /// The value that goes on as the last ones did.
    #[inline(always)]
    pub(super) fn last(&self) -> u64 {
        self.value.wrapping_add(self.growth)
    }

    /// The first words that come behind, one for each base.
    #[inline(always)]
    pub(super) fn places(&self, at: &At) -> [u64; BASES] {
        core::array::from_fn(|n| at.bases[n].wrapping_add(self.offs[n]))
    }

    /// The one that is guessed.
    #[inline(always)]
    pub(super) fn place(&self, at: &At) -> u64 {
        at.bases[self.place_by as usize].wrapping_add(self.offs[self.place_by as usize])
    }
}

/// Guesses the next unit.
pub(super) struct Guesser {
    behind: Box<[Behind; SITES]>,
    /// The last values at addresses; of two addresses with one place here the later one is known.
    memory: Box<[u64; ADDRESSES]>,
    pub(super) at: At,
}

/// Where the guesser is.
#[derive(Clone, Copy, Default)]
pub(super) struct At {
    /// What first words may be near, as [`Place`] says: nothing; where the last value points that looks like an address; the last access, and the one
    /// before it; where the last other value pointed. Marks are no accesses.
    pub(super) bases: [u64; BASES],
    /// The last value.
    pub(super) value: u64,
    /// Which guess is next.
    pub(super) context: usize,
    /// How many units there were, each note counted as one.
    pub(super) count: u64,
    /// How much more the number of the last note was.
    pub(super) lead: u64,
}

impl At {
    /// Goes on to the next unit, behind this one.
    #[inline(always)]
    pub(super) fn go_on<const ACCESS: bool>(&mut self, unit: Unit) {
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
        if looks_like_address::<ACCESS>(value, place >> SITE_BITS) {
            let pointer = value << SITE_BITS;
            let last = self.bases[Place::Pointed as usize];
            let before = &mut self.bases[Place::PointedBefore as usize];
            *before = if pointer == last { *before } else { last };
            self.bases[Place::Pointed as usize] = pointer;
        }
    }

    /// The same behind any unit, whose value is then in memory.
    #[inline(always)]
    pub(super) fn go_on_behind(&mut self, unit: Unit, memory: &mut u64) {
        match is_mark(unit.place) {
            true => self.go_on::<false>(unit),
            false => {
                *memory = unit.value;
                self.go_on::<true>(unit);
            }
        }
    }

    /// The first word of a note whose number is that of the last one and of the events since.
    pub(super) fn counted(&self) -> u64 {
        self.count.wrapping_add(self.lead) << SITE_BITS
    }

    /// Learns from the head of a note.
    pub(super) fn note(&mut self, head: Unit) {
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

impl Guesser {
    /// The guess that is next.
    #[inline(always)]
    pub(super) fn behind(&self, at: &At) -> &Behind {
        &self.behind[at.context % SITES]
    }

    /// The same, and the last value where this first word leads, to be changed.
    #[inline(always)]
    pub(super) fn parts(&mut self, at: &At, place: u64) -> (&mut Behind, &mut u64) {
        (&mut self.behind[at.context % SITES], &mut self.memory[index(place)])
    }

    /// The last value where this first word leads.
    #[inline(always)]
    pub(super) fn memory(&self, place: u64) -> u64 {
        self.memory[index(place)]
    }
}

/// Where the last value at an address is remembered.
#[inline(always)]
fn index(place: u64) -> usize {
    (place >> (SITE_BITS + 2)) as usize % ADDRESSES
}

#[inline(always)]
pub(super) fn is_mark(place: u64) -> bool {
    place >> (SITE_BITS + 12) == 0 || is_allocation(place)
}

/// Memory allocated or given back.
#[inline(always)]
fn is_allocation(place: u64) -> bool {
    place >> (SITE_BITS + 37) == ALLOC >> 37
}
const _: () = assert!(size_of::<Behind>() == 64);
const _: () = assert!(ALLOC >> 37 == FREE >> 37 && ALLOC.trailing_zeros() >= 37);

/// Numbers are mostly smaller than addresses. In a binary at fixed addresses what points to its own data is as small, but lies in one part of the memory
/// with the place that it was read from.
#[inline(always)]
fn looks_like_address<const ACCESS: bool>(value: u64, address: u64) -> bool {
    let is_far = || (value >> 32).wrapping_sub(1) < (1 << 15) - 1;
    value >> 22 != 0 && (is_far() || ACCESS && (value ^ address) >> 24 == 0)
}
