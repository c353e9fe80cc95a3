//! Names of points and chains.
//!
//! A point is only its chain and its position there; nothing is stored per point, so a million of them
//! cost nothing until a question is asked about them.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

/// Which solver made a handle. Each solver takes a new number, so that a foreign handle is noticed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Owner(u32);

impl Owner {
    pub(crate) fn fresh() -> Owner {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        Owner(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A line of points whose order among themselves is fixed, such as the events of one thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Chain {
    pub(crate) index: u32,
    pub(crate) owner: Owner,
}

/// A point in time: the `position`-th point of a chain.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Point {
    pub(crate) at: At,
    pub(crate) owner: Owner,
}

impl Point {
    /// The chain that the point lies on.
    pub fn chain(self) -> Chain {
        Chain { index: self.at.chain, owner: self.owner }
    }

    /// How many points of its chain come before it.
    pub fn position(self) -> u32 {
        self.at.position
    }
}

impl fmt::Debug for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "point {}.{}", self.at.chain, self.at.position)
    }
}

/// A point without its owner: what the theory works with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct At {
    pub(crate) chain: u32,
    pub(crate) position: u32,
}
