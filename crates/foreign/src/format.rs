//! The formats, and which one a file has.

use crate::recording::Recording;
use crate::{Complaint, csv, rapid_csv, std_format};
use std::path::Path;

/// A format of traces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// RAPID's standard format: `T0|w(V1)|12`.
    Std,
    /// RAPID's CSV: a column for each thread.
    RapidCsv,
    /// Our own CSV: `thread,operation,object,place`.
    Csv,
}

impl Format {
    /// The format of a file by its name, and for `.csv` by its first line. `None` if it is none of these.
    #[must_use]
    pub fn guess(path: &Path, bytes: &[u8]) -> Option<Format> {
        let extension = path.extension().and_then(|extension| extension.to_str())?;
        match extension.to_ascii_lowercase().as_str() {
            "std" => Some(Format::Std),
            "csv" => {
                let lines = bytes.split(|&byte| byte == b'\n');
                let mut said =
                    lines.map(<[u8]>::trim_ascii).filter(|line| !line.is_empty() && line[0] != b'#');
                let is_ours = said.next().is_none_or(|line| line.starts_with(b"thread,"));
                Some(if is_ours { Format::Csv } else { Format::RapidCsv })
            }
            _ => None,
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// What is wrong with its lines: how they are written, or, if nothing is, the first one that cannot have happened.
    pub fn read(self, bytes: &[u8]) -> Result<Recording, Vec<Complaint>> {
        let recording = match self {
            Format::Std => std_format::read(bytes),
            Format::RapidCsv => rapid_csv::read(bytes),
            Format::Csv => csv::read(bytes),
        }?;
        match recording.check_possible() {
            Ok(()) => Ok(recording),
            Err(complaint) => Err(vec![complaint]),
        }
    }

    /// Writes a recording. What the format has no words for is written in others, as [`Recording::with_locks_for_atomics`] says; characters
    /// that separate become `_` in RAPID's formats.
    #[must_use]
    pub fn write(self, recording: &Recording) -> String {
        match self {
            Format::Std => std_format::write(recording),
            Format::RapidCsv => rapid_csv::write(recording),
            Format::Csv => csv::write(recording),
        }
    }
}
