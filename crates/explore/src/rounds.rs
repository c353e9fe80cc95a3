//! Loops that only wait, in the question about a run.
//!
//! A round without effect can be left out of an execution (`machine::spin`). So it is enough to look for executions in which no thread goes on
//! behind such a round, unless it goes on nowhere: it waits there for ever if what it has read stays as it is, and all others wait or have ended too. All
//! beginnings of such an execution are of that kind, which is all that the search needs to miss none of them.

use crate::departures::Departure;
use ctp::{Ctp, EventIndex, LocationId, ReadId, Round, ThreadIndex};
use encode::{Bool, Encoding, Result};
use rustc_hash::FxHashSet;

/// A round that a thread goes without effect in the run.
pub struct Rounded {
    pub thread: ThreadIndex,
    /// So many events the thread has done behind it.
    pub done: u64,
    /// What the thread does next that is in the concurrent trace program.
    pub next: Option<EventIndex>,
    /// The thread stands behind it, as far as the concurrent trace program knows.
    pub here: Bool,
    /// It has been gone, and is without effect.
    pub gone: Bool,
    reads: Vec<ReadId>,
}

/// The memory that is read in rounds.
pub fn locations(ctp: &Ctp) -> FxHashSet<LocationId> {
    let reads = ctp.rounds.iter().flat_map(|round| reads(ctp, round));
    reads.map(|read| ctp.read(read).location).collect()
}

fn reads(ctp: &Ctp, round: &Round) -> impl Iterator<Item = ReadId> {
    let events = &ctp.thread(round.thread).events[round.events.clone()];
    let accesses = events.iter().filter_map(|&at| ctp.event(at).kind.access());
    accesses.flat_map(|access| access.targets.iter().flat_map(|target| target.reads.iter().copied()))
}

/// All rounds of a run, and that no thread goes on behind one that is without effect.
pub fn rounds(encoding: &mut Encoding<'_>, departures: &mut [Departure]) -> Result<Vec<Rounded>> {
    let ctp = encoding.ctp();
    let mut all = vec![];
    for round in &ctp.rounds {
        let events = &ctp.thread(round.thread).events;
        let (before, behind) = events.split_at(round.events.end);
        let next = behind.iter().position(|&at| !ctp.event(at).silent);
        let Some(&last) = before.last().filter(|_| !round.events.is_empty()) else { continue };
        let come = encoding.as_recorded(last)?;
        let same = encoding.condition(round.same)?;
        let gone = encoding.solver().and(&[come, same])?;
        let not_gone = encoding.solver().not(gone)?;
        let behind = next.map_or(behind, |next| &behind[..=next]);
        let next = next.map(|next| behind[next]);
        let mut here = come;
        if let Some(next) = next {
            here = encoding.next(next)?;
            let outside = encoding.inside(next);
            let outside = encoding.solver().not(outside)?;
            let stays = encoding.solver().or(&[not_gone, outside])?;
            encoding.solver().assert(stays)?;
        }
        for departure in departures.iter_mut().filter(|departure| behind.contains(&departure.event)) {
            departure.taken = encoding.solver().and(&[departure.taken, not_gone])?;
            departure.possible = encoding.solver().and(&[departure.possible, not_gone])?;
        }
        let (thread, done, reads) = (round.thread, round.done, reads(ctp, round).collect());
        all.push(Rounded { thread, done, next, here, gone, reads });
    }
    Ok(all)
}

impl Rounded {
    /// The thread has gone the round, and what it has read there is as it was: it goes round for ever if nobody changes it.
    pub fn waits(&self, encoding: &mut Encoding<'_>) -> Result<Bool> {
        let mut all = vec![self.gone, self.here];
        for &read in &self.reads {
            all.push(encoding.unchanged_at_cut(read)?);
        }
        encoding.solver().and(&all)
    }
}
