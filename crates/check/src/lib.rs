//! Exhaustive checks of small programs under memory models (MM): all executions of a bounded program at once,
//! as constraints.
//!
//! ```
//! use check::{Checker, Options, Verdict};
//! use check::cat::Model;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let source = "int x, y;
//!     thread A { x = 1; int r = y; }
//!     thread B { y = 1; int r = x; }
//!     exists (A.r == 0 && B.r == 0)";
//! let program = lang::compile(source, &lang::LowerOptions::default()).map_err(|e| e[0].clone())?;
//!
//! // Not if accesses are in one order...
//! let checker = Checker::new(&program, Options::default());
//! let Some((false, Verdict::Forbidden(core))) = checker.condition()? else { panic!() };
//! assert!(core.rules.iter().any(|(rule, _)| rule == "requireProgramOrder"));
//!
//! // ...but if writes wait in a buffer.
//! let tso = Model::shipped("tso").ok_or("it is there")?;
//! assert!(matches!(checker.under(&tso).condition()?, Some((true, Verdict::Allowed(_)))));
//! # Ok(())
//! # }
//! ```
//!
//! # How it works
//!
//! ```text
//!   program IR ──unfold──▶ events with path predicates, values as bit-vectors
//!                             │
//!        ┌────────────────────┼──────────────────────┐
//!        ▼                    ▼                      ▼
//!   time: points on      matrix: MM App. A      graph: rf and co as literals
//!   chains (SC, fast)    clause by clause,         │ relation: a cat model on it
//!        │               each rule a literal       │ each check a literal
//!        └────────────────────┼────────────────────┘
//!                             ▼
//!              checker: outcomes, verdicts, cores ──▶ execution, outcome, core
//! ```
//!
//! **Unfolding** ([`unfold()`]) walks each thread once, both ways at every branch, loops to their bound, and
//! gives events whose values are terms of the solver (MM §3.2.1). Synchronisation objects are words of
//! memory, so a model has only reads, writes and updates to speak of.
//!
//! **Sequential consistency** is asked in two ways that share only the unfolding: as points in time on the
//! solver's theory of order ([`Timed`]), which is fast, and as the matrix of MM App. A ([`Matrix`]), in which
//! every rule can be switched off and whose unsatisfiable cores say why an outcome is forbidden. **Other
//! models** are files in a subset of herd's `cat` ([`cat`]), evaluated on graphs of reads-from and coherence.
//!
//! **Races** (MM §5) and **atomic blocks** (MM §6, [`atomicity`]) are asked of prefixes of sequentially
//! consistent executions; races, if that is wanted, of those that the model allows (`models/races.cat`).
//!
//! # How we know that it is right
//!
//! For random programs the outcomes, the races and the blocks that can be broken into are those that the machine's enumeration of all schedules
//! gives (`tests/all/outcomes.rs`, `races.rs`, `atomicity.rs`); SC, TSO and PSO have the outcomes of machines with store buffers
//! (`tests/all/store_buffers.rs`); the standard litmus tests have the verdicts of the literature under every model, and each core is enough and minimal
//! (`tests/all/litmus_table.rs`); the paper's figures are tests (`tests/all/figures.rs`).
//!
//! # Limits
//!
//! Final states are those in which every thread ends: what deadlocks is for `explore`. Memory is made of cells that no access splits, as
//! the model language has it. The matrix, and with it switched-off rules of order, is for at most 100 events.

pub mod atomicity;
pub mod cat;
mod checker;
mod core;
mod describe;
mod error;
mod event;
mod execution;
mod fork_join;
mod graph;
mod happens_before;
pub mod litmus;
mod matrix;
mod outcome;
mod prepared;
mod race;
mod relation;
mod rule;
mod time;
mod unfold;

pub use checker::{Checker, Failure, Outcomes, Verdict, Wanted};
pub use core::Core;
pub use error::{Error, Result};
pub use event::{Access, Action, BlockId, Carrier, CellId, Check, Event, EventId, ThreadIndex};
pub use execution::{Execution, Operation};
pub use matrix::Matrix;
pub use outcome::Outcome;
pub use race::{Party, Race};
pub use rule::Rule;
pub use time::Timed;
pub use unfold::{AtomicBlock, MAX_EVENTS, Options, Thread, Unfolding, unfold};
