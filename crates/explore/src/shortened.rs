//! A run again, without the rounds of loops that only wait.
//!
//! While a program runs nobody sees that a thread only goes round: it does so until its turn is over, and most of the run is then of rounds without effect. Without
//! them it is the same run (`machine::spin`), and a short one. Nothing is lost for prediction: what is left has the reads with which the
//! thread comes out of its loop.

use crate::traced::{Sites, quiet_repeats};
use rustc_hash::FxHashMap;
use subject::{RunError, Schedule, Segment, Strategy, Subject};
use trace::{Logging, ThreadId, Trace};

/// Runs with fewer events in rounds are short enough.
const MANY: u64 = 1_000;

/// The numbers of events that belong to a round: behind the first, up to the second.
type Rounds = FxHashMap<ThreadId, Vec<(u64, u64)>>;

/// The same run, if most of it is of rounds without effect, and it can be made without them.
///
/// # Errors
/// If the subject cannot be run.
pub fn without_rounds(subject: &impl Subject, trace: &Trace) -> Result<Option<Trace>, RunError> {
    let program = subject.program();
    let sites = Sites::new(program, true);
    let is_most = |events: u64| events >= MANY && events * 2 >= trace.events.len() as u64;
    if !trace.origin.logging.is_complete() || !is_most(quiet_repeats(trace, &sites)) {
        return Ok(None);
    }
    let Ok(found) = ctp::rounds(program, trace, &|event| sites.is_noticed(event)) else { return Ok(None) };
    if !is_most(found.iter().map(|round| round.done - round.before).sum()) {
        return Ok(None);
    }
    let mut rounds = Rounds::default();
    for round in found {
        let thread = trace.threads[round.thread.index()].id;
        rounds.entry(thread).or_default().push((round.before, round.done));
    }
    let run = subject.run(&Strategy::follow(schedule(trace, &rounds)), &Logging::Everything)?;
    let same_end = std::mem::discriminant(&run.trace.outcome) == std::mem::discriminant(&trace.outcome);
    let is_shorter = run.trace.events.len() * 2 <= trace.events.len();
    Ok((run.departure.is_none() && same_end && is_shorter).then_some(run.trace))
}

/// The schedule of a run without these rounds.
fn schedule(trace: &Trace, rounds: &Rounds) -> Schedule {
    let mut left_out: FxHashMap<ThreadId, (usize, u64)> = FxHashMap::default();
    let mut done: FxHashMap<ThreadId, u64> = FxHashMap::default();
    let mut segments = vec![];
    for Segment { thread, until, .. } in trace.schedule().segments {
        let rounds = rounds.get(&thread).map_or(&[][..], Vec::as_slice);
        let (next, before) = left_out.entry(thread).or_default();
        while let Some((from, to)) = rounds.get(*next).filter(|(_, to)| *to <= until) {
            *before += to - from;
            *next += 1;
        }
        // A turn may end within a round.
        let within = rounds.get(*next).map_or(0, |(from, _)| until.saturating_sub(*from));
        let until = until - *before - within;
        if until > done.insert(thread, until).unwrap_or(0) {
            segments.push(Segment { thread, until, site: None });
        }
    }
    Schedule { segments, fingerprint: None, ..trace.schedule() }
}
