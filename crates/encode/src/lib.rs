//! From a concurrent trace program to constraints (docs/design/feasibility.md; AV §4 and §5): order, values,
//! synchronisation, prefixes.
//!
//! An [`Encoding`] is made once for a trace. It says which prefixes of which orders of the events are feasible, and knows no
//! property: who asks adds assumptions about a few events. The words in which to ask:
//!
//! - [`Encoding::inside`]: an event is in the prefix. A prefix is what lies before the *cut*, a point in time, so that it is closed
//!   under program order, fork and join by the order alone.
//! - [`Encoding::next`]: its thread stands before the event when the prefix ends.
//! - [`Encoding::before`]: one event is before another.
//! - [`Encoding::term`], [`Encoding::condition`]: the value of an expression of the concurrent trace program.
//! - [`Encoding::knowledge`]: C11's happens-before orders one event before another (`happens_before`).
//!
//! What is inside a prefix comes out as recorded, so that the thread can go on, with these exceptions. A compare-exchange may come
//! out the other way, and its thread stops behind it: others can see what it has written. The same holds for tries that failed in the
//! recorded run and now succeed: they keep a lock or a token for good, and that can make another try fail as recorded. All other
//! differing outcomes have no effect on others, so the event is left out instead. Faults and failing assertions are never inside: a
//! thread stands before them.
//!
//! Departures from AV: reads-from is decided by the solver's theory of memory and not written out as Φ_PI; synchronisation is not
//! written as guarded assignments (AV §2) but as exclusion and counting; a prefix is a cut and not the exemption of reads
//! behind the violation (AV §5), which excludes what AV Fig. 6 shows once locks come into it.

mod accesses;
mod context;
mod encoding;
mod happens_before;
mod memory;
mod order;
mod reasons;
mod switches;
mod sync;
mod terms;
mod witness;

pub use context::Context;
pub use encoding::Encoding;
pub use happens_before::{Knowledge, OtherOrders};
pub use solver::{Answer, Bool, Bv, Error, Interrupter, Limits, Result, Stop};
pub use sync::{Blocked, Section, Wait};

use ctp::{EventIndex, LocationId};
use rustc_hash::FxHashSet;

/// Which schedules count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// All prefixes (AV §5).
    #[default]
    Prefixes,
    /// Only those that run all events of the trace, each as recorded (AV §4). In such a schedule no event is left to be next, so
    /// that accesses that are both next, failures and deadlocks are infeasible by definition; executed events can be asked about.
    Full,
}

/// How much of the program is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Model {
    /// All of it: the concurrent trace program.
    #[default]
    Program,
    /// No values, only control and synchronisation (AV's appendix): an over-approximation.
    Cam,
    /// Reads keep their recorded values, the maximal causal model (AV §1): an under-approximation.
    Causal,
}

/// How to encode.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Which schedules count.
    pub mode: Mode,
    /// How much is looked at.
    pub model: Model,
    /// Whether unsatisfiable cores are to say which lock, branch or fork is to blame. Costs an assumption for each.
    pub explain: bool,
    /// At most so many context switches.
    pub switches: Option<u32>,
    /// Writes for which [`Encoding::content_before`] will be asked.
    pub contents_before: FxHashSet<EventIndex>,
    /// Locations for which [`Encoding::would_write_at_cut`], [`Encoding::condition_at_cut`] or [`Encoding::unchanged_at_cut`] will be asked.
    pub contents_at_cut: FxHashSet<LocationId>,
}
