//! Lock-validity alone (PLAN §3.1): whether an order of recorded events keeps to program order, fork and join, and to what locks allow.
//!
//! Runs that were predicted without regard to data (Penelope's) claim no more than this; the program is not looked at.

use crate::{Departure, Refusal, Waits};
use claim::Witness;
use rustc_hash::FxHashMap;
use trace::{Event, EventId, EventKind, Location, LockMode, ThreadId, Trace};

/// Checks that a witness is lock-valid, whatever its events would read.
///
/// # Errors
/// What is wrong with it, at which step.
pub fn check_locks(trace: &Trace, witness: &Witness) -> Result<(), Refusal> {
    let mut events: FxHashMap<ThreadId, Vec<&Event>> = FxHashMap::default();
    for event in &trace.events {
        events.entry(event.id.thread).or_default().push(event);
    }
    let mut run = Locks { trace, done: FxHashMap::default(), held: FxHashMap::default() };
    for (step, &until) in witness.whole(trace).order.iter().enumerate() {
        let Some(own) = events.get(&until.thread) else {
            return Err(Refusal::NoThread { step, thread: until.thread });
        };
        let mut done = run.done(until.thread);
        if until.n <= done {
            return Err(Refusal::Again { step, event: until });
        }
        while done < until.n {
            let id = EventId { n: done + 1, ..until };
            let event = own.get(done as usize).filter(|event| event.id == id);
            let Some(event) = event else {
                return Err(Refusal::NotReached { step, event: id, why: Departure::NotInTrace });
            };
            run.event(event).map_err(|why| Refusal::Blocked { step, event: id, why })?;
            done += 1;
            run.done.insert(until.thread, done);
        }
    }
    Ok(())
}

struct Locks<'t> {
    trace: &'t Trace,
    done: FxHashMap<ThreadId, u64>,
    /// Who holds a lock, and how, as often as it was taken.
    held: FxHashMap<Location, Vec<(ThreadId, LockMode)>>,
}

impl Locks<'_> {
    fn done(&self, thread: ThreadId) -> u64 {
        self.done.get(&thread).copied().unwrap_or(0)
    }

    fn event(&mut self, event: &Event) -> Result<(), Waits> {
        let me = event.id.thread;
        let forked = self.trace.threads.iter().find(|thread| thread.id == me).and_then(|t| t.forked_by);
        if let Some(fork) = forked.filter(|fork| self.done(fork.thread) < fork.n) {
            // It does not exist yet.
            return Err(Waits::Join(fork.thread));
        }
        match event.kind {
            EventKind::Lock { object, mode, .. } | EventKind::TryLock { object, mode, acquired: Some(_) } => {
                self.acquire(me, object, mode)?
            }
            EventKind::WaitEnd { mutex: Some(mutex), .. } => self.acquire(me, mutex, LockMode::Mutex)?,
            EventKind::Unlock { object, .. } | EventKind::WaitBegin { mutex: Some(object), .. } => {
                let holders = self.held.entry(object).or_default();
                if let Some(own) = holders.iter().rposition(|&(holder, _)| holder == me) {
                    holders.remove(own);
                }
            }
            EventKind::Join { child } => {
                let last = self.trace.events.iter().rfind(|event| event.id.thread == child);
                if last.is_some_and(|last| self.done(child) < last.id.n) {
                    return Err(Waits::Join(child));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn acquire(&mut self, me: ThreadId, lock: Location, mode: LockMode) -> Result<(), Waits> {
        let holders = self.held.entry(lock).or_default();
        let excluded = |&&(holder, held): &&(ThreadId, LockMode)| {
            holder != me && !(held == LockMode::Read && mode == LockMode::Read)
        };
        let others: Vec<ThreadId> = holders.iter().filter(excluded).map(|&(holder, _)| holder).collect();
        if !others.is_empty() {
            return Err(Waits::Lock(others));
        }
        holders.push((me, mode));
        Ok(())
    }
}
