//! Threads that cannot do their next event when the prefix ends, and whom they wait for.

use crate::Encoding;
use ctp::{EventIndex, Kind, ThreadIndex};
use solver::{Bool, Result};
use trace::{EventKind, LockMode, WakeReason};

/// What the next event of a thread waits for.
#[derive(Clone, Debug)]
pub struct Blocked {
    /// It cannot be done.
    pub blocked: Bool,
    /// It cannot be done before this thread does something; only for locks, joins and exclusive blocks, where nobody else can help.
    pub by: Vec<(ThreadIndex, Bool)>,
}

impl Encoding<'_> {
    /// Whether an event that its thread stands before is blocked. An event that never blocks is so only by a block that excludes all
    /// other threads. `timed` says that a wait may end by itself.
    ///
    /// # Errors
    /// As for [`Encoding::ask`].
    pub fn blocked(&mut self, event: EventIndex, timed: bool) -> Result<Blocked> {
        let me = self.event(event).thread;
        let mut by: Vec<(ThreadIndex, Bool)> = vec![];
        for (owner, begin, end) in self.sync.exclusive.clone() {
            if owner != me {
                let entered = self.inside(begin);
                let left = end.map_or(self.solver.bool_const(false), |end| self.inside(end));
                let not_left = self.solver.not(left)?;
                by.push((owner, self.solver.and(&[entered, not_left])?));
            }
        }
        let mut others = self.solver.bool_const(false);
        let Kind::Other(kind) = self.kind(event) else { return self.all(by, others) };
        match *kind {
            EventKind::Lock { .. } | EventKind::Acquire { .. } | EventKind::Join { .. } if timed => {}
            EventKind::Lock { object, mode, .. } => self.holders(event, object, mode, &mut by)?,
            EventKind::WaitEnd { condition, mutex, reason } => {
                let previous = self.previous(event);
                let stopped = previous.is_some_and(|previous| {
                    matches!(self.kind(previous), Kind::Other(EventKind::StopWaiting { .. }))
                });
                let signalled = matches!(reason, WakeReason::Signal(_)) && !stopped;
                let woken = match previous.filter(|_| signalled) {
                    Some(begin) => self.woken_at_cut(condition, begin)?,
                    None => self.solver.bool_const(true),
                };
                if let Some(mutex) = mutex {
                    let mut holders = vec![];
                    self.holders(event, mutex, LockMode::Mutex, &mut holders)?;
                    for (thread, holds) in holders {
                        by.push((thread, self.solver.and(&[woken, holds])?));
                    }
                }
                if !timed {
                    others = self.solver.not(woken)?;
                }
            }
            // It could be done, unless it has been woken and needs its mutex.
            EventKind::StopWaiting { condition, .. } => {
                if let Some(begin) = self.previous(event)
                    && let Kind::Other(EventKind::WaitBegin { mutex: Some(mutex), .. }) = self.kind(begin)
                {
                    let woken = self.woken_at_cut(condition, begin)?;
                    let mut holders = vec![];
                    self.holders(event, *mutex, LockMode::Mutex, &mut holders)?;
                    for (thread, holds) in holders {
                        by.push((thread, self.solver.and(&[woken, holds])?));
                    }
                }
            }
            EventKind::Acquire { semaphore } => others = self.tokens_at_cut(semaphore, 0)?,
            EventKind::BarrierLeave { barrier, .. } => {
                if let Some(arrival) = self.previous(event) {
                    others = self.round_is_open_at_cut(barrier, arrival)?;
                }
            }
            EventKind::Join { child } => {
                if let Some(n) = self.ctp.threads.iter().position(|thread| thread.id == child) {
                    let end = self.ctp.threads[n].events.last().copied();
                    // Who has no events in a slice ended before it, since the join was done.
                    let ended = match end {
                        // Who has not ended at the end of the trace does not do so on its path.
                        _ if self.is_standing(event) => self.solver.bool_const(false),
                        Some(end) => self.inside(end),
                        None => self.solver.bool_const(true),
                    };
                    by.push((ThreadIndex::new(n), self.solver.not(ended)?));
                }
            }
            _ => {}
        }
        self.all(by, others)
    }

    fn all(&mut self, by: Vec<(ThreadIndex, Bool)>, others: Bool) -> Result<Blocked> {
        let mut any: Vec<Bool> = by.iter().map(|&(_, blocks)| blocks).collect();
        any.push(others);
        Ok(Blocked { blocked: self.solver.or(&any)?, by })
    }

    /// A thread stands before the event at the end of the trace.
    fn is_standing(&self, event: EventIndex) -> bool {
        self.ctp.standing.iter().any(|standing| standing.id == self.event(event).id)
    }

    /// Who holds a lock in the way of an event. A thread is not in its own way if it may hold the lock several times, which it does if
    /// it holds it where the recorded run acquired it; if it waits for a lock that it holds, it may not.
    fn holders(
        &mut self,
        event: EventIndex,
        object: trace::Location,
        mode: LockMode,
        by: &mut Vec<(ThreadIndex, Bool)>,
    ) -> Result<()> {
        let me = self.event(event).thread;
        let locks = matches!(self.kind(event), Kind::Other(EventKind::Lock { .. }));
        let in_its_own_way = locks && self.is_standing(event);
        for n in 0..self.ctp.threads.len() {
            let thread = ThreadIndex::new(n);
            if thread != me || in_its_own_way {
                let holds = self.held_at_cut(object, mode, |whose| whose == thread)?;
                by.push((thread, holds));
            }
        }
        Ok(())
    }

    /// The wait that began with this event has been woken when the prefix ends.
    ///
    /// # Errors
    /// As for [`Encoding::ask`].
    pub fn woken_at_cut(&mut self, condition: trace::Location, begin: EventIndex) -> Result<Bool> {
        let mut any = vec![];
        for signal in self.sync.signals.get(&condition).cloned().unwrap_or_default() {
            any.extend(self.sync.wakes.get(&(signal, begin)).copied());
        }
        for broadcast in self.sync.broadcasts.get(&condition).cloned().unwrap_or_default() {
            let (after, inside) = (self.before(begin, broadcast)?, self.inside(broadcast));
            any.push(self.solver.and(&[after, inside])?);
        }
        self.solver.or(&any)
    }
}
