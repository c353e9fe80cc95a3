//! Runs of traces that have no program: the recorded events, in the order of a witness.
//!
//! A witness of such a trace keeps each read to the write that it saw, as long as its thread goes on. So the run that it claims consists of
//! recorded events and nothing else, and can be shown although nothing can be run. There may be many of them, of a long trace: what is as recorded up to
//! a cut is not written out for each, and of a long run only what a report needs is made at all (`trim`).

use crate::confirm::Replayed;
use crate::trim::{is_long, kept};
use claim::{Candidate, Deadlock, Standing, Unconfirmed, Witness};
use rustc_hash::FxHashMap;
use trace::{
    BlockedThread, Event, EventId, EventKind, Location, Outcome, Places, Switch, ThreadId, Trace, WaitsFor,
};

/// The events of a trace, by thread.
pub struct Rearranged<'t> {
    trace: &'t Trace,
    places: Places<'t>,
}

impl<'t> Rearranged<'t> {
    pub fn new(trace: &'t Trace) -> Rearranged<'t> {
        Rearranged { trace, places: Places::new(trace) }
    }

    /// What can be shown of a candidate: the run of its witness. The two accesses of a race that are both next come last. Of a long run the
    /// schedule is not written out: nobody can follow it.
    pub fn shown(&self, candidate: &Candidate, witness: &Witness) -> Replayed {
        let mut witness = witness.clone();
        if let Candidate::CoEnabledRace { first, second } = candidate {
            witness.order.extend([first, second]);
        }
        let order = self.order(&witness);
        let outcome = match candidate {
            Candidate::Deadlock(deadlock) => self.deadlocked(&order, deadlock),
            _ => Outcome::Truncated,
        };
        let event = |at: &u32| &self.trace.events[*at as usize];
        let events: Vec<Event> = match is_long(order.len()) {
            true => kept(&order, event, candidate),
            false => {
                witness = witness.whole(self.trace);
                order.iter().map(event).cloned().collect()
            }
        };
        let switches = switches(&events);
        let Trace { origin, threads, allocations, .. } = self.trace;
        let (origin, threads, allocations) = (origin.clone(), threads.clone(), allocations.clone());
        let run = Trace { origin, threads, allocations, events, switches, choices: vec![], outcome };
        let standing = Standing::Predicted(Unconfirmed::NoSubject);
        Replayed { standing, run: Some(Box::new(run)), ..Replayed::not(&witness) }
    }

    /// The events of a witness's run: where they are in the trace.
    fn order(&self, witness: &Witness) -> Vec<u32> {
        let places = &self.places;
        // All up to the cut are as recorded.
        let recorded =
            witness.recorded.and_then(|id| places.of(id.thread).get(places.until(id).checked_sub(1)?));
        let recorded = recorded.map_or(0, |&at| at + 1);
        let mut order: Vec<u32> = (0..recorded).collect();
        let mut done: FxHashMap<ThreadId, usize> = FxHashMap::default();
        for id in &witness.order {
            let own = places.of(id.thread);
            let done = done.entry(id.thread).or_insert_with(|| own.partition_point(|&at| at < recorded));
            let end = places.until(*id).max(*done);
            order.extend(&own[*done..end]);
            *done = end;
        }
        order
    }

    /// Who waits for whom at the end of a run.
    fn deadlocked(&self, run: &[u32], deadlock: &Deadlock) -> Outcome {
        let mut held: FxHashMap<Location, ThreadId> = FxHashMap::default();
        for event in run.iter().map(|&at| &self.trace.events[at as usize]) {
            match event.kind {
                EventKind::Lock { object, .. } => _ = held.insert(object, event.id.thread),
                EventKind::Unlock { object, depth: 0, .. } => _ = held.remove(&object),
                _ => {}
            }
        }
        let waits = |id: &EventId| {
            let event = &self.trace.events[self.places.find(*id)?];
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

/// The stretches that one thread runs.
fn switches(events: &[Event]) -> Vec<Switch> {
    let mut switches: Vec<Switch> = vec![];
    for &Event { id, site, .. } in events {
        match switches.last_mut() {
            Some(running) if running.thread == id.thread => {
                (running.until, running.site) = (id.n, Some(site))
            }
            _ => {
                let (thread, until, site, enabled) = (id.thread, id.n, Some(site), vec![id.thread]);
                switches.push(Switch { thread, until, site, enabled });
            }
        }
    }
    switches
}
