//! Why no concurrent trace program can be made: the trace does not fit the program, or lacks what is needed.

use ir::SiteId;
use trace::{EventId, Misfit, ThreadId};

/// Why there is no concurrent trace program of a trace.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CtpError {
    /// It is another program's.
    #[error(transparent)]
    Misfit(#[from] Misfit),
    /// It has not all events.
    #[error(
        "the trace leaves out events (it was recorded with other logging than everything): record the run again"
    )]
    Incomplete,
    /// The path of a thread leads elsewhere than to its next event.
    #[error(
        "event {event} is at instruction {} of the program, but its thread comes to instruction {}: the trace does not fit the program",
        found.0, expected.0
    )]
    OffPath {
        /// The event.
        event: EventId,
        /// Where the path leads.
        expected: SiteId,
        /// Where the event is.
        found: SiteId,
    },
    /// An event is not what its instruction does.
    #[error("event {event} is not what instruction {} of the program does: the trace does not fit the program", site.0)]
    WrongKind {
        /// The event.
        event: EventId,
        /// The instruction.
        site: SiteId,
    },
    /// A branch whose outcome neither the trace has nor its values give.
    #[error(
        "before event {event} its thread comes to instruction {} of the program, and nothing tells where it goes from there",
        site.0
    )]
    NoOutcome {
        /// On the way to which event.
        event: EventId,
        /// The branch.
        site: SiteId,
    },
    /// An event of a thread that has ended, or that has not begun.
    #[error("event {event} is of a thread that has nothing to run")]
    NoCode {
        /// The event.
        event: EventId,
    },
    /// A value that is used before it is there.
    #[error("instruction {} of the program uses a value that thread {thread} has not computed", site.0)]
    NoValue {
        /// Whose path.
        thread: ThreadId,
        /// The instruction.
        site: SiteId,
    },
    /// A loop that makes no event does not end.
    #[error("thread {thread} runs round and round at instruction {} of the program without an event", site.0)]
    Endless {
        /// Whose path.
        thread: ThreadId,
        /// Where.
        site: SiteId,
    },
    /// Events of a thread that are not numbered one after the other.
    #[error("event {event} is missing before the next one of its thread: the trace leaves out events")]
    Missing {
        /// The first that is missing.
        event: EventId,
    },
    /// A number of a location, allocation or thread that the trace does not have.
    #[error("event {event} names what the trace does not have")]
    Dangling {
        /// The event.
        event: EventId,
    },
    /// It took longer than it was given.
    #[error("the time was over when {walked} events had been walked along")]
    Time {
        /// How many events in all walks together.
        walked: u64,
    },
}

impl CtpError {
    /// Whether the code of a thread leads elsewhere than the trace: other code was run than the program has.
    #[must_use]
    pub fn is_off_path(&self) -> bool {
        matches!(
            self,
            CtpError::OffPath { .. }
                | CtpError::WrongKind { .. }
                | CtpError::NoOutcome { .. }
                | CtpError::NoCode { .. }
                | CtpError::NoValue { .. }
                | CtpError::Endless { .. }
        )
    }
}
