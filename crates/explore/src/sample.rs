//! Runs under drawn schedules, for programs that are too large to be gone through.
//!
//! What a sample shows is real; what it does not show may still be there. For priorities with few changes (PCT; Burckhardt, Kothari,
//! Musuvathi, Nagarakatte, ASPLOS 2010) there is a bound on how likely a bug is missed: [`least_probability`].

use ir::SiteId;
use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use subject::{Run, RunError, Schedule, Segment, SplitMix64, Strategy, Subject};
use trace::{FaultKind, Logging, Outcome, ThreadId, Trace};

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
    /// How many had more context switches than they may have; what they show does not count.
    pub beyond: u64,
    /// What went wrong.
    pub wrong: BTreeMap<Wrong, Found>,
    /// The most threads that a run had, and the most events.
    pub threads: u64,
    /// See `threads`.
    pub events: u64,
}

/// Runs a subject under each strategy; of what the runs show only that counts which needs at most `switches` context switches. `breaks` says whether a run that completed broke the final condition; `each` is told of every run,
/// and says whether to go on.
///
/// # Errors
/// If the subject cannot be run.
pub fn sample(
    subject: &impl Subject,
    strategies: impl Iterator<Item = Strategy>,
    switches: Option<u32>,
    breaks: &dyn Fn(&Run) -> bool,
    each: &mut dyn FnMut(&Run, &Sampled) -> bool,
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
        let go_on = each(&run, &sampled);
        let made = run.trace.switches.len().saturating_sub(1);
        match wrong(&run, breaks) {
            _ if switches.is_some_and(|most| made > most as usize) => sampled.beyond += 1,
            Ok(None) => {}
            Ok(Some(wrong)) => sampled.take(wrong, run),
            Err(Cut) => sampled.cut += 1,
        }
        if !go_on {
            break;
        }
    }
    Ok(sampled)
}

/// A schedule with at most so many context switches, drawn: who runs, and for how long. `first` is some run, which says who there is and how many
/// events they have. Behind the schedule, or where the program does not follow it, a thread runs until it blocks.
#[must_use]
pub fn draw(seed: u64, switches: u32, first: &Trace) -> Strategy {
    let mut random = SplitMix64(seed);
    let mut all: BTreeMap<ThreadId, u64> = BTreeMap::new();
    all.extend(first.switches.iter().map(|switch| (switch.thread, switch.until)));
    let mut done: BTreeMap<ThreadId, u64> = BTreeMap::new();
    let mut schedule = Schedule::default();
    for _ in 0..=switches {
        let last = schedule.segments.last().map(|segment| segment.thread);
        let left = |thread: &ThreadId| all[thread] - done.get(thread).copied().unwrap_or(0);
        let who: Vec<ThreadId> =
            all.keys().copied().filter(|thread| Some(*thread) != last && left(thread) > 0).collect();
        let thread = match (last, &who[..]) {
            (_, []) => break,
            // Nobody else is sure to be there from the start.
            (None, _) => first.switches[0].thread,
            (Some(_), who) => who[random.below(who.len() as u64) as usize],
        };
        let until = all[&thread] - random.below(left(&thread));
        done.insert(thread, until);
        schedule.segments.push(Segment { thread, until, site: None });
    }
    Strategy::follow(schedule)
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
