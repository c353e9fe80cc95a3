//! What the readers of all formats need: lines, and words in them with their places.

use crate::recording::Recording;
use crate::{Complaint, Format, MOST_COMPLAINTS, Operation, PlaceId, Record, ThreadNumber};
use std::ops::Range;

/// A part of a line.
#[derive(Clone, Copy, Debug)]
pub struct Word<'t> {
    pub text: &'t str,
    /// Its first byte in the line.
    pub start: usize,
}

impl<'t> Word<'t> {
    pub fn whole(line: &'t str) -> Word<'t> {
        Word { text: line, start: 0 }
    }

    pub fn range(self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    /// The same without spaces around it.
    pub fn trim(self) -> Word<'t> {
        let from = self.text.len() - self.text.trim_start().len();
        Word { text: self.text.trim(), start: self.start + from }
    }

    /// A part of it, by bytes that are borders of characters.
    pub fn part(self, range: Range<usize>) -> Word<'t> {
        Word { text: &self.text[range.clone()], start: self.start + range.start }
    }

    /// The parts between separators.
    pub fn split(self, by: char) -> impl Iterator<Item = Word<'t>> {
        let mut start = self.start;
        self.text.split(by).map(move |text| {
            let word = Word { text, start };
            start += text.len() + by.len_utf8();
            word
        })
    }

    /// `name(operand)` as its two parts; the operand ends with the last parenthesis.
    pub fn call(self) -> Option<(Word<'t>, Word<'t>)> {
        let open = self.text.find('(')?;
        let close = self
            .text
            .len()
            .checked_sub(1)
            .filter(|_| self.text.ends_with(')') && self.text.len() > open + 1)?;
        Some((self.part(0..open), self.part(open + 1..close)))
    }
}

/// Takes the lines of a file in, and what is wrong with them.
pub struct Reader {
    pub recording: Recording,
    complaints: Vec<Complaint>,
    /// The line that is being read, counted from 1.
    pub line: u32,
}

impl Reader {
    /// Reads a file line by line; lines without anything are left out.
    pub fn read(
        bytes: &[u8],
        mut one: impl FnMut(&mut Reader, &str) -> Result<(), Complaint>,
    ) -> Result<Recording, Vec<Complaint>> {
        let mut reader = Reader { recording: Recording::default(), complaints: vec![], line: 0 };
        if u32::try_from(bytes.len()).is_err() {
            return Err(vec![Complaint::new(1, "the file is larger than 4 GiB")]);
        }
        for line in bytes.split(|&byte| byte == b'\n') {
            reader.line += 1;
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let result = match std::str::from_utf8(line) {
                Ok(text) if text.trim().is_empty() => Ok(()),
                Ok(text) => one(&mut reader, text),
                Err(error) => {
                    let at = error.valid_up_to();
                    let text = "the line is not text (it is not UTF-8)";
                    Err(Complaint::new(reader.line, text).at(at..at + 1, "from here on"))
                }
            };
            if let Err(complaint) = result {
                reader.complaints.push(complaint);
                if reader.complaints.len() >= MOST_COMPLAINTS {
                    break;
                }
            }
        }
        if reader.complaints.is_empty() { Ok(reader.recording) } else { Err(reader.complaints) }
    }

    pub fn complaint(&self, message: impl Into<String>) -> Complaint {
        Complaint::new(self.line, message)
    }

    pub fn push(&mut self, thread: ThreadNumber, operation: Operation, place: Option<PlaceId>) {
        self.recording.records.push(Record { thread, operation, place, line: self.line });
    }

    /// A name that must not be empty.
    pub fn name<'t>(&self, word: Word<'t>, what: &str) -> Result<&'t str, Complaint> {
        match word.text {
            "" => {
                let around = word.start.saturating_sub(1)..word.start;
                Err(self
                    .complaint(format!("{what} has no name"))
                    .at(around, format!("expected the name of {what}")))
            }
            name => Ok(name),
        }
    }

    /// An operation of RAPID's: `r(x)`, by the words that a format has for them.
    pub fn rapid_operation(&mut self, word: Word<'_>, format: Format) -> Result<Operation, Complaint> {
        let wrong = |reader: &Reader, word: Word<'_>, here: &str| {
            let known = match format {
                Format::Std => "r(x), w(x), acq(l), rel(l), fork(t), join(t), begin, end",
                Format::RapidCsv | Format::Csv => {
                    "r(x), w(x), sync(x), acq(l), rel(l), start(t), join(t), enter(b), exit(b)"
                }
            };
            reader
                .complaint(format!("`{}` is no operation", shown(word.text)))
                .at(word.range(), here)
                .help(format!("operations are {known}"))
        };
        // RAPID looks at no more than how these begin.
        if format == Format::Std && word.text.starts_with("begin") {
            return Ok(Operation::Begin);
        }
        if format == Format::Std && word.text.starts_with("end") {
            return Ok(Operation::End);
        }
        let Some((name, operand)) = word.call() else {
            return Err(wrong(self, word, "expected an operation with its operand in parentheses"));
        };
        if let Some(space) = operand.text.find(char::is_whitespace) {
            let at = operand.start + space;
            return Err(self.complaint("an operand with a space in it").at(at..at + 1, "here"));
        }
        let is_known =
            ["r", "w", "acq", "rel", "fork", "start", "join", "sync", "enter", "exit", "begin", "end"]
                .contains(&name.text);
        if operand.text.is_empty() && is_known {
            return Err(self
                .complaint(format!("`{}` of nothing", name.text))
                .at(word.range(), "expected an operand"));
        }
        let csv = format != Format::Std;
        let recording = &mut self.recording;
        Ok(match name.text {
            "r" => Operation::Read { variable: recording.variables.number(operand.text), atomic: false },
            "w" => Operation::Write { variable: recording.variables.number(operand.text), atomic: false },
            "acq" => Operation::Acquire(recording.locks.number(operand.text)),
            "rel" => Operation::Release(recording.locks.number(operand.text)),
            "fork" => Operation::Fork(recording.threads.number(operand.text)),
            "start" if csv => Operation::Fork(recording.threads.number(operand.text)),
            "join" => Operation::Join(recording.threads.number(operand.text)),
            "sync" if csv => Operation::Update(recording.variables.number(operand.text)),
            "enter" | "begin" if csv => Operation::Begin,
            "exit" | "end" if csv => Operation::End,
            _ => return Err(wrong(self, name, "no such operation")),
        })
    }
}

/// A word of a file in a message: not more of it than somebody reads.
pub fn shown(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
