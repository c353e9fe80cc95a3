//! The log: units of instrumented code and notes of the runtime, in a file that is mapped into memory.
//!
//! If everything is kept, instrumented code writes straight into the mapped file. Otherwise it writes into a small buffer that stays
//! in the cache, which is looked through and emptied when it is full, and before every note: so the buffer only ever holds units of
//! one thread, and what is in the file is complete up to its last note even if the process is killed.

use crate::shadow::Shadow;
use crate::sys;
use abi::plan::Logging;
use abi::unit::{self, MOST_SITES, SITE_BITS, Unit};
use abi::{Note, page};

/// The buffer where not everything is kept.
const BUFFER: usize = 1 << 18;

/// The part of the file that is mapped at a time.
const WINDOW: usize = 1 << 25;

const PAGE: u64 = 4096;

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
    /// Whether a note stands behind the last unit that was left out.
    gap: bool,
    file: i32,
    /// The mapped part: where it is in memory and in the file.
    window: usize,
    offset: u64,
    /// Where the next byte of the file goes, in memory. Where everything is kept, the cursor is ahead of it.
    position: usize,
    most_bytes: u64,
    buffer: usize,
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

/// Maps the page, and lets instrumented code write into a buffer that nobody reads.
pub fn start_discarding() {
    if sys::map(page::ADDRESS as usize, page::BYTES) != Some(page::ADDRESS as usize) {
        sys::die("the address 0x7f000000, which instrumented code needs, is taken");
    }
    discard();
}

/// From now on nobody reads what instrumented code writes.
fn discard() {
    let Some(buffer) = sys::map(0, BUFFER + page::SLACK) else { sys::die("no memory for the log") };
    set_cursor(buffer);
    // SAFETY: the page is mapped.
    unsafe {
        word(page::LIMIT).write(buffer + BUFFER);
        word(page::END).write(buffer + BUFFER);
    }
}

/// Starts the discarded buffer anew. Threads may race here without harm: every unit that is appended was preceded by a check.
pub fn rewind_discarded() {
    // SAFETY: the page is mapped.
    set_cursor(unsafe { word(page::LIMIT).read() } - BUFFER);
}

impl Log {
    /// The log into a file. `None` if the file cannot be mapped.
    pub fn new(file: i32, logging: &Logging, most_bytes: u64) -> Option<Log> {
        let kept = match logging {
            Logging::Everything => Kept::Everything,
            Logging::Sharedness => Kept::Sharedness(Shadow::new()?),
            Logging::Schedule => Kept::Nothing,
            Logging::Ranges(ranges) => Kept::Ranges(ranges.clone()),
            Logging::Window { from, to } => Kept::Window { from: *from, to: *to },
        };
        let mut log = Log {
            kept,
            gap: false,
            file,
            window: 0,
            offset: 0,
            position: 0,
            most_bytes,
            buffer: sys::map(0, BUFFER + page::SLACK)?,
            mark: 0,
        };
        log.map_window(0)?;
        log.use_buffer();
        Some(log)
    }

    fn direct(&self) -> bool {
        matches!(self.kept, Kept::Everything)
    }

    /// Lets instrumented code write where it should.
    fn use_buffer(&mut self) {
        let (cursor, limit) = match self.direct() {
            true => (self.position, self.window + WINDOW - page::SLACK),
            false => (self.buffer, self.buffer + BUFFER),
        };
        set_cursor(cursor);
        self.mark = cursor;
        // SAFETY: the page is mapped.
        unsafe { word(page::LIMIT).write(limit) };
        self.ask_after(u64::MAX);
    }

    /// Maps the part of the file that begins with its byte `at`, and makes it long enough.
    fn map_window(&mut self, at: u64) -> Option<()> {
        if self.window != 0 {
            sys::unmap(self.window, WINDOW);
        }
        self.offset = at & !(PAGE - 1);
        if !sys::set_length(self.file, self.offset + WINDOW as u64) {
            return None;
        }
        // A log that has filled one window will probably fill the next.
        self.window = sys::map_file(self.file, self.offset, WINDOW, at > 0)?;
        self.position = self.window + (at - self.offset) as usize;
        Some(())
    }

    fn length(&self) -> u64 {
        self.offset + (self.position - self.window) as u64
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
        // SAFETY: instrumented code has written these units; nobody writes there again before the cursor moves back.
        let units = unsafe { core::slice::from_raw_parts(start as *const Unit, count) };
        let last = units.last().map(|unit| unit.site());
        if self.direct() {
            self.position = end;
            self.mark = end;
            if self.position >= self.window + WINDOW - page::SLACK {
                self.next_window();
            }
        } else {
            self.look_through(thread, done, total, units);
            set_cursor(self.buffer);
            self.mark = self.buffer;
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
        for units in units.chunks(WINDOW / 4 / unit::BYTES) {
            self.make_room(core::mem::size_of_val(units));
            // SAFETY: there is room, and the window is not the buffer.
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
            Err(_) => self.append_large(note),
        };
        let units = 1 + length.div_ceil(unit::BYTES);
        let end = self.position + units * unit::BYTES;
        let head = Unit { place: done << SITE_BITS, value: length as u64 };
        // SAFETY: as above. What was written behind the note's end is cleared: zeros are the end of the log.
        unsafe {
            (self.position as *mut Unit).write(head);
            (end as *mut Unit).write(Unit::default());
        }
        self.position = end;
    }

    /// Puts a large note behind the place for its head; gives its length.
    #[cold]
    fn append_large(&mut self, note: &Note) -> usize {
        // Into memory that grows, nothing fails.
        let bytes = postcard::to_stdvec(note).unwrap_or_default();
        // SAFETY: the window has it, and what a failed attempt left there must not stand behind the note.
        unsafe { core::ptr::write_bytes((self.position + unit::BYTES) as *mut u8, 0, SMALL_NOTE) };
        self.make_room(bytes.len() + 2 * unit::BYTES);
        let place = (self.position + unit::BYTES) as *mut u8;
        // SAFETY: there is room.
        unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len()) };
        bytes.len()
    }

    fn make_room(&mut self, bytes: usize) {
        if self.position + bytes > self.window + WINDOW - page::SLACK {
            if bytes > WINDOW - page::SLACK - PAGE as usize {
                sys::die("a note is larger than the log's window");
            }
            self.next_window();
        }
    }

    fn next_window(&mut self) {
        let length = self.length();
        if self.map_window(length).is_none() {
            sys::die("the log's file cannot grow: the disk or the memory for it is full");
        }
        if self.direct() {
            self.use_buffer();
        }
        if length >= self.most_bytes && !matches!(self.kept, Kept::Nothing | Kept::Sharedness(_)) {
            self.kept = Kept::Nothing;
            self.gap = true;
            self.append(0, &Note::Full);
            self.use_buffer();
        }
    }

    /// The memory that several threads touched, if that was to be found out.
    pub fn shared(&mut self) -> Option<Vec<(u64, u64)>> {
        match &mut self.kept {
            Kept::Sharedness(shadow) => Some(shadow.ranges()),
            _ => None,
        }
    }

    /// The last note is written: cuts the file to its length.
    pub fn close(&mut self) {
        if self.file != CLOSED {
            sys::set_length(self.file, self.length());
            self.abandon();
        }
    }

    /// Lets the file be: nothing is kept from now on, only counted. A child process does so, whom the file is not for.
    pub fn abandon(&mut self) {
        sys::unmap(self.window, WINDOW);
        sys::close(self.file);
        self.file = CLOSED;
        self.kept = Kept::Nothing;
        self.use_buffer();
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
