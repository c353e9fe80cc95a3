//! A plain CSV of our own: `thread,operation,object,place`, with this line first. `docs/other-traces.md` describes it.
//!
//! Fields may stand in quotes, which are doubled inside, as RFC 4180 has it; a field does not go over the end of a line. Lines that begin
//! with `#` are comments.

use crate::recording::Recording;
use crate::text::{Reader, Word, shown};
use crate::{Complaint, Operation, Record};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

/// What the first line says.
pub const HEADER: &str = "thread,operation,object,place";

const OPERATIONS: &str =
    "read, write, atomic-read, atomic-write, update, acquire, release, fork, join, begin, end";

/// A field: its content, and its bytes in the line.
struct Field<'t> {
    text: Cow<'t, str>,
    range: Range<usize>,
}

pub fn read(bytes: &[u8]) -> Result<Recording, Vec<Complaint>> {
    let mut header = false;
    let mut read = Reader::read(bytes, |reader, line| {
        if line.starts_with('#') {
            return Ok(());
        }
        if !std::mem::replace(&mut header, true) {
            let is_header = line.split(',').map(str::trim).eq(HEADER.split(','));
            let wrong = reader.complaint("the first line does not name the columns");
            return match is_header {
                true => Ok(()),
                false => Err(wrong.at(0..line.len(), format!("expected {HEADER}"))),
            };
        }
        one(reader, line)
    });
    if let (false, Ok(_)) = (header, &read) {
        let empty = Complaint::new(1, "the file is empty").help(format!("the first line is {HEADER}"));
        read = Err(vec![empty]);
    }
    read
}

fn one(reader: &mut Reader, line: &str) -> Result<(), Complaint> {
    let fields = fields(reader, line)?;
    let (thread, operation, object, place) = match &fields[..] {
        [thread, operation, object, place] => (thread, operation, object, Some(place)),
        [thread, operation, object] => (thread, operation, object, None),
        _ => {
            return Err(reader
                .complaint(format!("{} fields where there are four", fields.len()))
                .at(0..line.len(), format!("expected {HEADER}"))
                .help("a line looks like this: T1,write,balance,Account.java:42"));
        }
    };
    let name = |field: &Field<'_>, what: &str| -> Result<(), Complaint> {
        match field.text.is_empty() {
            true => {
                let around = field.range.start.saturating_sub(1)..field.range.end;
                let complaint = reader.complaint(format!("{what} has no name"));
                Err(complaint.at(around, format!("expected the name of {what}")))
            }
            false => Ok(()),
        }
    };
    name(thread, "a thread")?;
    let (what, make) = meaning(&operation.text).ok_or_else(|| {
        reader
            .complaint(format!("`{}` is no operation", shown(&operation.text)))
            .at(operation.range.clone(), "no such operation")
            .help(format!("operations are {OPERATIONS}"))
    })?;
    if let Some(what) = what {
        name(object, what)?;
    }
    let recording = &mut reader.recording;
    let thread = recording.threads.number(&thread.text);
    let operation = make(recording, &object.text);
    let place =
        place.filter(|place| !place.text.is_empty()).map(|place| recording.places.number(&place.text));
    reader.push(thread, operation, place);
    Ok(())
}

/// Makes an operation on the object of this name.
type Make = fn(&mut Recording, &str) -> Operation;

/// What an operation is about, if about anything, and what it is.
fn meaning(word: &str) -> Option<(Option<&'static str>, Make)> {
    let (variable, lock, thread) = (Some("a variable"), Some("a lock"), Some("a thread"));
    let all: (_, Make) = match word {
        "read" => (variable, |all, x| Operation::Read { variable: all.variables.number(x), atomic: false }),
        "write" => (variable, |all, x| Operation::Write { variable: all.variables.number(x), atomic: false }),
        "atomic-read" => {
            (variable, |all, x| Operation::Read { variable: all.variables.number(x), atomic: true })
        }
        "atomic-write" => {
            (variable, |all, x| Operation::Write { variable: all.variables.number(x), atomic: true })
        }
        "update" => (variable, |all, x| Operation::Update(all.variables.number(x))),
        "acquire" => (lock, |all, l| Operation::Acquire(all.locks.number(l))),
        "release" => (lock, |all, l| Operation::Release(all.locks.number(l))),
        "fork" => (thread, |all, t| Operation::Fork(all.threads.number(t))),
        "join" => (thread, |all, t| Operation::Join(all.threads.number(t))),
        "begin" => (None, |_, _| Operation::Begin),
        "end" => (None, |_, _| Operation::End),
        _ => return None,
    };
    Some(all)
}

/// The fields of a line; at most five, which is one too many.
fn fields<'t>(reader: &Reader, line: &'t str) -> Result<Vec<Field<'t>>, Complaint> {
    let mut fields = vec![];
    let mut at = 0;
    while fields.len() < 5 {
        let rest = &line[at..];
        let end;
        if let Some(quoted) = rest.strip_prefix('"') {
            let Some(length) = closing_quote(quoted) else {
                let complaint = reader.complaint("this quote is never closed");
                return Err(complaint.at(at..at + 1, "opened here"));
            };
            let text = quoted[..length].replace("\"\"", "\"");
            end = at + length + 2;
            fields.push(Field { text: Cow::Owned(text), range: at..end });
            if !matches!(line[end..].chars().next(), None | Some(',')) {
                let complaint = reader.complaint("something follows a field in quotes");
                return Err(complaint.at(end..line.len(), "expected a comma"));
            }
        } else {
            let length = rest.find(',').unwrap_or(rest.len());
            let word = Word { text: &rest[..length], start: at }.trim();
            end = at + length;
            fields.push(Field { text: Cow::Borrowed(word.text), range: word.range() });
        }
        if end == line.len() {
            break;
        }
        at = end + 1;
    }
    Ok(fields)
}

/// How many bytes there are up to the quote that is not doubled.
fn closing_quote(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + text[from..].find('"')?;
        match text[at + 1..].starts_with('"') {
            true => from = at + 2,
            false => return Some(at),
        }
    }
}

/// The text of a recording.
pub fn write(recording: &Recording) -> String {
    let mut text = format!("{HEADER}\n");
    for Record { thread, operation, place, .. } in &recording.records {
        let (word, object) = match *operation {
            Operation::Read { variable, atomic } => {
                (if atomic { "atomic-read" } else { "read" }, recording.variables.name(variable))
            }
            Operation::Write { variable, atomic } => {
                (if atomic { "atomic-write" } else { "write" }, recording.variables.name(variable))
            }
            Operation::Update(variable) => ("update", recording.variables.name(variable)),
            Operation::Acquire(lock) => ("acquire", recording.locks.name(lock)),
            Operation::Release(lock) => ("release", recording.locks.name(lock)),
            Operation::Fork(child) => ("fork", recording.threads.name(child)),
            Operation::Join(child) => ("join", recording.threads.name(child)),
            Operation::Begin => ("begin", ""),
            Operation::End => ("end", ""),
        };
        let place = place.map_or("", |place| recording.places.name(place));
        let thread = recording.threads.name(*thread);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{},{word},{},{}", quoted(thread), quoted(object), quoted(place));
    }
    text
}

/// A field, in quotes if it has to be.
fn quoted(field: &str) -> Cow<'_, str> {
    let needs = field.contains([',', '"', '\n', '\r']) || field.trim() != field || field.starts_with('#');
    match needs {
        // A field does not go over the end of a line.
        true => Cow::Owned(format!("\"{}\"", field.replace('"', "\"\"").replace(['\n', '\r'], " "))),
        false => Cow::Borrowed(field),
    }
}
