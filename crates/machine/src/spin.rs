//! Loops that only wait: a thread that goes round and round until another one changes what it reads.
//!
//! A thread that comes back to a state of its own in which it was before, and has done nothing meanwhile that anybody could notice, has gone round without
//! effect. Leave the round out of the run: everybody else does the same, and the thread stands where it stands. So after one such round the thread
//! need not begin another one before something that it read has changed; it counts as blocked until then, and as blocked for ever if
//! nobody changes it. That leaves no behaviour out, and loops that wait come to an end without a bound.
//!
//! What counts for the state of a thread are the values that it may still use; how often a loop went round, counted for its bound, is none of them.

use crate::Machine;
use crate::enabled::Readiness;
use crate::memory::Memory;
use crate::state::{Phase, State};
use rustc_hash::FxHashMap;
use trace::{BlockedThread, EventKind, Location, WaitsFor};

/// Memory that was read, and what it held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    pub location: Location,
    pub address: u64,
    pub bytes: u8,
    pub value: u64,
}

/// What events were to others.
#[derive(Clone, Debug, Default)]
pub struct Noticed {
    /// What they read.
    pub read: Vec<Seen>,
    /// They did more than that.
    pub effect: bool,
}

impl Noticed {
    /// Adds what further events were.
    pub fn extend(&mut self, more: Noticed) {
        self.read.extend(more.read);
        self.effect |= more.effect;
    }

    /// Notes an event.
    pub fn add(&mut self, memory: &Memory, kind: &EventKind) {
        let (location, bytes, value) = match *kind {
            EventKind::Read { location, bytes, value, .. } => (location, bytes, value),
            EventKind::CompareExchange { location, bytes, old, success: false, .. } => (location, bytes, old),
            // Who exchanges a value for itself changes nothing.
            EventKind::Update { location, bytes, old, new, .. } if old == new => (location, bytes, old),
            EventKind::Branch { .. } | EventKind::Assume | EventKind::Assert { held: true } => return,
            _ => {
                self.effect = true;
                return;
            }
        };
        self.read.push(Seen { location, address: memory.address_of(location), bytes, value });
    }
}

/// A round of more steps than this is not recognised. A thread that reads much without waiting must not be slow because of it.
const MOST_STATES: usize = 1000;

/// What a thread has done since somebody could notice it last.
#[derive(Clone, Debug, Default)]
pub struct Quiet {
    /// The states of its own that it was in, each with the number of reads before it.
    states: FxHashMap<Box<[u64]>, usize>,
    read: Vec<Seen>,
    /// What its last step was to others, as long as that is not over.
    noticed: Noticed,
    /// It has just gone round without effect, and read this.
    round: Option<Box<[Seen]>>,
}

impl Quiet {
    fn from(own: Box<[u64]>, round: Option<Box<[Seen]>>) -> Quiet {
        let states = FxHashMap::from_iter([(own, 0)]);
        Quiet { states, round, ..Quiet::default() }
    }

    /// Of all threads, before their first step.
    pub fn of_all(machine: &Machine, state: &State) -> Vec<Quiet> {
        (0..state.threads.len()).map(|t| Quiet::new(machine, state, t)).collect()
    }

    /// Of a thread before its first step.
    pub fn new(machine: &Machine, state: &State, t: usize) -> Quiet {
        let mut quiet = Quiet::default();
        quiet.step(machine, state, t, Noticed::default());
        quiet
    }

    /// The thread has made a step, which was this to others. What it does that nobody can notice belongs to the step before.
    pub fn step(&mut self, machine: &Machine, state: &State, t: usize, noticed: Noticed) {
        self.round = None;
        self.noticed.extend(noticed);
        if machine.readiness(state, t) == Readiness::Ready && !machine.is_visible(state, t) {
            return;
        }
        let noticed = std::mem::take(&mut self.noticed);
        let Some(own) = own_state(machine, state, t) else {
            *self = Quiet::default();
            return;
        };
        if noticed.effect {
            *self = Quiet::from(own, None);
            return;
        }
        self.read.extend(noticed.read);
        match self.states.get(&own) {
            None if self.states.len() < MOST_STATES => _ = self.states.insert(own, self.read.len()),
            None => *self = Quiet::from(own, None),
            Some(&from) => {
                let round = (from < self.read.len()).then(|| self.read[from..].into());
                *self = Quiet::from(own, round);
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

/// All threads that wait, if some of them do so by going round; they do it for ever if nobody else goes on.
pub fn going_round(machine: &Machine, state: &State, quiet: &[Quiet]) -> Option<Vec<BlockedThread>> {
    let stopped = |phase: &Phase| matches!(phase, Phase::AssumptionFailed | Phase::BoundReached);
    if state.ending.is_some() || state.threads.iter().any(|thread| stopped(&thread.phase)) {
        return None;
    }
    let waits = |(_, quiet): &(usize, &Quiet)| quiet.waits(machine, state);
    let round: Vec<BlockedThread> = (quiet.iter().enumerate().filter(waits))
        .filter_map(|(t, quiet)| {
            let waits_for = WaitsFor::Change { object: quiet.round().last()?.location };
            Some(BlockedThread { thread: state.threads[t].id, site: machine.site(state, t), waits_for })
        })
        .collect();
    if round.is_empty() {
        return None;
    }
    let mut all = machine.all_blocked(state);
    all.extend(round);
    all.sort_unstable();
    Some(all)
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
