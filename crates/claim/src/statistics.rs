//! Counts: the columns of AV Table 1, and what was covered.

use crate::Engine;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What a prediction did, in numbers. The names in parentheses are the columns of AV Table 1.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Statistics {
    /// Threads with events (`thrds`).
    pub threads: u64,
    /// Locations that more than one thread accesses (`svars`).
    pub shared_locations: u64,
    /// Events of the trace (`original`).
    pub events: u64,
    /// Events of the concurrent trace program (`simplify`).
    pub simplified: u64,
    /// Transactions (`regions`).
    pub transactions: u64,
    /// Potential atomicity violations (`orig-pavs`).
    pub potential: u64,
    /// Those that fork and join do not exclude (`hb-pavs`).
    pub after_happens_before: u64,
    /// Those that locks do not exclude either, values and other synchronisation left aside (`w/o data pavs`).
    pub without_data: u64,
    /// Those that are feasible (`sym-avs`).
    pub feasible: u64,
    /// Those that could not be decided.
    pub unknown: u64,
    /// Values that were taken as recorded, and why, most frequent first.
    pub pins: Vec<(String, u64)>,
    /// Where the time went (`sym-time`).
    pub times: PhaseTimes,
    /// What each engine did, in the order in which they were asked, if other ones than the symbolic engine were (PLAN Table 1).
    #[serde(default)]
    pub engines: Vec<EngineStatistics>,
}

/// What one engine did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct EngineStatistics {
    /// Which.
    pub engine: Engine,
    /// Candidates that it was asked about.
    pub asked: u64,
    /// Those of which it gave a run.
    pub runs: u64,
    /// Runs of these that turned out not to be feasible when the subject was run along them.
    pub refused: u64,
    /// Those that it has shown to be infeasible.
    pub infeasible: u64,
    /// The time that it took, re-runs left out.
    pub time: Duration,
    /// The time of re-runs that were needed to know whether its runs are feasible.
    pub replay: Duration,
}

impl EngineStatistics {
    /// Nothing yet.
    #[must_use]
    pub fn of(engine: Engine) -> EngineStatistics {
        let (time, replay) = (Duration::ZERO, Duration::ZERO);
        EngineStatistics { engine, asked: 0, runs: 0, refused: 0, infeasible: 0, time, replay }
    }

    /// Runs that are feasible.
    #[must_use]
    pub fn feasible(&self) -> u64 {
        self.runs - self.refused
    }
}

/// Time by phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PhaseTimes {
    /// Building the concurrent trace program.
    pub build: Duration,
    /// Candidates and filters.
    pub candidates: Duration,
    /// Encoding.
    pub encode: Duration,
    /// Solving.
    pub solve: Duration,
    /// Checking and minimising witnesses.
    pub witnesses: Duration,
    /// Replaying.
    pub replay: Duration,
}

/// What was looked at, so that nothing counts as fine that was skipped (docs/design/verdicts.md, "Coverage").
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Coverage {
    /// Candidates that were generated.
    pub candidates: u64,
    /// Feasible ones.
    pub feasible: u64,
    /// Infeasible ones, those that filters discarded included.
    pub infeasible: u64,
    /// Undecided ones.
    pub unknown: u64,
    /// Candidates that were left out because their static places have many others.
    pub left_out: u64,
    /// Events whose values were taken as recorded.
    pub pins: u64,
    /// Values whose rebuilt expression did not give the recorded value: faults of ours.
    pub mismatches: u64,
    /// Events at the end of recorded runs that were not looked at, because there was no time for them.
    pub events_left_out: u64,
    /// Only schedules were looked at in which a thread goes on behind a read only if that saw the same write as in the recorded run, because
    /// values are not known.
    pub same_writes: bool,
}

impl Statistics {
    /// Adds the numbers of another run; threads and locations are those of the largest.
    pub fn add(&mut self, other: &Statistics) {
        self.threads = self.threads.max(other.threads);
        self.shared_locations = self.shared_locations.max(other.shared_locations);
        self.events += other.events;
        self.simplified += other.simplified;
        self.transactions += other.transactions;
        self.potential += other.potential;
        self.after_happens_before += other.after_happens_before;
        self.without_data += other.without_data;
        self.feasible += other.feasible;
        self.unknown += other.unknown;
        for (reason, count) in &other.pins {
            match self.pins.iter_mut().find(|(known, _)| known == reason) {
                Some((_, known)) => *known += count,
                None => self.pins.push((reason.clone(), *count)),
            }
        }
        self.pins.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let (times, more) = (&mut self.times, &other.times);
        times.build += more.build;
        times.candidates += more.candidates;
        times.encode += more.encode;
        times.solve += more.solve;
        times.witnesses += more.witnesses;
        times.replay += more.replay;
        for more in &other.engines {
            match self.engines.iter_mut().find(|known| known.engine == more.engine) {
                Some(known) => {
                    known.asked += more.asked;
                    known.runs += more.runs;
                    known.refused += more.refused;
                    known.infeasible += more.infeasible;
                    known.time += more.time;
                    known.replay += more.replay;
                }
                None => self.engines.push(*more),
            }
        }
    }
}

impl Coverage {
    /// Adds what was looked at in another run.
    pub fn add(&mut self, other: &Coverage) {
        self.candidates += other.candidates;
        self.feasible += other.feasible;
        self.infeasible += other.infeasible;
        self.unknown += other.unknown;
        self.left_out += other.left_out;
        self.pins += other.pins;
        self.mismatches += other.mismatches;
        self.events_left_out += other.events_left_out;
        self.same_writes |= other.same_writes;
    }

    /// Whether every candidate was generated and decided.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.unknown == 0 && self.left_out == 0 && self.events_left_out == 0
    }
}
