//! The identity of threads.
//!
//! A thread is named by its place in the tree of forks: the parent and the number of the parent's forks
//! before it. That name is the same in every schedule in which the parents follow the same path, unlike
//! a kernel's id or the order of creation, so events and schedules of different runs can be compared.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A thread, as its path in the tree of forks.
///
/// The path is a prefix code: `main` is the bit 1, and a child appends the Elias-gamma code of its number
/// (counted from 1) to its parent's bits. Different paths give different codes, and the code of a path does not
/// depend on the schedule. 64 bits hold two thousand million children of `main`, or four levels of 255.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct ThreadId(u64);

impl ThreadId {
    /// The thread that all others descend from. A program whose threads all exist from the start has them as
    /// children of `MAIN`, which itself then has no events.
    pub const MAIN: ThreadId = ThreadId(1);

    /// The child that this thread forks after `earlier` others, unless the path is too long for its code.
    #[must_use]
    pub fn child(self, earlier: u64) -> Option<ThreadId> {
        let number = earlier.checked_add(1)?;
        let digits = 2 * number.ilog2() + 1;
        if self.0.leading_zeros() < digits {
            return None;
        }
        Some(ThreadId(self.0.checked_shl(digits)? | number))
    }

    /// The path from `MAIN`: for each level how many siblings are older.
    #[must_use]
    pub fn path(self) -> Vec<u64> {
        Levels::of(self.0).collect()
    }

    /// The bits of the code.
    #[must_use]
    pub fn code(self) -> u64 {
        self.0
    }

    /// The thread with this code, if `child` can make it.
    #[must_use]
    pub fn from_code(code: u64) -> Option<ThreadId> {
        if code == 0 {
            return None;
        }
        let mut levels = Levels::of(code);
        levels.by_ref().for_each(drop);
        (levels.left == 0).then_some(ThreadId(code))
    }
}

/// The levels of a code, from `MAIN` down; ends early, with bits left, at what is no code.
struct Levels {
    code: u64,
    /// How many bits are not read yet.
    left: u32,
}

impl Levels {
    /// `code` is not 0.
    fn of(code: u64) -> Levels {
        Levels { code, left: 63 - code.leading_zeros() }
    }
}

impl Iterator for Levels {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.left == 0 {
            return None;
        }
        let rest = self.code << (64 - self.left);
        let digits = 2 * rest.leading_zeros() + 1;
        if digits > self.left {
            return None; // not a code that `child` makes
        }
        self.left -= digits;
        Some((rest >> (64 - digits)) - 1)
    }
}

impl TryFrom<u64> for ThreadId {
    type Error = String;

    fn try_from(code: u64) -> Result<ThreadId, String> {
        ThreadId::from_code(code).ok_or_else(|| format!("{code} is no code of a thread"))
    }
}

impl From<ThreadId> for u64 {
    fn from(thread: ThreadId) -> u64 {
        thread.0
    }
}

impl fmt::Display for ThreadId {
    /// `main`, `main.2`, `main.2.1`: children are counted from 1.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("main")?;
        self.path().into_iter().try_for_each(|n| write!(f, ".{}", n + 1))
    }
}

impl FromStr for ThreadId {
    type Err = ThreadIdError;

    /// Reads what `Display` writes.
    fn from_str(text: &str) -> Result<ThreadId, ThreadIdError> {
        let wrong = || ThreadIdError(text.to_owned());
        let mut parts = text.split('.');
        if parts.next() != Some("main") {
            return Err(wrong());
        }
        parts.try_fold(ThreadId::MAIN, |parent, part| {
            let number: u64 = part.parse().map_err(|_| wrong())?;
            number.checked_sub(1).and_then(|earlier| parent.child(earlier)).ok_or_else(wrong)
        })
    }
}

/// Why a text is no thread.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is no thread; threads are written `main`, `main.2`, `main.2.1`")]
pub struct ThreadIdError(String);

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_different_paths_differ_and_give_the_path_back() {
        let mut seen = std::collections::BTreeSet::from([ThreadId::MAIN]);
        let mut level = vec![ThreadId::MAIN];
        for _ in 0..3 {
            level = level.iter().flat_map(|t| (0..9).filter_map(|n| t.child(n))).collect();
            assert_eq!(level.len() % 9, 0);
            for &thread in &level {
                assert!(seen.insert(thread), "{thread} twice");
                assert_eq!(ThreadId::from_code(thread.code()), Some(thread));
            }
        }
        let deep = ThreadId::MAIN.child(4).and_then(|t| t.child(0)).and_then(|t| t.child(254)).unwrap();
        assert_eq!(deep.path(), [4, 0, 254]);
        assert_eq!(deep.to_string(), "main.5.1.255");
    }

    #[test]
    fn a_path_that_does_not_fit_is_refused() {
        assert!(ThreadId::MAIN.child((1 << 31) - 1).is_some());
        assert!(ThreadId::MAIN.child(1 << 32).is_none());
        assert!(ThreadId::MAIN.child(u64::MAX).is_none());
        assert!(ThreadId::from_code(0).is_none());
        assert!(ThreadId::from_code(0b10).is_none());
    }

    #[test]
    fn a_code_is_accepted_exactly_if_children_make_it() {
        for code in 1..100_000u64 {
            let rebuilt = ThreadId(code).path().into_iter().try_fold(ThreadId::MAIN, ThreadId::child);
            assert_eq!(
                ThreadId::from_code(code),
                (rebuilt == Some(ThreadId(code))).then_some(ThreadId(code))
            );
        }
        assert!(postcard::from_bytes::<ThreadId>(&[1]).is_ok());
        assert!(postcard::from_bytes::<ThreadId>(&[0]).is_err());
    }
}
