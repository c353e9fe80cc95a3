//! Excerpts of the source, one for each thread of a finding, with what the thread does there marked and labelled.

use super::{colour, syntax};
use crate::Sources;
use crate::finding::{Description, Kind};
use ir::SiteId;
use maud::{Markup, html};
use std::collections::BTreeSet;
use std::ops::Range;

/// So many lines are shown before and behind one that is marked.
const AROUND: usize = 3;

/// A tab is as wide as this.
const TAB: usize = 4;

/// A place that is marked.
struct Mark<'a> {
    site: SiteId,
    label: &'a str,
    primary: bool,
}

/// The source as each thread sees it, and where the run failed.
pub(super) fn threads(finding: &Description, lanes: &[&str], sources: &Sources<'_>) -> Markup {
    let of = |lane: usize| -> Vec<Mark<'_>> {
        let own = finding.places.iter().filter(|place| lanes[lane] == place.thread);
        own.map(|place| Mark { site: place.site, label: &place.label, primary: place.primary }).collect()
    };
    let is_failure = matches!(finding.kind, Kind::AssertionFailure | Kind::Crash);
    let fails = finding.fails_at.filter(|_| !is_failure);
    html! {
        div.code {
            @for lane in 0..lanes.len() {
                @let marks = of(lane);
                @if !marks.is_empty() {
                    figure class=(colour(lane)) {
                        figcaption { span.dot {} (lanes[lane]) }
                        (excerpts(&marks, sources))
                    }
                }
            }
            @if let Some(site) = fails {
                figure.fails {
                    figcaption { span.dot {} "and then" }
                    (excerpts(&[Mark { site, label: "fails here", primary: true }], sources))
                }
            }
        }
    }
}

/// An excerpt of each file that has marks; what cannot be read is said.
fn excerpts(marks: &[Mark<'_>], sources: &Sources<'_>) -> Markup {
    let mut files: Vec<(&str, &str)> = marks.iter().filter_map(|mark| sources.file_text(mark.site)).collect();
    files.sort_unstable();
    files.dedup();
    let unread = marks.iter().filter(|mark| sources.span(mark.site).is_none());
    html! {
        @for (path, text) in files {
            @let spans = spans(marks, path, sources);
            p.file { (path) }
            div.lines.scroll tabindex="0" role="group" aria-label={ "Source of " (path) } {
                (lines(text, &spans))
            }
        }
        @for mark in unread {
            p.unread { (sources.place(mark.site)) ": " (mark.label) }
        }
    }
}

/// The marks in one file, with the bytes that they are about.
fn spans<'m>(marks: &'m [Mark<'m>], path: &str, sources: &Sources<'_>) -> Vec<(Range<usize>, &'m Mark<'m>)> {
    let here = marks.iter().filter(|mark| sources.file_text(mark.site).is_some_and(|(own, _)| own == path));
    here.filter_map(|mark| Some((sources.span(mark.site)?, mark))).collect()
}

/// The lines that have marks and those around, each with its labels below.
fn lines(text: &str, spans: &[(Range<usize>, &Mark<'_>)]) -> Markup {
    let mut starts = vec![0];
    starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
    let line_of = |byte: usize| starts.partition_point(|&start| start <= byte) - 1;
    let count = text.lines().count().max(1);
    let around = |line: usize| line.saturating_sub(AROUND)..=(line + AROUND).min(count - 1);
    let shown: BTreeSet<usize> = spans.iter().flat_map(|(span, _)| around(line_of(span.start))).collect();
    let colours = syntax::pieces(text);
    let one = |line: usize| {
        let start = starts[line];
        let end = start + text[start..].lines().next().map_or(0, str::len);
        let here: Vec<_> = spans.iter().filter(|(span, _)| line_of(span.start) == line).collect();
        html! {
            div.line.marked[!here.is_empty()] {
                span.no { (line + 1) }
                code { (coloured(text, start..end, &colours, &here)) }
            }
            @for (span, mark) in &here {
                div.label.primary[mark.primary] style={ "--column:" (column(&text[start..span.start])) } {
                    span { (mark.label) }
                }
            }
        }
    };
    html! {
        @for &line in &shown {
            @if line > 0 && line != shown.first().copied().unwrap_or(0) && !shown.contains(&(line - 1)) {
                div.gap { "⋯" }
            }
            (one(line))
        }
    }
}

/// One line in pieces, each of one colour and either marked or not.
fn coloured(
    text: &str,
    line: Range<usize>,
    colours: &[(Range<usize>, syntax::Class)],
    marks: &[&(Range<usize>, &Mark<'_>)],
) -> Markup {
    let first = colours.partition_point(|(at, _)| at.end <= line.start);
    let colours: Vec<_> = colours[first..].iter().take_while(|(at, _)| at.start < line.end).collect();
    let mut cuts: BTreeSet<usize> = [line.start, line.end].into();
    for at in colours.iter().map(|(at, _)| at).chain(marks.iter().map(|(at, _)| at)) {
        cuts.extend([at.start, at.end].into_iter().filter(|cut| line.contains(cut)));
    }
    let cuts: Vec<usize> = cuts.into_iter().collect();
    let piece = |from: usize, to: usize| {
        let class = colours.iter().find(|(at, _)| at.contains(&from)).map(|(_, class)| class.name());
        let words = html! { @if let Some(class) = class { span class=(class) { (text[from..to]) } } @else { (text[from..to]) } };
        let is_marked = marks.iter().any(|(at, _)| at.contains(&from));
        html! { @if is_marked { mark { (words) } } @else { (words) } }
    };
    html! { @for cut in cuts.windows(2) { (piece(cut[0], cut[1])) } }
}

/// In which column something stands that has this before it.
fn column(before: &str) -> usize {
    before.chars().fold(0, |column, c| if c == '\t' { (column / TAB + 1) * TAB } else { column + 1 })
}
