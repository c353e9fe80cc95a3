//! SMT-LIB 2: any query as text for other solvers, and a reader of what is written here.
//!
//! Points become integers, "before" becomes `<`. An order literal `p` of points `a` and `b` is a Boolean
//! constant with `(ite p (< a b) (< b a))`, since of two points one is always first. Order is used only
//! positively, so an integer solution with ties can be made strict. Memory is written out as in [AV §4.2],
//! with its cubic size: this is for comparison and exchange, not for speed.

mod export;
mod read;
mod sexpr;

pub use read::{Outcome, Script};
