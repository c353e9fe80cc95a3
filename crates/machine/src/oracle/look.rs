//! What is noted of a step: what it touches, and what it shows.

use super::access::address_of;
use super::monitor::Watch;
use super::spin::{Effect, Seen};
use crate::state::{Phase, State};
use crate::step::Observer;
use subject::Footprint;
use trace::{AllocationId, Event, EventKind, ThreadId, WakeReason};

/// Notes what a step touches, and what it shows.
pub struct Look<'a> {
    pub footprint: Footprint,
    pub watch: Option<Watch<'a>>,
    /// What it read.
    pub read: Vec<Seen>,
    /// It did more than that.
    pub effect: bool,
}

impl<'a> Look<'a> {
    pub fn new(watch: Option<Watch<'a>>) -> Look<'a> {
        Look { footprint: Footprint::default(), watch, read: vec![], effect: false }
    }
}

impl Observer for Look<'_> {
    fn event(&mut self, state: &State, event: Event, before: u64) {
        let thread = event.id.thread;
        let woken: Vec<ThreadId> = match event.kind {
            EventKind::Signal { .. } | EventKind::Broadcast { .. } => woken_by(state, &event),
            _ => vec![],
        };
        let address = |location| address_of(&state.memory, location);
        let bytes = |allocation: AllocationId| {
            let block = state.memory.blocks.iter().find(|block| block.allocation == allocation);
            block.map_or(1, |block| block.bytes)
        };
        match Effect::of(&event.kind) {
            Effect::None => {}
            Effect::Read(location, bytes, value) => {
                let address = address_of(&state.memory, location);
                self.read.push(Seen { location, address, bytes, value });
            }
            Effect::Some => self.effect = true,
        }
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
