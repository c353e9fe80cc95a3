//! A log, record by record: whose, which event, and what stands there.
//!
//! Any bytes are a log, up to where they stop making sense. A log that its writer did not finish ends in zeros or in the
//! middle of a record; what comes before is as good as ever.

use abi::Note;
use abi::unit::{BYTES, SITE_BITS, Unit};
use rustc_hash::FxHashMap;
use trace::ThreadId;

/// One record of a log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Content {
    /// Sixteen bytes of instrumented code.
    Unit(Unit),
    /// A note of the runtime.
    Note(Note),
}

/// A record with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// Who was running.
    pub thread: ThreadId,
    /// How many events that thread had done, this one included if it is one.
    pub n: u64,
    /// What stands there.
    pub content: Content,
}

/// Where a log stopped making sense, and how.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the log makes no sense from byte {at} on: {what}")]
pub struct Damage {
    /// At which byte.
    pub at: usize,
    /// What is wrong.
    pub what: String,
}

/// The records of a log.
pub struct Records<'l> {
    bytes: &'l [u8],
    at: usize,
    thread: ThreadId,
    n: u64,
    /// How far the threads are that do not run.
    done: FxHashMap<ThreadId, u64>,
    damage: Option<Damage>,
}

impl<'l> Records<'l> {
    /// Reads from the beginning, where `main` runs.
    #[must_use]
    pub fn new(bytes: &'l [u8]) -> Records<'l> {
        Records { bytes, at: 0, thread: ThreadId::MAIN, n: 0, done: FxHashMap::default(), damage: None }
    }

    /// Why reading stopped, if not at the end.
    #[must_use]
    pub fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    /// The next record's unit if it is one, without going there.
    #[must_use]
    pub fn peek(&self) -> Option<Unit> {
        let unit = self.unit_at(self.at)?;
        (unit.site() != 0).then_some(unit)
    }

    fn unit_at(&self, at: usize) -> Option<Unit> {
        let (place, value) = self.bytes.get(at..at + BYTES)?.split_first_chunk::<8>()?;
        let value = value.first_chunk::<8>()?;
        Some(Unit { place: u64::from_le_bytes(*place), value: u64::from_le_bytes(*value) })
    }

    fn stop(&mut self, what: impl Into<String>) {
        self.damage = Some(Damage { at: self.at, what: what.into() });
        self.bytes = &self.bytes[..self.at];
    }

    fn note(&mut self, head: Unit) -> Option<Record> {
        if head == Unit::default() {
            self.bytes = &self.bytes[..self.at];
            return None;
        }
        let start = self.at + BYTES;
        let end = usize::try_from(head.value).ok().and_then(|length| start.checked_add(length));
        let Some(encoded) = end.and_then(|end| self.bytes.get(start..end)) else {
            // The last note of a log that was cut off.
            self.bytes = &self.bytes[..self.at];
            return None;
        };
        let note = match postcard::from_bytes::<Note>(encoded) {
            Ok(note) => note,
            Err(error) => {
                self.stop(format!("a note cannot be decoded: {error}"));
                return None;
            }
        };
        let n = head.place >> SITE_BITS;
        if n < self.n {
            self.stop(format!("{} has done {n} events, after {}", self.thread, self.n));
            return None;
        }
        self.n = n;
        let record = Record { thread: self.thread, n, content: Content::Note(note) };
        if let Content::Note(Note::Switch { to, done, .. }) = &record.content {
            let Some(to) = ThreadId::from_code(*to) else {
                self.stop(format!("{to} is no thread"));
                return None;
            };
            self.done.insert(self.thread, self.n);
            let before = self.done.get(&to).copied().unwrap_or(0);
            if *done < before {
                let done = *done;
                self.stop(format!("{to} has done {done} events, after {before}"));
                return None;
            }
            (self.thread, self.n) = (to, *done);
        }
        self.at = start + encoded.len().next_multiple_of(BYTES);
        if let Content::Note(Note::End { .. }) = record.content {
            // What threads did that went on meanwhile belongs to no run.
            self.bytes = &self.bytes[..self.at.min(self.bytes.len())];
        }
        Some(record)
    }
}

impl Iterator for Records<'_> {
    type Item = Record;

    #[inline]
    fn next(&mut self) -> Option<Record> {
        let unit = self.unit_at(self.at)?;
        if unit.site() == 0 {
            return self.note(unit);
        }
        self.at += BYTES;
        self.n += 1;
        Some(Record { thread: self.thread, n: self.n, content: Content::Unit(unit) })
    }
}
