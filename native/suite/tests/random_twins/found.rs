//! What is found in a program, in words that the model and C have in common.

use crate::common::findings::Findings;
use std::collections::{BTreeMap, BTreeSet};
use suite::{Place, Places};
use trace::{AllocationOrigin, EventKind, ThreadId, Trace};

/// An instruction, and who runs it.
type Where = (ThreadId, Place);

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Found {
    /// Assertions that fail, and whether it is a fault instead. What the processor says of a fault is less than what the machine says.
    pub failures: BTreeSet<(Where, bool)>,
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
        let failures = findings.failures.iter().map(|(place, fault)| (at(place), fault.is_some()));
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

    /// The failure that one of the two has and the other has not.
    pub fn other_failure(&self, expected: &Found) -> Option<String> {
        let one_of = |at: &Where| self.among.iter().any(|among| among.contains(at));
        let known = |at: &Where| expected.failures.contains(&(*at, false));
        let mut missed = expected.failures.difference(&self.failures).filter(|(at, _)| !one_of(at));
        let mut much = self.failures.difference(&expected.failures);
        let none = self.among.iter().find(|among| !among.iter().any(known));
        (missed.next().map(|failure| format!("missed the failure {failure:?}")))
            .or(much.next().map(|failure| format!("no failure: {failure:?}")))
            .or(none.map(|among| format!("no failure among {among:?}")))
    }

    /// The deadlock that one of the two has and the other has not. A circle is one of all runs in which its threads wait so.
    pub fn other_deadlock(&self, expected: &Found) -> Option<String> {
        let of = |all: &BTreeSet<Where>, known: &BTreeSet<BTreeSet<Where>>| {
            known.iter().any(|some| some.is_subset(all))
        };
        let stuck = |some: &BTreeSet<Where>| self.blocked.iter().any(|all| some.is_subset(all));
        let missed = expected.blocked.iter().find(|all| !stuck(all) && !of(all, &self.circles));
        let much = self.blocked.iter().find(|all| !of(all, &expected.blocked));
        let circle =
            self.circles.iter().find(|&circle| !expected.blocked.iter().any(|all| circle.is_subset(all)));
        (missed.map(|all| format!("missed the deadlock {all:?}")))
            .or(much.map(|all| format!("no deadlock: {all:?}")))
            .or(circle.map(|circle| format!("no circle: {circle:?}")))
    }
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
