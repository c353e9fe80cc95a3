//! Where a thread goes round without effect: it comes back to a state of its own, and has only read meanwhile. Loops that only wait are known by that.

use crate::build::{IsNoticed, recorded};
use crate::layout::Layout;
use crate::walk::{StandingState, Walk};
use crate::{CtpError, ExprId, ThreadIndex};
use ir::{Program, SiteIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use trace::{EventKind, ThreadId, Trace};

/// A round without effect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Round {
    /// Whose.
    pub thread: ThreadIndex,
    /// So many events the thread has done before it.
    pub before: u64,
    /// The number of the last event in it that somebody could notice.
    pub until: u64,
    /// So many events the thread has done behind it.
    pub done: u64,
    /// Its events, as far as they are in the concurrent trace program: their places among those of the thread.
    pub events: Range<usize>,
    /// One bit: also in another order it is without effect, if its branches come out as recorded.
    pub same: ExprId,
}

/// The rounds without effect in a trace; `is_noticed` says which events somebody could notice. What they say of concurrent trace programs is not
/// meant: [`Ctp::rounds`](crate::Ctp::rounds) has that.
///
/// # Errors
/// If the trace is another program's, does not fit it, or has not all its events.
pub fn rounds(program: &Program, trace: &Trace, is_noticed: IsNoticed<'_>) -> Result<Vec<Round>, CtpError> {
    trace.check_fits(program)?;
    if !trace.origin.logging.is_complete() {
        return Err(CtpError::Incomplete);
    }
    let sites = SiteIndex::new(program);
    let layout = Layout::new(&recorded(trace, trace.events.len()));
    let (aims, learned, interrupts) = (FxHashMap::default(), FxHashMap::default(), FxHashSet::default());
    let mut walk = Walk::new(program, trace, &sites, &layout, &aims, &learned, &interrupts);
    walk.note_states();
    walk.run(None)?;
    Ok(find(&mut walk, trace, is_noticed))
}

/// What a thread has done since somebody could notice it last.
#[derive(Default)]
struct Quiet {
    /// In which states it stood, each with the event that came next and how many it had done.
    stood: FxHashMap<u64, (usize, u64)>,
    /// So many events it has done.
    done: u64,
    /// The number of its last event that was noticed, and whether that was more than a read.
    last: Option<(u64, bool)>,
}

/// The rounds that a walk has come by.
pub(crate) fn find(walk: &mut Walk<'_>, trace: &Trace, is_noticed: IsNoticed<'_>) -> Vec<Round> {
    let Some(noted) = walk.noted.take() else { return vec![] };
    let mut rounds = vec![];
    let mut threads: FxHashMap<ThreadId, Quiet> = FxHashMap::default();
    for (at, event) in trace.events.iter().enumerate() {
        let quiet = threads.entry(event.id.thread).or_default();
        let done = std::mem::replace(&mut quiet.done, event.id.n);
        if !is_noticed(event) {
            continue;
        }
        let (last, had_effect) = quiet.last.unwrap_or((0, true));
        let state = |at: usize| noted.states.get(at).and_then(Option::as_ref);
        match state(at) {
            None => quiet.stood.clear(),
            Some(now) => {
                if had_effect {
                    quiet.stood.clear();
                }
                let stood = quiet.stood.insert(now.recorded, (at, done));
                if let Some((from, before)) = stood
                    && let Some(then) = state(from)
                {
                    let own = |at: &usize| trace.events[*at].id.thread == event.id.thread;
                    let updates = (from..at).filter(own).filter_map(|at| noted.unchanged.get(&at).copied());
                    rounds.push(Round {
                        thread: now.thread,
                        before,
                        until: last,
                        done,
                        events: then.events..now.events,
                        same: same(walk, then, now, updates),
                    });
                    quiet.stood.retain(|_, stood| *stood == (at, done));
                }
            }
        }
        quiet.last = Some((event.id.n, !reads_only(&event.kind)));
    }
    rounds
}

/// Two states of a thread that are at the same place have the same values, and updates between them changed nothing.
fn same(
    walk: &mut Walk<'_>,
    then: &StandingState,
    now: &StandingState,
    updates: impl Iterator<Item = ExprId>,
) -> ExprId {
    let expressions = &mut walk.expressions;
    let mut same = expressions.bit(true);
    for (&a, &b) in then.values.iter().zip(&now.values).filter(|(a, b)| a != b) {
        let equal = expressions.equal(a, b);
        same = expressions.and(same, equal);
    }
    for unchanged in updates {
        same = expressions.and(same, unchanged);
    }
    same
}

/// Whether an event reads, and changes nothing.
fn reads_only(kind: &EventKind) -> bool {
    match kind {
        EventKind::Read { .. } | EventKind::CompareExchange { success: false, .. } => true,
        // Who exchanges a value for itself changes nothing.
        EventKind::Update { old, new, .. } => old == new,
        _ => false,
    }
}
