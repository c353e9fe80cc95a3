//! Which traces are too long to be looked at as a whole.

use crate::symbolic::Options;
use ctp::{Ctp, Kind};
use encode::Mode;
use rustc_hash::FxHashMap;
use trace::{EventKind, Location};

/// A trace of more events than this is never encoded as a whole.
pub const MOST_EVENTS: usize = 6_000;

/// Whether a trace is looked at through windows. Full linearizations and a bound on switches are about all of a schedule.
pub fn is_sliced(ctp: &Ctp, options: &Options) -> bool {
    is_long(ctp) && options.mode == Mode::Prefixes && options.switches.is_none()
}

/// Whether a trace is too long to be encoded as a whole: what grows with the square, or the cube, of its events is estimated.
pub fn is_long(ctp: &Ctp) -> bool {
    const MOST_PAIRS: usize = 400_000;
    const MOST_TRIPLES: usize = 1_000_000;
    if ctp.events.len() > MOST_EVENTS {
        return true;
    }
    let mut locations: Vec<(usize, usize)> = vec![(0, 0); ctp.locations.len()];
    let mut locks: FxHashMap<Location, usize> = FxHashMap::default();
    let mut atomics: FxHashMap<Location, usize> = FxHashMap::default();
    for event in &ctp.events {
        if let Some(access) = event.kind.access() {
            for target in &access.targets {
                target.writes.iter().for_each(|write| locations[write.location.index()].0 += 1);
                target.reads.iter().for_each(|&read| locations[ctp.read(read).location.index()].1 += 1);
            }
            *atomics.entry(access.recorded).or_default() += usize::from(access.order.is_some());
        }
        if let Kind::Other(EventKind::Lock { object, .. }) = event.kind {
            *locks.entry(object).or_default() += 1;
        }
    }
    let memory: usize = locations.iter().map(|&(writes, reads)| writes * (writes + reads)).sum();
    let sections: usize = locks.values().map(|&sections| sections * sections).sum();
    let orders: usize = atomics.values().map(|&atomics| atomics * atomics * atomics).sum();
    memory + sections > MOST_PAIRS || orders > MOST_TRIPLES
}
