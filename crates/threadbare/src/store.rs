//! The working directory `.threadbare`: what runs have found, by id, so that it can be listed, shown and replayed later.
//!
//! Each run is a directory that is made aside and then renamed into its place: two runs at once do not disturb each other, and what an
//! interrupted one leaves is never taken for a result. The id is made of what was found, so the same result has the same id.

use crate::output;
use anyhow::{Context as _, bail};
use report::Report;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

const DIRECTORY: &str = ".threadbare";

/// How a program is run again: the arguments of `threadbare replay` before the schedule, and behind it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Invocation {
    before: Vec<Vec<u8>>,
    behind: Vec<Vec<u8>>,
}

impl Invocation {
    /// From the words of a command line.
    pub fn new(before: Vec<OsString>, behind: Vec<OsString>) -> Invocation {
        let bytes = |words: Vec<OsString>| words.into_iter().map(OsString::into_vec).collect();
        Invocation { before: bytes(before), behind: bytes(behind) }
    }

    /// The words of `threadbare replay` with this schedule.
    pub fn words(&self, schedule: &Path) -> Vec<OsString> {
        let words = |words: &[Vec<u8>]| words.iter().cloned().map(OsString::from_vec).collect::<Vec<_>>();
        let mut all: Vec<OsString> = vec!["threadbare".into(), "replay".into()];
        all.extend(words(&self.before));
        all.push(schedule.as_os_str().to_owned());
        all.extend(words(&self.behind));
        all
    }

    /// As somebody would type it: what comes before the schedule, and what comes behind.
    pub fn text(&self) -> (String, String) {
        let words = |words: &[Vec<u8>]| -> String {
            words
                .iter()
                .map(|word| format!(" {}", output::shell_quoted(&String::from_utf8_lossy(word))))
                .collect()
        };
        (format!("threadbare replay{}", words(&self.before)), words(&self.behind))
    }
}

/// What is said about a run in a list.
#[derive(Serialize, Deserialize)]
struct Summary {
    subject: String,
    titles: Vec<String>,
    invocation: Invocation,
}

/// A run that was kept.
pub struct Kept {
    /// Its id.
    pub id: String,
    /// What was run.
    pub subject: String,
    /// The findings' titles.
    pub titles: Vec<String>,
    directory: PathBuf,
    invocation: Invocation,
}

/// Keeps a report; gives its id.
pub fn keep(report: &Report, text: &str, json: &str, invocation: &Invocation) -> anyhow::Result<String> {
    let id = id(report);
    let runs = Path::new(DIRECTORY).join("runs");
    std::fs::create_dir_all(&runs).with_context(|| format!("cannot create {}", runs.display()))?;
    let aside =
        tempfile::Builder::new().prefix(".new-").tempdir_in(&runs).context("cannot make a directory")?;
    let write = |name: &str, content: &[u8]| {
        std::fs::write(aside.path().join(name), content).with_context(|| format!("cannot write {name}"))
    };
    write("report.txt", text.as_bytes())?;
    write("report.json", json.as_bytes())?;
    for (at, finding) in report.findings.iter().enumerate() {
        write(&format!("{}.schedule", at + 1), finding.schedule.as_bytes())?;
    }
    let titles = report.findings.iter().map(|finding| finding.title.clone()).collect();
    let summary = Summary { subject: report.subject.clone(), titles, invocation: invocation.clone() };
    write("summary.json", &serde_json::to_vec_pretty(&summary)?)?;
    let target = runs.join(&id);
    // A directory takes the place of another only if that is empty, so an earlier one is moved away first.
    if target.exists() {
        let old =
            tempfile::Builder::new().prefix(".old-").tempdir_in(&runs).context("cannot make a directory")?;
        let _ = std::fs::rename(&target, old.path().join(&id));
    }
    let made = aside.keep();
    if std::fs::rename(&made, &target).is_err() {
        // Another run with the same result was faster.
        let _ = std::fs::remove_dir_all(&made);
    }
    Ok(id)
}

/// The name of the program and four digits of what was found.
fn id(report: &Report) -> String {
    let stem = Path::new(&report.subject)
        .file_stem()
        .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let stem: String = stem
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' })
        .collect();
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let words =
        report.findings.iter().map(|finding| format!("{:x} {}", finding.fingerprint, finding.schedule));
    for byte in words.chain(report.recorded.iter().cloned()).flat_map(String::into_bytes) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{stem}-{:04x}", (hash ^ (hash >> 16) ^ (hash >> 32) ^ (hash >> 48)) & 0xffff)
}

/// All runs that were kept, the latest first.
pub fn list() -> anyhow::Result<Vec<Kept>> {
    let runs = Path::new(DIRECTORY).join("runs");
    let mut found = vec![];
    let entries = match std::fs::read_dir(&runs) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(vec![]),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", runs.display())),
    };
    for entry in entries.flatten() {
        let id = entry.file_name().to_string_lossy().into_owned();
        if id.starts_with('.') {
            continue;
        }
        let when = entry.metadata().and_then(|metadata| metadata.modified()).ok();
        // What cannot be read is not of this version, or not ours.
        if let Ok(kept) = open(&id) {
            found.push((when, kept));
        }
    }
    found.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| one.id.cmp(&other.id)));
    Ok(found.into_iter().map(|(_, kept)| kept).collect())
}

/// The run with this id.
pub fn open(id: &str) -> anyhow::Result<Kept> {
    let directory = Path::new(DIRECTORY).join("runs").join(id);
    if id.contains(['/', '\\']) || id.starts_with('.') || !directory.is_dir() {
        bail!("there is no run `{id}` here; `threadbare list` shows those that were kept");
    }
    let text = std::fs::read(directory.join("summary.json"))
        .with_context(|| format!("the run `{id}` is damaged"))?;
    let summary: Summary = serde_json::from_slice(&text)
        .with_context(|| format!("the run `{id}` is damaged, or of another version"))?;
    let Summary { subject, titles, invocation } = summary;
    Ok(Kept { id: id.to_owned(), subject, titles, directory, invocation })
}

impl Kept {
    /// The report for people.
    pub fn text(&self) -> anyhow::Result<String> {
        crate::load::text(&self.directory.join("report.txt"))
    }

    /// The command line that replays its n-th finding, counted from 1.
    pub fn replay(&self, n: usize) -> anyhow::Result<Vec<OsString>> {
        let schedule = self.directory.join(format!("{n}.schedule"));
        if !schedule.exists() {
            bail!("the run `{}` has {} findings, and no {n}.", self.id, self.titles.len());
        }
        Ok(self.invocation.words(&schedule))
    }

    /// Throws it away.
    pub fn remove(&self) -> anyhow::Result<()> {
        std::fs::remove_dir_all(&self.directory)
            .with_context(|| format!("cannot remove {}", self.directory.display()))
    }
}
