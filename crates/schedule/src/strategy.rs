//! Strategies: how the choices of a run are made, as plain data.

use crate::Schedule;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How the choices of a run are made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Strategy {
    /// A thread runs until it blocks or ends; then the first one that can.
    RunToBlock,
    /// Threads take turns, each for this many visible events.
    RoundRobin {
        /// Visible events per turn, at least 1.
        quantum: u32,
    },
    /// Before each visible event a thread is drawn.
    Random {
        /// Where the draws start.
        seed: u64,
    },
    /// Probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): random priorities, the highest one runs,
    /// and at `depth - 1` random points the running thread drops below all others. Finds a bug of depth d
    /// among n threads and k events with a probability of at least 1/(n·k^(d-1)).
    Pct {
        /// Where the draws start.
        seed: u64,
        /// How many ordering constraints the bug needs, at least 1.
        depth: u32,
        /// How many visible events the run is expected to have, at least 1.
        length: u64,
    },
    /// Follow a schedule, and go on under another strategy after its end or after the first difference.
    Follow {
        /// What to follow.
        schedule: Schedule,
        /// What comes after it.
        then: Box<Strategy>,
    },
}

impl Strategy {
    /// Follow a schedule, and then let each thread run until it blocks.
    #[must_use]
    pub fn follow(schedule: Schedule) -> Strategy {
        Strategy::Follow { schedule, then: Box::new(Strategy::RunToBlock) }
    }

    /// One of many for several runs of the same program, of different kinds in turn: threads are drawn at each event, run by priorities, or
    /// take turns that become longer. `length` is how many visible events a run has, roughly.
    #[must_use]
    pub fn nth(n: u64, seed: u64, length: u64) -> Strategy {
        match n % 3 {
            0 => Strategy::Random { seed },
            1 => Strategy::Pct { seed, depth: 3, length: length.max(1) },
            _ => Strategy::RoundRobin { quantum: u32::try_from(n / 3 + 1).unwrap_or(u32::MAX) },
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Strategy::RunToBlock => f.write_str("run-to-block"),
            Strategy::RoundRobin { quantum } => write!(f, "round-robin, quantum {quantum}"),
            Strategy::Random { seed } => write!(f, "random, seed {seed}"),
            Strategy::Pct { seed, depth, length } => {
                write!(f, "pct, seed {seed}, depth {depth}, length {length}")
            }
            Strategy::Follow { then, .. } => write!(f, "follow a schedule, then {then}"),
        }
    }
}
