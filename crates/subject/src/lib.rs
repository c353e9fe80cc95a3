//! Subjects: anything that can be run under a strategy.
//!
//! There is one door, [`Subject::run`]: recording, replay, confirmation and exploration all pass through it.
//! How the choices of a run are made is a [`Strategy`], and which ones it made is a [`Schedule`]; both are in the crate
//! `schedule`. Whoever searches the runs of a subject walks it step by step ([`Steps`]); what
//! they show is collected in [`answers`].

pub mod answers;
mod footprint;
mod steps;

pub use footprint::Footprint;
pub use schedule::{Departure, Ready, Schedule, Scheduler, Segment, SplitMix64, Strategy};
pub use steps::{Move, Steps};
pub use trace::Logging;

use ir::Program;
use trace::{Event, ThreadId, Trace};

/// Anything that can be run under a strategy.
pub trait Subject {
    /// What it is called in messages and in traces.
    fn name(&self) -> &str;

    /// Its program.
    fn program(&self) -> &Program;

    /// Runs it once. The same strategy on the same subject gives the identical trace.
    ///
    /// # Errors
    /// If the subject could not be run at all. A run that fails, crashes or blocks is a [`Run`].
    fn run(&self, strategy: &Strategy, logging: &Logging) -> Result<Run, RunError>;

    /// Runs it for as long as any thread can do something that does not end the process, and logs everything: what fails comes last.
    ///
    /// # Errors
    /// As for [`run`](Subject::run).
    fn exhaust(&self, strategy: &Strategy) -> Result<Exhausted, RunError> {
        let runs = vec![self.run(strategy, &Logging::Everything)?];
        Ok(Exhausted { runs, ..Exhausted::default() })
    }
}

/// A run that went on for as long as it could.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Exhausted {
    /// One run for each thread that can end the process then, one if none can. They differ in their last event only.
    pub runs: Vec<Run>,
    /// What each thread that has not ended would do next, but for those at the bound of a loop; `None` if the subject cannot keep back what fails,
    /// or does not know.
    pub pending: Option<Vec<Event>>,
    /// The threads that go round a loop for ever, each at the end of a round.
    pub going_round: Vec<ThreadId>,
}

/// What came of running a subject.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// The recorded run.
    pub trace: Trace,
    /// Where the run first differed from the schedule that it was to follow.
    pub departure: Option<Departure>,
    /// What it printed, if it does and that was kept.
    pub output: Option<String>,
}

/// Why a subject could not be run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RunError {
    /// The schedule is one of another program.
    #[error(
        "the schedule belongs to another program (fingerprint {schedule:016x}, this one has {subject:016x}); \
         or it was recorded with another --loop-bound; record a new one with `threadbare record`"
    )]
    OtherProgram {
        /// What the schedule says.
        schedule: u64,
        /// What the subject has.
        subject: u64,
    },
    /// It could not be run, and why.
    #[error("{0}")]
    NotRun(String),
}
