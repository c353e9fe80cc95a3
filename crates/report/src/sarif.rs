//! Findings for code scanners: SARIF 2.1.0. Each result has a code flow with one thread flow for each thread, whose steps have the
//! numbers of the interleaving, so that a viewer can play it.

use crate::Sources;
use crate::finding::{Description, Kind};
use crate::prediction::Report;
use serde_sarif::sarif::{
    ArtifactLocation, CodeFlow, Location, Message, MultiformatMessageString, PhysicalLocation, PropertyBag,
    Region, ReportingDescriptor, Result as Finding, ResultLevel, Run, Sarif, ThreadFlow, ThreadFlowLocation,
    Tool, ToolComponent,
};
use std::collections::BTreeMap;
use trace::ExcerptRow;

const KINDS: [Kind; 8] = [
    Kind::AtomicityViolation,
    Kind::DataRace,
    Kind::AssertionFailure,
    Kind::Crash,
    Kind::Deadlock,
    Kind::UncheckedWakeup,
    Kind::Pattern,
    Kind::WrongResult,
];

/// The report as SARIF.
#[must_use]
pub fn sarif(report: &Report, sources: &Sources<'_>) -> String {
    let rules: Vec<ReportingDescriptor> = KINDS.into_iter().map(rule).collect();
    let driver = ToolComponent::builder()
        .name("threadbare")
        .version(env!("CARGO_PKG_VERSION"))
        .semantic_version(env!("CARGO_PKG_VERSION"))
        .rules(rules)
        .build();
    let results: Vec<Finding> = report.findings.iter().map(|finding| result(finding, sources)).collect();
    let run = Run::builder().tool(Tool::builder().driver(driver).build()).results(results);
    let run = match &report.explored {
        // Strings, numbers and lists of them: it cannot fail.
        Some(explored) => {
            let explored = serde_json::to_value(explored).unwrap_or_default();
            let properties = BTreeMap::from([("exploration".to_owned(), explored)]);
            run.properties(PropertyBag::builder().additional_properties(properties).build()).build()
        }
        None => run.build(),
    };
    let document = Sarif::builder()
        .version(serde_json::Value::from("2.1.0"))
        .schema("https://json.schemastore.org/sarif-2.1.0.json")
        .runs(vec![run])
        .build();
    // Strings, numbers and lists of them: it cannot fail.
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

fn id(kind: Kind) -> String {
    kind.words().0.replace(' ', "-")
}

fn rule(kind: Kind) -> ReportingDescriptor {
    let words = match kind {
        Kind::AtomicityViolation => "A step of another thread falls into a block that is meant to be atomic.",
        Kind::DataRace => "Two threads access the same memory, at least one writes, and nothing orders them.",
        Kind::AssertionFailure => "An assertion fails in another schedule.",
        Kind::Crash => "The program crashes in another schedule.",
        Kind::Deadlock => "Threads wait for ever in another schedule.",
        Kind::UncheckedWakeup => {
            "A thread goes on after a wait without a second look, although it would have to wait again."
        }
        Kind::Pattern => "A pattern that was asked for happens in another schedule.",
        Kind::WrongResult => "The program ends otherwise than it should in another schedule.",
    };
    let short = MultiformatMessageString::builder().text(words).build();
    ReportingDescriptor::builder().id(id(kind)).short_description(short).build()
}

fn result(finding: &Description, sources: &Sources<'_>) -> Finding {
    let mut words = vec![finding.title.clone()];
    words.extend(finding.why.iter().cloned());
    words.extend(finding.consequence.iter().map(|consequence| format!("consequence: {consequence}")));
    words.extend(finding.command.iter().map(|command| format!("to see it: {command}")));
    let message = Message::builder().text(words.join(". ")).build();
    let place = |primary: bool| {
        let chosen = finding.places.iter().filter(move |place| place.primary == primary);
        chosen.filter_map(|place| {
            let (file, at) = sources.file_and_position(place.site)?;
            let message = Message::builder().text(place.label.clone()).build();
            let location = physical(file, at.line, Some(at.column));
            Some(Location::builder().physical_location(location).message(message).build())
        })
    };
    let (mut locations, mut related): (Vec<Location>, Vec<Location>) =
        (place(true).collect(), place(false).collect());
    if locations.is_empty() {
        std::mem::swap(&mut locations, &mut related);
    } else if locations.len() > 1 {
        // One place is where viewers jump to.
        related.splice(0..0, locations.drain(1..));
    }
    let fingerprint = format!("{:016x}", finding.fingerprint);
    let level = if finding.unconfirmed.is_none() { ResultLevel::Error } else { ResultLevel::Warning };
    let properties =
        BTreeMap::from([("confirmed".to_owned(), serde_json::Value::from(finding.unconfirmed.is_none()))]);
    let base = Finding::builder()
        .rule_id(id(finding.kind))
        .level(level)
        .message(message)
        .locations(locations)
        .related_locations(related)
        .partial_fingerprints(BTreeMap::from([("threadbare/v1".to_owned(), fingerprint)]))
        .properties(PropertyBag::builder().additional_properties(properties).build());
    match flow(finding) {
        Some(flow) => base.code_flows(vec![flow]).build(),
        None => base.build(),
    }
}

/// The interleaving: a flow for each thread, the steps numbered across all of them.
fn flow(finding: &Description) -> Option<CodeFlow> {
    let mut threads: Vec<(&str, Vec<ThreadFlowLocation>)> = vec![];
    for row in &finding.rows {
        let step = step(row);
        match threads.iter_mut().find(|(name, _)| *name == row.thread) {
            Some((_, steps)) => steps.push(step),
            None => threads.push((&row.thread, vec![step])),
        }
    }
    let flows: Vec<ThreadFlow> = (threads.into_iter())
        .map(|(name, steps)| {
            let message = Message::builder().text(name.to_owned()).build();
            ThreadFlow::builder().id(name.to_owned()).message(message).locations(steps).build()
        })
        .collect();
    (!flows.is_empty()).then(|| CodeFlow::builder().thread_flows(flows).build())
}

fn step(row: &ExcerptRow) -> ThreadFlowLocation {
    let message = Message::builder().text(row.text.clone()).build();
    let location = match (&row.file, row.line) {
        (Some(file), Some(line)) => {
            let place = physical(file, line, None);
            Location::builder().physical_location(place).message(message).build()
        }
        _ => Location::builder().message(message).build(),
    };
    let importance = if row.marked { "essential" } else { "important" };
    ThreadFlowLocation::builder()
        .execution_order(row.number as i64)
        .importance(serde_json::Value::from(importance))
        .location(location)
        .build()
}

fn physical(file: &str, line: u32, column: Option<u32>) -> PhysicalLocation {
    let artifact = ArtifactLocation::builder().uri(file.to_owned()).build();
    let region = match column {
        Some(column) => Region::builder().start_line(i64::from(line)).start_column(i64::from(column)).build(),
        None => Region::builder().start_line(i64::from(line)).build(),
    };
    PhysicalLocation::builder().artifact_location(artifact).region(region).build()
}
