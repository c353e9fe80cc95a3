//! What is wrong with a file.

use std::ops::Range;

/// More complaints nobody reads.
pub const MOST_COMPLAINTS: usize = 20;

/// Something that is wrong in one line of a file: how it is written, or what it says.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct Complaint {
    /// In which line, counted from 1.
    pub line: u32,
    /// Which bytes of that line; `None` for all of it.
    pub bytes: Option<Range<u32>>,
    /// What is wrong.
    pub message: String,
    /// What is to be said at the place itself; may be empty.
    pub here: String,
    /// Another line that explains it, and how.
    pub other: Option<(u32, String)>,
    /// What was expected, or what to do.
    pub help: Option<String>,
}

impl Complaint {
    pub(crate) fn new(line: u32, message: impl Into<String>) -> Complaint {
        Complaint { line, bytes: None, message: message.into(), here: String::new(), other: None, help: None }
    }

    pub(crate) fn at(mut self, bytes: Range<usize>, here: impl Into<String>) -> Complaint {
        // Files that are read have at most 4 GiB.
        self.bytes = Some(bytes.start as u32..bytes.end as u32);
        self.here = here.into();
        self
    }

    pub(crate) fn because(mut self, line: u32, why: impl Into<String>) -> Complaint {
        self.other = Some((line, why.into()));
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Complaint {
        self.help = Some(help.into());
        self
    }
}
