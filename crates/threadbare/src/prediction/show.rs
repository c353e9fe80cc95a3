//! The report in the form that is asked for, to where it goes.

use super::look::Looked;
use super::{Predicted, Sink};
use crate::cli::{Format, PredictOptions};
use crate::store::{self, Invocation};
use crate::{load, output};
use anyhow::Context as _;
use report::{Description, Report, Sources};
use std::path::Path;
use subject::Subject;

/// The sources, in colour if somebody looks at them.
pub fn sources<'p, S: Subject>(predicted: &Predicted<'p, S>, arguments: &PredictOptions) -> Sources<'p> {
    let color = match (predicted.sink, arguments.format) {
        (Sink::Error, Format::Text) => output::error_color(),
        (Sink::Output, Format::Text) => output::color(),
        _ => false,
    };
    load::sources(predicted.subject.program(), color)
}

/// Shows what was found, and writes what is to be written.
pub fn show<S: Subject>(
    predicted: &Predicted<'_, S>,
    looked: &Looked,
    about_known: &str,
    arguments: &PredictOptions,
) -> anyhow::Result<()> {
    if let Some(directory) = &arguments.save {
        save(directory, &looked.report.findings)?;
    }
    let sources = sources(predicted, arguments);
    write_files(predicted, looked, &sources, arguments)?;
    let mut text = formatted(&looked.report, &sources, arguments.format)
        .unwrap_or_else(|| text(looked, &sources, about_known, arguments));
    if let Some(replay) = predicted.replay.as_ref().filter(|_| !arguments.no_keep)
        && !looked.report.findings.is_empty()
    {
        let kept = keep(predicted, replay, looked, about_known, arguments);
        if arguments.format == Format::Text {
            text.push_str(&kept);
        }
    }
    match (predicted.sink, arguments.format) {
        (Sink::Error, Format::Text) => output::say(&text),
        _ => output::print(&text)?,
    }
    Ok(())
}

/// The report in a form for programs; `None` for people, to whom each command speaks in its own way.
pub fn formatted(report: &Report, sources: &Sources<'_>, format: Format) -> Option<String> {
    Some(match format {
        Format::Text => return None,
        Format::Json => report::json(report, sources),
        Format::Sarif => report::sarif(report, sources),
        Format::Github => report::github(report, sources),
    })
}

/// Writes the files that are asked for beside what is printed.
fn write_files<S: Subject>(
    predicted: &Predicted<'_, S>,
    looked: &Looked,
    sources: &Sources<'_>,
    arguments: &PredictOptions,
) -> anyhow::Result<()> {
    if let Some(path) = &arguments.html {
        output::write_file(path, report::html(&looked.report, sources).as_bytes())?;
    }
    if let Some(path) = &arguments.perfetto {
        let run = |finding: &Description| {
            let is_it = |one: &Description| {
                (one.fingerprint, &one.schedule) == (finding.fingerprint, &finding.schedule)
            };
            looked.shown.iter().find(|(one, _)| is_it(one)).map(|(_, run)| run)
        };
        let runs = looked.report.findings.iter().map(|finding| (finding, run(finding)));
        let text = report::perfetto(predicted.trace, runs, sources);
        output::write_file(path, text.as_bytes())?;
    }
    Ok(())
}

/// Keeps what was found in `.threadbare`; says under which id.
fn keep<S: Subject>(
    predicted: &Predicted<'_, S>,
    replay: &Invocation,
    looked: &Looked,
    about_known: &str,
    arguments: &PredictOptions,
) -> String {
    let plain = load::sources(predicted.subject.program(), false);
    let (text, json) = (text(looked, &plain, about_known, arguments), report::json(&looked.report, &plain));
    match store::keep(&looked.report, &text, &json, replay) {
        Ok(id) => format!("kept as {id} (`threadbare show {id}`, `threadbare replay {id}`)\n"),
        // What was found has been said all the same.
        Err(error) => format!("note: it could not be kept in .threadbare: {error:#}\n"),
    }
}

fn text(looked: &Looked, sources: &Sources<'_>, about_known: &str, arguments: &PredictOptions) -> String {
    let mut text = report::prediction(&looked.report, sources, output::width());
    text.push_str(about_known);
    if looked.runs_left_out > 0 {
        text.push_str(&format!(
            "not made, because the time was over: {} of the runs\n",
            looked.runs_left_out
        ));
    }
    if arguments.why_not {
        text.push_str(&format!("\n{}", looked.why_not));
    }
    if arguments.stats {
        text.push_str(&format!("\n{}", report::prediction_statistics(&looked.report.statistics)));
    }
    text
}

/// Writes the schedule of each finding.
fn save(directory: &Path, findings: &[Description]) -> anyhow::Result<()> {
    std::fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    for (at, finding) in findings.iter().enumerate() {
        let name = finding.kind.words().0.replace(' ', "-");
        let file = directory.join(format!("{}-{name}.schedule", at + 1));
        output::write_file(&file, finding.schedule.as_bytes())?;
    }
    Ok(())
}
