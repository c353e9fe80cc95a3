//! Concurrent trace programs: from a program and one of its traces to symbolic events
//! (docs/design/concurrent-trace-programs.md; AV §2–4.1).
//!
//! A trace has numbers, the program has the arithmetic between them. [`Ctp::build`] walks each thread's events along the
//! program ("both the execution trace and the program source code", AV §1) and gives, for each event that others can
//! notice, *expressions over the values of shared reads* in place of the recorded numbers. All else is gone: memory that
//! only one thread touches is forwarded, what nobody depends on is left out, constants are folded (AV §6).
//!
//! For who encodes a [`Ctp`]:
//!
//! - [`Ctp::events`] are in the recorded total order; [`Thread::events`] has those of each thread. Program order, fork and
//!   join are all the order that there is (AV Def. 1).
//! - An access does its reads ([`Target::reads`]) and writes ([`Target::writes`]) of whole [`Location`]s, at once. If
//!   a read, a write or a target has a `when`, it happens only if that holds, and a read that does not happen has the value 0.
//!   An event whose [`Access::hits`] does not hold is a fault.
//! - A thread goes on behind an event only if its [`Kind::condition_behind`] comes out as recorded; it does an
//!   [`Kind::Assume`] and comes behind a [`Kind::Require`] only if its condition holds. A [`Kind::Pin`] is an assumption of ours.
//! - Locks and all other synchronisation are as the trace has them ([`Kind::Other`]); outcomes of tries, of timed waits and of
//!   token counts are part of the path, as that of a branch is.

mod build;
mod error;
mod event;
mod expression;
mod fold;
mod ids;
mod layout;
mod model;
mod models;
mod objects;
mod pure;
mod rounds;
pub mod show;
mod slice;
mod space;
mod transactions;
mod updates;
mod value_set;
mod values;
mod walk;

pub use build::IsNoticed;
pub use error::CtpError;
pub use event::{Access, Decision, Event, Kind, Otherwise, PinReason, Target, Write};
pub use expression::{Expr, Expressions, bytes_width};
pub use ids::{EventIndex, ExprId, LocationId, ReadId, ThreadIndex};
pub use model::{
    Ctp, Failing, Location, Object, Phantom, Read, Rebuild, Settled, Standing, Thread, Transaction,
    TransactionOrigin,
};
pub use rounds::{Round, rounds};
pub use slice::Slices;
pub use walk::Phantoms;

use std::time::Instant;

/// How a concurrent trace program is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Which transactions are inferred where the program marks none.
    pub atomic: Atomic,
    /// An access whose address may be more than so many things is pinned to the recorded address.
    pub max_targets: usize,
    /// Then it is to be done, or given up.
    pub until: Option<Instant>,
    /// Decisions that do not depend on the schedule are wanted too, see [`Ctp::settled`].
    pub settled: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { atomic: Atomic::Locks, max_targets: 64, until: None, settled: false }
    }
}

/// What counts as a transaction if the program marks none (docs/design/candidates.md, "Transactions").
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Atomic {
    /// Nothing.
    Marked,
    /// The critical sections of one lock in one activation of a function, from the first to the last; and updates in two steps, from the
    /// read to the write of what was computed from it.
    Locks,
    /// Activations of functions, other than `main` and what threads run.
    Functions,
}
