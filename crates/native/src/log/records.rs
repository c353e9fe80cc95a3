//! A log, record by record: whose, which event, and what stands there.
//!
//! Any bytes are a log, up to where they stop making sense. A log that its writer did not finish ends in zeros or in the
//! middle of a record; what comes before is as good as ever. Packed pieces are unpacked one at a time (`input`).

use super::input::Input;
use abi::Note;
use abi::note::MOST_FILLED;
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
    input: Input<'l>,
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
        Records {
            input: Input::new(bytes),
            thread: ThreadId::MAIN,
            n: 0,
            done: FxHashMap::default(),
            damage: None,
        }
    }

    /// Why reading stopped, if not at the end.
    #[must_use]
    pub fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    fn stop(&mut self, what: impl Into<String>) {
        self.damage = Some(Damage { at: self.input.at(), what: what.into() });
        self.input.end();
    }

    fn note(&mut self, head: Unit) -> Option<Record> {
        let length = usize::try_from(head.value).unwrap_or(usize::MAX);
        let encoded = (head != Unit::default()).then(|| self.input.bytes_behind(length)).flatten();
        let Some(encoded) = encoded else {
            // The last note of a log that was cut off, or zeros behind it.
            self.input.end();
            return None;
        };
        let note = match postcard::from_bytes::<Note>(encoded) {
            Ok(Note::Fill { count, .. }) if count > MOST_FILLED => {
                self.stop(format!("a fill of {count} bytes"));
                return None;
            }
            Ok(Note::Fill { site, address, byte, count }) => {
                Note::Bytes { site, address, content: vec![byte; count as usize].into() }
            }
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
        self.input.advance(BYTES + length.next_multiple_of(BYTES));
        if let Content::Note(Note::End { .. }) = record.content {
            // What threads did that went on meanwhile belongs to no run.
            self.input.end();
        }
        Some(record)
    }
}

impl Iterator for Records<'_> {
    type Item = Record;

    #[inline]
    fn next(&mut self) -> Option<Record> {
        let Some(unit) = self.input.peek() else {
            self.damage = self.damage.take().or_else(|| self.input.damage());
            return None;
        };
        if unit.site() == 0 {
            return self.note(unit);
        }
        self.input.advance(BYTES);
        self.n += 1;
        let content = match unit.step() {
            Some(step) => Content::Note(Note::Step(unit.site(), step)),
            None => Content::Unit(unit),
        };
        Some(Record { thread: self.thread, n: self.n, content })
    }
}
