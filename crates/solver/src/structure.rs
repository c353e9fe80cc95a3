//! Constraints that are more than formulas: memory, exclusion, matching.

use crate::order::{Owner, Point};
use crate::terms::{Bool, Bv};

/// A write to a location.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    /// When it happens.
    pub at: Point,
    /// What it stores.
    pub value: Bv,
    /// Whether it happens at all. With a cut point this can stay the constant true: what is after the cut is
    /// after every read that counts.
    pub when: Bool,
}

/// A read of a location.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    /// When it happens. A read-modify-write is a read and a write at one point.
    pub at: Point,
    /// The value it gets: a variable made for it by [`crate::Solver::bv_var`]. **Zero if it does not happen.**
    pub value: Bv,
    /// Whether it happens: typically "before the cut".
    pub when: Bool,
    /// The source that the search should try first, such as the recorded one.
    pub likely: Option<Source>,
}

/// Where a read gets its value from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// The initial value of the location.
    Initial,
    /// The n-th write of the location, in the order in which they were given.
    Write(usize),
}

/// A location that was declared with [`crate::Solver::location`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    pub(crate) index: usize,
    pub(crate) owner: Owner,
}

/// A stretch of time that excludes others.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Its first point (the acquire).
    pub begin: Point,
    /// Its last point (the release), fixed after the first. Without one, nothing that excludes it can come later.
    pub end: Option<Point>,
    /// Whether it begins at all.
    pub when: Bool,
    /// Two shared sections do not exclude each other (readers of a read-write lock).
    pub shared: bool,
}

/// One that needs a giver of its own before it (a wait).
#[derive(Clone, Copy, Debug)]
pub struct Taker {
    /// When it takes.
    pub at: Point,
    /// The giver must come after this point (the begin of the wait).
    pub after: Option<Point>,
    /// Whether it takes at all.
    pub when: Bool,
}

/// One that can serve a later taker (a signal, a token).
#[derive(Clone, Copy, Debug)]
pub struct Giver {
    /// When it gives; without a point it is there from the start (an initial token).
    pub at: Option<Point>,
    /// It serves any number of takers (a broadcast).
    pub many: bool,
    /// Whether it gives at all.
    pub when: Bool,
}

/// A matching that was declared with [`crate::Solver::matching`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Matching {
    pub(crate) index: usize,
    pub(crate) owner: Owner,
}
