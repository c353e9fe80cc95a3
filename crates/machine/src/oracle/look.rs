//! What is noted of a step: what it touches, and what it shows.

use super::monitor::Watch;
use crate::spin::Noticed;
use crate::state::{Phase, State};
use crate::step::Observer;
use subject::Footprint;
use trace::{AllocationId, Event, EventKind, ThreadId, WakeReason};

/// Notes what a step touches, and what it shows.
pub struct Look<'a> {
    pub footprint: Footprint,
    pub watch: Option<Watch<'a>>,
    pub noticed: Noticed,
}

impl<'a> Look<'a> {
    pub fn new(watch: Option<Watch<'a>>) -> Look<'a> {
        Look { footprint: Footprint::default(), watch, noticed: Noticed::default() }
    }
}

impl Observer for Look<'_> {
    fn event(&mut self, state: &State, event: Event, before: u64) {
        let thread = event.id.thread;
        let woken: Vec<ThreadId> = match event.kind {
            EventKind::Signal { .. } | EventKind::Broadcast { .. } => woken_by(state, &event),
            _ => vec![],
        };
        let address = |location| state.memory.address_of(location);
        let bytes = |allocation: AllocationId| {
            let block = state.memory.blocks.iter().find(|block| block.allocation == allocation);
            block.map_or(1, |block| block.bytes)
        };
        self.noticed.add(&state.memory, &event.kind);
        if state.exclusive.is_some() {
            self.footprint = Footprint::everything();
        }
        self.footprint.add(thread, &event.kind, address, bytes, &woken);
        if event.id.n == 1 {
            self.footprint.add_begin(thread);
        }
        if let Some(watch) = &mut self.watch {
            watch.event(state, event, before);
        }
    }
}

/// The threads whose wait this signal has ended.
fn woken_by(state: &State, signal: &Event) -> Vec<ThreadId> {
    let by = Some(WakeReason::Signal(signal.id));
    let is_woken = |phase: &Phase| matches!(phase, Phase::Waiting { woken, .. } if *woken == by);
    state.threads.iter().filter(|thread| is_woken(&thread.phase)).map(|thread| thread.id).collect()
}
