//! Runs of traces that have no program: the recorded events, in the order of a witness.
//!
//! A witness of such a trace keeps each read to the write that it saw, as long as its thread goes on. So the run that it claims consists of
//! recorded events and nothing else, and can be shown although nothing can be run.

use crate::confirm::Replayed;
use crate::trim::trim;
use claim::{Candidate, Deadlock, Standing, Unconfirmed, Witness};
use rustc_hash::FxHashMap;
use trace::{BlockedThread, Event, EventId, EventKind, Location, Outcome, Switch, ThreadId, Trace, WaitsFor};

/// The events of a trace, by thread.
pub struct Rearranged<'t> {
    trace: &'t Trace,
    threads: FxHashMap<ThreadId, Vec<&'t Event>>,
}

impl<'t> Rearranged<'t> {
    pub fn new(trace: &'t Trace) -> Rearranged<'t> {
        let mut threads: FxHashMap<ThreadId, Vec<&Event>> = FxHashMap::default();
        for event in &trace.events {
            threads.entry(event.id.thread).or_default().push(event);
        }
        Rearranged { trace, threads }
    }

    /// What can be shown of a candidate: the run of its witness, written out. The two accesses of a race that are both next come last.
    pub fn shown(&self, candidate: &Candidate, witness: &Witness) -> Replayed {
        let mut witness = witness.clone();
        if let Candidate::CoEnabledRace { first, second } = candidate {
            witness.order.extend([first, second]);
        }
        let mut run = self.run(&witness);
        if let Candidate::Deadlock(deadlock) = candidate {
            run.outcome = self.deadlocked(&run.events, deadlock);
        }
        trim(&mut run, candidate);
        let standing = Standing::Predicted(Unconfirmed::NoSubject);
        Replayed { standing, run: Some(Box::new(run)), ..Replayed::not(&witness) }
    }

    fn run(&self, witness: &Witness) -> Trace {
        let mut done: FxHashMap<ThreadId, usize> = FxHashMap::default();
        let (mut events, mut switches): (Vec<Event>, Vec<Switch>) = (vec![], vec![]);
        for until in &witness.order {
            let own = self.threads.get(&until.thread).map_or(&[][..], Vec::as_slice);
            let done = done.entry(until.thread).or_default();
            let before = *done;
            while own.get(*done).is_some_and(|event| event.id.n <= until.n) {
                *done += 1;
            }
            events.extend(own[before..*done].iter().map(|&event| event.clone()));
            let Some(last) = own[before..*done].last() else { continue };
            let (thread, site) = (until.thread, Some(last.site));
            match switches.last_mut() {
                Some(running) if running.thread == thread => {
                    (running.until, running.site) = (last.id.n, site)
                }
                _ => switches.push(Switch { thread, until: last.id.n, site, enabled: vec![thread] }),
            }
        }
        let Trace { origin, threads, allocations, .. } = self.trace;
        Trace {
            origin: origin.clone(),
            threads: threads.clone(),
            allocations: allocations.clone(),
            events,
            switches,
            choices: vec![],
            outcome: Outcome::Truncated,
        }
    }

    /// Who waits for whom at the end of a run.
    fn deadlocked(&self, run: &[Event], deadlock: &Deadlock) -> Outcome {
        let mut held: FxHashMap<Location, ThreadId> = FxHashMap::default();
        for event in run {
            match event.kind {
                EventKind::Lock { object, .. } => _ = held.insert(object, event.id.thread),
                EventKind::Unlock { object, depth: 0, .. } => _ = held.remove(&object),
                _ => {}
            }
        }
        let waits = |id: &EventId| {
            let own = self.threads.get(&id.thread)?;
            let event = own.get(own.partition_point(|event| event.id.n < id.n))?;
            let waits_for = match event.kind {
                EventKind::Lock { object, .. } => {
                    WaitsFor::Lock { object, held_by: held.get(&object).copied().into_iter().collect() }
                }
                EventKind::Join { child } => WaitsFor::Join { thread: child },
                _ => return None,
            };
            Some(BlockedThread { thread: id.thread, site: event.site, waits_for })
        };
        Outcome::Deadlock { blocked: deadlock.blocked().iter().filter_map(waits).collect() }
    }
}
