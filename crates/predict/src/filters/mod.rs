//! Filters: cheap over-approximations that discard candidates before the engine is asked
//! (docs/design/candidates.md, "Filters"; AV §3, §6).
//!
//! Each discards only what is truly infeasible, and says why. In the order of their cost: what fork and join order, what one and the
//! same critical section excludes, what the order of nested acquires excludes, what counting tokens and rounds orders.

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
    /// How often tokens were taken, or barriers left, orders its events otherwise.
    Counting,
}

/// All filters, for one concurrent trace program.
pub struct Filters<'c> {
    ctp: &'c Ctp,
    clocks: Clocks,
    locks: Locks,
    counting: Clocks,
}

impl<'c> Filters<'c> {
    /// Looks at the trace once.
    #[must_use]
    pub fn new(ctp: &'c Ctp) -> Filters<'c> {
        let (clocks, counting) = (Clocks::of_threads(ctp), Clocks::with_counting(ctp));
        Filters { ctp, clocks, locks: Locks::new(ctp), counting }
    }

    /// Which filter discards a candidate, and why; `None` if it may be feasible.
    #[must_use]
    pub fn discards(&self, candidate: &Candidate) -> Option<(Filter, Because)> {
        match candidate {
            Candidate::Atomicity { before, between, after } => {
                let (e1, f, e2) = (self.find(*before)?, self.find(*between)?, self.find(*after)?);
                let excludes = |clocks: &Clocks| clocks.orders(f, e1) || clocks.orders(e2, f);
                self.ordered(excludes, || self.locks.exclude(e1, e2, f))
            }
            Candidate::CoEnabledRace { first, second } => {
                let (a, b) = (self.find(*first)?, self.find(*second)?);
                let excludes = |clocks: &Clocks| clocks.orders(a, b) || clocks.orders(b, a);
                self.ordered(excludes, || self.locks.exclude(a, a, b))
            }
            Candidate::UnorderedRace { first, second } => {
                let (a, b) = (self.find(*first)?, self.find(*second)?);
                let excludes = |clocks: &Clocks| clocks.orders(a, b) || clocks.orders(b, a);
                // A common lock orders them; in which order locks were acquired says nothing of accesses that are past.
                self.ordered(excludes, || {
                    self.locks.exclude(a, a, b).filter(|(filter, _)| *filter == Filter::Lockset)
                })
            }
            _ => None,
        }
    }

    /// In the order of their cost; counting comes last, since AV's columns do not have it.
    fn ordered(
        &self,
        excludes: impl Fn(&Clocks) -> bool,
        locks: impl FnOnce() -> Option<(Filter, Because)>,
    ) -> Option<(Filter, Because)> {
        let words = |filter, words: &str| Some((filter, Because::Filter(words.to_owned())));
        if excludes(&self.clocks) {
            return words(Filter::HappensBefore, "fork and join order the events otherwise");
        }
        locks().or_else(|| match excludes(&self.counting) {
            true => words(Filter::Counting, "so many tokens or rounds need the events in another order"),
            false => None,
        })
    }

    fn find(&self, id: EventId) -> Option<&'c Event> {
        self.ctp.find(id).map(|event| self.ctp.event(event))
    }
}
