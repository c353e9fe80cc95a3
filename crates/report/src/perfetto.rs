//! The runs behind the findings for Perfetto and `chrome://tracing`: trace-event JSON.
//!
//! Each run is a process, the recorded one first, and each thread a track. Time is virtual: an event takes a microsecond, and comes
//! when all before it have gone. Where another thread goes on, an arrow leads from the last event of the one to the first of the other.

use crate::finding::Description;
use crate::source::Sources;
use serde_json::{Value, json};
use std::collections::HashSet;
use trace::{EventId, ExcerptRow, Trace};

/// So many events of a run are shown; of a longer one, those around what the finding is about.
const MOST: usize = 50_000;

/// The recorded run, and the run that showed each finding where there is one.
#[must_use]
pub fn perfetto<'a>(
    recorded: &Trace,
    findings: impl IntoIterator<Item = (&'a Description, Option<&'a Trace>)>,
    sources: &Sources<'_>,
) -> String {
    let mut events = Process { pid: 1, run: recorded, sources }.events("recorded run", &HashSet::new());
    for (at, (finding, run)) in findings.into_iter().enumerate() {
        let Some(run) = run else { continue };
        let about = finding.rows.iter().filter(|row| row.marked).map(|row| row.event).collect();
        let title = format!("finding {}: {}", at + 1, finding.title);
        events.extend(Process { pid: at as u64 + 2, run, sources }.events(&title, &about));
    }
    let mut text = json!({ "displayTimeUnit": "ns", "traceEvents": events }).to_string();
    text.push('\n');
    text
}

/// A run that is shown.
struct Process<'a> {
    pid: u64,
    run: &'a Trace,
    sources: &'a Sources<'a>,
}

impl Process<'_> {
    fn events(&self, title: &str, about: &HashSet<EventId>) -> Vec<Value> {
        let all = &self.run.events;
        let marked: Vec<usize> = (0..all.len()).filter(|&at| about.contains(&all[at].id)).collect();
        let first = marked.first().copied().unwrap_or(0).saturating_sub(MOST / 2);
        let shown: Vec<usize> = (first..all.len().min(first + MOST)).collect();
        let mut events = vec![self.metadata("process_name", 0, "name", json!(title))];
        events.push(self.metadata("process_sort_index", 0, "sort_index", json!(self.pid)));
        if shown.len() < all.len() {
            let label = format!("{} of {} events", shown.len(), all.len());
            events.push(self.metadata("process_labels", 0, "labels", json!(label)));
        }
        for (at, thread) in self.run.threads.iter().enumerate() {
            events.push(self.metadata("thread_name", at as u64 + 1, "name", json!(thread.name)));
        }
        let rows = self.sources.excerpt(self.run, &shown, &marked);
        for (at, row) in shown.iter().zip(&rows) {
            events.push(self.slice(*at, row));
        }
        for pair in shown.iter().zip(&rows).collect::<Vec<_>>().windows(2) {
            let [(from, before), (to, behind)] = pair else { continue };
            if before.event.thread != behind.event.thread {
                // The arrow starts and ends within the slices that it binds to.
                events.push(self.arrow("s", **from, before));
                events.push(self.arrow("f", **to, behind));
            }
        }
        events
    }

    fn tid(&self, row: &ExcerptRow) -> u64 {
        let at = self.run.threads.iter().position(|thread| thread.id == row.event.thread);
        at.map_or(0, |at| at as u64 + 1)
    }

    fn metadata(&self, name: &str, tid: u64, key: &str, value: Value) -> Value {
        json!({ "ph": "M", "name": name, "pid": self.pid, "tid": tid, "args": { key: value } })
    }

    fn slice(&self, at: usize, row: &ExcerptRow) -> Value {
        let place = (row.file.as_ref().zip(row.line)).map(|(file, line)| format!("{file}:{line}"));
        json!({
            "ph": "X",
            "name": row.text,
            "cat": if row.marked { "marked" } else { "event" },
            "pid": self.pid,
            "tid": self.tid(row),
            "ts": at,
            "dur": 1,
            "args": { "thread": row.thread, "event": row.event.n, "place": place, "marked": row.marked },
        })
    }

    fn arrow(&self, phase: &str, at: usize, row: &ExcerptRow) -> Value {
        let (id, ts) = match phase {
            "s" => (at + 1, at as f64 + 0.75),
            _ => (at, at as f64 + 0.25),
        };
        let id = format!("{}.{id}", self.pid);
        let mut arrow = json!({
            "ph": phase, "name": "switch", "cat": "switch", "id": id, "pid": self.pid, "tid": self.tid(row), "ts": ts,
        });
        if phase == "f" {
            arrow["bp"] = json!("e");
        }
        arrow
    }
}
