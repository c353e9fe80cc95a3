//! Loops that only wait: a thread that goes round and round until another one changes what it reads.
//!
//! A thread that comes back to a state of its own in which it was before, and has done nothing meanwhile that anybody could notice, has gone round without
//! effect. Leave the round out of the run: everybody else does the same, and the thread stands where it stands. So after one such round the thread
//! need not begin another one before something that it read has changed; it counts as blocked until then, and as blocked for ever if
//! nobody changes it. That leaves no behaviour out, and loops that wait come to an end without a bound.
//!
//! What counts for the state of a thread are the values that it may still use; how often a loop went round, counted for its bound, is none of them.

use crate::Machine;
use crate::state::{Phase, State};
use trace::{EventKind, Location};

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
