//! One execution as plain data: what happened, who read from whom, in which order.
//!
//! Operations are numbered as in MM Fig. 4: default writes first, then each thread in program order.

use crate::event::{Action, EventId};
use crate::outcome::Outcome;
use crate::unfold::Unfolding;
use crate::{Result, describe};
use ir::{CheckKind, Position};
use solver::Solution;
use std::collections::{BTreeMap, BTreeSet};

/// One operation of an execution.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Operation {
    /// Its number, from 1.
    pub number: usize,
    /// Which thread of [`Execution::threads`]; `None` for a default write.
    pub thread: Option<usize>,
    /// What it does, with values.
    pub what: String,
    /// Its label in the source.
    pub label: Option<String>,
    /// Where it stands.
    #[serde(skip)]
    pub position: Option<Position>,
    /// Its line in the source.
    pub line: Option<u32>,
    /// Whether it is an access, a fence or synchronisation: what memory models speak of.
    #[serde(skip)]
    pub memory: bool,
}

/// An execution.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Execution {
    /// The names of its threads.
    pub threads: Vec<String>,
    /// Its operations, by number.
    pub operations: Vec<Operation>,
    /// Their order in time, if the model has one.
    pub interleaving: Option<Vec<usize>>,
    /// Pairs of operations by relation: `rf`, `co` and `fr`; co without what follows by transitivity.
    pub relations: BTreeMap<&'static str, BTreeSet<(usize, usize)>>,
    /// For each two operations whether the first comes before the second in every legal order with these values (`1`), in none (`0`), or
    /// in some (`X`) (MM Fig. 5).
    pub matrix: Option<Vec<String>>,
    /// How it ends.
    pub outcome: Option<Outcome>,
}

/// Who read what from whom.
pub(crate) struct Links {
    /// The write that each read access takes its value from; `None` is the default write.
    pub sources: Vec<(EventId, usize, Option<EventId>)>,
    /// The writes of each cell, in coherence order.
    pub writes: Vec<Vec<EventId>>,
    /// All events in time.
    pub order: Option<Vec<EventId>>,
}

/// Whether an event is shown.
pub(crate) fn is_shown(unfolding: &Unfolding, id: EventId, model: &Solution<'_>) -> Result<bool> {
    let event = &unfolding.events[id.index()];
    if !model.holds(event.happens)? {
        return Ok(false);
    }
    Ok(match &event.action {
        Action::Begin | Action::End => false,
        // A branch that stands nowhere comes from the translation of a litmus test.
        Action::Branch(_) => event.position.is_some(),
        Action::Check(check) => check.kind == Some(CheckKind::Assert) || !model.holds(check.holds)?,
        _ => true,
    })
}

/// The shown events of an execution, in the order of their numbers.
pub(crate) fn shown(unfolding: &Unfolding, model: &Solution<'_>) -> Result<Vec<EventId>> {
    let mut shown = vec![];
    for thread in &unfolding.threads {
        for &event in &thread.events {
            if is_shown(unfolding, event, model)? {
                shown.push(event);
            }
        }
    }
    Ok(shown)
}

/// Reads an execution off a model.
pub(crate) fn read(unfolding: &Unfolding, model: &Solution<'_>, links: &Links) -> Result<Execution> {
    let events = shown(unfolding, model)?;
    let mut operations: Vec<Operation> = vec![];
    // Default writes of the variables that are accessed.
    let mut defaults: BTreeMap<usize, usize> = BTreeMap::new();
    for (c, cell) in unfolding.memory.cells.iter().enumerate() {
        let mut used = false;
        for id in &events {
            for access in unfolding.events[id.index()].accesses.iter().filter(|a| a.cell.index() == c) {
                used |= model.holds(access.when)?;
            }
        }
        if used && !cell.internal {
            let number = operations.len() + 1;
            defaults.insert(c, number);
            let value = crate::outcome::integer(cell.width, cell.initial, cell.signed);
            let what = format!("write {} = {value}", cell.name);
            let (label, position, line) = (None, None, None);
            operations.push(Operation { number, thread: None, what, label, position, line, memory: true });
        }
    }
    let mut numbers: BTreeMap<EventId, usize> = BTreeMap::new();
    for &id in &events {
        let event = &unfolding.events[id.index()];
        let number = operations.len() + 1;
        numbers.insert(id, number);
        operations.push(Operation {
            number,
            thread: Some(event.thread.index()),
            what: describe::event(unfolding, event, Some(model))?,
            label: event.label.as_deref().map(str::to_owned),
            position: event.position,
            line: event.position.map(|p| p.line),
            memory: event.is_access() || matches!(event.action, Action::Fence | Action::Sync(_)),
        });
    }
    let relations = relations(unfolding, links, &numbers, &defaults);
    let interleaving = links.order.as_ref().map(|order| {
        let events = order.iter().filter_map(|id| numbers.get(id).copied());
        defaults.values().copied().chain(events).collect()
    });
    let threads = unfolding.threads.iter().map(|t| t.name.clone()).collect();
    Ok(Execution { threads, operations, interleaving, relations, matrix: None, outcome: None })
}

fn relations(
    unfolding: &Unfolding,
    links: &Links,
    numbers: &BTreeMap<EventId, usize>,
    defaults: &BTreeMap<usize, usize>,
) -> BTreeMap<&'static str, BTreeSet<(usize, usize)>> {
    let mut relations: BTreeMap<&'static str, BTreeSet<(usize, usize)>> = BTreeMap::new();
    let mut add = |name, from: Option<usize>, to: Option<usize>| {
        if let (Some(from), Some(to)) = (from, to) {
            relations.entry(name).or_default().insert((from, to));
        }
    };
    let number = |id: &EventId| numbers.get(id).copied();
    for &(read, cell, source) in &links.sources {
        if unfolding.memory.cells[cell].internal {
            continue;
        }
        add("rf", source.map_or(defaults.get(&cell).copied(), |w| number(&w)), number(&read));
        let writes = &links.writes[cell];
        let next = match source {
            None => writes.first(),
            Some(source) => writes.iter().position(|w| *w == source).and_then(|at| writes.get(at + 1)),
        };
        add("fr", number(&read), next.filter(|w| **w != read).and_then(number));
    }
    for (cell, writes) in links.writes.iter().enumerate() {
        if unfolding.memory.cells[cell].internal {
            continue;
        }
        add("co", defaults.get(&cell).copied(), writes.first().and_then(number));
        for pair in writes.windows(2) {
            add("co", number(&pair[0]), number(&pair[1]));
        }
    }
    relations
}
