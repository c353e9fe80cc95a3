//! Sifting: what is kept of the buffer where not everything is.
//!
//! Notes always are. Of units those in a window, or those that access given memory; or none, and only who touched what is found
//! out. Between what is kept a note says that something was left out, and how far the thread was then.

use crate::log::{Kept, Log};
use abi::Note;
use abi::unit::{self, SITE_BITS, Unit};

impl Log {
    /// Looks through records of a thread, by its number; `done` and `total` are its events and those of all threads before.
    pub fn sift(&mut self, thread: usize, done: u64, total: u64, records: &[Unit], has_notes: bool) {
        if !has_notes {
            return self.sift_units(thread, done, total, records);
        }
        let (mut done, mut total) = (done, total);
        let mut rest = records;
        while let Some(&head) = rest.first() {
            if head.site() != 0 {
                let count = rest.iter().position(|unit| unit.site() == 0).unwrap_or(rest.len());
                let (units, behind) = rest.split_at(count);
                self.sift_units(thread, done, total, units);
                done += count as u64;
                total += count as u64;
                rest = behind;
                continue;
            }
            let count = 1 + (head.value as usize).div_ceil(unit::BYTES);
            let (note, behind) = rest.split_at(count.min(rest.len()));
            self.keep(note);
            // A note that is an event is one more than what was before.
            let with = head.place >> SITE_BITS;
            if with > done {
                done = with;
                total += 1;
            }
            rest = behind;
        }
    }

    fn sift_units(&mut self, thread: usize, done: u64, total: u64, units: &[Unit]) {
        let (from, to) = match &mut self.kept {
            Kept::Everything(_) | Kept::Nothing => return,
            Kept::Sharedness(shadow) => return shadow.touch(thread, units),
            Kept::Window { from, to } => (*from, *to),
            Kept::Ranges(_) => return self.sift_ranges(done, units),
        };
        let first = from.saturating_sub(total).min(units.len() as u64);
        let end = to.saturating_sub(total).min(units.len() as u64);
        self.gap |= first > 0;
        if first < end {
            self.keep_units(done + first, &units[first as usize..end as usize]);
        }
        self.gap |= end < units.len() as u64;
    }

    fn sift_ranges(&mut self, done: u64, units: &[Unit]) {
        let Kept::Ranges(ranges) = &mut self.kept else { return };
        let ranges = core::mem::take(ranges);
        for (at, unit) in units.iter().enumerate() {
            // The access may begin up to seven bytes before the range.
            if touches(&ranges, unit.address(), 8) {
                self.keep_units(done + at as u64, core::slice::from_ref(unit));
            } else {
                self.gap = true;
            }
        }
        // Unless the log became full meanwhile.
        if let Kept::Ranges(_) = self.kept {
            self.kept = Kept::Ranges(ranges);
        }
    }

    /// Keeps units; the thread had done `done` events before them.
    fn keep_units(&mut self, done: u64, units: &[Unit]) {
        if core::mem::take(&mut self.gap) {
            let mut bytes = [0; unit::BYTES];
            // A note without content has a number only.
            let length = postcard::to_slice(&Note::Gap, &mut bytes).map_or(0, |bytes| bytes.len());
            let (low, high) = (u64::from_le_bytes(first_half(&bytes)), 0);
            self.keep(&[
                Unit { place: done << SITE_BITS, value: length as u64 },
                Unit { place: low, value: high },
            ]);
        }
        self.keep(units);
    }

    /// Whether it is kept that memory was allocated or given back. Where accesses are not, replaying can tell.
    pub fn keeps_allocation(&self, address: u64, bytes: u64) -> bool {
        match &self.kept {
            Kept::Everything(_) | Kept::Window { .. } => true,
            Kept::Sharedness(_) | Kept::Nothing => false,
            Kept::Ranges(ranges) => touches(ranges, address, bytes),
        }
    }

    /// Whether the content of a range of bytes at the `total`-th event of the run is kept.
    pub fn keeps_bytes(&self, total: u64, address: u64, bytes: u64) -> bool {
        match &self.kept {
            Kept::Everything(_) => true,
            Kept::Sharedness(_) | Kept::Nothing => false,
            Kept::Window { from, to } => (*from..*to).contains(&total),
            Kept::Ranges(ranges) => touches(ranges, address, bytes),
        }
    }
}

/// Whether bytes overlap with one of the ranges, which are sorted.
fn touches(ranges: &[(u64, u64)], address: u64, bytes: u64) -> bool {
    let candidate = ranges.partition_point(|&(_, end)| end <= address);
    ranges.get(candidate).is_some_and(|&(start, _)| start < address.saturating_add(bytes))
}

fn first_half(bytes: &[u8; unit::BYTES]) -> [u8; 8] {
    let mut half = [0; 8];
    half.copy_from_slice(&bytes[..8]);
    half
}
