//! What `page.js` draws timelines from: for each finding its lanes, one for each thread, and the rows of the two runs.

use crate::Sources;
use crate::finding::{Description, Kind};
use serde::Serialize;
use trace::{ExcerptRow, ThreadId};

/// The timeline of a finding.
#[derive(Serialize)]
pub(super) struct Timeline<'a> {
    /// The threads, in the order in which they come into being.
    pub(super) lanes: Vec<&'a str>,
    recorded: Option<Run<'a>>,
    witness: Option<Run<'a>>,
    /// Who waits for ever at the end of the witness.
    blocked: Vec<Blocked<'a>>,
}

#[derive(Serialize)]
struct Run<'a> {
    ended: &'a str,
    /// Whether it ended as it should not.
    failed: bool,
    rows: Vec<Row<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    number: u64,
    lane: usize,
    /// The same for the same event in both runs.
    event: String,
    file: Option<&'a str>,
    line: Option<u32>,
    /// The text of that line.
    source: Option<&'a str>,
    text: &'a str,
    marked: bool,
    left_out: u64,
}

#[derive(Serialize)]
struct Blocked<'a> {
    lane: usize,
    label: &'a str,
}

impl<'a> Timeline<'a> {
    pub(super) fn of(finding: &'a Description, sources: &'a Sources<'_>) -> Timeline<'a> {
        let recorded = finding.recorded.as_ref();
        let rows = || finding.rows.iter().chain(recorded.into_iter().flat_map(|recorded| &recorded.rows));
        let mut threads: Vec<(ThreadId, &str)> = rows().map(|row| (row.event.thread, &*row.thread)).collect();
        threads.sort_unstable();
        threads.dedup_by_key(|(id, _)| *id);
        let ids: Vec<ThreadId> = threads.iter().map(|(id, _)| *id).collect();
        let mut lanes: Vec<&str> = threads.into_iter().map(|(_, name)| name).collect();
        // Who has no event to show may still have a place in the source.
        for place in &finding.places {
            if !lanes.contains(&&*place.thread) {
                lanes.push(&place.thread);
            }
        }
        let run = |rows: &'a [ExcerptRow], ended: &'a str, failed: bool| Run {
            ended,
            failed,
            rows: rows.iter().map(|one| row(one, &ids, sources)).collect(),
        };
        let deadlocked = finding.kind == Kind::Deadlock && finding.unconfirmed.is_none();
        let waiting = finding.places.iter().filter(|_| deadlocked);
        Timeline {
            recorded: recorded.map(|recorded| run(&recorded.rows, &recorded.ended, false)),
            witness: (!finding.rows.is_empty()).then(|| {
                let failed = deadlocked || finding.fails_at.is_some();
                run(&finding.rows, finding.ended.as_deref().unwrap_or_default(), failed)
            }),
            blocked: waiting
                .filter_map(|place| {
                    let lane = lanes.iter().position(|name| *name == place.thread)?;
                    Some(Blocked { lane, label: place.label.strip_prefix(&*place.thread)?.trim_start() })
                })
                .collect(),
            lanes,
        }
    }

    /// Whether there is anything to draw.
    pub(super) fn has_rows(&self) -> bool {
        self.recorded.is_some() || self.witness.is_some()
    }
}

fn row<'a>(row: &'a ExcerptRow, ids: &[ThreadId], sources: &'a Sources<'_>) -> Row<'a> {
    Row {
        number: row.number,
        // Each row's thread is among them.
        lane: ids.iter().position(|id| *id == row.event.thread).unwrap_or(0),
        event: format!("{}:{}", row.event.thread, row.event.n),
        file: row.file.as_deref(),
        line: row.line,
        source: (row.file.as_deref().zip(row.line))
            .and_then(|(file, line)| sources.line_of(file, line))
            .map(str::trim),
        text: &row.text,
        marked: row.marked,
        left_out: row.left_out,
    }
}

/// Data as JSON that may stand in a page: nothing in it can end the element, or begin another.
pub(super) fn embedded(data: &impl Serialize) -> String {
    // Strings, numbers and lists of them: it cannot fail.
    let json = serde_json::to_string(data).unwrap_or_default();
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            // In JSON these stand in strings only.
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                text.push_str(&format!("\\u{:04x}", character as u32));
            }
            other => text.push(other),
        }
    }
    text
}
