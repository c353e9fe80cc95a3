//! The log: units of instrumented code and notes of the runtime.
//!
//! Both go to one buffer that stays in the cache. When it is full, and before another thread runs, it is *settled*: its events are
//! counted, and if everything is kept it is packed (`packing`) and written to the log's file, otherwise sifted (`sift`) into a second
//! buffer. Both buffers are a shared mapping of a file (`abi::page`), so that nothing is lost even if the process is killed.

use crate::packing::Packing;
use crate::page::{self, KEPT, UNITS, cursor, set_cursor};
use crate::shadow::Shadow;
use crate::sys;
use abi::Note;
use abi::head::{self, MOST_HEAD};
use abi::note::MOST_FILLED;
use abi::page::BUFFER;
use abi::plan::Logging;
use abi::unit::{self, SITE_BITS, Unit};

/// Notes of at most so many bytes are written without a detour.
const SMALL_NOTE: usize = 1 << 10;

/// In place of the file when nothing is written any more.
const CLOSED: i32 = -1;

/// What is done with units.
pub enum Kept {
    /// All are kept, packed.
    Everything(Packing),
    /// None, but it is found out who touched what.
    Sharedness(Shadow),
    /// None.
    Nothing,
    /// Accesses of memory in these ranges.
    Ranges(Vec<(u64, u64)>),
    /// All between these numbers of events.
    Window {
        /// First.
        from: u64,
        /// End.
        to: u64,
    },
}

/// The log of this process.
pub struct Log {
    /// What is done with units.
    pub kept: Kept,
    /// Whether units were left out since the last one that was kept.
    pub gap: bool,
    file: i32,
    /// Bytes that are in the file, and the most there may be.
    written: u64,
    most_bytes: u64,
    /// Bytes that are not in the file because it is packed. They count, because whoever reads the log unpacks it.
    saved: u64,
    /// The events that the running thread had done when the buffer was settled last.
    settled: u64,
    /// Up to where the buffer is settled.
    mark: usize,
    /// Bytes behind the mark that are no events of their own: a note takes several units, and not all notes are events.
    uncounted: usize,
    /// Where the last note ends, if it is behind the mark.
    note_end: usize,
    /// Where the next byte goes that is kept, if not everything is.
    position: usize,
}

/// What was settled.
pub struct Settled {
    /// How many events.
    pub events: u64,
    /// The site of the last one, if it was one of instrumented code.
    pub last: Option<u32>,
}

impl Log {
    /// The log into a file, whose tail is mapped. `None` if there is no address space.
    pub fn new(file: i32, logging: &Logging, most_bytes: u64) -> Option<Log> {
        let kept = match logging {
            Logging::Everything => Kept::Everything(Packing::new()),
            Logging::Sharedness => Kept::Sharedness(Shadow::new()?),
            Logging::Schedule => Kept::Nothing,
            Logging::Ranges(ranges) => Kept::Ranges(ranges.clone()),
            Logging::Window { from, to } => Kept::Window { from: *from, to: *to },
        };
        page::begin();
        if !matches!(kept, Kept::Everything(_)) {
            page::use_little();
        }
        let log = Log {
            kept,
            gap: false,
            file,
            written: 0,
            most_bytes,
            saved: 0,
            settled: 0,
            mark: UNITS,
            uncounted: 0,
            note_end: 0,
            position: KEPT,
        };
        log.tell_pending();
        Some(log)
    }

    fn direct(&self) -> bool {
        matches!(self.kept, Kept::Everything(_))
    }

    fn tell_pending(&self) {
        match self.direct() {
            true => page::tell_pending(UNITS, 0),
            false => page::tell_pending(KEPT, self.position),
        }
    }

    /// The events of the running thread that are not settled yet.
    #[inline]
    pub fn unsettled(&self) -> u64 {
        ((cursor() - self.mark - self.uncounted) / unit::BYTES) as u64
    }

    /// Whether there is room for a note.
    #[inline]
    pub fn has_room(&self) -> bool {
        cursor() + SMALL_NOTE + unit::BYTES <= page::limit()
    }

    /// Adds a note of the running thread, which has done `done` events with it; there is room. False if the note is too large for
    /// this, see [`Log::write_large`].
    pub fn note(&mut self, done: u64, note: &Note) -> bool {
        let start = (cursor() + unit::BYTES) as *mut u8;
        // SAFETY: there is room.
        if let Some(length) = unsafe { head::lock(start, note) } {
            self.end_note(done, length, true);
            return true;
        }
        let place = Place { next: start, end: start.wrapping_add(SMALL_NOTE) };
        let Ok(end) = postcard::serialize_with_flavor(note, place) else { return false };
        self.end_note(done, end as usize - start as usize, note.is_event());
        true
    }

    /// The same for bytes that were read or written.
    pub fn note_bytes(&mut self, done: u64, site: u32, address: u64, content: &[u8]) -> bool {
        if content.len() + MOST_HEAD > SMALL_NOTE {
            return false;
        }
        let start = (cursor() + unit::BYTES) as *mut u8;
        // SAFETY: there is room for the head and the content, and neither is in the buffer yet.
        let length = unsafe {
            match fill(content) {
                Some((byte, count)) => head::fill(start, site, address, byte, count),
                None => {
                    let length = head::bytes(start, site, address, content.len() as u64);
                    start.add(length).copy_from(content.as_ptr(), content.len());
                    length + content.len()
                }
            }
        };
        self.end_note(done, length, true);
        true
    }

    /// A note of so many bytes stands behind the place for its head.
    fn end_note(&mut self, done: u64, length: usize, is_event: bool) {
        let head = cursor();
        let start = (head + unit::BYTES) as *mut u8;
        let units = 1 + length.div_ceil(unit::BYTES);
        // SAFETY: there is room, and slack behind it; what fills the last unit up is zero.
        unsafe {
            start.add(length).cast::<u128>().write_unaligned(0);
            (head as *mut Unit).write(Unit { place: done << SITE_BITS, value: length as u64 });
        }
        self.note_end = head + units * unit::BYTES;
        self.uncounted += (units - usize::from(is_event)) * unit::BYTES;
        set_cursor(self.note_end);
    }

    /// Adds an event of instrumented code that it did not add itself; there is room.
    #[inline]
    pub fn unit(&mut self, unit: Unit) {
        // SAFETY: there is room.
        unsafe { (cursor() as *mut Unit).write(unit) };
        set_cursor(cursor() + unit::BYTES);
    }

    /// Adds a note past the buffer, which is settled. It is not counted.
    #[cold]
    pub fn write_large(&mut self, done: u64, note: &Note) {
        // Into memory that grows, nothing fails.
        let mut bytes = postcard::to_extend(note, vec![0; unit::BYTES]).unwrap_or_default();
        let length = bytes.len() - unit::BYTES;
        bytes.resize(bytes.len().next_multiple_of(unit::BYTES), 0);
        let head = [done << SITE_BITS, length as u64].map(u64::to_le_bytes).concat();
        bytes[..unit::BYTES].copy_from_slice(&head);
        self.flush();
        self.written += write(self.file, &bytes);
    }

    /// Settles what the running thread has added. `done` and `total` are the events of the thread and of all threads that were settled
    /// before.
    pub fn settle(&mut self, thread: usize, done: u64, total: u64) -> Settled {
        let (start, end) = (self.mark, cursor());
        let events = self.unsettled();
        self.settled = done + events;
        // SAFETY: units begin at the mark; if the last record is one, it is the last 16 bytes.
        let last =
            (end > start && end != self.note_end).then(|| unsafe { *(end as *const Unit).sub(1) }.site());
        if !self.direct() {
            // SAFETY: all of it has been written, and nobody writes there before the cursor moves back.
            let records = unsafe { units_between(start, end) };
            self.sift(thread, done, total, records, self.note_end > start);
            set_cursor(UNITS);
        } else if !self.has_room() {
            self.flush();
        }
        self.mark = cursor();
        self.uncounted = 0;
        self.note_end = 0;
        Settled { events, last }
    }

    /// Puts units or notes into the buffer of what is kept.
    pub fn keep(&mut self, records: &[Unit]) {
        for records in records.chunks(BUFFER / 4 / unit::BYTES) {
            let bytes = core::mem::size_of_val(records);
            if self.position + bytes > KEPT + BUFFER {
                self.flush();
            }
            // SAFETY: there is room, and the two buffers are apart.
            unsafe {
                core::ptr::copy_nonoverlapping(records.as_ptr(), self.position as *mut Unit, records.len())
            };
            self.position += bytes;
        }
        self.tell_pending();
    }

    /// Writes the buffer of what is kept to the file; where everything is, that of instrumented code.
    fn flush(&mut self) {
        if let Kept::Everything(packing) = &mut self.kept {
            // SAFETY: all of it has been written, and nobody writes there before the cursor moves back.
            let units = unsafe { units_between(UNITS, cursor()) };
            if !units.is_empty() {
                let plain = bytes_of(units);
                let piece = packing.pack(units).unwrap_or(plain);
                self.saved += (plain.len() as u64).saturating_sub(piece.len() as u64);
                self.written += write(self.file, piece);
            }
            set_cursor(UNITS);
            self.mark = UNITS;
        } else {
            // SAFETY: all of it has been written.
            let bytes = unsafe { core::slice::from_raw_parts(KEPT as *const u8, self.position - KEPT) };
            self.written += write(self.file, bytes);
            self.position = KEPT;
        }
        let is_full = self.written + self.saved >= self.most_bytes;
        if is_full && !matches!(self.kept, Kept::Nothing | Kept::Sharedness(_)) {
            self.kept = Kept::Nothing;
            self.write_large(self.settled, &Note::Full);
        }
        self.tell_pending();
    }

    /// The file, so that nobody closes it by mistake.
    pub fn file(&self) -> i32 {
        self.file
    }

    /// It is at another number now.
    pub fn moved(&mut self, file: i32) {
        self.file = file;
    }

    /// Writes all to the file; how many bytes are there. All is settled.
    pub fn written(&mut self) -> u64 {
        self.flush();
        self.written
    }

    /// Cuts what was written behind this.
    pub fn cut(&mut self, written: u64) {
        if self.file != CLOSED && sys::set_length(self.file, written) {
            self.written = written;
        }
    }

    /// The memory that several threads touched, if that was to be found out.
    pub fn shared(&mut self) -> Option<Vec<(u64, u64)>> {
        match &mut self.kept {
            Kept::Sharedness(shadow) => Some(shadow.ranges()),
            _ => None,
        }
    }

    /// All is settled: writes what is left.
    pub fn close(&mut self) {
        if self.file != CLOSED {
            self.flush();
            sys::close(self.file);
            self.file = CLOSED;
            self.kept = Kept::Nothing;
        }
    }

    /// Lets the file be: nothing is kept from now on, only counted. A child process does so, whom the file is not for. All is settled.
    pub fn abandon(&mut self) {
        page::leave_tail();
        self.mark = UNITS;
        sys::close(self.file);
        self.file = CLOSED;
        self.kept = Kept::Nothing;
    }
}

/// Which byte it is, and how often, if all bytes are equal and there are enough of them.
pub fn fill(content: &[u8]) -> Option<(u8, u32)> {
    let (&byte, rest) = content.split_first()?;
    let count = u32::try_from(content.len()).ok().filter(|count| (8..=MOST_FILLED).contains(count))?;
    (rest.last() == Some(&byte) && rest == &content[..rest.len()]).then_some((byte, count))
}

/// Units as the bytes that they are.
fn bytes_of(units: &[Unit]) -> &[u8] {
    // SAFETY: two words have no padding.
    unsafe { core::slice::from_raw_parts(units.as_ptr().cast(), core::mem::size_of_val(units)) }
}

/// The units between two addresses.
///
/// # Safety
/// They have been written, and stay as they are while the result is used.
unsafe fn units_between(start: usize, end: usize) -> &'static [Unit] {
    // SAFETY: as above; the buffers are aligned.
    unsafe { core::slice::from_raw_parts(start as *const Unit, (end - start) / unit::BYTES) }
}

/// Writes to the log's file; how many bytes it is longer then.
fn write(file: i32, bytes: &[u8]) -> u64 {
    if file == CLOSED {
        return 0;
    }
    if !sys::write_all(file, bytes) {
        sys::die("the log cannot be written: the disk, or the memory for it, is full");
    }
    bytes.len() as u64
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
