//! Searches that were interrupted: what they have done is in `.threadbare/explorations/`, and `--resume` goes on from there.
//!
//! The file is written aside and renamed, every few seconds and when the user has had enough, so that there is always a whole one. It belongs to one
//! question: another program, or the same one asked otherwise, does not find it.

use crate::cli::ExploreArguments;
use crate::output;
use anyhow::{Context as _, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Changes when what is kept means something else.
const VERSION: u32 = 1;

/// How often it is written.
const INTERVAL: Duration = Duration::from_secs(5);

/// What is in the file.
#[derive(Serialize, Deserialize)]
struct Content<T> {
    version: u32,
    question: String,
    done: T,
}

/// Where a search keeps what it has done.
pub struct Kept {
    path: Option<PathBuf>,
    question: String,
    written: Instant,
}

impl Kept {
    /// Of a search for this, in this program.
    pub fn new(arguments: &ExploreArguments, fingerprint: u64) -> Kept {
        let predict = &arguments.predict;
        let question = format!(
            "{} {fingerprint:016x} {:?} {} {:?} {:?} {:?} {:?} {:?}",
            super::runs::name(arguments.strategy),
            arguments.reduction,
            arguments.options.spurious,
            predict.switches,
            predict.only,
            predict.atomic,
            predict.pattern,
            arguments.arguments,
        );
        let stem = arguments
            .program
            .file_stem()
            .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let stem: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let name = format!("{stem}-{:016x}.state", hash(&question));
        let directory = Path::new(".threadbare").join("explorations");
        let path = (!predict.no_keep).then(|| directory.join(name));
        Kept { path, question, written: Instant::now() }
    }

    /// What was done, if it is asked to go on from there.
    pub fn load<T: DeserializeOwned>(&self, arguments: &ExploreArguments) -> anyhow::Result<Option<T>> {
        if !arguments.resume {
            return Ok(None);
        }
        let Some(path) = &self.path else { bail!("--resume and --no-keep do not go together") };
        if !path.exists() {
            bail!(
                "{}: no exploration of this program, asked like this, was interrupted here",
                arguments.program.display()
            );
        }
        let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let content: Content<T> = (postcard::from_bytes(&bytes).ok())
            .filter(|content: &Content<T>| content.version == VERSION && content.question == self.question)
            .with_context(|| format!("{} is damaged, or of another version", path.display()))?;
        Ok(Some(content.done))
    }

    /// Whether it is time to write again.
    pub fn is_due(&self) -> bool {
        self.path.is_some() && self.written.elapsed() >= INTERVAL
    }

    /// Writes what is done.
    pub fn save<T: Serialize>(&mut self, done: &T) -> anyhow::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let content = Content { version: VERSION, question: self.question.clone(), done };
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory)
                .with_context(|| format!("cannot create {}", directory.display()))?;
        }
        let bytes = postcard::to_stdvec(&content).context("the state cannot be written")?;
        output::write_file(path, &bytes)?;
        self.written = Instant::now();
        Ok(())
    }

    /// The search is over: nothing is left to go on with.
    pub fn remove(&self) {
        if let Some(path) = &self.path {
            // It is there only if the search took long.
            let _ = std::fs::remove_file(path);
        }
    }

    /// How to go on after an interruption.
    pub fn how_to_go_on(&self) -> &'static str {
        match self.path {
            Some(_) => "interrupted; the same command with --resume goes on from here",
            None => "interrupted",
        }
    }
}

/// FNV-1a: the same everywhere and for ever.
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
