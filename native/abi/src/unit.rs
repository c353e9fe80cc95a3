//! Units: the 16 bytes that one event of instrumented code takes in the log.
//!
//! The first word is `address << SITE_BITS | site`, the second a value. An event of a thread is counted by its units, so that the
//! cursor is the counter: an event of k units has the number of its last one.
//!
//! | event | units |
//! |---|---|
//! | load, store of at most 8 bytes | address, value |
//! | atomic update | address, old; address, new |
//! | compare-and-exchange | address, old; address, expected; address, new |
//! | load, store of more bytes; fill | one note, by `__tb_bytes` |
//! | copy | two notes: the bytes read, the bytes written |
//! | fence | 0, 0 |
//! | branch, switch | 0, index of the successor in `ir::Terminator::successors`, the first one that leads there. Left out where the outcome follows from values that the same activation logs |
//! | call of what the module does not define, or through an address; inline assembly | 0, result (0 if none or wider than 8 bytes), after the call |
//! | entry of a function whose address is taken, or `main` | one for each parameter, at least one: [`ENTRY`], its value (0 if wider than 8 bytes or none); the site is the function's first |
//! | landing pad | [`LANDING`], 0; the site is the first of the block |
//! | stack memory whose address escapes | [`STACK`], its address |
//! | memory allocated, in a log of everything | [`ALLOC`] and the number of bytes, its address; the site is that of the call, whose result follows; otherwise one note |
//! | memory given back, in a log of everything | [`FREE`], its address; otherwise one note |
//!
//! Where this is not quite so:
//!
//! - Functions that other modules may take the address of have entry units too: all strong ones of C.
//! - An atomic update or exchange of more than 8 bytes is two notes, the bytes before and after; an atomic update of a float is two
//!   units at the site of the opaque instruction that it became. A `byval` argument is one note, the bytes that are copied.
//! - A call of a function that the linker may replace has a result unit though the module defines it. A call that does not
//!   return, or that is a `musttail`, and assembly without text and result, have none.
//! - Memory that cannot escape has no units; a copy between two such places writes nothing.
//! - The unit of an access that faults may or may not be there.
//!
//! Site 0 of a program stands for nothing in the log: numbers start at 1, and a first word whose site is 0 begins a note.

use crate::note::Step;

/// Bits of the site in the first word.
pub const SITE_BITS: u32 = 22;

/// Bits of the address in the first word.
pub const ADDRESS_BITS: u32 = 64 - SITE_BITS;

/// The largest number of a site.
pub const MOST_SITES: u32 = (1 << SITE_BITS) - 1;

/// The bytes of a unit.
pub const BYTES: usize = 16;

/// In place of an address: a parameter at the entry of a function.
pub const ENTRY: u64 = 1;

/// In place of an address: control came to a landing pad.
pub const LANDING: u64 = 2;

/// In place of an address: stack memory begins at the value.
pub const STACK: u64 = 3;

/// In place of an address, so many bytes more than this: they were allocated at the value. Nothing lies at such addresses, and even a
/// pointer that went astray rarely leads there.
pub const ALLOC: u64 = 0x1e0_0000_0000;

/// In place of an address: memory at the value was given back.
pub const FREE: u64 = 0x1f0_0000_0000;

/// Two words.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C, align(16))]
pub struct Unit {
    /// Address and site.
    pub place: u64,
    /// Value.
    pub value: u64,
}

impl Unit {
    /// The site; 0 if a note begins here.
    #[must_use]
    pub fn site(self) -> u32 {
        self.place as u32 & MOST_SITES
    }

    /// The unit that says that memory was allocated at this site, if the site is known.
    #[must_use]
    pub fn allocated(site: u32, address: u64, bytes: u64) -> Option<Unit> {
        let fits = site != 0 && bytes < FREE - ALLOC;
        fits.then(|| Unit { place: (ALLOC + bytes) << SITE_BITS | u64::from(site), value: address })
    }

    /// The unit that says that memory was given back at this site, if that is known.
    #[must_use]
    pub fn freed(site: u32, address: u64) -> Option<Unit> {
        (site != 0).then(|| Unit { place: FREE << SITE_BITS | u64::from(site), value: address })
    }

    /// The step that such a unit stands for.
    #[must_use]
    pub fn step(self) -> Option<Step> {
        match self.address() {
            FREE => Some(Step::Free { address: self.value }),
            mark @ ALLOC..FREE => Some(Step::Alloc { address: self.value, bytes: mark - ALLOC }),
            _ => None,
        }
    }

    /// The address, or one of the marks in its place.
    #[must_use]
    pub fn address(self) -> u64 {
        widen(self.place >> SITE_BITS)
    }
}

/// The memory that a run without address randomisation uses lies in three parts of the address space, which do not overlap
/// in their low [`ADDRESS_BITS`] bits: below 4 TiB (binaries at fixed addresses, and all that the runtime lays out), around
/// `0x5555_5555_4000` (other binaries), and above `0x7f00_0000_0000` (shared libraries, mappings, the first stack).
#[must_use]
pub fn widen(low: u64) -> u64 {
    match low {
        0x150_0000_0000..0x160_0000_0000 => low + 0x5400_0000_0000,
        0x300_0000_0000.. => low + 0x7c00_0000_0000,
        _ => low,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_all_three_parts_come_back() {
        for address in [
            0,
            1,
            0x40_1000,
            0x10_0000_0000,
            0x5555_5555_4000,
            0x5555_7fff_0000,
            0x7fff_f7ff_f000,
            0x7fff_ffff_e000,
        ] {
            let unit = Unit { place: address << SITE_BITS | 77, value: 0 };
            assert_eq!((unit.address(), unit.site()), (address, 77), "{address:x}");
        }
    }

    #[test]
    fn allocations_come_back() {
        let address = 0x10_0000_0040;
        let step = |unit: Option<Unit>| unit.and_then(Unit::step);
        for bytes in [0, 1, 48, FREE - ALLOC - 1] {
            assert_eq!(step(Unit::allocated(5, address, bytes)), Some(Step::Alloc { address, bytes }));
        }
        assert_eq!(step(Unit::freed(5, address)), Some(Step::Free { address }));
        assert_eq!(Unit::allocated(5, address, FREE - ALLOC), None);
        assert_eq!((Unit::allocated(0, address, 1), Unit::freed(0, address)), (None, None));
    }
}
