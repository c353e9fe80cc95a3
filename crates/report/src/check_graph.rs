//! Execution graphs as pictures: DOT for graphviz, and SVG drawn here. One column for each thread, program order downwards, and arrows
//! for reads-from, coherence and from-read.

use check::{Execution, Operation};
use maud::{Markup, html};
use std::fmt::Write as _;

/// The relations with their colours.
const COLORS: [(&str, &str); 3] = [("rf", "#1a7f37"), ("co", "#0969da"), ("fr", "#cf222e")];

fn name(operation: &Operation) -> String {
    let label = operation.label.as_deref().map_or(String::new(), |label| format!("{label}: "));
    format!("({}) {label}{}", operation.number, operation.what)
}

/// The operations of each column: default writes, then the threads.
fn columns(execution: &Execution) -> Vec<(String, Vec<&Operation>)> {
    let of = |thread: Option<usize>| {
        execution.operations.iter().filter(|o| o.thread == thread).collect::<Vec<_>>()
    };
    let threads = execution.threads.iter().enumerate().map(|(t, name)| (name.clone(), of(Some(t))));
    let all = std::iter::once(("initially".to_owned(), of(None))).chain(threads);
    all.filter(|(_, operations)| !operations.is_empty()).collect()
}

/// The graph in the language of graphviz.
#[must_use]
pub fn check_dot(execution: &Execution) -> String {
    let mut text = "digraph execution {\n  node [shape=box, fontname=monospace];\n".to_owned();
    for (at, (title, operations)) in columns(execution).iter().enumerate() {
        let _ = writeln!(text, "  subgraph cluster_{at} {{\n    label={title:?};");
        for operation in operations {
            let _ = writeln!(text, "    e{} [label={:?}];", operation.number, name(operation));
        }
        for pair in operations.windows(2).filter(|pair| pair[0].thread.is_some()) {
            let _ = writeln!(text, "    e{} -> e{} [label=po];", pair[0].number, pair[1].number);
        }
        text.push_str("  }\n");
    }
    for (relation, color) in COLORS {
        for (from, to) in execution.relations.get(relation).into_iter().flatten() {
            let _ = writeln!(
                text,
                "  e{from} -> e{to} [label={relation}, color={color:?}, fontcolor={color:?}, constraint=false];"
            );
        }
    }
    text.push_str("}\n");
    text
}

const ROW: f64 = 56.0;
const BOX_HEIGHT: f64 = 28.0;
const GAP: f64 = 90.0;
const LETTER: f64 = 7.9;
const MARGIN: f64 = 20.0;
const TOP: f64 = 44.0;

/// Where a box stands.
#[derive(Clone, Copy)]
struct Place {
    x: f64,
    y: f64,
    width: f64,
}

/// The graph as a picture.
#[must_use]
pub fn check_svg(execution: &Execution) -> String {
    let columns = columns(execution);
    let mut places: Vec<Option<Place>> = vec![None; execution.operations.len() + 1];
    let (mut x, mut bottom, mut titles) = (MARGIN, TOP, vec![]);
    for (title, operations) in &columns {
        let letters = operations.iter().map(|o| name(o).chars().count()).max().unwrap_or(0).max(title.len());
        let width = letters as f64 * LETTER + 16.0;
        titles.push((title, x + width / 2.0));
        for (row, operation) in operations.iter().enumerate() {
            let y = TOP + row as f64 * ROW;
            bottom = f64::max(bottom, y + BOX_HEIGHT);
            places[operation.number] = Some(Place { x, y, width });
        }
        x += width + GAP;
    }
    let (width, height) = (x - GAP + MARGIN, bottom + MARGIN);
    let boxes = execution.operations.iter().filter_map(|o| places[o.number].map(|place| (o, place)));
    let order: Vec<(Place, Place)> = columns
        .iter()
        .flat_map(|(_, operations)| operations.windows(2))
        .filter(|pair| pair[0].thread.is_some())
        .filter_map(|pair| places[pair[0].number].zip(places[pair[1].number]))
        .collect();
    let related = COLORS.iter().flat_map(|&(relation, color)| {
        let pairs = execution.relations.get(relation).into_iter().flatten();
        pairs.map(move |&(from, to)| (relation, color, from, to))
    });
    let picture: Markup = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(height) viewBox=(format!("0 0 {width} {height}"))
            font-family="monospace" font-size="13" {
            defs {
                @for (relation, color) in COLORS.iter().chain(&[("po", "#57606a")]) {
                    marker id=(relation) viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto" {
                        path d="M0 0 L8 4 L0 8 z" fill=(color) {}
                    }
                }
            }
            rect width="100%" height="100%" fill="white" {}
            @for (title, center) in &titles {
                text x=(center) y="26" text-anchor="middle" font-weight="bold" { (title) }
            }
            @for (from, to) in &order {
                line x1=(from.x + from.width / 2.0) y1=(from.y + BOX_HEIGHT) x2=(to.x + to.width / 2.0) y2=(to.y)
                    stroke="#57606a" marker-end="url(#po)" {}
            }
            @for (operation, place) in boxes {
                rect x=(place.x) y=(place.y) width=(place.width) height=(BOX_HEIGHT) rx="4" fill="#f6f8fa" stroke="#57606a" {}
                text x=(place.x + 8.0) y=(place.y + 18.0) { (name(operation)) }
            }
            @for (relation, color, from, to) in related {
                @if let (Some(from), Some(to)) = (places[from], places[to]) {
                    (arrow(relation, color, from, to))
                }
            }
        }
    };
    picture.into_string()
}

/// A bent arrow between two boxes, with the name of the relation at its middle.
fn arrow(relation: &str, color: &str, from: Place, to: Place) -> Markup {
    let middle = |place: Place| place.y + BOX_HEIGHT / 2.0;
    let rightwards = to.x > from.x;
    let same = (to.x - from.x).abs() < f64::EPSILON;
    let start = if rightwards || same { from.x + from.width } else { from.x };
    let end = if rightwards { to.x } else { to.x + to.width };
    let bend = if same { start + 36.0 } else { (start + end) / 2.0 };
    let path = format!(
        "M{start} {} C{bend} {} {bend} {} {end} {}",
        middle(from),
        middle(from),
        middle(to),
        middle(to)
    );
    // The middle of such a curve: an eighth of the ends and three eighths of the bends.
    let (x, y) = ((start + end) / 8.0 + bend * 0.75, (middle(from) + middle(to)) / 2.0);
    html! {
        path d=(path) fill="none" stroke=(color) marker-end=(format!("url(#{relation})")) {}
        text x=(x) y=(y - 4.0) fill=(color) text-anchor="middle" font-size="11" { (relation) }
    }
}
