//! The log: units of instrumented code and notes of the runtime.
//!
//! Instrumented code appends to a buffer that stays in the cache. If everything is kept, notes go there too, and the buffer is
//! written to the log's file when it is full. Otherwise it is looked through and emptied when it is full, and before every note, so
//! that it only ever holds units of one thread; what is kept of it goes to a second buffer, with the notes. Both buffers are a
//! shared mapping of a file (`abi::page`), so that nothing is lost even if the process is killed.

use crate::shadow::Shadow;
use crate::sys;
use abi::Note;
use abi::page::{self, BUFFER, SLACK};
use abi::plan::Logging;
use abi::unit::{self, MOST_SITES, SITE_BITS, Unit};

/// Where the two buffers are.
const UNITS: usize = page::ADDRESS as usize + page::BYTES;
const KEPT: usize = UNITS + BUFFER + SLACK;

/// Notes of at most so many bytes are written without a detour.
const SMALL_NOTE: usize = 1 << 10;

/// In place of the file when nothing is written any more.
const CLOSED: i32 = -1;

/// What is done with units.
enum Kept {
    Everything,
    Sharedness(Shadow),
    Nothing,
    Ranges(Vec<(u64, u64)>),
    Window { from: u64, to: u64 },
}

/// The log of this process.
pub struct Log {
    kept: Kept,
    /// Whether units were left out since the last one that was kept.
    gap: bool,
    file: i32,
    /// Where the next byte that is kept goes. Where everything is kept, the cursor is ahead of it.
    position: usize,
    /// Bytes that are in the file already, and the most there may be.
    written: u64,
    most_bytes: u64,
    /// Up to where the units are counted.
    mark: usize,
}

/// A word of the page that instrumented code shares.
fn word(address: u64) -> *mut usize {
    address as *mut usize
}

/// Where instrumented code puts its next unit.
pub fn cursor() -> usize {
    // SAFETY: the page is mapped at the start.
    unsafe { word(page::CURSOR).read() }
}

/// Moves it.
fn set_cursor(to: usize) {
    // SAFETY: the page is mapped at the start.
    unsafe { word(page::CURSOR).write(to) };
}

/// The site of the call that instrumented code made last.
pub fn call_site() -> u32 {
    // SAFETY: the page is mapped at the start.
    unsafe { word(page::SITE).read() as u32 & MOST_SITES }
}

/// Puts the site of the last call back, when its thread runs again.
pub fn set_call_site(site: u32) {
    // SAFETY: the page is mapped at the start.
    unsafe { word(page::SITE).write(site as usize) };
}

/// Maps the page and the buffers, and lets instrumented code write where nobody reads.
pub fn start_discarding() {
    if sys::map(page::ADDRESS as usize, page::MAPPED) != Some(page::ADDRESS as usize) {
        sys::die("the address 0x7f000000, which instrumented code needs, is taken");
    }
    use_buffer();
}

/// Lets instrumented code begin at the start of its buffer.
fn use_buffer() {
    set_cursor(UNITS);
    // SAFETY: the page is mapped.
    unsafe {
        word(page::LIMIT).write(UNITS + BUFFER);
        word(page::END).write(UNITS + BUFFER);
    }
}

/// Starts the discarded buffer anew. Threads may race here without harm: every unit that is appended was preceded by a check.
pub fn rewind_discarded() {
    set_cursor(UNITS);
}

impl Log {
    /// The log into a file, with its tail. `None` if the tail cannot be mapped, or there is no address space.
    pub fn new(file: i32, tail: i32, logging: &Logging, most_bytes: u64) -> Option<Log> {
        let kept = match logging {
            Logging::Everything => Kept::Everything,
            Logging::Sharedness => Kept::Sharedness(Shadow::new()?),
            Logging::Schedule => Kept::Nothing,
            Logging::Ranges(ranges) => Kept::Ranges(ranges.clone()),
            Logging::Window { from, to } => Kept::Window { from: *from, to: *to },
        };
        if !sys::set_length(tail, page::MAPPED as u64)
            || !sys::map_file(page::ADDRESS as usize, tail, page::MAPPED)
        {
            return None;
        }
        let mut log = Log { kept, gap: false, file, position: 0, written: 0, most_bytes, mark: 0 };
        log.begin();
        Some(log)
    }

    fn direct(&self) -> bool {
        matches!(self.kept, Kept::Everything)
    }

    /// Begins with empty buffers.
    fn begin(&mut self) {
        use_buffer();
        self.mark = UNITS;
        self.position = if self.direct() { UNITS } else { KEPT };
        self.tell_pending();
    }

    /// Writes down what is not in the file yet, for whoever reads the tail.
    fn tell_pending(&self) {
        let (start, end) = if self.direct() { (UNITS, 0) } else { (KEPT, self.position) };
        // SAFETY: the page is mapped.
        unsafe {
            word(page::PENDING).write(start);
            word(page::PENDING_END).write(end);
        }
    }

    /// The units that the running thread has appended and that are not counted yet.
    pub fn uncounted(&self) -> u64 {
        ((cursor() - self.mark) / unit::BYTES) as u64
    }

    /// Makes instrumented code ask before the event that comes after `events` more.
    pub fn ask_after(&self, events: u64) {
        // SAFETY: the page is mapped.
        unsafe {
            let limit = word(page::LIMIT).read();
            let room = (limit.saturating_sub(cursor()) / unit::BYTES) as u64;
            word(page::END).write(cursor() + events.min(room) as usize * unit::BYTES);
        }
    }

    /// Counts and takes in what the running thread has appended since the last time. `done` and `total` are the events
    /// of the thread and of all threads before. Gives the number of units and the site of the last one.
    pub fn settle(&mut self, thread: usize, done: u64, total: u64) -> (u64, Option<u32>) {
        let (start, end) = (self.mark, cursor());
        let count = (end - start) / unit::BYTES;
        if count == 0 && !self.direct() {
            return (0, None);
        }
        // SAFETY: instrumented code has written these units; nobody writes there again before the cursor moves back.
        let units = unsafe { core::slice::from_raw_parts(start as *const Unit, count) };
        let last = units.last().map(|unit| unit.site());
        if self.direct() {
            self.position = end;
            self.mark = end;
            if self.position >= UNITS + BUFFER {
                self.flush();
            }
        } else if count > 0 {
            self.look_through(thread, done, total, units);
            set_cursor(UNITS);
        }
        (count as u64, last)
    }

    fn look_through(&mut self, thread: usize, done: u64, total: u64, units: &[Unit]) {
        let (from, to) = match &mut self.kept {
            Kept::Everything | Kept::Nothing => return,
            Kept::Sharedness(shadow) => return shadow.touch(thread, units),
            Kept::Window { from, to } => (*from, *to),
            Kept::Ranges(_) => return self.keep_ranges(done, units),
        };
        let first = from.saturating_sub(total).min(units.len() as u64);
        let end = to.saturating_sub(total).min(units.len() as u64);
        if first > 0 {
            self.gap = true;
        }
        if first < end {
            self.keep(done + first, &units[first as usize..end as usize]);
        }
        if end < units.len() as u64 {
            self.gap = true;
        }
    }

    fn keep_ranges(&mut self, done: u64, units: &[Unit]) {
        let Kept::Ranges(ranges) = &mut self.kept else { return };
        let ranges = core::mem::take(ranges);
        for (at, unit) in units.iter().enumerate() {
            let address = unit.address();
            let candidate = ranges.partition_point(|&(_, end)| end <= address);
            // The access may begin up to seven bytes before the range.
            if ranges.get(candidate).is_some_and(|&(start, _)| start < address + 8) {
                self.keep(done + at as u64, core::slice::from_ref(unit));
            } else {
                self.gap = true;
            }
        }
        self.kept = Kept::Ranges(ranges);
    }

    /// Copies units into the file; the thread had done `done` events before them.
    fn keep(&mut self, done: u64, units: &[Unit]) {
        if core::mem::take(&mut self.gap) {
            self.append(done, &Note::Gap);
        }
        for units in units.chunks(BUFFER / 4 / unit::BYTES) {
            self.make_room(core::mem::size_of_val(units));
            // SAFETY: there is room, and the two buffers are apart.
            unsafe {
                core::ptr::copy_nonoverlapping(units.as_ptr(), self.position as *mut Unit, units.len())
            };
            self.position += core::mem::size_of_val(units);
        }
    }

    /// Adds a note of the running thread, which has done `done` events with it. What the thread has appended is settled.
    pub fn note(&mut self, done: u64, note: &Note) {
        self.append(done, note);
        if self.direct() {
            set_cursor(self.position);
            self.mark = self.position;
        }
        self.tell_pending();
    }

    /// Bytes were touched that are no unit.
    pub fn touch_range(&mut self, thread: usize, address: u64, bytes: u64) {
        if let Kept::Sharedness(shadow) = &mut self.kept {
            shadow.touch_range(thread, address, bytes);
        }
    }

    /// Whether the content of a range of bytes at the `total`-th event of the run is kept.
    pub fn keeps_bytes(&self, total: u64, address: u64, bytes: u64) -> bool {
        match &self.kept {
            Kept::Everything => true,
            Kept::Sharedness(_) | Kept::Nothing => false,
            Kept::Window { from, to } => (*from..*to).contains(&total),
            Kept::Ranges(ranges) => {
                let candidate = ranges.partition_point(|&(_, end)| end <= address);
                ranges.get(candidate).is_some_and(|&(start, _)| start < address.saturating_add(bytes))
            }
        }
    }

    /// An event was left out.
    pub fn leave_out(&mut self) {
        self.gap = true;
    }

    fn append(&mut self, done: u64, note: &Note) {
        if self.file == CLOSED {
            return;
        }
        // Nearly all notes are small, and go straight to their place.
        self.make_room(SMALL_NOTE + unit::BYTES);
        let start = (self.position + unit::BYTES) as *mut u8;
        let place = Place { next: start, end: start.wrapping_add(SMALL_NOTE) };
        let length = match postcard::serialize_with_flavor(note, place) {
            Ok(end) => end as usize - start as usize,
            Err(_) => return self.append_large(done, note),
        };
        let units = 1 + length.div_ceil(unit::BYTES);
        let end = self.position + units * unit::BYTES;
        let head = Unit { place: done << SITE_BITS, value: length as u64 };
        // SAFETY: as above; what fills the last unit up is zero.
        unsafe {
            start.add(length).write_bytes(0, (units - 1) * unit::BYTES - length);
            (self.position as *mut Unit).write(head);
        }
        self.position = end;
    }

    /// Writes a large note past the buffer.
    #[cold]
    fn append_large(&mut self, done: u64, note: &Note) {
        // Into memory that grows, nothing fails.
        let mut bytes = postcard::to_stdvec(note).unwrap_or_default();
        let length = bytes.len();
        bytes.resize(length.next_multiple_of(unit::BYTES), 0);
        self.flush();
        let head = [done << SITE_BITS, length as u64].map(u64::to_le_bytes).concat();
        self.write(&head);
        self.write(&bytes);
    }

    fn make_room(&mut self, bytes: usize) {
        let limit = if self.direct() { UNITS } else { KEPT } + BUFFER;
        if self.position + bytes > limit {
            self.flush();
        }
    }

    /// Writes the buffer of what is kept to the file. The cursor is at its end if everything is.
    fn flush(&mut self) {
        let start = if self.direct() { UNITS } else { KEPT };
        // SAFETY: all of it has been written.
        let bytes = unsafe { core::slice::from_raw_parts(start as *const u8, self.position - start) };
        self.write(bytes);
        self.position = start;
        if self.direct() {
            set_cursor(start);
            self.mark = start;
            if self.written >= self.most_bytes {
                self.kept = Kept::Nothing;
                self.begin();
                self.append(0, &Note::Full);
            }
        }
        self.tell_pending();
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.file == CLOSED {
            return;
        }
        if !sys::write_all(self.file, bytes) {
            sys::die("the log cannot be written: the disk, or the memory for it, is full");
        }
        self.written += bytes.len() as u64;
    }

    /// The memory that several threads touched, if that was to be found out.
    pub fn shared(&mut self) -> Option<Vec<(u64, u64)>> {
        match &mut self.kept {
            Kept::Sharedness(shadow) => Some(shadow.ranges()),
            _ => None,
        }
    }

    /// The last note is in the log: writes what is left.
    pub fn close(&mut self) {
        if self.file != CLOSED {
            self.flush();
            sys::close(self.file);
        }
        self.stop();
    }

    /// Lets the file be. A child process does so, whom it is not for.
    pub fn abandon(&mut self) {
        // Its page must not be its parent's.
        sys::unmap(page::ADDRESS as usize, page::MAPPED);
        start_discarding();
        sys::close(self.file);
        self.stop();
    }

    /// Nothing is kept from now on, only counted.
    fn stop(&mut self) {
        self.file = CLOSED;
        self.kept = Kept::Nothing;
        self.begin();
    }
}

/// Where a note is written: postcard's own kind for slices copies each number by a call of `memmove`.
struct Place {
    next: *mut u8,
    end: *mut u8,
}

impl postcard::ser_flavors::Flavor for Place {
    type Output = *mut u8;

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        if self.next == self.end {
            return Err(postcard::Error::SerializeBufferFull);
        }
        // SAFETY: the place has room up to its end.
        unsafe { self.next.write(byte) };
        self.next = self.next.wrapping_add(1);
        Ok(())
    }

    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        bytes.iter().try_for_each(|&byte| self.try_push(byte))
    }

    fn finalize(self) -> postcard::Result<*mut u8> {
        Ok(self.next)
    }
}
