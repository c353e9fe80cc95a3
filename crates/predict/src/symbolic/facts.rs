//! What a question assumes, as facts of which one can imply another; and cores, by which one infeasible candidate discards others.
//!
//! The solver says which of a question's facts were enough to make it infeasible. Whatever other question has
//! facts that imply these is infeasible for the same reasons, and need not be asked (docs/design/engines.md,
//! "Answers"). Program order makes such cores strong: if `f` cannot come behind `e`, it cannot come behind
//! anything that is after `e` in the same thread either.

use super::Symbolic;
use claim::Because;
use ctp::EventIndex;
use encode::{Bool, Result};

/// Something that a question assumes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fact {
    /// The first event is before the second.
    Before(EventIndex, EventIndex),
    /// The event is in the prefix.
    Inside(EventIndex),
    /// Its thread stands before the event when the prefix ends.
    Next(EventIndex),
    /// Anything else.
    Term(Bool),
}

/// Facts that are infeasible together, and why.
pub struct Core {
    facts: Vec<Fact>,
    because: Vec<Because>,
}

impl Symbolic<'_> {
    pub(super) fn term(&mut self, fact: Fact) -> Result<Bool> {
        match fact {
            Fact::Before(first, second) => self.encoding.before(first, second),
            Fact::Inside(event) => Ok(self.encoding.inside(event)),
            Fact::Next(event) => self.encoding.next(event),
            Fact::Term(term) => Ok(term),
        }
    }

    /// Why a question is infeasible, if a core that is known says so.
    pub(super) fn known_core(&self, facts: &[Fact]) -> Option<&[Because]> {
        let is_implied = |wanted: &Fact| facts.iter().any(|&fact| self.implies(fact, *wanted));
        let core = self.cores.iter().find(|core| core.facts.iter().all(is_implied))?;
        Some(&core.because)
    }

    /// Remembers a core, unless it would hardly ever be of use.
    pub(super) fn learn(&mut self, facts: Vec<Fact>, because: Vec<Because>) {
        const MOST: usize = 1000;
        if self.cores.len() < MOST {
            self.cores.push(Core { facts, because });
        }
    }

    fn implies(&self, fact: Fact, other: Fact) -> bool {
        match (fact, other) {
            (Fact::Before(a, b), Fact::Before(c, d)) => self.is_up_to(c, a) && self.is_up_to(b, d),
            (Fact::Inside(a), Fact::Inside(b)) => self.is_up_to(b, a),
            (Fact::Next(a), Fact::Inside(b)) => a != b && self.is_up_to(b, a),
            (fact, other) => fact == other,
        }
    }

    /// Whether the first is the second, or before it in the same thread.
    fn is_up_to(&self, first: EventIndex, second: EventIndex) -> bool {
        first <= second && self.event(first).thread == self.event(second).thread
    }
}
