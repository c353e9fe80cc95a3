//! The beginning of a run, which is a run of its own.

use crate::{Event, EventId, EventKind, Location, Outcome, Switch, ThreadId, Trace};
use std::collections::BTreeMap;

impl Trace {
    /// The beginning of this run: so many of the events that were kept. Of a run with all its events, it is a run with all its events.
    #[must_use]
    pub fn beginning(&self, events: usize) -> Trace {
        let events = &self.events[..events.min(self.events.len())];
        let mut switches: Vec<Switch> = vec![];
        let mut following = self.switches.iter();
        for event in events {
            let covers = |switch: &Switch| switch.thread == event.id.thread && event.id.n <= switch.until;
            while !switches.last().is_some_and(covers)
                && let Some(switch) = following.next()
            {
                switches.push(switch.clone());
            }
        }
        if let (Some(switch), Some(event)) = (switches.last_mut(), events.last()) {
            (switch.until, switch.site) = (event.id.n, Some(event.site));
        }
        let mut beginning = Trace {
            origin: self.origin.clone(),
            threads: self.threads.clone(),
            allocations: self.allocations.clone(),
            events: events.to_vec(),
            switches,
            choices: self.choices.clone(),
            outcome: Outcome::Truncated,
        };
        // Compiled programs choose at more than what is an event; then it is not known who made which choice.
        if choices_made(&self.events) == self.choices.len() {
            beginning.choices.truncate(choices_made(events));
        }
        let mut last: BTreeMap<ThreadId, u64> = BTreeMap::new();
        events.iter().for_each(|event| _ = last.insert(event.id.thread, event.id.n));
        let is_done = |event: EventId| last.get(&event.thread).is_some_and(|&last| event.n <= last);
        beginning.threads.retain(|info| info.forked_by.is_none_or(is_done));
        beginning
    }
}

/// How many choices some events have made: who is woken of several, and that a wait ends by itself.
fn choices_made(events: &[Event]) -> usize {
    let mut waiting: BTreeMap<Location, u64> = BTreeMap::new();
    let mut made = 0;
    for event in events {
        match event.kind {
            EventKind::WaitBegin { condition, .. } => *waiting.entry(condition).or_default() += 1,
            EventKind::StopWaiting { condition, .. } => {
                made += 1;
                waiting.entry(condition).and_modify(|waiters| *waiters = waiters.saturating_sub(1));
            }
            EventKind::Signal { condition, woken: Some(_) } => {
                let waiters = waiting.entry(condition).or_default();
                made += usize::from(*waiters > 1);
                *waiters = waiters.saturating_sub(1);
            }
            EventKind::Broadcast { condition, .. } => _ = waiting.remove(&condition),
            _ => {}
        }
    }
    made
}
