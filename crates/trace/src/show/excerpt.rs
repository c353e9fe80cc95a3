//! Some events of a run in words, numbered: what a report shows of it, and refers to.

use super::table::{Row, Table};
use super::{base_name, clean, finish, words};
use crate::names::Names;
use crate::{EventId, Trace};
use ir::{Program, SiteIndex};

/// One event of an excerpt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExcerptRow {
    /// Its number in the excerpt, from 1.
    pub number: u64,
    /// The event.
    pub event: EventId,
    /// What people call its thread.
    pub thread: String,
    /// The source file, if it is known.
    pub file: Option<String>,
    /// The line in it.
    pub line: Option<u32>,
    /// What happened, with the label that the source gives it.
    pub text: String,
    /// Whether the excerpt is about this event.
    pub marked: bool,
    /// How many events right before it are not shown.
    pub left_out: u64,
}

/// The events at these indices, which go up, in words; those at `marked` are what it is about.
#[must_use]
pub fn excerpt(
    trace: &Trace,
    program: &Program,
    sites: &SiteIndex,
    shown: &[usize],
    marked: &[usize],
) -> Vec<ExcerptRow> {
    let names = Names::with(trace, program, sites);
    let mut rows: Vec<ExcerptRow> = vec![];
    let mut next = 0;
    for &at in shown {
        let Some(event) = trace.events.get(at) else { continue };
        let text = words::event(&names, event);
        let source = names.source(event.site);
        rows.push(ExcerptRow {
            number: rows.len() as u64 + 1,
            event: event.id,
            thread: clean(&names.thread(event.id.thread)),
            line: source.as_ref().map(|source| source.position.line),
            file: source.map(|source| source.file.to_owned()),
            text: clean(&match names.label(event.site) {
                Some(label) => format!("{label}: {text}"),
                None => text,
            }),
            marked: marked.contains(&at),
            left_out: at.saturating_sub(next) as u64,
        });
        next = at + 1;
    }
    rows
}

/// An excerpt as a table, one column for each thread; what it is about has an arrow.
#[must_use]
pub fn show_excerpt(excerpt: &[ExcerptRow], width: usize) -> String {
    let mut table = Table::default();
    let mut files: Vec<&str> = excerpt.iter().filter_map(|row| row.file.as_deref()).collect();
    files.sort_unstable();
    files.dedup();
    // Columns in the order in which threads come into being.
    let mut threads: Vec<(crate::ThreadId, &str)> =
        excerpt.iter().map(|row| (row.event.thread, &*row.thread)).collect();
    threads.sort_unstable();
    threads.dedup();
    table.threads = threads.iter().map(|(_, name)| (*name).to_owned()).collect();
    for row in excerpt {
        // Each row's thread is among them.
        let column = threads.iter().position(|(id, _)| *id == row.event.thread).unwrap_or(0);
        let line = match (row.line, row.file.as_deref()) {
            (Some(line), Some(file)) if files.len() > 1 => clean(&format!("{}:{line}", base_name(file))),
            (Some(line), _) => line.to_string(),
            (None, _) => String::new(),
        };
        table.rows.push(Row {
            number: row.number,
            line,
            column,
            text: row.text.clone(),
            marked: row.marked,
            after_gap: row.left_out > 0,
        });
    }
    let mut lines = vec![];
    table.render(width, &mut lines);
    finish(lines)
}
