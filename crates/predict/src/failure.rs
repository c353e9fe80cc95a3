//! A recorded run that fails by itself: the finding that nothing has to be predicted for.

use claim::{Candidate, Consequence, Deadlock, Engine, Finding, Standing, Witness};
use rustc_hash::FxHashMap;
use trace::{EventId, Outcome, Trace};

/// The finding that a recorded run is, if it failed.
#[must_use]
pub fn recorded_failure(trace: &Trace) -> Option<Finding> {
    let mut last: FxHashMap<_, u64> = FxHashMap::default();
    last.extend(trace.events.iter().map(|event| (event.id.thread, event.id.n)));
    let (candidate, sites, consequence) = match &trace.outcome {
        Outcome::AssertionFailed { event, site } => {
            let consequence = Consequence::AssertionFailed { event: *event };
            (Candidate::Assertion { event: *event }, vec![*site], consequence)
        }
        Outcome::Fault { event, site, kind } => {
            let consequence = Consequence::Crashed { event: *event, kind: *kind };
            (Candidate::Fault { event: *event, kind: *kind }, vec![*site], consequence)
        }
        Outcome::Deadlock { blocked } => {
            let never = blocked.iter().map(|blocked| EventId {
                thread: blocked.thread,
                n: last.get(&blocked.thread).copied().unwrap_or(0) + 1,
            });
            let candidate = Candidate::Deadlock(Deadlock::AllBlocked(never.collect()));
            (candidate, blocked.iter().map(|blocked| blocked.site).collect(), Consequence::Deadlocked)
        }
        _ => return None,
    };
    Some(Finding {
        candidate,
        sites,
        location: None,
        block: None,
        witness: Witness::default(),
        engine: Engine::Symbolic,
        standing: Standing::Confirmed,
        consequence,
        others: 0,
        run: Some(Box::new(trace.clone())),
        output: None,
    })
}
