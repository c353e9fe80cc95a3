//! Packing where nothing repeats: each unit is guessed from the one before it.
//!
//! A walk through a list, or the building of a tree, has no period. But what comes behind a load of `node->next` is mostly an access a
//! few bytes from what was loaded, and behind a store of a field one of the next field. So for each site, and each outcome of a branch,
//! there is *one* guess of what comes behind it ([`tables::Behind`]): a way to its first word ([`tables::Place`]) and one to its value ([`tables::Value`]). While it
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

mod guess;
mod read;
mod tables;
mod write;

pub use read::Unpacking;
pub use write::Neighbours;

use super::{unzigzag, zigzag};
use crate::unit::{BYTES, MOST_SITES, SITE_BITS, Unit};

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
