//! Runs under drawn schedules, for programs that are too large to be gone through.
//!
//! What a sample shows is real; what it does not show may still be there. For priorities with few changes (PCT; Burckhardt, Kothari,
//! Musuvathi, Nagarakatte, ASPLOS 2010) there is a bound on how likely a bug is missed: [`least_probability`].

use ir::SiteId;
use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use subject::{Run, RunError, Strategy, Subject};
use trace::{FaultKind, Logging, Outcome};

/// How a run went wrong, as far as runs have it in common.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Wrong {
    /// An assertion failed at this instruction, or there was this fault.
    Failure(SiteId, Option<FaultKind>),
    /// Threads waited for ever at these instructions.
    Deadlock(Vec<SiteId>),
    /// The process ended with this status.
    Status(i32),
    /// The final condition was broken.
    Condition,
}

/// What went wrong in some runs.
#[derive(Clone, Debug)]
pub struct Found {
    /// The run with the fewest switches that shows it.
    pub run: Run,
    /// How many runs showed it.
    pub times: u64,
}

/// What a sample has shown.
#[derive(Clone, Debug, Default)]
pub struct Sampled {
    /// How many runs there were.
    pub runs: u64,
    /// How many different schedules they had.
    pub schedules: u64,
    /// How many ended before their program did: by a bound, by a limit, or by an assumption that did not hold.
    pub cut: u64,
    /// What went wrong.
    pub wrong: BTreeMap<Wrong, Found>,
    /// The most threads that a run had, and the most events.
    pub threads: u64,
    /// See `threads`.
    pub events: u64,
}

/// Runs a subject under each strategy. `breaks` says whether a run that completed broke the final condition; `go_on` is told after each run.
///
/// # Errors
/// If the subject cannot be run.
pub fn sample(
    subject: &impl Subject,
    strategies: impl Iterator<Item = Strategy>,
    breaks: &dyn Fn(&Run) -> bool,
    go_on: &mut dyn FnMut(&Sampled) -> bool,
) -> Result<Sampled, RunError> {
    let mut sampled = Sampled::default();
    let mut schedules = std::collections::HashSet::new();
    for strategy in strategies {
        let run = subject.run(&strategy, &Logging::Synchronisation)?;
        sampled.runs += 1;
        sampled.threads = sampled.threads.max(run.trace.threads.len() as u64);
        sampled.events = sampled.events.max(events(&run));
        let mut hasher = DefaultHasher::new();
        for switch in &run.trace.switches {
            (switch.thread, switch.until).hash(&mut hasher);
        }
        run.trace.choices.hash(&mut hasher);
        if schedules.insert(hasher.finish()) {
            sampled.schedules += 1;
        }
        match wrong(&run, breaks) {
            Ok(None) => {}
            Ok(Some(wrong)) => sampled.take(wrong, run),
            Err(Cut) => sampled.cut += 1,
        }
        if !go_on(&sampled) {
            break;
        }
    }
    Ok(sampled)
}

impl Sampled {
    fn take(&mut self, wrong: Wrong, run: Run) {
        match self.wrong.get_mut(&wrong) {
            None => {
                self.wrong.insert(wrong, Found { run, times: 1 });
            }
            Some(known) => {
                known.times += 1;
                if run.trace.switches.len() < known.run.trace.switches.len() {
                    known.run = run;
                }
            }
        }
    }
}

/// How many events a run had.
fn events(run: &Run) -> u64 {
    let last = |thread| run.trace.switches.iter().rev().find(|switch| switch.thread == thread);
    run.trace.threads.iter().filter_map(|thread| last(thread.id)).map(|switch| switch.until).sum()
}

/// A run did not come to its program's end.
struct Cut;

fn wrong(run: &Run, breaks: &dyn Fn(&Run) -> bool) -> Result<Option<Wrong>, Cut> {
    Ok(match &run.trace.outcome {
        Outcome::AssertionFailed { site, .. } => Some(Wrong::Failure(*site, None)),
        Outcome::Fault { kind: FaultKind::MachineLimit, .. } => return Err(Cut),
        Outcome::Fault { site, kind, .. } => Some(Wrong::Failure(*site, Some(*kind))),
        Outcome::Deadlock { blocked } => {
            let mut sites: Vec<SiteId> = blocked.iter().map(|blocked| blocked.site).collect();
            sites.sort_unstable();
            Some(Wrong::Deadlock(sites))
        }
        Outcome::Exited { status } if *status != 0 => Some(Wrong::Status(*status)),
        Outcome::Completed { .. } | Outcome::Exited { .. } => breaks(run).then_some(Wrong::Condition),
        Outcome::Discarded { .. }
        | Outcome::BoundExceeded { .. }
        | Outcome::LimitReached { .. }
        | Outcome::Truncated => return Err(Cut),
    })
}

/// How likely it is at least that one of `runs` runs under PCT shows a bug that needs `depth` orderings, in a program of so many threads and
/// events.
#[must_use]
pub fn least_probability(runs: u64, threads: u64, events: u64, depth: u32) -> f64 {
    let (threads, events) = (threads.max(1) as f64, events.max(1) as f64);
    let one = 1.0 / (threads * events.powi(depth.max(1) as i32 - 1));
    // 1 - (1 - one)^runs, without losing small numbers.
    -(runs as f64 * (-one).ln_1p()).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::least_probability;

    #[test]
    fn the_bound_of_pct() {
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(near(least_probability(1, 2, 10, 1), 0.5));
        assert!(near(least_probability(2, 2, 10, 1), 0.75));
        assert!(near(least_probability(1, 2, 10, 3), 0.005));
        assert!(near(least_probability(1000, 1, 1, 5), 1.0));
    }
}
