//! RAPID's CSV format: a column for each thread, and in each line one that is not empty, `,w(V1),`.
//!
//! The n-th column, counted from 0, is the thread `Tn`, and that is what `start(T2)` and `join(T2)` name. RAPID's reader knows `start`,
//! `enter` and `exit`, while its writer and its documentation say `fork`, which its reader skips without a word: here both are read, and
//! what RAPID reads is written. `sync(x)` is an access that synchronises. There are no places. Lines that RAPID's reader takes for
//! comments, whatever they are, are complaints here, unless they begin with `#`.

use crate::recording::{Names, Recording};
use crate::std_format::Words;
use crate::text::{Reader, Word};
use crate::{Complaint, Format, Operation, Record, ThreadNumber};
use rustc_hash::FxHashMap;
use std::fmt::Write as _;

pub fn read(bytes: &[u8]) -> Result<Recording, Vec<Complaint>> {
    Reader::read(bytes, |reader, line| {
        if line.starts_with('#') {
            return Ok(());
        }
        let columns = Word::whole(line).split(',').map(Word::trim).enumerate();
        let mut filled = columns.filter(|(_, column)| !column.text.is_empty());
        let Some((thread, operation)) = filled.next() else {
            return Err(reader
                .complaint("a line without an event")
                .at(0..line.len(), "expected one column that is not empty"));
        };
        if let Some((_, second)) = filled.next() {
            return Err(reader
                .complaint("two events in one line")
                .at(second.range(), "expected nothing in any other column")
                .help("RAPID's CSV has a column for each thread and in each line one event: `,w(V1),`"));
        }
        let thread = reader.recording.threads.number(&format!("T{thread}"));
        let operation = reader.rapid_operation(operation, Format::RapidCsv)?;
        reader.push(thread, operation, None);
        Ok(())
    })
}

/// The text of a recording. Threads that are not called `T0`, `T1`, … get such names, by their order.
pub fn write(recording: &Recording) -> String {
    let recording = recording.with_locks_for_atomics();
    let (columns, words) = (columns(&recording.threads), Words::new(&recording));
    let last = columns.values().copied().max().unwrap_or(0);
    let named = |thread: ThreadNumber| format!("T{}", columns.get(&thread).copied().unwrap_or(0));
    let mut text = String::new();
    for Record { thread, operation, .. } in &recording.records {
        let own = columns.get(thread).copied().unwrap_or(0);
        let operation = match *operation {
            Operation::Fork(child) => format!("start({})", named(child)),
            Operation::Join(child) => format!("join({})", named(child)),
            Operation::Begin => format!("enter({})", named(*thread)),
            Operation::End => format!("exit({})", named(*thread)),
            other => words.operation(other),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}{operation}{}", ",".repeat(own), ",".repeat(last - own));
    }
    text
}

/// So many columns may be empty, so that threads keep their names.
const MOST_EMPTY: usize = 16;

/// The column of each thread: as they are called, if all are called so and the table is not much wider than it has to be.
fn columns(threads: &Names<ThreadNumber>) -> FxHashMap<ThreadNumber, usize> {
    let numbered = |(n, name): (usize, &str)| {
        let number: usize = name.strip_prefix('T')?.parse().ok()?;
        let is_plain = number < threads.len() + MOST_EMPTY && format!("T{number}") == name;
        is_plain.then_some((ThreadNumber(n as u32), number))
    };
    let as_called: Option<FxHashMap<ThreadNumber, usize>> =
        threads.iter().enumerate().map(numbered).collect();
    as_called.unwrap_or_else(|| (0..threads.len()).map(|n| (ThreadNumber(n as u32), n)).collect())
}
