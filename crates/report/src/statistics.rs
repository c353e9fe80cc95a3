//! How much of a compiled run could be rebuilt.

use std::fmt::Write as _;

/// What rebuilding a run found, with places in words.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rebuilt {
    /// Accesses of memory.
    pub accesses: u64,
    /// Those that were computed.
    pub rebuilt: u64,
    /// The others by reason, most frequent first.
    pub pinned: Vec<(String, u64)>,
    /// Branches that depend on shared memory.
    pub shared_branches: u64,
    /// Those of them that depend on something pinned, by reason.
    pub pinned_branches: Vec<(String, u64)>,
    /// How often the way was lost, by reason.
    pub lost: Vec<(String, u64)>,
    /// How often something was computed otherwise than recorded.
    pub mismatches: u64,
    /// The first of them.
    pub first_mismatches: Vec<String>,
    /// How often memory changed without an event.
    pub external_writes: u64,
    /// The first times.
    pub first_external: Vec<String>,
}

/// The statistics as text.
#[must_use]
pub fn statistics(rebuilt: &Rebuilt) -> String {
    let mut text = String::new();
    let sum = |list: &[(String, u64)]| list.iter().map(|(_, count)| count).sum::<u64>();
    // Writing to a string cannot fail.
    let mut line = |depth: usize, what: &str, count: u64, share: Option<u64>| {
        let share = match share {
            Some(all) if all > 0 => format!(" ({:.1} %)", 100.0 * count as f64 / all as f64),
            _ => String::new(),
        };
        let _ = writeln!(text, "{:indent$}{what}: {count}{share}", "", indent = 2 * depth);
    };
    line(0, "accesses", rebuilt.accesses, None);
    line(1, "rebuilt", rebuilt.rebuilt, Some(rebuilt.accesses));
    line(1, "pinned", sum(&rebuilt.pinned), Some(rebuilt.accesses));
    rebuilt.pinned.iter().for_each(|(reason, count)| line(2, reason, *count, None));
    line(0, "branches that depend on shared memory", rebuilt.shared_branches, None);
    line(1, "pinned", sum(&rebuilt.pinned_branches), Some(rebuilt.shared_branches));
    rebuilt.pinned_branches.iter().for_each(|(reason, count)| line(2, reason, *count, None));
    if !rebuilt.lost.is_empty() {
        line(0, "begun anew, because the way was lost", sum(&rebuilt.lost), None);
        rebuilt.lost.iter().for_each(|(reason, count)| line(1, reason, *count, None));
    }
    line(0, "writes by code that is not instrumented", rebuilt.external_writes, None);
    line(0, "mismatches", rebuilt.mismatches, None);
    for each in rebuilt.first_external.iter().map(|write| format!("a write from outside, {write}")) {
        let _ = writeln!(text, "note: {each}");
    }
    for each in &rebuilt.first_mismatches {
        let _ = writeln!(text, "mismatch (a bug of Threadbare, please report it): {each}");
    }
    text
}
