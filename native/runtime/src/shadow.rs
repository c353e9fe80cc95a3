//! Sharedness: which memory more than one thread touched.
//!
//! Each eight bytes of the program's memory have a tag of one byte: nobody, one thread, or several. The tags of the whole address
//! space are one mapping, of which only the parts in use take memory: an eighth of what the program touches.

use crate::sys;
use abi::unit::{ADDRESS_BITS, SITE_BITS, Unit, widen};

const SEVERAL: u8 = u8::MAX;

/// The threads behind the first 253 have one tag in common; what one of them touches counts as touched by several.
const LATE: u8 = SEVERAL - 1;

/// The bytes that one tag is for.
const GRAIN_BITS: u32 = 3;

/// Addresses below this are marks in place of an address.
const LOWEST: u64 = 4096;

/// Who touched what.
pub struct Shadow {
    tags: *mut u8,
    /// The grains that several threads touched, in the order in which this was noticed.
    shared: Vec<u64>,
}

impl Shadow {
    /// Nobody touched anything; `None` if the system does not give so much address space.
    pub fn new() -> Option<Shadow> {
        let tags = sys::map(0, 1 << (ADDRESS_BITS - GRAIN_BITS))? as *mut u8;
        Some(Shadow { tags, shared: vec![] })
    }

    /// A thread, by its number, did these accesses.
    pub fn touch(&mut self, thread: usize, units: &[Unit]) {
        let tag = u8::try_from(thread + 1).map_or(LATE, |tag| tag.min(LATE));
        for unit in units {
            let low = unit.place >> SITE_BITS;
            if low < LOWEST {
                continue;
            }
            // SAFETY: the mapping has a tag for each grain of the 42-bit address space.
            let entry = unsafe { &mut *self.tags.add((low >> GRAIN_BITS) as usize) };
            if *entry != tag {
                self.change(low >> GRAIN_BITS, tag);
            }
        }
    }

    /// A thread touched a range of bytes.
    pub fn touch_range(&mut self, thread: usize, address: u64, bytes: u64) {
        let low = address & ((1 << ADDRESS_BITS) - 1);
        let grain = 1 << GRAIN_BITS;
        let end = low.saturating_add(bytes).min(1 << ADDRESS_BITS);
        let mut at = low & !(grain - 1);
        while at < end {
            self.touch(thread, &[Unit { place: at << SITE_BITS, value: 0 }]);
            at += grain;
        }
    }

    #[cold]
    fn change(&mut self, grain: u64, tag: u8) {
        // SAFETY: as in `touch`.
        let entry = unsafe { &mut *self.tags.add(grain as usize) };
        match *entry {
            0 if tag != LATE => *entry = tag,
            SEVERAL => {}
            _ => {
                *entry = SEVERAL;
                self.shared.push(grain);
            }
        }
    }

    /// The pieces of memory that several threads touched, sorted.
    pub fn ranges(&mut self) -> Vec<(u64, u64)> {
        self.shared.sort_unstable();
        let mut ranges: Vec<(u64, u64)> = vec![];
        for &grain in &self.shared {
            let start = widen(grain << GRAIN_BITS);
            match ranges.last_mut() {
                Some((_, end)) if *end == start => *end += 1 << GRAIN_BITS,
                _ => ranges.push((start, start + (1 << GRAIN_BITS))),
            }
        }
        ranges
    }
}
