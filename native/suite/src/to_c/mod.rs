//! A program of the model language as one in C that does the same: the same accesses and operations, by the same threads, in the same order.
//!
//! C leaves open in which order operands are evaluated, so each event is a statement of its own, in the order of the model, and what it gives
//! is in a local. Each such line ends with the place in the model's source, `/* 3:9 */`, by which what is found in the two can be compared
//! ([`places`]). Where the model goes two ways C does, and where it does not (`r0 && r1` of two locals) C does not either.
//! Reads go through a volatile lvalue, because the compiler drops those of which nobody uses the value before the pass sees them.
//!
//! What has no such form is left out, and said:
//!
//! | left out | because |
//! |---|---|
//! | `assume` | C has nothing that ends a thread and calls the run off |
//! | `timedwait` | when its time is over is not up to the schedule of a compiled program |
//! | `wait(c)` without a mutex | POSIX has none |
//! | final conditions, locals that they observe | nobody asks in C |
//! | `compare_exchange`, shifts by what is no constant, arrays of objects, threads with several arguments | random programs have none |
//!
//! What C leaves undefined and a run of the model can show (a division by zero, an access out of bounds or of freed memory, an unlock of what is not held), and bounds of loops that
//! a run reaches, are for the caller to leave out: only the oracle knows. Signed overflow must wrap: `-fwrapv`.

mod access;
mod expression;
mod lines;
mod operation;
mod program;
mod statement;
mod words;

pub use lines::places;
pub use program::to_c;

/// Why a program has no twin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LeftOut(pub &'static str);

type Result<T> = std::result::Result<T, LeftOut>;
