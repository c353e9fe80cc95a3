//! Findings: what the user is told (docs/design/witnesses.md, "What is reported").

use crate::{Candidate, Witness};
use ir::SiteId;
use serde::{Deserialize, Serialize};
use trace::{EventId, FaultKind, Location, Trace};

/// Who decided a candidate (docs/design/engines.md).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Engine {
    /// Constraints on our solver.
    Symbolic,
    /// A planner.
    Plan,
    /// Lock-valid runs from a cut point.
    Lockset,
    /// Linear-time, sound, incomplete.
    Sync,
}

impl Engine {
    /// Its name, as `--engine` has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Engine::Symbolic => "symbolic",
            Engine::Plan => "plan",
            Engine::Lockset => "lockset",
            Engine::Sync => "sync",
        }
    }
}

/// Why a block counts as a transaction (docs/design/candidates.md, "Transactions").
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Block {
    /// The source says so.
    Marked,
    /// One function takes this lock for each part of it.
    Lock(Location),
    /// It is one call of a function.
    Function,
    /// What is written is computed from what was read.
    Update,
}

/// A candidate that is feasible, and what came of showing it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// What.
    pub candidate: Candidate,
    /// The instructions of the candidate's events, in their order: findings with the same ones are grouped.
    pub sites: Vec<SiteId>,
    /// What its events access, where it is about one location.
    pub location: Option<Location>,
    /// For an atomicity violation: why the block counts as a transaction.
    pub block: Option<Block>,
    /// A schedule that shows it.
    pub witness: Witness,
    /// Who found it.
    pub engine: Engine,
    /// Whether the subject was seen to do it.
    pub standing: Standing,
    /// What it leads to.
    pub consequence: Consequence,
    /// How many more candidates of the same static places are feasible.
    pub others: u64,
    /// The run that showed it, or at least what a reader needs of it.
    pub run: Option<Box<Trace>>,
    /// What the program printed in that run, if it does.
    pub output: Option<String>,
}

/// Whether the subject was re-run and showed a finding.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Standing {
    /// It did.
    Confirmed,
    /// It was not seen, and why.
    Predicted(Unconfirmed),
}

/// Why a finding is not confirmed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Unconfirmed {
    /// The subject is not at hand.
    NotReplayed,
    /// There is no subject: the trace is another tool's.
    NoSubject,
    /// The run departed from the schedule.
    Departed {
        /// The first difference, in words.
        how: String,
        /// What it comes from, if that is known.
        cause: Option<Cause>,
        /// How often another schedule was looked for that does not have this cause.
        asked_again: u32,
    },
    /// The run followed the schedule and did not show it.
    NotShown,
    /// The subject could not be run; why, in words.
    NotRun(String),
}

/// What outside code did in a re-run that it had not done in the recorded run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Cause {
    /// At which event.
    pub event: EventId,
    /// Its instruction.
    pub site: SiteId,
    /// What.
    pub outside: Outside,
}

/// How outside code came out otherwise.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Outside {
    /// The call did not come back before the thread had to go on.
    DidNotComeBack,
    /// It had another result.
    Result {
        /// That of the recorded run.
        recorded: u64,
        /// That of the re-run.
        seen: u64,
    },
    /// Memory held something else that it had written.
    Memory,
}

/// What the replay led to when it went on to the program's end; the worst first.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Consequence {
    /// The process crashed.
    Crashed {
        /// At which event.
        event: EventId,
        /// How.
        kind: FaultKind,
    },
    /// An assertion failed.
    AssertionFailed {
        /// Which event.
        event: EventId,
    },
    /// Threads never went on.
    Deadlocked,
    /// A final state, an exit status or an output that no clean run shows; in words that follow "the program".
    OtherResult(String),
    /// No difference was seen.
    None,
    /// It was not replayed.
    NotSeen,
}

impl Finding {
    /// Counts another candidate of the same places, with these events. Two kinds of races of the same two accesses are one.
    pub fn count_other(&mut self, events: &[EventId]) {
        self.others += u64::from(self.candidate.events() != events);
    }

    /// Whether what is wrong was inferred and not said by the program: a transaction that is not marked, or that a wait wants a second look.
    #[must_use]
    pub fn is_inferred(&self) -> bool {
        let inferred = self.block.is_some_and(|block| block != Block::Marked);
        inferred || matches!(self.candidate, Candidate::Wakeup { .. })
    }
}

impl Consequence {
    /// Whether somebody would notice.
    #[must_use]
    pub fn is_visible(&self) -> bool {
        !matches!(self, Consequence::None | Consequence::NotSeen)
    }
}
