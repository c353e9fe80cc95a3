//! Reading traces.
//!
//! What comes from outside decides nothing before it is checked: lengths are compared with the file and with
//! [`MOST_BLOCK_BYTES`] before anything is allocated, the checksum before anything is unpacked, and every record
//! before it is kept.

use super::block::{self, Block, Kind, NoBlock, Unpacker};
use super::record::{Decoded, Record, RecordRef};
use super::{Damage, MAGIC, MOST_TOTAL_BYTES, Note, ReadTrace, Totals, TraceError, VERSION, partial_path};
use crate::check::Checker;
use crate::{Inconsistency, Origin, Outcome, Trace};
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

/// Reads a trace file, as far as it is good.
pub fn read(path: &Path) -> Result<ReadTrace, TraceError> {
    let failed = |source| TraceError::Io { path: path.to_owned(), source };
    let file = File::open(path).map_err(|source| {
        let partial = partial_path(path);
        if source.kind() == ErrorKind::NotFound && partial.exists() {
            return TraceError::OnlyPartial { path: path.to_owned(), partial };
        }
        failed(source)
    })?;
    if file.metadata().map_err(failed)?.len() == 0 {
        return read_bytes(&[]); // nothing to map
    }
    // SAFETY: the map is read only and lives in this function. We never change a trace file in place: a complete one
    // is replaced by renaming, a partial one only grows behind what is mapped. That nobody else cuts or
    // overwrites it at this moment is assumed, as it must be of any mapped file.
    #[allow(unsafe_code)]
    let bytes = unsafe { memmap2::Mmap::map(&file) }.map_err(failed)?;
    read_bytes(&bytes)
}

/// Reads the content of a trace file, as far as it is good.
pub fn read_bytes(bytes: &[u8]) -> Result<ReadTrace, TraceError> {
    let rest = after_version(bytes)?;
    let mut unpacker =
        Unpacker::new().map_err(|source| TraceError::Io { path: Path::new("memory").to_owned(), source })?;
    let offset = |rest: &[u8]| (bytes.len() - rest.len()) as u64;

    let (origin, mut rest) = origin(rest, &mut unpacker).map_err(|no_block| TraceError::Corrupted {
        at: offset(rest),
        what: match no_block {
            NoBlock::Cut => "it ends inside its header",
            NoBlock::Damaged => "its header is damaged",
        },
    })?;
    let mut reading = Reading::new(origin);
    let damage = loop {
        if rest.is_empty() {
            break Some(Damage::NoEnd);
        }
        let (block, behind) = match block::take(rest) {
            Ok(found) => found,
            Err(NoBlock::Cut) => break Some(Damage::Cut),
            Err(NoBlock::Damaged) => break Some(Damage::Checksum),
        };
        match reading.block(&block, &mut unpacker) {
            Ok(Step::More) => rest = behind,
            Ok(Step::Complete) => {
                rest = behind;
                break None;
            }
            Ok(Step::Stop(damage)) => break Some(damage),
            Err(what) => return Err(TraceError::Inconsistent { at: offset(rest), what }),
        }
    };
    let note = damage.map(|damage| Note {
        at: offset(rest),
        file_bytes: bytes.len() as u64,
        events: reading.trace.events.len() as u64,
        damage,
    });
    Ok(ReadTrace { trace: reading.trace, complete: note.is_none(), note })
}

/// What is behind magic and version.
fn after_version(bytes: &[u8]) -> Result<&[u8], TraceError> {
    let cut = TraceError::Corrupted { at: bytes.len() as u64, what: "it ends inside its header" };
    let Some(rest) = bytes.strip_prefix(&MAGIC) else {
        return Err(if !bytes.is_empty() && MAGIC.starts_with(bytes) { cut } else { TraceError::NotATrace });
    };
    let Some((version, rest)) = rest.split_first_chunk() else { return Err(cut) };
    match u32::from_le_bytes(*version) {
        VERSION => Ok(rest),
        found => Err(TraceError::OtherVersion { found }),
    }
}

fn origin<'b>(bytes: &'b [u8], unpacker: &mut Unpacker) -> Result<(Origin, &'b [u8]), NoBlock> {
    let (block, rest) = block::take(bytes)?;
    if block.kind != Kind::Origin {
        return Err(NoBlock::Damaged);
    }
    let origin = whole(unpacker.unpack(&block)?).ok_or(NoBlock::Damaged)?;
    Ok((origin, rest))
}

/// One value that takes all of `bytes`.
fn whole<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Some(value),
        _ => None,
    }
}

/// What a block leads to.
enum Step {
    More,
    Complete,
    Stop(Damage),
}

/// The trace so far.
struct Reading {
    trace: Trace,
    checker: Checker,
    totals: Totals,
    unpacked: u64,
}

impl Reading {
    fn new(origin: Origin) -> Reading {
        let trace = Trace {
            origin,
            threads: vec![],
            allocations: vec![],
            events: vec![],
            switches: vec![],
            choices: vec![],
            outcome: Outcome::Truncated,
        };
        Reading { trace, checker: Checker::default(), totals: Totals { records: 0, events: 0 }, unpacked: 0 }
    }

    fn block(&mut self, block: &Block<'_>, unpacker: &mut Unpacker) -> Result<Step, Inconsistency> {
        if block.kind == Kind::Origin {
            return Ok(Step::Stop(Damage::Checksum)); // there is one, and it is first
        }
        self.unpacked += block.unpacked as u64;
        if self.unpacked > MOST_TOTAL_BYTES {
            return Ok(Step::Stop(Damage::TooLarge));
        }
        let Ok(mut bytes) = unpacker.unpack(block) else { return Ok(Step::Stop(Damage::Checksum)) };
        if block.kind == Kind::End {
            return Ok(match whole::<Totals>(bytes) {
                Some(totals) if totals == self.totals => Step::Complete,
                Some(_) => Step::Stop(Damage::Lost),
                None => Step::Stop(Damage::Checksum),
            });
        }
        for _ in 0..block.records {
            let Ok((record, rest)) = postcard::take_from_bytes::<Decoded>(bytes) else {
                return Err(Inconsistency::NotARecord);
            };
            bytes = rest;
            let record = record.record(|thread| self.checker.last(thread));
            self.checker.check(RecordRef::from(&record))?;
            self.totals.records += 1;
            match record {
                Record::Thread(thread) => self.trace.threads.push(thread),
                Record::Allocation(allocation) => self.trace.allocations.push(allocation),
                Record::Event(event) => {
                    self.totals.events += 1;
                    self.trace.events.push(event);
                }
                Record::Switch(switch) => self.trace.switches.push(switch),
                Record::Choice(choice) => self.trace.choices.push(choice),
                Record::Outcome(outcome) => self.trace.outcome = outcome,
            }
        }
        if bytes.is_empty() { Ok(Step::More) } else { Err(Inconsistency::NotARecord) }
    }
}
