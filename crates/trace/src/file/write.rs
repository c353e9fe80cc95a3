//! Writing traces.

use super::block::{self, Kind};
use super::record::{Encoded, Record, RecordRef};
use super::{MAGIC, MOST_BLOCK_BYTES, Totals, TraceError, VERSION};
use crate::check::Checker;
use crate::{Origin, Trace};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A block is written when it has this many bytes: what a killed run loses at most.
const BLOCK_BYTES: usize = 256 << 10;

/// The lowest usual level of zstd: level 3, its default, makes the file of the benchmark no smaller.
const LEVEL: i32 = 1;

/// The name of an incomplete trace: `FILE.partial`.
#[must_use]
pub fn partial_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".partial");
    name.into()
}

/// Writes a trace as it comes about. It stands at [`partial_path`] until [`Writer::finish`].
pub struct Writer {
    encoder: Encoder<File>,
    path: PathBuf,
    partial: PathBuf,
}

impl Writer {
    /// Starts a trace of `origin` that is to stand at `path`.
    pub fn create(path: &Path, origin: &Origin) -> Result<Writer, TraceError> {
        let partial = partial_path(path);
        let failed = |source| TraceError::Io { path: partial.clone(), source };
        let file = File::create(&partial).map_err(failed)?;
        let encoder = Encoder::new(file, origin).map_err(|error| error.at(&partial))?;
        Ok(Writer { encoder, path: path.to_owned(), partial })
    }

    /// Adds a record. Threads and allocations come before everything that names them; a record that cannot
    /// belong to this trace is refused.
    pub fn push(&mut self, record: &Record) -> Result<(), TraceError> {
        self.encoder.push(record.into()).map_err(|error| error.at(&self.partial))
    }

    /// Puts everything so far into the file, where it survives this process.
    pub fn flush(&mut self) -> Result<(), TraceError> {
        self.encoder.flush().map_err(|error| error.at(&self.partial))
    }

    /// Completes the trace and gives it its name.
    pub fn finish(mut self) -> Result<(), TraceError> {
        let done = self.encoder.finish().and_then(|()| Ok(self.encoder.out.sync_all()?));
        done.map_err(|error| error.at(&self.partial))?;
        std::fs::rename(&self.partial, &self.path)
            .map_err(|source| TraceError::Io { path: self.path.clone(), source })
    }
}

impl Drop for Writer {
    /// A writer that is given up leaves all that it was given. There is nobody to tell if that fails.
    fn drop(&mut self) {
        let _ = self.encoder.flush();
    }
}

/// Writes a whole trace to a file.
pub fn write(path: &Path, trace: &Trace) -> Result<(), TraceError> {
    let mut writer = Writer::create(path, &trace.origin)?;
    writer.encoder.push_all(trace).map_err(|error| error.at(&writer.partial))?;
    writer.finish()
}

/// Writes a whole trace into memory.
pub fn write_bytes(trace: &Trace) -> Result<Vec<u8>, TraceError> {
    let nowhere = Path::new("memory");
    let mut encoder = Encoder::new(vec![], &trace.origin).map_err(|error| error.at(nowhere))?;
    encoder.push_all(trace).and_then(|()| encoder.finish()).map_err(|error| error.at(nowhere))?;
    Ok(encoder.out)
}

/// An error that does not know the file yet.
enum EncodeError {
    Io(io::Error),
    Trace(TraceError),
}

impl EncodeError {
    fn at(self, path: &Path) -> TraceError {
        match self {
            EncodeError::Io(source) => TraceError::Io { path: path.to_owned(), source },
            EncodeError::Trace(error) => error,
        }
    }
}

impl From<io::Error> for EncodeError {
    fn from(error: io::Error) -> EncodeError {
        EncodeError::Io(error)
    }
}

/// Turns records into blocks.
struct Encoder<W: Write> {
    out: W,
    checker: Checker,
    compressor: zstd::bulk::Compressor<'static>,
    /// The block so far, before compression.
    pending: Vec<u8>,
    records: u32,
    totals: Totals,
    /// Filled and emptied for each block.
    block: Vec<u8>,
}

impl<W: Write> Encoder<W> {
    fn new(out: W, origin: &Origin) -> Result<Self, EncodeError> {
        let mut encoder = Encoder {
            out,
            checker: Checker::default(),
            compressor: zstd::bulk::Compressor::new(LEVEL)?,
            pending: Vec::with_capacity(BLOCK_BYTES + BLOCK_BYTES / 8),
            records: 0,
            totals: Totals { records: 0, events: 0 },
            block: vec![],
        };
        encoder.out.write_all(&MAGIC)?;
        encoder.out.write_all(&VERSION.to_le_bytes())?;
        encode(&mut encoder.pending, origin)?;
        encoder.write_block(Kind::Origin)?;
        Ok(encoder)
    }

    fn push(&mut self, record: RecordRef<'_>) -> Result<(), EncodeError> {
        let last = match record {
            RecordRef::Event(event) => self.checker.last(event.id.thread),
            _ => 0,
        };
        self.checker
            .check(record)
            .map_err(|what| EncodeError::Trace(TraceError::Inconsistent { at: 0, what }))?;
        let before = self.pending.len();
        encode(&mut self.pending, &Encoded::new(record, last))?;
        if self.pending.len() > MOST_BLOCK_BYTES {
            // Only a record that is nearly as large itself can do this: blocks are written much earlier.
            let large = self.pending.split_off(before);
            self.write_block(Kind::Records)?;
            if large.len() > MOST_BLOCK_BYTES {
                return Err(EncodeError::Trace(TraceError::RecordTooLarge { bytes: large.len() }));
            }
            self.pending = large;
        }
        self.records += 1;
        self.totals.records += 1;
        self.totals.events += u64::from(matches!(record, RecordRef::Event(_)));
        if self.pending.len() >= BLOCK_BYTES {
            self.write_block(Kind::Records)?;
        }
        Ok(())
    }

    /// All of a trace, so that any prefix makes sense: first what the events name, then the events, each switch
    /// behind the event that it leads to.
    fn push_all(&mut self, trace: &Trace) -> Result<(), EncodeError> {
        let Trace { origin: _, threads, allocations, events, switches, choices, outcome } = trace;
        threads.iter().try_for_each(|thread| self.push(RecordRef::Thread(thread)))?;
        allocations.iter().try_for_each(|allocation| self.push(RecordRef::Allocation(allocation)))?;
        choices.iter().try_for_each(|choice| self.push(RecordRef::Choice(choice)))?;
        let mut switches = switches.iter().peekable();
        for event in events {
            self.push(RecordRef::Event(event))?;
            let ends_here = |switch: &&_| ends(switch, event.id);
            while let Some(switch) = switches.next_if(ends_here) {
                self.push(RecordRef::Switch(switch))?;
            }
        }
        switches.try_for_each(|switch| self.push(RecordRef::Switch(switch)))?;
        self.push(RecordRef::Outcome(outcome))
    }

    fn flush(&mut self) -> Result<(), EncodeError> {
        if !self.pending.is_empty() {
            self.write_block(Kind::Records)?;
        }
        Ok(self.out.flush()?)
    }

    fn finish(&mut self) -> Result<(), EncodeError> {
        self.flush()?;
        let totals = self.totals;
        encode(&mut self.pending, &totals)?;
        self.write_block(Kind::End)?;
        Ok(self.out.flush()?)
    }

    /// Writes what is pending as one block, in one call, so that a killed process leaves whole blocks.
    fn write_block(&mut self, kind: Kind) -> Result<(), EncodeError> {
        let payload = self.compressor.compress(&self.pending)?;
        self.block.clear();
        block::append(&mut self.block, kind, self.records, self.pending.len(), &payload);
        self.out.write_all(&self.block)?;
        self.pending.clear();
        self.records = 0;
        Ok(())
    }
}

fn ends(switch: &crate::Switch, event: crate::EventId) -> bool {
    switch.thread == event.thread && switch.until == event.n
}

/// Appends the encoding of `value`.
fn encode(pending: &mut Vec<u8>, value: &impl serde::Serialize) -> Result<(), EncodeError> {
    let taken = std::mem::take(pending);
    *pending = postcard::to_extend(value, taken).map_err(io::Error::other)?;
    Ok(())
}
