//! Loops that only wait: a thread that goes round and round until another one changes what it reads.
//!
//! A thread that comes back to a state of its own in which it was before, and has done nothing meanwhile that anybody could notice, has gone round without
//! effect. Leave the round out of the run: everybody else does the same, and the thread stands where it stands. So after one such round the thread
//! need not begin another one before something that it read has changed; it counts as blocked until then, and as blocked for ever if
//! nobody changes it. That leaves no behaviour out, and loops that wait come to an end without a bound.
//!
//! What counts for the state of a thread are the values that it may still use; how often a loop went round, counted for its bound, is none of them.

use super::walk::Walk;
use crate::Machine;
use crate::state::{Phase, State};
use subject::Footprint;
use trace::{BlockedThread, EventKind, Location, ThreadId, WaitsFor};

/// Memory that was read, and what it held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    pub location: Location,
    pub address: u64,
    pub bytes: u8,
    pub value: u64,
}

/// What an event was to others.
pub enum Effect {
    /// Nobody could notice it.
    None,
    /// It read this, and changed nothing.
    Read(Location, u8, u64),
    /// Somebody may notice it.
    Some,
}

impl Effect {
    pub fn of(kind: &EventKind) -> Effect {
        match *kind {
            EventKind::Read { location, bytes, value, .. } => Effect::Read(location, bytes, value),
            EventKind::CompareExchange { location, bytes, old, success: false, .. } => {
                Effect::Read(location, bytes, old)
            }
            // Who exchanges a value for itself changes nothing.
            EventKind::Update { location, bytes, old, new, .. } if old == new => {
                Effect::Read(location, bytes, old)
            }
            EventKind::Branch { .. } | EventKind::Assume | EventKind::Assert { held: true } => Effect::None,
            _ => Effect::Some,
        }
    }
}

/// What a thread has done since somebody could notice it last.
#[derive(Clone, Debug, Default)]
pub struct Quiet {
    /// The states of its own that it was in, each with the number of reads before it.
    states: Vec<(Box<[u64]>, usize)>,
    read: Vec<Seen>,
    /// It has just gone round without effect, and read this.
    round: Option<Box<[Seen]>>,
}

impl Quiet {
    /// The thread has made a step, and read this; `effect`: it did more than that.
    pub fn step(&mut self, machine: &Machine, state: &State, t: usize, read: Vec<Seen>, effect: bool) {
        self.round = None;
        let Some(own) = own_state(machine, state, t) else {
            *self = Quiet::default();
            return;
        };
        if effect {
            *self = Quiet { states: vec![(own, 0)], ..Quiet::default() };
            return;
        }
        self.read.extend(read);
        match self.states.iter().find(|(earlier, _)| *earlier == own) {
            None => self.states.push((own, self.read.len())),
            Some(&(_, from)) => {
                let round = self.read[from..].into();
                *self = Quiet { states: vec![(own, 0)], read: vec![], round: Some(round) };
            }
        }
    }

    /// What was read in the last round, if the thread has just gone round without effect.
    pub fn round(&self) -> &[Seen] {
        self.round.as_deref().unwrap_or_default()
    }

    /// Whether the thread need not go on: it has gone round without effect, and everything is as it was.
    pub fn waits(&self, machine: &Machine, state: &State) -> bool {
        let is_same = |seen: &Seen| {
            let found = machine.layout().locate(&state.memory, seen.address, u64::from(seen.bytes), false);
            found.is_ok_and(|(place, _)| state.memory.load(place, seen.bytes) == seen.value)
        };
        self.round.as_ref().is_some_and(|round| round.iter().all(is_same))
    }
}

impl<'m> Walk<'m> {
    /// The same, but a loop iteration without effect blocks its thread until something that it read has changed (`spin.rs`).
    #[must_use]
    pub fn recognising_spins(mut self) -> Walk<'m> {
        self.spins = true;
        self.now.quiet = vec![Quiet::default(); self.now.state.threads.len()];
        for t in 0..self.now.quiet.len() {
            self.now.quiet[t].step(self.machine, &self.now.state, t, vec![], true);
        }
        self
    }

    /// All threads that wait, if some of them do so by going round; they do it for ever if nobody else goes on.
    pub(super) fn going_round(&self) -> Option<Vec<BlockedThread>> {
        let state = &self.now.state;
        let stopped = |phase: &Phase| matches!(phase, Phase::AssumptionFailed | Phase::BoundReached);
        if state.ending.is_some() || state.threads.iter().any(|thread| stopped(&thread.phase)) {
            return None;
        }
        let waits = |t: &usize| self.now.quiet.get(*t).is_some_and(|quiet| quiet.waits(self.machine, state));
        let round: Vec<BlockedThread> = (0..state.threads.len())
            .filter(waits)
            .filter_map(|t| {
                let object = self.now.quiet[t].round().last()?.location;
                let waits_for = WaitsFor::Word { object };
                Some(BlockedThread {
                    thread: state.threads[t].id,
                    site: self.machine.site(state, t),
                    waits_for,
                })
            })
            .collect();
        if round.is_empty() {
            return None;
        }
        let mut all = self.machine.all_blocked(state);
        all.extend(round);
        all.sort_unstable();
        Some(all)
    }
}

/// Adds that a step depends on what was read.
pub fn add_reads(footprint: &mut Footprint, thread: ThreadId, read: &[Seen]) {
    for seen in read {
        let kind =
            EventKind::Read { location: seen.location, bytes: seen.bytes, value: seen.value, order: None };
        footprint.add(thread, &kind, |_| seen.address, |_| 0, &[]);
    }
    if !read.is_empty() {
        footprint.add_waiting(thread);
    }
}

/// The state of a thread, as far as it decides what the thread does; `None` if it is over or inside of something.
fn own_state(machine: &Machine, state: &State, t: usize) -> Option<Box<[u64]>> {
    let thread = &state.threads[t];
    if thread.is_over() || !matches!(thread.phase, Phase::Ready) {
        return None;
    }
    let mut own = vec![];
    for frame in &thread.frames {
        own.push(u64::from(frame.function.0) << 32 | u64::from(frame.at));
        let needed = &machine.code(frame.function).needed[frame.at as usize];
        own.extend(needed.iter().map(|&register| thread.registers[(frame.base + register) as usize]));
    }
    Some(own.into())
}
