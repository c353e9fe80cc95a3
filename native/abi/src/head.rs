//! The notes that are most frequent, written without serde, which takes several times as long.
//!
//! The bytes are those of postcard. They go to their place at once, eight at a time: what is put together elsewhere, byte by byte, and then copied waits
//! for all bytes to arrive.

use crate::Note;
use crate::note::{Address, Mode, Step};

/// The room that a head takes at most: what stands before the content of a [`Note::Bytes`], or all of a [`Note::Fill`], or of one about a lock; and
/// what is written behind it before the next thing is.
pub const MOST_HEAD: usize = 1 + 5 + 10 + 10 + 8;

/// The numbers of notes and steps, as postcard has them.
const STEP: u8 = 3;
const BYTES: u8 = 5;
const FILL: u8 = 6;
const LOCK: u8 = 3;
const UNLOCK: u8 = 5;

/// What stands before the content of a [`Note::Bytes`]; how many bytes that are.
///
/// # Safety
/// There is room for [`MOST_HEAD`] bytes, here and below.
#[inline]
pub unsafe fn bytes(to: *mut u8, site: u32, address: Address, count: u64) -> usize {
    // SAFETY: as above.
    unsafe { Head::new(to).byte(BYTES).number(site.into()).number(address).number(count) }.length(to)
}

/// A [`Note::Fill`]; its bytes.
///
/// # Safety
/// As above.
#[inline]
pub unsafe fn fill(to: *mut u8, site: u32, address: Address, byte: u8, count: u32) -> usize {
    // SAFETY: as above.
    let head = unsafe { Head::new(to).byte(FILL).number(site.into()).number(address).byte(byte) };
    // SAFETY: as above.
    unsafe { head.number(count.into()) }.length(to)
}

/// A note that a lock is taken or given back; its bytes. `None` if it is about something else.
///
/// # Safety
/// As above.
#[inline]
pub unsafe fn lock(to: *mut u8, note: &Note) -> Option<usize> {
    let (site, step, object, mode, depth) = match *note {
        Note::Step(site, Step::Lock { object, mode, depth }) => (site, LOCK, object, mode, depth),
        Note::Step(site, Step::Unlock { object, mode, depth }) => (site, UNLOCK, object, mode, depth),
        _ => return None,
    };
    let mode = match mode {
        Mode::Mutex => 0,
        Mode::Read => 1,
        Mode::Write => 2,
    };
    // SAFETY: as above.
    let head = unsafe { Head::new(to).byte(STEP).number(site.into()).byte(step).number(object) };
    // SAFETY: as above.
    Some(unsafe { head.byte(mode).number(depth.into()) }.length(to))
}

/// Where the next byte goes.
struct Head(*mut u8);

impl Head {
    #[inline(always)]
    fn new(to: *mut u8) -> Head {
        Head(to)
    }

    #[inline(always)]
    fn length(self, from: *mut u8) -> usize {
        self.0 as usize - from as usize
    }

    #[inline(always)]
    unsafe fn byte(self, byte: u8) -> Head {
        // SAFETY: there is room, as the callers say.
        unsafe { self.0.write(byte) };
        Head(self.0.wrapping_add(1))
    }

    /// A number in groups of seven bits, the lowest first, with a bit before each but the last.
    #[inline(always)]
    unsafe fn number(self, number: u64) -> Head {
        if number < 0x80 {
            // SAFETY: there is room, as the callers say.
            return unsafe { self.byte(number as u8) };
        }
        if number >> 56 != 0 {
            // SAFETY: there is room, as the callers say.
            return unsafe { self.large(number) };
        }
        let parts = (number & 0x0fff_ffff) | (number & 0x0fff_ffff << 28) << 4;
        let parts = (parts & 0x3fff_0000_3fff) | (parts & 0x3fff_0000_3fff << 14) << 2;
        let parts = (parts & 0x7f_007f_007f_007f) | (parts & 0x7f_007f_007f_007f << 7) << 1;
        let count = 8 - parts.leading_zeros() as usize / 8;
        let more = 0x80_8080_8080_8080 & !(u64::MAX << (8 * (count - 1)));
        // SAFETY: there is room, as the callers say.
        unsafe { self.0.cast::<u64>().write_unaligned((parts | more).to_le()) };
        Head(self.0.wrapping_add(count))
    }

    /// A number that is no address.
    #[cold]
    unsafe fn large(mut self, mut number: u64) -> Head {
        while number >= 0x80 {
            // SAFETY: there is room, as the callers say.
            self = unsafe { self.byte(number as u8 | 0x80) };
            number >>= 7;
        }
        // SAFETY: there is room, as the callers say.
        unsafe { self.byte(number as u8) }
    }
}
