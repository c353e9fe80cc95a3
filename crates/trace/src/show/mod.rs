//! A trace for people: one column per thread, one event per row, time from top to bottom.

mod excerpt;
mod table;
mod words;

use crate::names::Names;
use crate::{EventKind, Trace};
pub use excerpt::{ExcerptRow, excerpt, show_excerpt};
use ir::Program;
use std::collections::HashMap;
use table::{Row, Table};

/// How a trace is shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShowOptions {
    /// No line is longer than this many characters, but for the lines before and after the table.
    pub width: usize,
    /// How many rows to leave out before the first.
    pub from: u64,
    /// Up to and with which row, counted from 1; `None` is the last.
    pub to: Option<u64>,
    /// Not more rows than this.
    pub limit: Option<u64>,
}

impl Default for ShowOptions {
    fn default() -> ShowOptions {
        ShowOptions { width: 100, from: 0, to: None, limit: None }
    }
}

/// Shows a trace: what it is of, its events, how it ended. With the program, names, lines and labels are the
/// source's. Rows are numbered; a thin rule stands where the thread changes.
#[must_use]
pub fn show(trace: &Trace, program: Option<&Program>, options: &ShowOptions) -> String {
    let names = Names::new(trace, program);
    let count = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let mut lines = vec![format!("trace of {}, strategy {}", trace.origin.subject, trace.origin.strategy)];
    lines.push(format!("{}, {}", count(trace.threads.len(), "thread"), count(trace.events.len(), "event")));
    lines.extend(words::logging(&trace.origin.logging));
    lines.push(String::new());
    rows(trace, &names, options, &mut lines);
    lines.push(String::new());
    lines.extend(words::outcome(&names, &trace.outcome));
    finish(lines)
}

/// Shows the events of a trace only.
#[must_use]
pub fn show_events(trace: &Trace, program: Option<&Program>, options: &ShowOptions) -> String {
    let mut lines = vec![];
    rows(trace, &Names::new(trace, program), options, &mut lines);
    finish(lines)
}

/// The first difference between two runs of one program, in words; `None` if they are the same.
#[must_use]
pub fn first_difference(one: &Trace, other: &Trace, program: Option<&Program>) -> Option<String> {
    let (left, right) = (Names::new(one, program), Names::new(other, program));
    let said = |names: &Names<'_>, event: &crate::Event| {
        let line =
            names.source(event.site).map(|at| format!(" at {}:{}", base_name(at.file), at.position.line));
        let thread = names.thread(event.id.thread);
        format!(
            "event {} of {thread}, {}{}",
            event.id.n,
            words::event(names, event),
            line.unwrap_or_default()
        )
    };
    let pairs = one.events.iter().zip(&other.events);
    if let Some((one, other)) = pairs.into_iter().find(|(one, other)| one != other) {
        return Some(format!("{} in the first run; {} in the second", said(&left, one), said(&right, other)));
    }
    let longer = match one.events.len().cmp(&other.events.len()) {
        std::cmp::Ordering::Less => Some(("second", said(&right, &other.events[one.events.len()]))),
        std::cmp::Ordering::Greater => Some(("first", said(&left, &one.events[other.events.len()]))),
        std::cmp::Ordering::Equal => None,
    };
    if let Some((which, event)) = longer {
        return Some(format!("only the {which} run has {event}"));
    }
    let outcome = |names: &Names<'_>, trace: &Trace| words::outcome(names, &trace.outcome).join(" ");
    match () {
        () if one.switches != other.switches => Some("the same events, but another schedule".to_owned()),
        () if one.outcome != other.outcome => Some(format!(
            "{} in the first run; {} in the second",
            outcome(&left, one),
            outcome(&right, other)
        )),
        () if one.allocations != other.allocations => {
            Some("the same events, but memory lies elsewhere".to_owned())
        }
        () if one != other => Some("the same events, but threads or choices differ".to_owned()),
        () => None,
    }
}

/// Whether an event is only the return of the call that the one before was about: `lock m`, and then that
/// `pthread_mutex_lock` returned 0.
fn says_nothing_new(before: &crate::Event, event: &crate::Event) -> bool {
    use EventKind::{Alloc, External, Free};
    let EventKind::External { result } = event.kind else { return false };
    let about_it = before.kind.access().is_none() && !matches!(before.kind, External { .. });
    let expected = result == 0 || matches!(before.kind, Alloc { .. } | Free { .. });
    before.site == event.site && before.kind.is_synchronisation() && about_it && expected
}

fn finish(lines: Vec<String>) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(clean(&line).trim_end());
        text.push('\n');
    }
    text
}

fn rows(trace: &Trace, names: &Names<'_>, options: &ShowOptions, lines: &mut Vec<String>) {
    let total = trace.events.len() as u64;
    let from = options.from.min(total);
    let to = options.to.unwrap_or(total).clamp(from, total);
    let to = to.min(from.saturating_add(options.limit.unwrap_or(u64::MAX)));
    let shown = &trace.events[from as usize..to as usize];

    // A column for each thread that has something to show.
    let mut columns: HashMap<_, usize> = HashMap::new();
    let mut table = Table::default();
    let active: std::collections::HashSet<_> = shown.iter().map(|event| event.id.thread).collect();
    for info in trace.threads.iter().filter(|info| active.contains(&info.id)) {
        columns.insert(info.id, table.threads.len());
        table.threads.push(clean(&info.name));
    }
    let mut last: HashMap<_, &crate::Event> = HashMap::new();
    for (number, event) in (from + 1..).zip(shown) {
        let before = last.insert(event.id.thread, event);
        if before.is_some_and(|before| says_nothing_new(before, event)) {
            continue;
        }
        let column = *columns.entry(event.id.thread).or_insert_with(|| {
            table.threads.push(event.id.thread.to_string());
            table.threads.len() - 1
        });
        let line = names.source(event.site).map(|source| match names.several_files() {
            true => format!("{}:{}", base_name(source.file), source.position.line),
            false => source.position.line.to_string(),
        });
        let mut text = words::event(names, event);
        if let Some(label) = names.label(event.site) {
            text = format!("{label}: {text}");
        }
        let (line, text) = (clean(&line.unwrap_or_default()), clean(&text));
        table.rows.push(Row { number, line, column, text, marked: false, after_gap: false });
    }
    if from > 0 {
        lines.push(format!("… {from} rows before these are not shown"));
    }
    table.render(options.width, lines);
    if to < total {
        lines.push(format!("… {} rows after these are not shown", total - to));
    }
}

/// Without control characters: names come from outside, and a terminal obeys what it is sent.
fn clean(text: &str) -> String {
    if !text.chars().any(char::is_control) {
        return text.to_owned();
    }
    text.chars()
        .map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() })
        .collect()
}

pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
