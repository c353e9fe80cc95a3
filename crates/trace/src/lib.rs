//! Traces: the events of one run, in memory and in a file.
//!
//! A [`Trace`] says what ran ([`Origin`]), which threads there were, the events in their total order, the
//! schedule (every switch with the threads that were enabled there, and the choices other than threads), and
//! how the run ended. On disk it is a stream of checksummed blocks ([`mod@file`]), so that a run that is killed
//! leaves a trace that can be read up to the cut.

mod beginning;
mod check;
mod event;
pub mod file;
mod fits;
mod json;
mod location;
mod names;
mod places;
mod run;
mod show;

pub use check::Inconsistency;
pub use event::{
    AccessKind, AllocationId, COMPARE_EXCHANGE_NUMBERS, Event, EventId, EventKind, Location, LockMode,
    UPDATE_NUMBERS, WakeReason,
};
pub use fits::Misfit;
pub use json::{JSON_VERSION, to_json, write_json};
pub use places::Places;
pub use run::{
    Allocation, AllocationOrigin, BlockedThread, FaultKind, Logging, Origin, Outcome, Switch, ThreadInfo,
    Trace, WaitsFor,
};
pub use schedule::{Choice, ThreadId, ThreadIdError};
pub use show::{ExcerptRow, ShowOptions, excerpt, first_difference, show, show_events, show_excerpt};
