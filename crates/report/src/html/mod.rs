//! The report as one HTML file, for a browser: it works from `file://` and loads nothing.
//!
//! What is fixed is written as HTML here: overview, words, excerpts of the source. The timelines are drawn by `page.js` from data that
//! stands in the page as JSON ([`timeline`]). Everything comes from outside, the names of threads and the text of the source too:
//! maud escapes what goes into the HTML, [`timeline::embedded`] what goes into the JSON.

mod code;
mod syntax;
mod timeline;

use crate::Sources;
use crate::finding::Description;
use crate::prediction::{Report, coverage, plural};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use timeline::Timeline;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Nothing is ever loaded, whatever the page might say.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// So many colours of threads there are; then they come again.
const COLOURS: usize = 8;

/// The report as a page.
#[must_use]
pub fn html(report: &Report, sources: &Sources<'_>) -> String {
    let timelines: Vec<Timeline<'_>> =
        report.findings.iter().map(|finding| Timeline::of(finding, sources)).collect();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (report.subject) " · Threadbare" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#findings" { "Skip to the findings" }
                (head(report))
                main id="findings" {
                    @for (at, finding) in report.findings.iter().enumerate() {
                        (one(at, finding, &timelines[at], sources))
                    }
                    @if report.findings.is_empty() { p.nothing { "Nothing found." } }
                }
                (foot(report))
                div #tip role="tooltip" hidden {}
                script #data type="application/json" { (PreEscaped(timeline::embedded(&timelines))) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

fn head(report: &Report) -> Markup {
    html! {
        header.top {
            p.brand { "Threadbare" }
            h1 { (report.subject) }
            @for run in &report.recorded { p.recorded { "Recorded: " (run) } }
            @if !report.findings.is_empty() { nav aria-label="Findings" { (overview(&report.findings)) } }
        }
    }
}

fn overview(findings: &[Description]) -> Markup {
    html! {
        div.scroll {
            table.overview {
                caption { (plural(findings.len() as u64, "finding", "findings")) }
                thead {
                    tr {
                        th scope="col" { "Kind" }
                        th scope="col" { "What" }
                        th scope="col" { "Where" }
                        th scope="col" { "Consequence" }
                        th scope="col" { "Re-run" }
                    }
                }
                tbody {
                    @for (at, finding) in findings.iter().enumerate() {
                        tr {
                            td.kind { (kind(finding)) }
                            td { a href={ "#finding-" (at + 1) } { (ticks(headline(finding))) } }
                            td.where { (place(finding)) }
                            td { (consequence(finding).unwrap_or("not known")) }
                            td { (standing(finding)) }
                        }
                    }
                }
            }
        }
    }
}

fn one(at: usize, finding: &Description, timeline: &Timeline<'_>, sources: &Sources<'_>) -> Markup {
    let id = format!("finding-{}", at + 1);
    html! {
        article.finding #(id) aria-labelledby={ (id) "-title" } {
            header {
                p.above { span.number { (at + 1) } (kind(finding)) (standing(finding)) span.place { (place(finding)) } }
                h2 #{ (id) "-title" } { (ticks(headline(finding))) }
            }
            (facts(finding))
            section aria-labelledby={ (id) "-source" } {
                h3 #{ (id) "-source" } { "Source" }
                (code::threads(finding, &timeline.lanes, sources))
            }
            @if timeline.has_rows() { (drawing(at, &id, finding)) }
            (replay(&id, finding))
        }
    }
}

/// Why it is wrong and what came of it.
fn facts(finding: &Description) -> Markup {
    html! {
        dl.facts {
            @if !finding.why.is_empty() {
                div { dt { "Why" } dd { @for line in &finding.why { p { (ticks(line)) } } } }
            }
            @if let Some(consequence) = consequence(finding) {
                div.consequence { dt { "Consequence" } dd { p { (consequence) } } }
            }
            @if let Some(why) = &finding.unconfirmed {
                div { dt { "Not confirmed" } dd { p { (why) } } }
            }
            @if finding.others > 0 {
                div { dt { "Also" } dd { p { (plural(finding.others, "more instance", "more instances")) " at the same places" } } }
            }
        }
    }
}

/// The place of a timeline, with what works it; without scripts the run stands there as text.
fn drawing(at: usize, id: &str, finding: &Description) -> Markup {
    let view = |name: &str, words: &str| {
        html! { button type="button" data-view=(name) aria-pressed="false" { (words) } }
    };
    let both = finding.recorded.is_some() && !finding.rows.is_empty();
    html! {
        section.timeline data-timeline=(at) aria-labelledby={ (id) "-runs" } {
            div.bar {
                h3 #{ (id) "-runs" } { @if both { "The recorded run and the witness" } @else { "The run" } }
                div.tools hidden {
                    @if both {
                        div.choice role="group" aria-label="Which run is shown" {
                            (view("both", "Side by side")) (view("recorded", "Recorded")) (view("witness", "Witness"))
                        }
                    }
                    div.choice role="group" aria-label="Zoom" {
                        button type="button" data-zoom="out" aria-label="Zoom out" title="Zoom out (-)" { "−" }
                        output aria-label="Zoom" { "100 %" }
                        button type="button" data-zoom="in" aria-label="Zoom in" title="Zoom in (+)" { "+" }
                        button type="button" data-zoom="fit" title="Show all of it (0)" { "Fit" }
                    }
                }
            }
            div.viewport {}
            p.keys hidden {
                kbd { "↑" } " " kbd { "↓" } " step by step · " kbd { "←" } " " kbd { "→" } " the same step in the other run · "
                kbd { "n" } " next marked step · " kbd { "+" } " " kbd { "−" } " " kbd { "0" } " or Ctrl and wheel to zoom · drag to move"
            }
            noscript {
                @if let Some(recorded) = &finding.recorded { (plain("Recorded run", &recorded.rows)) }
                @if !finding.rows.is_empty() { (plain("Witness", &finding.rows)) }
            }
        }
    }
}

fn plain(title: &str, rows: &[trace::ExcerptRow]) -> Markup {
    html! { h4 { (title) } pre.scroll { (trace::show_excerpt(rows, 160)) } }
}

/// What the program printed, and how to see it print that.
fn replay(id: &str, finding: &Description) -> Markup {
    let steps = plural(finding.steps as u64, "step", "steps");
    html! {
        @if let Some(output) = &finding.output {
            section aria-labelledby={ (id) "-output" } {
                h3 #{ (id) "-output" } { "What the program printed in that run" }
                pre.output.scroll tabindex="0" { (output) }
            }
        }
        section.replay aria-labelledby={ (id) "-replay" } {
            h3 #{ (id) "-replay" } { @if finding.replayable { "See it happen" } @else { "The order that shows it" } }
            @match &finding.command {
                None if !finding.replayable => {},
                Some(command) => div.command {
                    code #{ (id) "-command" } tabindex="0" { (command) }
                    button type="button" data-copy={ (id) "-command" } hidden { "Copy" }
                },
                None => p { "A schedule of " (steps) " shows it: save it to a file for " code { "threadbare replay" } "." },
            }
            details {
                summary { "Schedule, " (steps) }
                pre.scroll tabindex="0" { (finding.schedule) }
            }
            p.fingerprint { "Fingerprint " code { (format!("{:016x}", finding.fingerprint)) } }
        }
    }
}

fn foot(report: &Report) -> Markup {
    html! {
        footer {
            h2 { "What was looked at" }
            @for line in coverage(report) { p { (line) } }
            @if !report.silent.is_empty() {
                details {
                    summary { "Without visible effect" }
                    ul { @for finding in &report.silent { li { (ticks(&finding.title)) " (" (place(finding)) ")" } } }
                }
            }
            p.version { "Threadbare " (env!("CARGO_PKG_VERSION")) }
        }
    }
}

fn kind(finding: &Description) -> Markup {
    html! { span.kind { (finding.kind.words().0) } }
}

fn standing(finding: &Description) -> Markup {
    match &finding.unconfirmed {
        None => html! { span.standing.confirmed { "confirmed" } },
        Some(why) => html! { span.standing title=(why) { "predicted" } },
    }
}

/// The title without its kind, which stands beside it.
fn headline(finding: &Description) -> &str {
    let prefix = format!("{}: ", finding.kind.words().0);
    finding.title.strip_prefix(prefix.as_str()).unwrap_or(&finding.title)
}

/// What came of it; of a failure that is what it is itself.
fn consequence(finding: &Description) -> Option<&str> {
    finding.consequence.as_deref().or(finding.ended.as_deref())
}

fn place(finding: &Description) -> &str {
    let primary = finding.places.iter().find(|place| place.primary).or(finding.places.first());
    primary.map_or("", |place| &place.at)
}

/// What stands in backticks is code.
fn ticks(text: &str) -> Markup {
    html! {
        @for (at, part) in text.split('`').enumerate() {
            @if at % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// The class that gives the colour of a thread.
fn colour(lane: usize) -> String {
    format!("t{}", lane % COLOURS)
}
