//! Candidates: event tuples that would be bugs if feasible (docs/design/candidates.md).

use crate::Formula;
use serde::{Deserialize, Serialize};
use trace::{AccessKind, EventId, FaultKind};

/// An event tuple that would be a bug if some feasible prefix showed it. Events are those of the recorded run; in
/// another schedule the same event may come out differently.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Candidate {
    /// Three accesses of one location, executed in this order: `before` and `after` in one transaction, `between` in
    /// another thread, of an unserializable kind, and not guarded independent (AV §3).
    Atomicity {
        /// e1.
        before: EventId,
        /// f.
        between: EventId,
        /// e2.
        after: EventId,
    },
    /// Two conflicting accesses, not both atomic, are both next.
    CoEnabledRace {
        /// The smaller one.
        first: EventId,
        /// The other.
        second: EventId,
    },
    /// Two conflicting accesses, not both atomic, are executed and C11's happens-before does not order them.
    UnorderedRace {
        /// The smaller one.
        first: EventId,
        /// The other.
        second: EventId,
    },
    /// An assertion is evaluated and does not hold.
    Assertion {
        /// Which.
        event: EventId,
    },
    /// What ends the process happens in place of this event.
    Fault {
        /// In place of which.
        event: EventId,
        /// What.
        kind: FaultKind,
    },
    /// Threads that never go on.
    Deadlock(Deadlock),
    /// A wait ends, and its thread goes on without a second look, although what it had looked at would make it wait again.
    Wakeup {
        /// Where it began to look before it went to wait.
        look: EventId,
        /// The end of the wait.
        wake: EventId,
    },
    /// What a user asked for.
    Pattern(Pattern),
}

/// Threads that stand before these events, one each, and never do them; ordered.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Deadlock {
    /// They wait for each other in a circle, by locks, joins and exclusive blocks; others may still run.
    Circle(Vec<EventId>),
    /// They are all the threads that have not ended.
    AllBlocked(Vec<EventId>),
}

impl Deadlock {
    /// The events that never come.
    #[must_use]
    pub fn blocked(&self) -> &[EventId] {
        match self {
            Deadlock::Circle(events) | Deadlock::AllBlocked(events) => events,
        }
    }
}

/// Events that are executed, in an order that is given in part, and what else is asked of the run up to its end (PLAN §4.2).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Pattern {
    /// What the user calls it.
    pub name: String,
    /// The events that its variables stand for.
    pub events: Vec<EventId>,
    /// Pairs of indices into `events`: the first is before the second.
    pub order: Vec<(u32, u32)>,
    /// What holds of the run besides. An event of which nothing but this speaks need not be executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<Formula>,
}

impl Pattern {
    /// The events that have to be executed.
    #[must_use]
    pub fn required(&self) -> Vec<EventId> {
        let asked = self.goal.as_ref().map_or_else(Vec::new, Formula::events);
        let is_ordered = |n: u32| self.order.iter().any(|&(first, second)| n == first || n == second);
        let required = (0..).zip(&self.events).filter(|(n, event)| is_ordered(*n) || !asked.contains(event));
        required.map(|(_, event)| *event).collect()
    }

    /// The pairs of events of which the first is before the second.
    pub fn ordered(&self) -> impl Iterator<Item = (EventId, EventId)> {
        let event = |n: u32| self.events.get(n as usize).copied();
        self.order.iter().filter_map(move |&(first, second)| event(first).zip(event(second)))
    }

    /// All that it asks for, as one formula.
    #[must_use]
    pub fn formula(&self) -> Formula {
        let required = self.required().into_iter().map(|event| Formula::eventually(Formula::Happened(event)));
        let ordered = self.ordered().map(|(first, second)| Formula::ordered(first, second));
        Formula::and(required.chain(ordered).chain(self.goal.clone()))
    }
}

/// The kinds of candidates, as `--only` names them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Property {
    /// Unserializable interleavings.
    Atomicity,
    /// Both kinds of races.
    Race,
    /// Assertions and faults.
    Assertion,
    /// Deadlocks.
    Deadlock,
    /// Waits after which nobody looks again.
    Wakeup,
    /// Patterns of the user.
    Pattern,
}

impl Candidate {
    /// A co-enabled race of two events, in the one order that such a candidate has.
    #[must_use]
    pub fn co_enabled(a: EventId, b: EventId) -> Candidate {
        Candidate::CoEnabledRace { first: a.min(b), second: a.max(b) }
    }

    /// An unordered race of two events.
    #[must_use]
    pub fn unordered(a: EventId, b: EventId) -> Candidate {
        Candidate::UnorderedRace { first: a.min(b), second: a.max(b) }
    }

    /// What it is about.
    #[must_use]
    pub fn property(&self) -> Property {
        match self {
            Candidate::Atomicity { .. } => Property::Atomicity,
            Candidate::CoEnabledRace { .. } | Candidate::UnorderedRace { .. } => Property::Race,
            Candidate::Assertion { .. } | Candidate::Fault { .. } => Property::Assertion,
            Candidate::Deadlock(_) => Property::Deadlock,
            Candidate::Wakeup { .. } => Property::Wakeup,
            Candidate::Pattern(_) => Property::Pattern,
        }
    }

    /// Its events, in the order in which it names them.
    #[must_use]
    pub fn events(&self) -> Vec<EventId> {
        match self {
            Candidate::Atomicity { before, between, after } => vec![*before, *between, *after],
            Candidate::CoEnabledRace { first, second } | Candidate::UnorderedRace { first, second } => {
                vec![*first, *second]
            }
            Candidate::Assertion { event } | Candidate::Fault { event, .. } => vec![*event],
            Candidate::Deadlock(deadlock) => deadlock.blocked().to_vec(),
            Candidate::Wakeup { look, wake } => vec![*look, *wake],
            Candidate::Pattern(pattern) => pattern.events.clone(),
        }
    }
}

/// Whether an interleaving of three accesses of one location is unserializable: R-W-R, W-W-R, R-W-W, W-R-W and W-W-W
/// are, the other three of the eight are not (AV §3, PLAN §3.2). A read-modify-write counts as both.
#[must_use]
pub fn is_unserializable(before: AccessKind, between: AccessKind, after: AccessKind) -> bool {
    between.writes() || (before.writes() && after.writes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use AccessKind::{Read, Write};

    #[test]
    fn five_of_the_eight_kinds_are_unserializable() {
        let kinds = [Read, Write];
        let all = kinds.iter().flat_map(|a| kinds.iter().flat_map(move |b| kinds.map(|c| (*a, *b, c))));
        let serializable: Vec<_> = all.filter(|&(a, b, c)| !is_unserializable(a, b, c)).collect();
        assert_eq!(serializable, [(Read, Read, Read), (Read, Read, Write), (Write, Read, Read)]);
    }
}
