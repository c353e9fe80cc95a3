//! When to give up, and how to be told so from outside.

use cadical_sys::Terminator;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Limits of one call of `solve`. The default has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Wall time.
    pub time: Option<Duration>,
    /// Conflicts of the SAT search.
    pub conflicts: Option<u32>,
    /// Resident memory of the whole process, in bytes (Linux only; elsewhere it is never exceeded).
    pub memory: Option<usize>,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stop {
    /// The time was up.
    Time,
    /// The conflicts were used up.
    Conflicts,
    /// The process had grown too large.
    Memory,
    /// Somebody called [`Interrupter::interrupt`].
    Interrupted,
}

/// Stops a running `solve` from another thread.
#[derive(Clone, Debug, Default)]
pub struct Interrupter(Arc<AtomicBool>);

impl Interrupter {
    /// Makes the running `solve`, or the next one, return soon. Stays in force until [`Interrupter::clear`].
    pub fn interrupt(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Allows solving again.
    pub fn clear(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Whether it is in force.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Asked by the SAT solver every now and then whether to stop.
#[derive(Default)]
pub(crate) struct Watchdog {
    pub(crate) interrupter: Interrupter,
    deadline: Option<Instant>,
    memory: Option<usize>,
    calls: u32,
    pub(crate) cause: Option<Stop>,
}

impl Watchdog {
    pub(crate) fn start(&mut self, limits: &Limits) {
        self.deadline = limits.time.map(|t| Instant::now() + t);
        self.memory = limits.memory;
        self.cause = None;
        self.calls = 0;
    }

    /// Looks at all limits; remembers which one was hit.
    pub(crate) fn look(&mut self) -> bool {
        if self.cause.is_none() {
            if self.interrupter.is_set() {
                self.cause = Some(Stop::Interrupted);
            } else if self.deadline.is_some_and(|d| Instant::now() >= d) {
                self.cause = Some(Stop::Time);
            } else if self.calls.is_multiple_of(64)
                && let Some(limit) = self.memory
                && resident_bytes().is_some_and(|used| used > limit)
            {
                self.cause = Some(Stop::Memory);
            }
            self.calls = self.calls.wrapping_add(1);
        }
        self.cause.is_some()
    }
}

impl Terminator for Watchdog {
    fn terminated(&mut self) -> bool {
        self.look()
    }
}

/// Resident memory of this process.
fn resident_bytes() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: usize = text.split_whitespace().nth(1)?.parse().ok()?;
    // Pages have 4 KiB on every platform that this file exists on with CaDiCaL's default build.
    pages.checked_mul(4096)
}
