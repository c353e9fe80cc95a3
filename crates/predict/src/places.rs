//! Static places: which candidates are the same to a reader, where they are in the program, and in what block.

use claim::{Block, Candidate, Property};
use ctp::{Ctp, Kind, Otherwise, TransactionOrigin};
use ir::SiteId;
use rustc_hash::FxHashMap;
use trace::{EventId, FaultKind};

/// Puts the first candidate of each static place before the second ones: if the time does not suffice for all, each place has been
/// looked at.
pub fn each_place_first(ctp: &Ctp, candidates: &mut [Candidate]) {
    let mut so_many: FxHashMap<(Tag, Vec<SiteId>), usize> = FxHashMap::default();
    candidates.sort_by_cached_key(|candidate| {
        let rank = so_many.entry((tag(candidate), sites(ctp, candidate))).or_default();
        *rank += 1;
        *rank
    });
}

/// Tells kinds of candidates apart; both kinds of races at one place are one finding, different faults are not.
pub type Tag = (Property, Option<FaultKind>);

/// What kind of candidate it is.
pub fn tag(candidate: &Candidate) -> Tag {
    match candidate {
        Candidate::Fault { kind, .. } => (candidate.property(), Some(*kind)),
        _ => (candidate.property(), None),
    }
}

/// The instructions of a candidate's events.
pub fn sites(ctp: &Ctp, candidate: &Candidate) -> Vec<SiteId> {
    if let Candidate::Assertion { event } = candidate
        && let Some(failing) = ctp.failing_at(*event).next()
    {
        return vec![failing.site];
    }
    let site = |id: EventId| {
        // What faults while it computes is no event of the trace.
        let computed = ctp.events_at(id).find(|&event| {
            matches!((&ctp.event(event).kind, candidate),
                (Kind::Require { otherwise: Otherwise::Fault(one), .. }, Candidate::Fault { kind, .. }) if one == kind)
        });
        computed.or(ctp.find(id)).map(|event| ctp.event(event).site)
    };
    candidate.events().into_iter().filter_map(site).collect()
}

/// What an event accessed in the recorded run.
pub fn location(ctp: &Ctp, id: EventId) -> Option<trace::Location> {
    let event = ctp.event(ctp.find(id)?);
    event.kind.access().map(|access| access.recorded)
}

/// Why the accesses of an atomicity violation count as one block.
pub fn block(ctp: &Ctp, candidate: &Candidate) -> Option<Block> {
    let Candidate::Atomicity { before, after, .. } = candidate else { return None };
    let thread = ctp.event(ctp.find(*before)?).thread;
    let around = ctp.transactions.iter().filter(|transaction| {
        transaction.thread == thread && transaction.from <= before.n && after.n <= transaction.to
    });
    // An update lies there to the event; what has more in it comes first, since more says why.
    let is_update = |around: &&ctp::Transaction| matches!(around.origin, TransactionOrigin::Update(_));
    let around = around.min_by_key(is_update)?;
    Some(match around.origin {
        TransactionOrigin::Marked => Block::Marked,
        TransactionOrigin::Lock(lock) => Block::Lock(lock),
        TransactionOrigin::Function(_) => Block::Function,
        TransactionOrigin::Update(_) => Block::Update,
    })
}
