//! Execution graphs as pictures.
//!
//! One column for each thread, program order downwards, initial values in a row above. Arrows are drawn below the boxes and their names on top
//! of everything, each at a place of its arrow where nothing else stands; arrows that meet at a side of a box share that side out. That the first
//! write of a variable comes after its initial value goes without saying. Colours follow the reader's light or dark scheme, and relations differ by
//! their strokes as well.

use crate::check_graph::name;
use check::{Execution, Operation};
use maud::{Markup, PreEscaped, html};
use std::collections::BTreeMap;

/// The relations, as the legend calls them.
const RELATIONS: [(&str, &str); 4] = [
    ("po", "program order"),
    ("rf", "reads from"),
    ("co", "order of writes"),
    ("fr", "reads before the write"),
];

const STYLE: &str = "
  svg { --back: #ffffff; --box: #f6f8fa; --edge: #8c959f; --text: #1f2328;
        --po: #8c959f; --rf: #1a7f37; --co: #0969da; --fr: #cf222e; }
  @media (prefers-color-scheme: dark) {
    svg { --back: #0d1117; --box: #161b22; --edge: #6e7681; --text: #e6edf3;
          --po: #6e7681; --rf: #3fb950; --co: #58a6ff; --fr: #ff7b72; }
  }
  .back { fill: var(--back) }
  text { fill: var(--text); font: 13px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace }
  .box { fill: var(--box); stroke: var(--edge) }
  .title { font-weight: bold; text-anchor: middle }
  .arrow { fill: none; stroke-width: 1.6 }
  .po { stroke: var(--po) } .rf { stroke: var(--rf) } .co { stroke: var(--co) } .fr { stroke: var(--fr) }
  .co { stroke-dasharray: 7 4 } .fr { stroke-dasharray: 2 3; stroke-linecap: round }
  .name { font-size: 12px; text-anchor: middle; stroke: var(--back); stroke-width: 4; paint-order: stroke; stroke-dasharray: none }
  .name.po { fill: var(--po) } .name.rf { fill: var(--rf) } .name.co { fill: var(--co) } .name.fr { fill: var(--fr) }
  .name.po, .name.rf, .name.co, .name.fr { stroke: var(--back) }
  .legend { text-anchor: start }
  marker path { stroke: none }
  #po path { fill: var(--po) } #rf path { fill: var(--rf) } #co path { fill: var(--co) } #fr path { fill: var(--fr) }
";

const ROW: f64 = 62.0;
const HEIGHT: f64 = 30.0;
const GAP: f64 = 110.0;
const LETTER: f64 = 7.9;
const MARGIN: f64 = 40.0;
/// Between boxes of initial values.
const APART: f64 = 28.0;
/// Between the parts of the legend.
const LEGEND: f64 = 44.0;

/// A point of the picture.
#[derive(Clone, Copy)]
struct Spot {
    x: f64,
    y: f64,
}

/// Where a box stands.
#[derive(Clone, Copy)]
struct Place {
    x: f64,
    y: f64,
    width: f64,
    /// Which column; the row of initial values has none.
    column: Option<usize>,
}

/// A side of a box.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Left,
    Right,
    Bottom,
}

/// An arrow between two boxes: which, and by which sides.
struct Arrow {
    relation: &'static str,
    from: usize,
    to: usize,
    leaves: Side,
    enters: Side,
}

/// The boxes by the numbers of their operations, titles of columns, and the size of all.
struct Layout {
    places: BTreeMap<usize, Place>,
    titles: Vec<(String, Spot)>,
    width: f64,
    height: f64,
}

/// The graph as a picture.
#[must_use]
pub fn check_svg(execution: &Execution) -> String {
    let layout = layout(execution);
    let arrows = arrows(execution, &layout);
    let curves = curves(&arrows, &layout);
    let names = names(&curves, &layout);
    let (legend, legend_width) = legend();
    let below = layout.height;
    let (width, height) = (f64::max(layout.width, legend_width), layout.height + LEGEND);
    let picture: Markup = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(height) viewBox=(format!("0 0 {width} {height}")) {
            style { (PreEscaped(STYLE)) }
            defs {
                @for (relation, _) in RELATIONS {
                    marker id=(relation) viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8"
                        markerUnits="userSpaceOnUse" orient="auto" {
                        path d="M0 0.5 L8 4 L0 7.5 z" {}
                    }
                }
            }
            rect.back width="100%" height="100%" {}
            @for (arrow, curve) in arrows.iter().zip(&curves) {
                path class=(format!("arrow {}", arrow.relation)) d=(path(curve)) marker-end=(format!("url(#{})", arrow.relation)) {}
            }
            @for (title, at) in &layout.titles {
                text.title x=(at.x) y=(at.y) { (title) }
            }
            @for operation in &execution.operations {
                @if let Some(place) = layout.places.get(&operation.number) {
                    rect.box x=(place.x) y=(place.y) width=(place.width) height=(HEIGHT) rx="6" {}
                    text x=(place.x + 10.0) y=(place.y + 19.5) { (name(operation)) }
                }
            }
            @for (arrow, at) in arrows.iter().zip(&names).filter(|(arrow, _)| arrow.relation != "po") {
                text class=(format!("name {}", arrow.relation)) x=(at.x) y=(at.y + 4.0) { (arrow.relation) }
            }
            @for (relation, words, x) in &legend {
                path class=(format!("arrow {relation}")) d=(format!("M{x} {below} H{}", x + 34.0)) marker-end=(format!("url(#{relation})")) {}
                text class=(format!("name legend {relation}")) x=(x + 42.0) y=(below + 4.0) { (relation) " " (words) }
            }
        }
    };
    picture.into_string()
}

/// What the strokes mean, each with where it stands, and how wide all of it is.
fn legend() -> (Vec<(&'static str, &'static str, f64)>, f64) {
    let (mut legend, mut x) = (vec![], MARGIN);
    for (relation, words) in RELATIONS {
        legend.push((relation, words, x));
        x += 42.0 + (relation.len() + 1 + words.len()) as f64 * LETTER + 16.0;
    }
    (legend, x)
}

fn layout(execution: &Execution) -> Layout {
    let width_of = |operation: &Operation| name(operation).chars().count() as f64 * LETTER + 20.0;
    let of = |thread: Option<usize>| execution.operations.iter().filter(move |o| o.thread == thread);
    let mut places = BTreeMap::new();
    let mut x = MARGIN;
    for operation in of(None) {
        let width = width_of(operation);
        places.insert(operation.number, Place { x, y: MARGIN, width, column: None });
        x += width + APART;
    }
    let initial = x - APART;
    let top = if places.is_empty() { MARGIN } else { MARGIN + HEIGHT + 40.0 };
    let (mut x, mut bottom, mut titles, mut column) = (MARGIN, top, vec![], 0);
    for (thread, title) in execution.threads.iter().enumerate() {
        let Some(width) = of(Some(thread)).map(width_of).reduce(f64::max) else { continue };
        let width = f64::max(width, title.chars().count() as f64 * LETTER);
        titles.push((title.clone(), Spot { x: x + width / 2.0, y: top + 12.0 }));
        for (row, operation) in of(Some(thread)).enumerate() {
            let y = top + 26.0 + row as f64 * ROW;
            bottom = f64::max(bottom, y + HEIGHT);
            places.insert(operation.number, Place { x, y, width, column: Some(column) });
        }
        column += 1;
        x += width + GAP;
    }
    let width = f64::max(x - GAP / 2.0, initial) + MARGIN;
    // Initial values stand over the middle of the threads.
    let shift = f64::max(0.0, (x - GAP - MARGIN - (initial - MARGIN)) / 2.0);
    places.values_mut().filter(|place| place.column.is_none()).for_each(|place| place.x += shift);
    Layout { places, titles, width, height: bottom + MARGIN }
}

/// The arrows that are drawn.
fn arrows(execution: &Execution, layout: &Layout) -> Vec<Arrow> {
    let mut arrows = vec![];
    let threads = 0..execution.threads.len();
    for thread in threads {
        let own: Vec<&Operation> = execution.operations.iter().filter(|o| o.thread == Some(thread)).collect();
        for pair in own.windows(2) {
            let (from, to) = (pair[0].number, pair[1].number);
            arrows.push(Arrow { relation: "po", from, to, leaves: Side::Bottom, enters: Side::Bottom });
        }
    }
    for (relation, _) in &RELATIONS[1..] {
        for &(from, to) in execution.relations.get(relation).into_iter().flatten() {
            let (Some(a), Some(b)) = (layout.places.get(&from), layout.places.get(&to)) else { continue };
            let (leaves, enters) = match (a.column, b.column) {
                (None, _) if *relation == "co" => continue,
                (None, _) if a.x + a.width / 2.0 < b.x + b.width / 2.0 => (Side::Bottom, Side::Left),
                (None, _) => (Side::Bottom, Side::Right),
                (Some(a), Some(b)) if a < b => (Side::Right, Side::Left),
                (Some(a), Some(b)) if a > b => (Side::Left, Side::Right),
                _ => (Side::Right, Side::Right),
            };
            arrows.push(Arrow { relation, from, to, leaves, enters });
        }
    }
    arrows
}

/// A cubic curve: its ends, and between them what it bends to.
type Curve = [Spot; 4];

fn path([a, b, c, d]: &Curve) -> String {
    let spot = |s: &Spot| format!("{:.1} {:.1}", s.x, s.y);
    format!("M{} C{} {} {}", spot(a), spot(b), spot(c), spot(d))
}

/// Each side of a box is shared out among the arrows that meet it, in the order of where they come from.
fn curves(arrows: &[Arrow], layout: &Layout) -> Vec<Curve> {
    let mut meets: BTreeMap<(usize, Side), Vec<(usize, bool)>> = BTreeMap::new();
    for (at, arrow) in arrows.iter().enumerate().filter(|(_, arrow)| arrow.relation != "po") {
        meets.entry((arrow.from, arrow.leaves)).or_default().push((at, true));
        meets.entry((arrow.to, arrow.enters)).or_default().push((at, false));
    }
    let mut ends: BTreeMap<(usize, bool), Spot> = BTreeMap::new();
    for ((number, side), mut list) in meets {
        let place = layout.places[&number];
        let other = |&(at, leaves): &(usize, bool)| {
            let place = layout.places[if leaves { &arrows[at].to } else { &arrows[at].from }];
            if side == Side::Bottom { place.x } else { place.y }
        };
        list.sort_by(|a, b| other(a).total_cmp(&other(b)));
        for (slot, end) in list.iter().enumerate() {
            let share = (slot + 1) as f64 / (list.len() + 1) as f64;
            ends.insert(
                *end,
                match side {
                    Side::Left => Spot { x: place.x, y: place.y + HEIGHT * share },
                    Side::Right => Spot { x: place.x + place.width, y: place.y + HEIGHT * share },
                    Side::Bottom => Spot { x: place.x + place.width * share, y: place.y + HEIGHT },
                },
            );
        }
    }
    arrows
        .iter()
        .enumerate()
        .map(|(at, arrow)| {
            if arrow.relation == "po" {
                let (a, b) = (layout.places[&arrow.from], layout.places[&arrow.to]);
                let x = a.x + a.width / 2.0;
                let (from, to) = (Spot { x, y: a.y + HEIGHT }, Spot { x, y: b.y - 1.0 });
                return [from, from, to, to];
            }
            let (from, to) = (ends[&(at, true)], ends[&(at, false)]);
            let reach = match arrow.leaves == arrow.enters {
                true => 26.0 + (to.y - from.y).abs() / 5.0,
                false => f64::max(46.0, (to.x - from.x).abs() * 0.45),
            };
            let (mut first, mut second) = (bent(from, arrow.leaves, reach), bent(to, arrow.enters, reach));
            // What goes past other columns in a row goes below their boxes.
            let (a, b) = (layout.places[&arrow.from], layout.places[&arrow.to]);
            if let (Some(a), Some(b)) = (a.column, b.column)
                && a.abs_diff(b) > 1
                && (from.y - to.y).abs() < HEIGHT
            {
                first.y += ROW * 0.66;
                second.y += ROW * 0.66;
            }
            [from, first, second, to]
        })
        .collect()
}

/// A spot away from a side.
fn bent(at: Spot, side: Side, reach: f64) -> Spot {
    match side {
        Side::Left => Spot { x: at.x - reach, ..at },
        Side::Right => Spot { x: at.x + reach, ..at },
        Side::Bottom => Spot { y: at.y + 34.0, ..at },
    }
}

fn along([a, b, c, d]: &Curve, t: f64) -> Spot {
    let u = 1.0 - t;
    let mix = |a: f64, b: f64, c: f64, d: f64| {
        u * u * u * a + 3.0 * u * u * t * b + 3.0 * u * t * t * c + t * t * t * d
    };
    Spot { x: mix(a.x, b.x, c.x, d.x), y: mix(a.y, b.y, c.y, d.y) }
}

/// Where the name of each arrow stands: as near to its middle as boxes and other names allow.
fn names(curves: &[Curve], layout: &Layout) -> Vec<Spot> {
    let mut taken: Vec<Spot> = layout.titles.iter().map(|(_, at)| *at).collect();
    let is_free = |at: Spot, taken: &[Spot]| {
        let near_box = layout.places.values().any(|p| {
            at.x > p.x - 14.0 && at.x < p.x + p.width + 14.0 && at.y > p.y - 9.0 && at.y < p.y + HEIGHT + 9.0
        });
        !near_box && taken.iter().all(|other| (other.x - at.x).abs() > 30.0 || (other.y - at.y).abs() > 18.0)
    };
    let mut names = vec![];
    for curve in curves {
        let steps = (0..=15).flat_map(|step| [0.5 + f64::from(step) * 0.025, 0.5 - f64::from(step) * 0.025]);
        let mut spots = steps.map(|t| along(curve, t));
        let at = spots.find(|at| is_free(*at, &taken)).unwrap_or_else(|| along(curve, 0.5));
        taken.push(at);
        names.push(at);
    }
    names
}
