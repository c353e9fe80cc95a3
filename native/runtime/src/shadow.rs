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

/// The tag of a thread, by its number.
fn tag(thread: usize) -> u8 {
    u8::try_from(thread + 1).map_or(LATE, |tag| tag.min(LATE))
}

/// Who touched what.
pub struct Shadow {
    tags: *mut u8,
    /// For each tag whether it is news that the thread that ran last touches its grain.
    news: Box<[bool; 1 << u8::BITS]>,
    /// The grains that several threads touched, in the order in which this was noticed.
    shared: Vec<u64>,
}

impl Shadow {
    /// Nobody touched anything; `None` if the system does not give so much address space.
    pub fn new() -> Option<Shadow> {
        let tags = sys::map(0, 1 << (ADDRESS_BITS - GRAIN_BITS))? as *mut u8;
        Some(Shadow { tags, news: Box::new([true; _]), shared: vec![] })
    }

    /// A thread, by its number, did these accesses.
    pub fn touch(&mut self, thread: usize, units: &[Unit]) {
        let tag = tag(thread);
        self.expect(tag);
        // SAFETY: the mapping has a tag for each grain of the 42-bit address space. The first one is that of marks, which are no accesses:
        // with the tag of the thread they are passed over like memory that only it touched.
        unsafe { *self.tags = tag };
        let grain = |unit: &Unit| unit.place >> (SITE_BITS + GRAIN_BITS);
        // Mostly nothing changes: eight are looked at together, without a branch for each.
        let (chunks, rest) = units.as_chunks::<8>();
        for chunk in chunks {
            if chunk.iter().fold(false, |some, unit| some | self.is_news(grain(unit))) {
                chunk.iter().for_each(|unit| self.touch_grain(grain(unit), tag));
            }
        }
        rest.iter().for_each(|unit| self.touch_grain(grain(unit), tag));
    }

    /// From now on it is the thread with this tag that touches memory.
    fn expect(&mut self, tag: u8) {
        if self.news[usize::from(tag)] {
            *self.news = [true; _];
            self.news[usize::from(tag)] = false;
            self.news[usize::from(SEVERAL)] = false;
        }
    }

    #[inline(always)]
    fn is_news(&self, grain: u64) -> bool {
        // SAFETY: as above, there is a tag.
        self.news[usize::from(unsafe { *self.tags.add(grain as usize) })]
    }

    #[inline(always)]
    fn touch_grain(&mut self, grain: u64, tag: u8) {
        // SAFETY: as above, there is a tag.
        let before = unsafe { *self.tags.add(grain as usize) };
        if before != tag && before != SEVERAL {
            self.change(grain, tag);
        }
    }

    /// A thread touched a range of bytes.
    #[inline]
    pub fn touch_range(&mut self, thread: usize, address: u64, bytes: u64) {
        let tag = tag(thread);
        let low = address & ((1 << ADDRESS_BITS) - 1);
        let end = low.saturating_add(bytes).min(1 << ADDRESS_BITS).next_multiple_of(1 << GRAIN_BITS);
        let (mut grain, end) = (low >> GRAIN_BITS, end >> GRAIN_BITS);
        // Mostly one thread touched all: eight tags are looked at together.
        while end.saturating_sub(grain) >= 8 {
            // SAFETY: as above; there are eight of them.
            let before = unsafe { self.tags.add(grain as usize).cast::<[u8; 8]>().read() };
            if before != [tag; 8] {
                (grain..grain + 8).for_each(|grain| self.touch_grain(grain, tag));
            }
            grain += 8;
        }
        (grain..end).for_each(|grain| self.touch_grain(grain, tag));
    }

    #[cold]
    fn change(&mut self, grain: u64, tag: u8) {
        if grain < LOWEST >> GRAIN_BITS {
            return;
        }
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
