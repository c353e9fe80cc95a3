//! What a report needs of the run that showed a finding: of a long run, not all of it.
//!
//! A finding keeps its run. A million events for each of many findings would be gigabytes, and nobody reads them: what is kept are
//! the events around those that it is about and at the end, and the other accesses of the same memory. Of each stretch that
//! is left out the first event stays, so that it can be seen that something is missing.

use claim::Candidate;
use trace::{Event, Location, Trace};

/// Shorter runs are kept whole.
const LONG: usize = 20_000;
/// So many events on each side of one that the finding is about are kept.
const AROUND: usize = 1_000;
/// So many accesses of the same memory elsewhere are kept.
const MOST_ACCESSES: usize = 5_000;

/// Whether of a run of so many events not all are kept.
pub fn is_long(events: usize) -> bool {
    events > LONG
}

/// Leaves out what nobody reads.
pub fn trim(run: &mut Trace, candidate: &Candidate) {
    if is_long(run.events.len()) {
        run.events = kept(&run.events, |event| event, candidate);
    }
}

/// The events of a run that are kept.
pub fn kept<'e, E>(run: &'e [E], event: impl Fn(&'e E) -> &'e Event, candidate: &Candidate) -> Vec<Event> {
    let about = candidate.events();
    let marked: Vec<usize> = (0..run.len()).filter(|&at| about.contains(&event(&run[at]).id)).collect();
    let memory: Vec<(Location, u64)> = (marked.iter())
        .filter_map(|&at| event(&run[at]).kind.access().map(|(_, location, bytes, _)| (location, bytes)))
        .collect();
    let (mut accesses, mut kept_before) = (0, false);
    let mut kept = vec![];
    for (at, event) in run.iter().map(event).enumerate() {
        let near = at + AROUND >= run.len() || marked.iter().any(|&other| other.abs_diff(at) <= AROUND);
        let same_memory = || memory.iter().any(|&(location, bytes)| event.kind.touches(location, bytes));
        let needed = near || (accesses < MOST_ACCESSES && same_memory());
        accesses += usize::from(needed && !near);
        // The first of a stretch that is left out stays.
        if std::mem::replace(&mut kept_before, needed) || needed {
            kept.push(event.clone());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::SiteId;
    use trace::{AllocationId, EventId, EventKind, Logging, Origin, Outcome, ThreadId};

    fn long_run() -> Trace {
        let event = |n: u64| {
            let location =
                Location { allocation: AllocationId(u32::from(n.is_multiple_of(7_000))), offset: 0 };
            let kind = EventKind::Read { location, bytes: 4, value: 0, order: None };
            Event { id: EventId { thread: ThreadId::MAIN, n }, site: SiteId(0), kind }
        };
        Trace {
            origin: Origin {
                subject: String::new(),
                fingerprint: 0,
                strategy: String::new(),
                logging: Logging::Everything,
            },
            threads: vec![],
            allocations: vec![],
            events: (1..=100_000).map(event).collect(),
            switches: vec![],
            choices: vec![],
            outcome: Outcome::Truncated,
        }
    }

    #[test]
    fn a_long_run_keeps_what_it_is_about_its_memory_and_its_end() {
        let mut run = long_run();
        let event = EventId { thread: ThreadId::MAIN, n: 7_000 };
        trim(&mut run, &Candidate::Assertion { event });
        let has = |n: u64| run.events.iter().any(|event| event.id.n == n);
        assert!((6_001..=8_000).all(has), "around it");
        assert!(has(70_000) && has(98_000), "the same memory elsewhere");
        assert!(has(100_000) && has(99_500), "the end");
        assert!(has(70_001) && !has(70_002), "one event says that others are missing");
        assert!(run.events.len() < 4_100, "{}", run.events.len());
        assert!(run.events.is_sorted_by_key(|event| event.id.n));
    }

    #[test]
    fn a_short_run_is_kept_whole() {
        let mut run = long_run();
        run.events.truncate(LONG);
        let whole = run.clone();
        trim(&mut run, &Candidate::Assertion { event: EventId { thread: ThreadId::MAIN, n: 1 } });
        assert_eq!(run, whole);
    }
}
