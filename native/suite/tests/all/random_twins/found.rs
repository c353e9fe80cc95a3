//! What is found in a program, in words that the model and C have in common.

use super::common::findings::Findings;
use claim::Property;
use std::collections::{BTreeMap, BTreeSet};
use suite::{Place, Places};
use trace::{AllocationOrigin, EventKind, FaultKind, ThreadId, Trace};

/// An instruction, and who runs it.
type Where = (ThreadId, Place);

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Found {
    /// Assertions that fail, and faults.
    pub failures: BTreeSet<(Where, Option<FaultKind>)>,
    /// Assertions with no event between them, of which one fails: it is not told which.
    pub among: BTreeSet<BTreeSet<Where>>,
    /// Pairs of accesses, the smaller one first; whether both were next at once.
    pub races: BTreeSet<(bool, Where, Where)>,
    /// Three accesses.
    pub triples: BTreeSet<(Where, Where, Where)>,
    /// All threads that had not ended, and circles of some of them.
    pub blocked: BTreeSet<BTreeSet<Where>>,
    pub circles: BTreeSet<BTreeSet<Where>>,
}

impl Found {
    pub fn new(findings: &Findings, places: &Places<'_>) -> Found {
        let at = |place: &(ThreadId, ir::SiteId)| (place.0, places.place(place.1));
        let all = |sets: &BTreeSet<Vec<(ThreadId, ir::SiteId)>>| {
            sets.iter().map(|set| set.iter().map(at).collect()).collect()
        };
        let failures = findings.failures.iter().map(|(place, fault)| (at(place), *fault));
        let races = findings.races.iter().map(|(next, a, b)| (*next, at(a), at(b)));
        Found {
            failures: failures.collect(),
            among: all(&findings.failing_among),
            races: races.map(|(next, a, b)| (next, a.min(b), a.max(b))).collect(),
            triples: findings.triples.iter().map(|(a, b, c)| (at(a), at(b), at(c))).collect(),
            blocked: all(&findings.blocked),
            circles: all(&findings.circles),
        }
    }

    /// Something of a kind that the model has and this has not.
    pub fn missed(&self, of: Property, expected: &Found) -> Option<String> {
        match of {
            Property::Assertion => {
                let one_of = |at: &Where| self.among.iter().any(|among| among.contains(at));
                first(expected.failures.difference(&self.failures).filter(|(at, _)| !one_of(at)))
            }
            Property::Race => first(expected.races.difference(&self.races)),
            Property::Atomicity => first(expected.triples.difference(&self.triples)),
            // A circle is a deadlock whoever else waits.
            _ => {
                let stuck = |some: &BTreeSet<Where>| self.blocked.iter().any(|all| some.is_subset(all));
                let circle = |all: &BTreeSet<Where>| self.circles.iter().any(|some| some.is_subset(all));
                first(expected.blocked.iter().filter(|all| !stuck(all) && !circle(all)))
            }
        }
    }

    /// Something of a kind that the model has not.
    pub fn too_much(&self, of: Property, expected: &Found) -> Option<String> {
        match of {
            Property::Assertion => {
                let fails = |at: &Where| expected.failures.contains(&(*at, None));
                first(self.failures.difference(&expected.failures))
                    .or(first(self.among.iter().filter(|among| !among.iter().any(fails))))
            }
            Property::Race => first(self.races.difference(&expected.races)),
            Property::Atomicity => first(self.triples.difference(&expected.triples)),
            _ => {
                let stuck = |all: &BTreeSet<Where>| expected.blocked.iter().any(|some| some.is_subset(all));
                let circle = |some: &BTreeSet<Where>| expected.blocked.iter().any(|all| some.is_subset(all));
                first(self.blocked.iter().filter(|all| !stuck(all)))
                    .or(first(self.circles.iter().filter(|some| !circle(some))))
            }
        }
    }
}

fn first<T: std::fmt::Debug>(mut some: impl Iterator<Item = T>) -> Option<String> {
    some.next().map(|one| format!("{one:?}"))
}

/// What shared variables hold at the end of a run, as far as somebody has written them. Addresses are not the same in both programs.
pub type Memory = BTreeMap<String, u64>;

/// The memory at the end of a run.
pub fn memory(program: &ir::Program, trace: &Trace) -> Memory {
    let mut memory = Memory::new();
    for event in &trace.events {
        let (location, bytes, value) = match event.kind {
            EventKind::Write { location, bytes, value, .. } => (location, bytes, value),
            EventKind::Update { location, bytes, new, .. } => (location, bytes, new),
            EventKind::CompareExchange { location, bytes, new, success: true, .. } => (location, bytes, new),
            _ => continue,
        };
        let AllocationOrigin::Global(global) = trace.allocations[location.allocation.0 as usize].origin
        else {
            continue;
        };
        let is_pointer = matches!(
            program.shapes[program.globals[global.index()].shape.index()],
            ir::Shape::Pointer { .. }
        );
        if !is_pointer {
            memory.insert(format!("{}:{bytes}", trace.location_name(program, location)), value);
        }
    }
    memory
}
