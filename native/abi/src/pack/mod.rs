//! Packing: how a log of everything keeps its units in few bytes.
//!
//! Bytes that leave the cache cost more than all else of logging, so a full buffer is packed before it is written. A program mostly
//! does what it did some units ago, so each unit is compared with the one a *period* before it:
//!
//! - its first word is expected to go on in a straight line: the address of `a[i]` grows by the same step each time;
//! - its value is expected to differ from the last one *at that address* by what it differed a period ago: a load gives what
//!   is there, a counter grows by one ([`Known`] remembers the last values; it forgets some).
//!
//! Units that are as expected are only counted. Any other one is a *literal*: two bytes, then what is needed to correct the guess.
//!
//! | byte | bits | what |
//! |---|---|---|
//! | 0 | all | how many units as expected come before this one |
//! | 1 | low 4 | first word: 0 to 6, so many bytes to correct the address; 7 to 13, the same behind a new period (2 bytes); `WHOLE`, the word (8 bytes); `NOTHING`, there is no unit, only those before |
//! | 1 | high 4 | value: 0 to 8, so many bytes of its difference to the last one at that address; `AS_EXPECTED` |
//!
//! Differences are signed, in as few bytes as hold them, zigzag. This way knows nothing of what units mean: notes are packed like all
//! else. Where nothing repeats, units are packed another way (`neighbour`), which knows notes and marks.
//!
//! In the log, packed units stand behind a unit whose site is 0 and whose value has the bit [`PACKED`]: the first word is
//! `count << SITE_BITS`, the rest of the value the number of bytes, which follow, filled up to whole units, and the bit [`NEIGHBOURS`] for
//! the other way. Periods reach back to the beginning of such a piece, what else is learnt to that of the log.

mod decode;
mod encode;
mod neighbour;

pub use decode::{Unpacker, piece_bytes, unpack};
pub use encode::{Packer, most_bytes};
pub use neighbour::{Neighbours, Unpacking};

use crate::unit::{MOST_SITES, SITE_BITS, Unit};
use alloc::{boxed::Box, vec};

/// In the value of a unit with site 0: packed units follow.
pub const PACKED: u64 = 1 << 63;

/// There too: they are packed by [`Neighbours`].
pub const NEIGHBOURS: u64 = 1 << 62;

/// The most units in one piece.
pub const MOST_UNITS: usize = 1 << 15;

/// The code of a first word that is given whole.
const WHOLE: u8 = 14;

/// The code of a literal without a unit.
const NOTHING: u8 = 15;

/// What is added to the code of a first word if a new period comes before it.
const NEW_PERIOD: u8 = 7;

/// The code of a value that is as expected.
const AS_EXPECTED: u8 = 9;

const KNOWN_BITS: u32 = 17;

/// The last value at each address; of two addresses with the same place in the table the later one is known.
pub struct Known(Box<[u64; 1 << KNOWN_BITS]>);

impl Default for Known {
    fn default() -> Known {
        let table = vec![0; 1 << KNOWN_BITS].into_boxed_slice();
        Known(table.try_into().unwrap_or_else(|_| unreachable!("it has the length of the array")))
    }
}

impl Known {
    /// Where the last value is that this first word leads to. All marks in place of an address have the first place.
    #[inline(always)]
    fn index(place: u64) -> usize {
        // Eight bytes have one place; what is not aligned to that has another.
        let parts = place >> (SITE_BITS + 3 - KNOWN_BITS) & 7 << (KNOWN_BITS - 3);
        (place >> (SITE_BITS + 3) ^ parts) as usize & ((1 << KNOWN_BITS) - 1)
    }

    /// The last value where this first word leads.
    #[inline(always)]
    fn at(&mut self, place: u64) -> &mut u64 {
        &mut self.0[Self::index(place)]
    }

    /// Fetches what is known for these units into the cache.
    #[inline(always)]
    fn fetch(&self, units: &[Unit]) {
        #[cfg(target_arch = "x86_64")]
        for unit in units {
            use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: fetching has no preconditions.
            unsafe { _mm_prefetch::<_MM_HINT_T0>((&raw const self.0[Self::index(unit.place)]).cast()) };
        }
    }
}

/// The first word that is expected, from the ones a period and two periods before: the line goes on if they are at one site.
#[inline(always)]
fn expected(one: u64, two: u64) -> u64 {
    match same_site(one, two) {
        true => one.wrapping_add(one).wrapping_sub(two),
        false => one,
    }
}

#[inline(always)]
fn same_site(one: u64, other: u64) -> bool {
    (one ^ other) & u64::from(MOST_SITES) == 0
}

/// How many bytes hold a number.
#[inline(always)]
fn bytes_of(number: u64) -> usize {
    8 - number.leading_zeros() as usize / 8
}

#[inline(always)]
fn zigzag(difference: u64) -> u64 {
    difference << 1 ^ ((difference as i64) >> 63) as u64
}

#[inline(always)]
fn unzigzag(folded: u64) -> u64 {
    folded >> 1 ^ (folded & 1).wrapping_neg()
}
