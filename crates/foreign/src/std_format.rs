//! RAPID's standard format (STD): `T0|w(V1)|12`, one event in a line: thread, operation, place of the source.
//!
//! What RAPID's own reader (`parse.std.Parse`) takes, this one takes: three fields, operands without spaces, and whatever begins
//! with `begin` or `end` as a boundary of a block. RAPID's places are integers; here any text is one, so that other tools can
//! put `File.java:42` there.

use crate::recording::{Names, Recording};
use crate::text::{Reader, Word};
use crate::{Complaint, Format, Operation, PlaceId, Record};
use rustc_hash::FxHashSet;
use std::fmt::Write as _;

pub fn read(bytes: &[u8]) -> Result<Recording, Vec<Complaint>> {
    Reader::read(bytes, |reader, line| {
        let fields: Vec<Word<'_>> = Word::whole(line).split('|').take(4).collect();
        let &[thread, operation, place] = &fields[..] else {
            let count = Word::whole(line).split('|').count();
            return Err(reader
                .complaint(format!("{count} fields where there are three"))
                .at(0..line.len(), "expected THREAD|OPERATION|PLACE")
                .help("a line looks like this: T0|w(V1)|12"));
        };
        let thread = reader.name(thread.trim(), "a thread")?;
        let thread = reader.recording.threads.number(thread);
        let operation = reader.rapid_operation(operation.trim(), Format::Std)?;
        let place = place.trim().text;
        let place = (!place.is_empty()).then(|| reader.recording.places.number(place));
        reader.push(thread, operation, place);
        Ok(())
    })
}

/// The text of a recording. RAPID wants integers for places: if some are not, all are numbered, in the order in which they come up.
pub fn write(recording: &Recording) -> String {
    let recording = recording.with_locks_for_atomics();
    let (threads, words) = (plain(&recording.threads), Words::new(&recording));
    let is_number = |place: &str| place.parse::<i32>().is_ok();
    let as_they_are = recording.places.iter().all(is_number);
    let place = |place: Option<PlaceId>| match place {
        None => "0".to_owned(),
        Some(place) if as_they_are => recording.places.name(place).to_owned(),
        Some(place) => (place.0 + 1).to_string(),
    };
    let mut text = String::new();
    for Record { thread, operation, place: at, .. } in &recording.records {
        let operation = match *operation {
            Operation::Begin => "begin".to_owned(),
            Operation::End => "end".to_owned(),
            Operation::Fork(child) => format!("fork({})", threads[usize::from(child)]),
            Operation::Join(child) => format!("join({})", threads[usize::from(child)]),
            other => words.operation(other),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}|{operation}|{}", threads[usize::from(*thread)], place(*at));
    }
    text
}

/// What both formats of RAPID have in common: accesses and locks.
pub struct Words {
    variables: Vec<String>,
    locks: Vec<String>,
}

impl Words {
    pub fn new(recording: &Recording) -> Words {
        Words { variables: plain(&recording.variables), locks: plain(&recording.locks) }
    }

    /// An access or an operation on a lock; nothing for others.
    pub fn operation(&self, operation: Operation) -> String {
        match operation {
            Operation::Read { variable, .. } => format!("r({})", self.variables[usize::from(variable)]),
            Operation::Write { variable, .. } => format!("w({})", self.variables[usize::from(variable)]),
            Operation::Acquire(lock) => format!("acq({})", self.locks[usize::from(lock)]),
            Operation::Release(lock) => format!("rel({})", self.locks[usize::from(lock)]),
            Operation::Fork(_)
            | Operation::Join(_)
            | Operation::Update(_)
            | Operation::Begin
            | Operation::End => String::new(),
        }
    }
}

/// Names without what separates fields and words; different ones stay different.
fn plain<I: From<u32> + Into<usize> + Copy>(names: &Names<I>) -> Vec<String> {
    let is_plain = |c: char| !(c == '|' || c == ',' || c.is_whitespace());
    let mut taken: FxHashSet<String> =
        names.iter().filter(|name| name.chars().all(is_plain)).map(Into::into).collect();
    let one = |name: &str| {
        if name.chars().all(is_plain) {
            return name.to_owned();
        }
        let mut other: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
        while !taken.insert(other.clone()) {
            other.push('_');
        }
        other
    };
    names.iter().map(one).collect()
}
