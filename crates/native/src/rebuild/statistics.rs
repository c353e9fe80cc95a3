//! What the walk found.

use super::value::{Reason, Reasons};
use ir::SiteId;
use rustc_hash::FxHashMap;
use trace::EventId;

/// So many mismatches and external writes are kept; all are counted.
pub const MOST_SHOWN: usize = 10;

/// Something that was computed otherwise than it was logged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mismatch {
    /// Which event.
    pub event: EventId,
    /// Where.
    pub site: SiteId,
    /// What was compared.
    pub what: &'static str,
    /// What was computed.
    pub rebuilt: u128,
    /// What the log has.
    pub recorded: u128,
}

/// Memory that changed without an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExternalWrite {
    /// The read that noticed it.
    pub read: EventId,
    /// Where that is.
    pub site: SiteId,
    /// The address that was read.
    pub address: u64,
    /// The call of uninstrumented code that comes into question: the last one of the same thread.
    pub by: Option<(EventId, SiteId)>,
}

/// What the walk found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Accesses of memory in the log.
    pub accesses: u64,
    /// Those whose address, and value if they write, were computed.
    pub rebuilt: u64,
    /// The others, by why not, most frequent first.
    pub pinned: Vec<(String, u64)>,
    /// Branches whose outcome depends on memory that threads share.
    pub shared_branches: u64,
    /// Those of them that depend on something pinned, by what, most frequent first.
    pub pinned_branches: Vec<(String, u64)>,
    /// How often something was computed otherwise than it was logged.
    pub mismatches: u64,
    /// The first of them.
    pub first_mismatches: Vec<Mismatch>,
    /// How often the walk lost the way and began anew, by why, most frequent first.
    pub lost: Vec<(String, u64)>,
    /// How often memory changed without an event.
    pub external_writes: u64,
    /// The first times.
    pub first_external: Vec<ExternalWrite>,
    /// Counts while the walk goes on.
    pub(super) counts: Counts,
}

/// Counts by reason.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Counts {
    pub pinned: FxHashMap<Reason, u64>,
    pub pinned_branches: FxHashMap<Reason, u64>,
    pub lost: FxHashMap<Reason, u64>,
}

impl Statistics {
    /// How many accesses were not rebuilt.
    #[must_use]
    pub fn pinned_accesses(&self) -> u64 {
        self.pinned.iter().map(|(_, count)| count).sum()
    }

    /// How many branches depend on shared memory and on something pinned.
    #[must_use]
    pub fn pinned_shared_branches(&self) -> u64 {
        self.pinned_branches.iter().map(|(_, count)| count).sum()
    }

    /// Puts the counts into words.
    pub(super) fn name(&mut self, reasons: &Reasons) {
        let counts = std::mem::take(&mut self.counts);
        let named = |counts: FxHashMap<Reason, u64>| {
            let mut named: Vec<(String, u64)> =
                counts.into_iter().map(|(reason, count)| (reasons.words(reason).to_owned(), count)).collect();
            named.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            named
        };
        self.pinned = named(counts.pinned);
        self.pinned_branches = named(counts.pinned_branches);
        self.lost = named(counts.lost);
    }

    /// Something was computed otherwise than it was logged.
    pub(super) fn mismatch(&mut self, mismatch: Mismatch) {
        self.mismatches += 1;
        if self.first_mismatches.len() < MOST_SHOWN {
            self.first_mismatches.push(mismatch);
        }
    }
}
