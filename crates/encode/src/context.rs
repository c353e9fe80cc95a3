//! What a re-run has taught: an event of code that is not followed does not come out as recorded whatever came before it.
//!
//! The result of a call that leaves the program, and what such code leaves in memory, are taken as recorded.
//! If a re-run shows that they were not, the event is tied to more and more of what came before it in the
//! recorded run (docs/design/witnesses.md, "A witness that the program does not follow"; "keep their recorded
//! mutual order", AV §7). That is an assumption of ours, like a pin: what is infeasible only because of it is
//! *unknown*.

use crate::Encoding;
use crate::encoding::Pin;
use ctp::{EventIndex, Kind};
use rustc_hash::FxHashSet;
use solver::{Bool, Result};
use trace::{EventId, EventKind};

/// What an event is tied to: each has the former ones in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Context {
    /// All calls that left the program before it in the recorded run come before it.
    Calls,
    /// Its own thread has read the same values up to it.
    Values,
    /// All that came before it in the recorded run comes before it.
    Everything,
}

impl Context {
    /// The next stronger one.
    #[must_use]
    pub fn stronger(self) -> Option<Context> {
        match self {
            Context::Calls => Some(Context::Values),
            Context::Values => Some(Context::Everything),
            Context::Everything => None,
        }
    }
}

impl Encoding<'_> {
    /// Ties the first event of a thread from this one on that is kept to what came before it; nothing if there is none.
    ///
    /// # Errors
    /// As for [`Encoding::ask`].
    pub fn tie(&mut self, event: EventId, context: Context) -> Result<()> {
        let Some(at) = self.kept_from(event).filter(|at| at.index() >= self.ctp.past) else { return Ok(()) };
        let mut conditions = vec![];
        for before in self.last_before(at, context != Context::Everything) {
            conditions.push(self.before(before, at)?);
        }
        if context >= Context::Values {
            let thread = self.event(at).thread;
            let own: Vec<EventIndex> =
                self.ctp.thread(thread).events.iter().copied().filter(|&own| own < at).collect();
            for own in own {
                conditions.extend(self.same_values(own)?);
            }
        }
        let switch = self.solver.bool_var();
        let all = self.solver.and(&conditions)?;
        let inside = self.inside(at);
        let tied = self.solver.implies(inside, all)?;
        let in_force = self.solver.implies(switch, tied)?;
        self.solver.assert(in_force)?;
        let broken: Bool = self.solver.bool_const(false);
        self.pins.push(Pin { switch, event: self.event(at).id, broken, reaches_far: false });
        Ok(())
    }

    fn kept_from(&self, event: EventId) -> Option<EventIndex> {
        let thread = self.ctp.threads.iter().find(|thread| thread.id == event.thread)?;
        let first = thread.events.partition_point(|&at| self.event(at).id.n < event.n);
        thread.events[first..].iter().copied().find(|&at| !self.event(at).silent)
    }

    /// The last event of each other thread before this one in the recorded run; or the last that leaves the program.
    fn last_before(&self, at: EventIndex, only_calls: bool) -> Vec<EventIndex> {
        let mut seen = FxHashSet::default();
        seen.insert(self.event(at).thread);
        let is_call = |event: EventIndex| {
            matches!(self.kind(event), Kind::Other(EventKind::External { .. } | EventKind::System { .. }))
        };
        let earlier = (0..at.index()).rev().map(EventIndex::new);
        earlier
            .filter(|&event| !self.event(event).silent && (!only_calls || is_call(event)))
            .filter(|&event| seen.insert(self.event(event).thread))
            .collect()
    }
}
