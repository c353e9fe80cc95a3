//! What is to be reached: orders of events, as candidates ask for them (PLAN §4.2, §4.3), or formulas.

use claim::{Candidate, Deadlock, Formula};
use trace::EventId;

/// What a plan has to bring about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Goal {
    /// e1, then f, and e2 not before f (PLAN §4.3). What f reads is left open, and so is what e2 reads.
    Triple {
        /// e1.
        before: EventId,
        /// f.
        between: EventId,
        /// e2.
        after: EventId,
        /// How far the plan goes.
        until: Until,
    },
    /// The threads stand directly before these events, one each.
    Stand(Vec<EventId>),
    /// All these events happen, and of each pair the first before the second. What the last of each thread reads is left open.
    Ordered {
        /// Which.
        events: Vec<EventId>,
        /// Pairs of indices into `events`.
        order: Vec<(u32, u32)>,
    },
    /// A formula over "this event has happened" holds of the whole run. What its events read is left open: a thread whose read saw something else
    /// goes no further.
    Formula(Formula),
}

/// Where a plan for three accesses ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Until {
    /// With f, as PLAN has it: what comes of it, the continuation shows.
    Between,
    /// With e2; the three are then unserializable, and not guarded independent (AV §3).
    After,
}

impl Goal {
    /// What a candidate asks for; `None` if it is about values and not about an order of events.
    #[must_use]
    pub fn of(candidate: &Candidate, until: Until) -> Option<Goal> {
        match candidate {
            Candidate::Atomicity { before, between, after } => {
                Some(Goal::Triple { before: *before, between: *between, after: *after, until })
            }
            // Two accesses that are both next are ordered by nothing.
            Candidate::CoEnabledRace { first, second } | Candidate::UnorderedRace { first, second } => {
                Some(Goal::Stand(vec![*first, *second]))
            }
            Candidate::Deadlock(Deadlock::Circle(events)) => Some(Goal::Stand(events.clone())),
            Candidate::Pattern(pattern) if pattern.goal.is_some() => Some(Goal::Formula(pattern.formula())),
            Candidate::Pattern(pattern) => {
                Some(Goal::Ordered { events: pattern.events.clone(), order: pattern.order.clone() })
            }
            Candidate::Assertion { .. }
            | Candidate::Wakeup { .. }
            | Candidate::Fault { .. }
            | Candidate::Deadlock(Deadlock::AllBlocked(_)) => None,
        }
    }

    /// The events that it speaks of.
    #[must_use]
    pub fn events(&self) -> Vec<EventId> {
        match self {
            Goal::Triple { before, between, after, .. } => vec![*before, *between, *after],
            Goal::Stand(events) | Goal::Ordered { events, .. } => events.clone(),
            Goal::Formula(formula) => formula.events(),
        }
    }

    /// The events whose reads are left open: their threads need not go on.
    pub(crate) fn open(&self) -> Vec<EventId> {
        match self {
            Goal::Triple { between, after, .. } => vec![*between, *after],
            Goal::Ordered { events, .. } => {
                let later = |event: &EventId| {
                    events.iter().any(|other| other.thread == event.thread && other.n > event.n)
                };
                events.iter().filter(|event| !later(event)).copied().collect()
            }
            Goal::Formula(formula) => formula.events(),
            Goal::Stand(_) => vec![],
        }
    }
}
