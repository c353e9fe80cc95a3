//! The log of a run, turned into a trace.
//!
//! `input` unpacks what is packed; `records` cuts the bytes into units and notes; `sites` knows what a unit at each site stands for; `memory` knows which
//! piece of memory an address lies in; `threads` gives threads their names; `convert` puts it all together, in one pass and
//! without looking back. Nothing in a log is believed: a program that writes through a wild pointer may have written into it.

mod convert;
mod input;
mod memory;
mod records;
mod sites;
mod steps;
mod threads;

pub use records::{Content, Damage, Record, Records};
pub use sites::{Does, Site, Sites};

use crate::Linked;
use ir::GlobalId;
use std::time::Instant;
use subject::Departure;
use trace::{Origin, Trace};

/// What a log says.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The run.
    pub trace: Trace,
    /// Where it first differed from the schedule that it was to follow.
    pub departure: Option<Departure>,
    /// The log has an end: the run was not killed.
    pub ended: bool,
    /// The log reached its limit, and events are missing behind that: so many of the trace's events come before.
    pub full: Option<usize>,
    /// There was no time to read more of the log.
    pub unread: bool,
    /// What the program did that the runtime does not do; the run ended there.
    pub unsupported: Option<String>,
    /// Memory that more than one thread touched, if that was asked: start and end.
    pub shared: Vec<(u64, u64)>,
    /// What came from outside: which function, and a hash of it.
    pub inputs: Vec<(String, u64)>,
    /// Where the globals of the program lie: address and size.
    pub globals: Vec<(GlobalId, u64, u64)>,
    /// How often the baton was handed on.
    pub hand_overs: u64,
    /// How many events of all threads there were, logged or not.
    pub events: u64,
    /// Units of instrumented libraries whose program is not at hand.
    pub foreign_units: u64,
    /// Where the log stopped making sense.
    pub damage: Option<Damage>,
}

/// Reads a log of a run of a program, as far as it comes until then.
#[must_use]
pub fn read(linked: &Linked, bytes: &[u8], origin: Origin, until: Option<Instant>) -> Reading {
    convert::Converter::new(linked, origin).read(bytes, until)
}
