//! Data races (MM §5): two conflicting accesses of different threads, not both atomic, that happens-before
//! does not order in some sequentially consistent execution, or in some execution that a model allows. What
//! was executed up to the second access is a prefix of each thread: what would come later makes no
//! difference.
//!
//! Happens-before is in [`crate::happens_before`] for executions in time, and in `models/races.cat` for those that are graphs.

use crate::event::{Access, Action, CellId, Event, EventId};
use crate::execution::Execution;
use crate::happens_before::{closed_from, edges};
use crate::relation::Modelled;
use crate::time::Timed;
use crate::unfold::{Options, Unfolding};
use crate::{Error, Result};
use ir::{Position, Program, SiteId};
use solver::{Answer, Bool};
use std::collections::BTreeMap;

/// Two accesses that race.
#[derive(Clone, Debug)]
pub struct Race {
    /// The variable.
    pub location: String,
    /// The access that comes first in the execution: its instruction, thread and place.
    pub first: Party,
    /// The other one.
    pub second: Party,
    /// An execution up to the second.
    pub execution: Execution,
}

/// One of the two.
#[derive(Clone, Debug)]
pub struct Party {
    /// Its thread.
    pub thread: String,
    /// Its instruction.
    pub site: Option<SiteId>,
    /// Where that stands.
    pub position: Option<Position>,
}

/// A piece of memory that an access counts as touching: which, when, and whether it writes.
struct Touch {
    cell: CellId,
    when: Bool,
    writes: Bool,
}

/// All races, one for each pair of instructions.
pub(crate) fn races(program: &Program, options: Options) -> Result<Vec<Race>> {
    let mut timed = Timed::new(program, Options { prefix: true, explained: false, ..options })?;
    let edges = edges(&mut timed)?;
    let events = timed.unfolding.events.clone();
    let touches: Vec<Vec<Touch>> = events.iter().map(|event| touches(&timed, event)).collect();
    let mut found: BTreeMap<(Option<SiteId>, Option<SiteId>), Race> = BTreeMap::new();
    for (i, first) in events.iter().enumerate().filter(|(i, _)| !touches[*i].is_empty()) {
        let others: Vec<usize> = (0..events.len()).filter(|&j| may_race(&events, &touches, i, j)).collect();
        if others.is_empty() {
            continue;
        }
        let after = closed_from(&mut timed, &edges, EventId(i as u32))?;
        for j in others {
            let second = &events[j];
            let sites = (first.site.min(second.site), first.site.max(second.site));
            if found.contains_key(&sites) {
                continue;
            }
            for (a, b) in pairs(&touches[i], &touches[j]) {
                let s = &mut timed.unfolding.solver;
                let writes = s.or(&[a.writes, b.writes])?;
                let before = s.before(timed.points[i], timed.points[j])?;
                let unordered = s.not(after[j])?;
                match s.solve(&[a.when, b.when, writes, before, unordered])? {
                    Answer::Unknown(stop) => return Err(Error::Stopped(stop)),
                    Answer::Unsat(_) => continue,
                    Answer::Sat => {}
                }
                let location = timed.unfolding.memory.cells[a.cell.index()].name.clone();
                let (first, second) =
                    (party(&timed.unfolding, EventId(i as u32)), party(&timed.unfolding, EventId(j as u32)));
                found.insert(sites, Race { location, first, second, execution: timed.execution()? });
                break;
            }
        }
    }
    Ok(found.into_values().collect())
}

/// All races among the executions of a model, one for each pair of instructions.
pub(crate) fn modelled_races(modelled: &mut Modelled, assumptions: &[Bool]) -> Result<Vec<Race>> {
    let mut found: BTreeMap<(Option<SiteId>, Option<SiteId>), Race> = BTreeMap::new();
    for (&(i, j), &races) in &modelled.races {
        let graph = &mut modelled.graph;
        let (Some(first), Some(second)) = (graph.nodes[i].event, graph.nodes[j].event) else { continue };
        let (a, b) = (&graph.unfolding.events[first.index()], &graph.unfolding.events[second.index()]);
        let sites = (a.site.min(b.site), a.site.max(b.site));
        if found.contains_key(&sites) {
            continue;
        }
        let asked: Vec<Bool> = assumptions.iter().copied().chain([races]).collect();
        match graph.unfolding.solver.solve(&asked)? {
            Answer::Unknown(stop) => return Err(Error::Stopped(stop)),
            Answer::Unsat(_) => continue,
            Answer::Sat => {}
        }
        let unfolding = &graph.unfolding;
        let location = graph.nodes[i].cell.map_or_else(String::new, |cell| touched(unfolding, cell));
        let (first, second) = (party(unfolding, first), party(unfolding, second));
        found.insert(sites, Race { location, first, second, execution: graph.execution()? });
    }
    Ok(found.into_values().collect())
}

/// The variable that is accessed; of heap memory that is given back, the first.
fn touched(unfolding: &Unfolding, cell: CellId) -> String {
    let heap = unfolding.memory.heap.iter().find(|heap| heap.freed == cell);
    let cell = heap.and_then(|heap| heap.cells.first()).map_or(cell, |&(_, cell)| cell);
    unfolding.memory.cells[cell.index()].name.clone()
}

fn party(unfolding: &Unfolding, event: EventId) -> Party {
    let event = &unfolding.events[event.index()];
    Party {
        thread: unfolding.threads[event.thread.index()].name.clone(),
        site: event.site,
        position: event.position,
    }
}

fn may_race(events: &[Event], touches: &[Vec<Touch>], i: usize, j: usize) -> bool {
    events[i].thread != events[j].thread
        && !(events[i].order.is_some() && events[j].order.is_some())
        && pairs(&touches[i], &touches[j]).next().is_some()
}

/// The pieces that two accesses have in common.
fn pairs<'a>(a: &'a [Touch], b: &'a [Touch]) -> impl Iterator<Item = (&'a Touch, &'a Touch)> {
    a.iter().flat_map(|x| b.iter().filter(|y| y.cell == x.cell).map(move |y| (x, y)))
}

/// What an event touches; a free touches all of the block, as a write.
fn touches(timed: &Timed, event: &Event) -> Vec<Touch> {
    let no = timed.unfolding.solver.bool_const(false);
    let of_cell = |access: &Access| {
        let writes = access.write.map_or(no, |(_, when)| when);
        Touch { cell: access.cell, when: access.when, writes }
    };
    match event.action {
        Action::Read | Action::Write | Action::Update => {
            let cells =
                event.accesses.iter().filter(|a| !timed.unfolding.memory.cells[a.cell.index()].internal);
            cells.map(of_cell).collect()
        }
        Action::Free => {
            let mut touches = vec![];
            for access in &event.accesses {
                let heap = timed.unfolding.memory.heap.iter().find(|heap| heap.freed == access.cell);
                let cells = heap.into_iter().flat_map(|heap| &heap.cells);
                let when = access.write.map_or(no, |(_, when)| when);
                touches.extend(cells.map(|&(_, cell)| Touch { cell, when, writes: when }));
            }
            touches
        }
        _ => vec![],
    }
}
