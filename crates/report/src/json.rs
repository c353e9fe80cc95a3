//! Findings for programs to read; `docs/findings.schema.json` describes it, and a test holds the two together.

use crate::finding::{Description, Kind, Place};
use crate::prediction::Report;
use crate::{Explored, Sources};
use claim::{Coverage, Engine, Statistics};
use serde::Serialize;
use trace::ExcerptRow;

/// The version of the format; it changes when something that was there is gone or means something else.
pub const FINDINGS_VERSION: u32 = 1;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    version: u32,
    tool: &'static str,
    tool_version: &'static str,
    subject: &'a str,
    recorded: &'a [String],
    findings: Vec<Finding<'a>>,
    /// What nobody would notice.
    without_visible_effect: Vec<Finding<'a>>,
    coverage: &'a Coverage,
    unknown: Vec<Reason<'a>>,
    statistics: Numbers,
    #[serde(skip_serializing_if = "Option::is_none")]
    exploration: Option<&'a Explored>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Finding<'a> {
    id: String,
    kind: Kind,
    title: &'a str,
    location: Option<&'a str>,
    confirmed: bool,
    why_not_confirmed: Option<&'a str>,
    places: Vec<At<'a>>,
    interleaving: Vec<Step<'a>>,
    why: &'a [String],
    consequence: Option<&'a str>,
    other_instances: u64,
    engine: Option<&'static str>,
    output: Option<&'a str>,
    schedule: &'a str,
    replay: Option<&'a str>,
}

#[derive(Serialize)]
struct At<'a> {
    file: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
    thread: &'a str,
    label: &'a str,
    primary: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Step<'a> {
    number: u64,
    thread: &'a str,
    /// Which event of its thread, counted from 1.
    event: u64,
    file: Option<&'a str>,
    line: Option<u32>,
    text: &'a str,
    marked: bool,
    left_out_before: u64,
}

#[derive(Serialize)]
struct Reason<'a> {
    reason: &'a str,
    candidates: u64,
}

/// The statistics, times in seconds.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Numbers {
    threads: u64,
    shared_locations: u64,
    events: u64,
    simplified_events: u64,
    transactions: u64,
    potential_atomicity_violations: u64,
    after_happens_before: u64,
    without_data: u64,
    feasible_atomicity_violations: u64,
    build_seconds: f64,
    candidates_seconds: f64,
    encode_seconds: f64,
    solve_seconds: f64,
    witnesses_seconds: f64,
    replay_seconds: f64,
}

/// The report as JSON.
#[must_use]
pub fn json(report: &Report, sources: &Sources<'_>) -> String {
    let document = Document {
        version: FINDINGS_VERSION,
        tool: "threadbare",
        tool_version: env!("CARGO_PKG_VERSION"),
        subject: &report.subject,
        recorded: &report.recorded,
        findings: report.findings.iter().map(|one| finding(one, sources)).collect(),
        without_visible_effect: report.silent.iter().map(|one| finding(one, sources)).collect(),
        coverage: &report.coverage,
        unknown: (report.unknown.iter())
            .map(|(reason, candidates)| Reason { reason, candidates: *candidates })
            .collect(),
        statistics: numbers(&report.statistics),
        exploration: report.explored.as_ref(),
    };
    // Strings, numbers and lists of them: it cannot fail.
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

fn finding<'a>(one: &'a Description, sources: &'a Sources<'_>) -> Finding<'a> {
    Finding {
        id: format!("{:016x}", one.fingerprint),
        kind: one.kind,
        title: &one.title,
        location: one.location.as_deref(),
        confirmed: one.unconfirmed.is_none(),
        why_not_confirmed: one.unconfirmed.as_deref(),
        places: one.places.iter().map(|place| at(place, sources)).collect(),
        interleaving: one.rows.iter().map(step).collect(),
        why: &one.why,
        consequence: one.consequence.as_deref(),
        other_instances: one.others,
        engine: one.engine.map(Engine::name),
        output: one.output.as_deref(),
        schedule: &one.schedule,
        replay: one.command.as_deref(),
    }
}

fn at<'a>(place: &'a Place, sources: &'a Sources<'_>) -> At<'a> {
    let known = sources.file_and_position(place.site);
    At {
        file: known.map(|(file, _)| file),
        line: known.map(|(_, position)| position.line),
        column: known.map(|(_, position)| position.column),
        thread: &place.thread,
        label: &place.label,
        primary: place.primary,
    }
}

fn step(row: &ExcerptRow) -> Step<'_> {
    Step {
        number: row.number,
        thread: &row.thread,
        event: row.event.n,
        file: row.file.as_deref(),
        line: row.line,
        text: &row.text,
        marked: row.marked,
        left_out_before: row.left_out,
    }
}

fn numbers(statistics: &Statistics) -> Numbers {
    let times = &statistics.times;
    Numbers {
        threads: statistics.threads,
        shared_locations: statistics.shared_locations,
        events: statistics.events,
        simplified_events: statistics.simplified,
        transactions: statistics.transactions,
        potential_atomicity_violations: statistics.potential,
        after_happens_before: statistics.after_happens_before,
        without_data: statistics.without_data,
        feasible_atomicity_violations: statistics.feasible,
        build_seconds: times.build.as_secs_f64(),
        candidates_seconds: times.candidates.as_secs_f64(),
        encode_seconds: times.encode.as_secs_f64(),
        solve_seconds: times.solve.as_secs_f64(),
        witnesses_seconds: times.witnesses.as_secs_f64(),
        replay_seconds: times.replay.as_secs_f64(),
    }
}
