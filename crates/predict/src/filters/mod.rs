//! Filters: cheap over-approximations that discard candidates before the engine is asked (DESIGN §10; AV §3, §6).
//!
//! Each discards only what is truly infeasible, and says why. In the order of their cost: what fork and join order, what one and the
//! same critical section excludes, what the order of nested acquires excludes.

mod clocks;
mod locks;

use claim::{Because, Candidate};
use clocks::Clocks;
use ctp::{Ctp, Event};
use locks::Locks;
use trace::EventId;

/// Which filter discarded a candidate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Filter {
    /// Fork and join order its events otherwise.
    HappensBefore,
    /// A lock excludes it.
    Lockset,
    /// The order in which locks were acquired excludes it.
    AcquisitionHistory,
}

/// All filters, for one concurrent trace program.
pub struct Filters<'c> {
    ctp: &'c Ctp,
    clocks: Clocks,
    locks: Locks,
}

impl<'c> Filters<'c> {
    /// Looks at the trace once.
    #[must_use]
    pub fn new(ctp: &'c Ctp) -> Filters<'c> {
        Filters { ctp, clocks: Clocks::new(ctp), locks: Locks::new(ctp) }
    }

    /// Which filter discards a candidate, and why; `None` if it may be feasible.
    #[must_use]
    pub fn discards(&self, candidate: &Candidate) -> Option<(Filter, Because)> {
        match candidate {
            Candidate::Atomicity { before, between, after } => {
                let (e1, f, e2) = (self.find(*before)?, self.find(*between)?, self.find(*after)?);
                if self.clocks.orders(f, e1) || self.clocks.orders(e2, f) {
                    return Some(ordered());
                }
                self.locks.exclude(e1, e2, f)
            }
            Candidate::CoEnabledRace { first, second } => {
                let (a, b) = (self.find(*first)?, self.find(*second)?);
                if self.clocks.orders(a, b) || self.clocks.orders(b, a) {
                    return Some(ordered());
                }
                self.locks.exclude(a, a, b)
            }
            Candidate::UnorderedRace { first, second } => {
                let (a, b) = (self.find(*first)?, self.find(*second)?);
                if self.clocks.orders(a, b) || self.clocks.orders(b, a) {
                    return Some(ordered());
                }
                // A common lock orders them; in which order locks were acquired says nothing of accesses that are past.
                self.locks.exclude(a, a, b).filter(|(filter, _)| *filter == Filter::Lockset)
            }
            _ => None,
        }
    }

    fn find(&self, id: EventId) -> Option<&'c Event> {
        self.ctp.find(id).map(|event| self.ctp.event(event))
    }
}

fn ordered() -> (Filter, Because) {
    (Filter::HappensBefore, Because::Filter("fork and join order the events otherwise".to_owned()))
}
