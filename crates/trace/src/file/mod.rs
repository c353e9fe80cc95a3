//! The trace file: written as a stream, read by memory-mapping, checked block by block.
//!
//! After a magic and a version come blocks, each with its lengths, the number of its records and a checksum;
//! the first holds the [`Origin`](crate::Origin), the last says that the trace is complete. Between them every block is
//! a zstd frame of [`Record`]s. A file that was cut off or damaged is readable up to the last block that is
//! whole, and says so. `docs/trace-format.md` has the bytes.
//!
//! A trace is written to `FILE.partial` and renamed to `FILE` when it is complete: an earlier `FILE` is never
//! damaged, and a run that is killed leaves `FILE.partial`, which [`read`] reads like any other.

mod block;
mod read;
mod record;
mod write;

use crate::{Inconsistency, Trace};
use std::fmt;
use std::path::PathBuf;

pub use read::{read, read_bytes};
pub use record::Record;
pub(crate) use record::RecordRef;
pub use write::{Writer, partial_path, write, write_bytes};

/// What a trace file begins with.
pub const MAGIC: [u8; 8] = *b"TBTRACE\n";

/// The version of the format that is written, and the only one that is read.
pub const VERSION: u32 = 2;

/// No block is larger than this before compression, and so no record is.
pub const MOST_BLOCK_BYTES: usize = 16 << 20;

/// Not more than this is read from one file, counted before compression: about a hundred million events. A
/// small file could otherwise unpack to any size.
pub const MOST_TOTAL_BYTES: u64 = 1 << 30;

/// Why there is no trace.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// Something else.
    #[error("this is not a trace: it does not begin like one")]
    NotATrace,
    /// A trace of another version of the format.
    #[error(
        "a trace of format version {found}, and this threadbare reads version {VERSION}: record the run again, or read it with the threadbare that wrote it"
    )]
    OtherVersion {
        /// Its version.
        found: u32,
    },
    /// Damaged before anything can be read.
    #[error("the trace is damaged at byte {at}: {what}; nothing can be read from it, record the run again")]
    Corrupted {
        /// Where.
        at: u64,
        /// How.
        what: &'static str,
    },
    /// Whole, but what it says cannot be.
    #[error("the trace is not consistent (block at byte {at}): {what}")]
    Inconsistent {
        /// Where the block begins; 0 if it was never written.
        at: u64,
        /// What is wrong.
        what: Inconsistency,
    },
    /// A record that is larger than a block may be.
    #[error("a record of {bytes} bytes, and a trace holds at most {MOST_BLOCK_BYTES} in one")]
    RecordTooLarge {
        /// How large it is.
        bytes: usize,
    },
    /// There is only the partial trace of a run that was cut off.
    #[error("{} is not there, but {} is: the run was cut off; read that for what there is of it", path.display(), partial.display())]
    OnlyPartial {
        /// What was asked for.
        path: PathBuf,
        /// What there is.
        partial: PathBuf,
    },
    /// The file cannot be read or written.
    #[error("{}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// A trace as it was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadTrace {
    /// What could be read.
    pub trace: Trace,
    /// Whether that is all that was written.
    pub complete: bool,
    /// What was lost and where, if it is not complete.
    pub note: Option<Note>,
}

/// What was lost of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// Up to which byte the file was good.
    pub at: u64,
    /// The size of the file.
    pub file_bytes: u64,
    /// How many events were read.
    pub events: u64,
    /// What is there.
    pub damage: Damage,
}

/// Why reading stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Damage {
    /// The file ends after a whole block, without the mark of its end.
    NoEnd,
    /// The file ends in the middle of a block, or the block's length is damaged.
    Cut,
    /// A block's checksum is wrong, or it cannot be unpacked.
    Checksum,
    /// The end of the trace counts more or fewer records than there are: whole blocks are lost.
    Lost,
    /// More than [`MOST_TOTAL_BYTES`].
    TooLarge,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Note { at, file_bytes, events, damage } = self;
        let why = match damage {
            Damage::NoEnd => "the file ends there, before the run does",
            Damage::Cut => "the file ends in the middle of a block that begins there",
            Damage::Checksum => "the block that begins there is damaged",
            Damage::Lost => "blocks before it are missing or there twice",
            Damage::TooLarge => "the rest is more than fits",
        };
        write!(
            f,
            "the trace is not complete: {events} events were read, up to byte {at} of {file_bytes}; {why}"
        )
    }
}

/// What the last block holds: how many records there are before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
struct Totals {
    records: u64,
    events: u64,
}
