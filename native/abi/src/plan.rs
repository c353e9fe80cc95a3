//! What `native` asks of the runtime: a file that the environment variable [`VARIABLE`] names.
//!
//! The file is a [`Plan`], encoded by postcard. The first process that has a runtime and that takes the plan (it creates
//! [`taken`](Plan::taken)) is the subject; every other one runs as if it were not instrumented.

use alloc::{string::String, vec::Vec};
use serde::{Deserialize, Serialize};

/// The environment variable that names the plan's file. Without it a program runs as if it were not instrumented.
pub const VARIABLE: &str = "THREADBARE_PLAN";

/// What a run is to do. `S` is `schedule::Strategy`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Plan<S> {
    /// [`crate::VERSION`] of `native`.
    pub version: u32,
    /// The file that says that the plan is taken; the runtime creates it, and fails if it exists.
    pub taken: String,
    /// The file for the log; it exists and is empty. On a file system in memory it costs no writing.
    pub log: String,
    /// How choices are made.
    pub strategy: S,
    /// What is kept.
    pub logging: Logging,
    /// The modules of the program. Others, those of libraries, are numbered behind them, in the order in which they register.
    pub modules: Vec<Module>,
    /// The log stops growing at so many bytes, counted as if nothing were packed; the run goes on, and is counted.
    pub most_bytes: u64,
    /// The run ends after so many events of all threads together.
    pub most_events: u64,
    /// Whether waits may end without a reason.
    pub spurious: bool,
    /// Freed memory that each thread keeps from use, in bytes.
    pub quarantine: u64,
    /// Values for `__VERIFIER_nondet_*`, in the order of the calls; 0 behind them.
    pub inputs: Vec<u64>,
    /// Stop (`SIGTRAP`) when this thread's event of this number is next: a debugger takes over.
    pub stop_at: Option<(u64, u64)>,
    /// The number of a socket on which runs are asked for ([`crate::serve`]); what else is here, but for the files, they say themselves.
    pub serve: Option<i32>,
}

/// The sites of a module in the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Module {
    /// Its [`Header::id`](crate::Header).
    pub id: u64,
    /// The number of its first site, at least 1.
    pub first: u32,
    /// How many sites it has.
    pub sites: u32,
}

/// Which units and notes are kept. Synchronisation, threads and faults always are; allocations where accesses are.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Logging {
    /// All.
    Everything,
    /// No accesses; which memory more than one thread touched is found out and told at the end.
    Sharedness,
    /// No accesses, and nothing found out.
    Schedule,
    /// Accesses in these ranges of addresses, sorted and apart: start and end.
    Ranges(Vec<(u64, u64)>),
    /// Everything between these counts of events of the whole run.
    Window {
        /// First, counted from 0.
        from: u64,
        /// End.
        to: u64,
    },
}
