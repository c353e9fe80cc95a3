//! What memory is known to hold, and which of it threads share.
//!
//! Code that is not instrumented writes memory too: `read` into a buffer, `sscanf` into variables. No event tells it, but the
//! next load does: it finds something else than what was last seen there.

use super::statistics::{ExternalWrite, MOST_SHOWN};
use crate::log::{Content, Records};
use abi::Note;
use abi::unit::STACK;
use ir::SiteId;
use rustc_hash::{FxHashMap, FxHashSet};
use trace::{EventId, ThreadId};

/// Words of memory are looked at as a whole.
const WORD: u64 = 8;

/// The words that more than one thread accesses, by address / 8.
pub fn shared_words(log: &[u8]) -> FxHashSet<u64> {
    let mut first: FxHashMap<u64, ThreadId> = FxHashMap::default();
    let mut shared = FxHashSet::default();
    for record in Records::new(log) {
        let (address, bytes) = match &record.content {
            Content::Unit(unit) if unit.address() > STACK => (unit.address(), 1),
            Content::Note(Note::Bytes { address, content, .. }) => (*address, content.len() as u64),
            _ => continue,
        };
        let last = address.saturating_add(bytes.max(1) - 1) / WORD;
        for word in address / WORD..=last {
            if *first.entry(word).or_insert(record.thread) != record.thread {
                shared.insert(word);
            }
        }
    }
    shared
}

/// The content of memory.
pub struct Image {
    shared: FxHashSet<u64>,
    /// Bytes of each word, and which of them are known.
    words: FxHashMap<u64, ([u8; 8], u8)>,
    /// The last call of uninstrumented code of each thread.
    calls: FxHashMap<ThreadId, (EventId, SiteId)>,
    /// How often memory changed without an event.
    pub external_writes: u64,
    /// The first times.
    pub first: Vec<ExternalWrite>,
}

impl Image {
    /// Nothing is known yet.
    pub fn new(shared: FxHashSet<u64>) -> Image {
        Image {
            shared,
            words: FxHashMap::default(),
            calls: FxHashMap::default(),
            external_writes: 0,
            first: vec![],
        }
    }

    /// Whether threads share what is at an address.
    pub fn is_shared(&self, address: u64) -> bool {
        self.shared.contains(&(address / WORD))
    }

    /// A thread has called code that is not instrumented.
    pub fn called(&mut self, event: EventId, site: SiteId) {
        self.calls.insert(event.thread, (event, site));
    }

    /// Memory begins a new life.
    pub fn forget(&mut self, address: u64, bytes: u64) {
        let (first, last) = (address / WORD, address.saturating_add(bytes) / WORD);
        if last - first > self.words.len() as u64 {
            self.words.retain(|word, _| !(first..=last).contains(word));
            return;
        }
        for word in first..=last {
            self.words.remove(&word);
        }
    }

    /// An event has written bytes.
    pub fn written(&mut self, address: u64, content: &[u8]) {
        for (at, &byte) in (0..).map(|n| address.wrapping_add(n)).zip(content) {
            let (bytes, known) = self.words.entry(at / WORD).or_default();
            bytes[(at % WORD) as usize] = byte;
            *known |= 1 << (at % WORD);
        }
    }

    /// An event has read bytes.
    pub fn read(&mut self, event: EventId, site: SiteId, address: u64, content: &[u8]) {
        let differs = (0..).map(|n| address.wrapping_add(n)).zip(content).any(|(at, &byte)| {
            let (bytes, known) = self.words.get(&(at / WORD)).copied().unwrap_or_default();
            known & 1 << (at % WORD) != 0 && bytes[(at % WORD) as usize] != byte
        });
        if differs {
            self.external_writes += 1;
            if self.first.len() < MOST_SHOWN {
                let by = self.calls.get(&event.thread).copied();
                self.first.push(ExternalWrite { read: event, site, address, by });
            }
        }
        self.written(address, content);
    }
}
