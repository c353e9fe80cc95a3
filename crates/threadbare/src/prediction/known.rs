//! Findings that are known: suppressed with a reason, or in a baseline. They are counted, and fail nothing.

use crate::load;
use anyhow::{Context as _, bail};
use report::Report;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Where suppressions are looked for if no file is given.
const DEFAULT_FILE: &str = "threadbare.suppressions";

/// What is known before anything is run.
#[derive(Debug, Default)]
pub struct Known {
    /// The file, and why each of its findings is suppressed.
    suppressed: Option<(PathBuf, BTreeMap<u64, String>)>,
    baseline: Option<(PathBuf, BTreeSet<u64>)>,
}

impl Known {
    /// Reads what is known.
    pub fn read(suppressions: Option<&Path>, baseline: Option<&Path>) -> anyhow::Result<Known> {
        let default = Path::new(DEFAULT_FILE);
        let file = suppressions.or_else(|| default.exists().then_some(default));
        Ok(Known {
            suppressed: match file {
                Some(path) => Some((path.to_owned(), suppressions_of(path)?)),
                None => None,
            },
            baseline: match baseline {
                Some(path) => Some((path.to_owned(), baseline_of(path)?)),
                None => None,
            },
        })
    }

    /// Takes what is known out of a report; gives what is to be said about it.
    pub fn take_out(&self, report: &mut Report) -> String {
        let mut text = String::new();
        let mut known = 0;
        if let Some((path, ids)) = &self.baseline {
            report.findings.retain(|finding| {
                let is_new = !ids.contains(&finding.fingerprint);
                known += usize::from(!is_new);
                is_new
            });
            if known > 0 {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "known from {}: {known}", path.display());
            }
        }
        if let Some((path, reasons)) = &self.suppressed {
            let mut used = BTreeSet::new();
            report.findings.retain(|finding| match reasons.get(&finding.fingerprint) {
                Some(reason) => {
                    used.insert(finding.fingerprint);
                    let _ = writeln!(text, "suppressed: {} ({reason})", finding.title);
                    false
                }
                None => true,
            });
            for id in reasons.keys().filter(|id| !used.contains(id)) {
                let _ = writeln!(text, "not needed this time: {id:016x} in {}", path.display());
            }
        }
        text
    }
}

/// Lines with the id of a finding and the reason why it is suppressed; `#` begins a comment.
fn suppressions_of(path: &Path) -> anyhow::Result<BTreeMap<u64, String>> {
    let mut reasons = BTreeMap::new();
    for (at, line) in load::text(path)?.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let place = || format!("{}: line {}", path.display(), at + 1);
        let (id, reason) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let id = u64::from_str_radix(id, 16).ok().filter(|_| id.len() == 16);
        let Some(id) = id else {
            bail!("{}: expected the id of a finding, as reports have it, and a reason", place())
        };
        if reason.trim().is_empty() {
            bail!("{}: a suppression needs a reason behind the id", place());
        }
        reasons.insert(id, reason.trim().to_owned());
    }
    Ok(reasons)
}

/// The findings of an earlier report in JSON.
fn baseline_of(path: &Path) -> anyhow::Result<BTreeSet<u64>> {
    let text = load::text(path)?;
    let report: serde_json::Value = serde_json::from_str(&text).with_context(|| {
        format!("{} is no report (`threadbare run --format json` makes one)", path.display())
    })?;
    let Some(findings) = report["findings"].as_array() else {
        bail!("{} is no report of findings (`threadbare run --format json` makes one)", path.display());
    };
    let id = |finding: &serde_json::Value| u64::from_str_radix(finding["id"].as_str()?, 16).ok();
    Ok(findings.iter().filter_map(id).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_suppression_needs_an_id_and_a_reason() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("s");
        let read = |text: &str| {
            std::fs::write(&file, text).unwrap();
            suppressions_of(&file).map_err(|error| error.to_string())
        };
        let known = read("# why\n\n0123456789abcdef a counter that may be wrong\n").unwrap();
        assert_eq!(known[&0x0123_4567_89ab_cdef], "a counter that may be wrong");
        assert!(read("0123456789abcdef\n").unwrap_err().contains("line 1: a suppression needs a reason"));
        assert!(read("\n12 why\n").unwrap_err().contains("line 2: expected the id"));
    }

    #[test]
    fn a_baseline_is_a_report() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("b");
        std::fs::write(&file, "{\"findings\": [{\"id\": \"00000000000000ff\"}]}").unwrap();
        assert_eq!(baseline_of(&file).unwrap(), BTreeSet::from([255]));
        for broken in ["", "[]", "{\"findings\": 3}"] {
            std::fs::write(&file, broken).unwrap();
            assert!(baseline_of(&file).unwrap_err().to_string().contains("is no report"), "{broken}");
        }
    }
}
