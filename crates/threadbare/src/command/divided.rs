//! A search that is divided into parts, which depend on the program alone: workers do them, and what each has shown is put together in the order of
//! the parts. So the answer does not depend on how many workers there are, nor on whether it was interrupted.

use super::resume::Kept;
use super::runs;
use crate::cli::ExploreArguments;
use crate::{output, prediction};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// So many parts keep all workers busy until the end, and little of the work is lost when it is interrupted.
pub const PARTS: usize = 256;

/// What a part has shown.
pub struct Done<T> {
    pub shown: T,
    /// All of the part was done.
    pub whole: bool,
}

/// What all parts have shown.
pub struct All<T> {
    pub shown: Vec<T>,
    pub interrupted: bool,
}

/// How far the work is, for who waits for it.
#[derive(Default)]
pub struct Progress {
    parts: AtomicUsize,
    done: AtomicUsize,
    /// When it began, and how many parts were done then.
    began: OnceLock<(Instant, usize)>,
}

impl Progress {
    fn begin(&self, parts: usize, done: usize) {
        self.parts.store(parts, Ordering::Relaxed);
        self.done.store(done, Ordering::Relaxed);
        self.began.get_or_init(|| (Instant::now(), done));
    }

    /// In words that follow others: how many parts are done, and how long the others will take if they are like these.
    pub fn words(&self) -> String {
        let (parts, done) = (self.parts.load(Ordering::Relaxed), self.done.load(Ordering::Relaxed));
        let Some(&(began, before)) = self.began.get() else { return String::new() };
        let left = match done.saturating_sub(before) {
            0 => String::new(),
            new => {
                let seconds = began.elapsed().as_secs_f64() / new as f64 * parts.saturating_sub(done) as f64;
                format!(", about {seconds:.0} s left")
            }
        };
        format!(", {done} of {parts} parts{left}")
    }
}

/// Does all parts that are not done yet.
pub fn do_all<T: Clone + Send + Serialize + DeserializeOwned>(
    arguments: &ExploreArguments,
    fingerprint: u64,
    parts: usize,
    progress: &Progress,
    part: &(impl Fn(usize) -> Done<T> + Sync),
) -> anyhow::Result<All<T>> {
    let mut kept = Kept::new(arguments, fingerprint);
    let mut done: BTreeMap<usize, T> = kept.load(arguments)?.unwrap_or_default();
    let left: Vec<usize> = (0..parts).filter(|at| !done.contains_key(at)).collect();
    let mut written = Ok(());
    progress.begin(parts, done.len());
    let results = explore::by_workers(
        left.len(),
        workers(arguments),
        &|at| part(left[at]),
        &mut |at, one: &Done<T>| {
            progress.done.fetch_add(1, Ordering::Relaxed);
            if one.whole {
                done.insert(left[at], one.shown.clone());
            }
            if kept.is_due() && written.is_ok() {
                written = kept.save(&done);
            }
        },
    );
    written?;
    let interrupted = prediction::interrupter().is_set();
    match interrupted {
        true => {
            kept.save(&done)?;
            output::say(&format!("{}\n", kept.how_to_go_on()));
        }
        false => kept.remove(),
    }
    // In the order of the parts, whoever did them and when.
    for (at, one) in left.into_iter().zip(results) {
        done.insert(at, one.shown);
    }
    Ok(All { shown: done.into_values().collect(), interrupted })
}

/// How many workers there are. With a limit it is one, because what is found up to it depends on the order of the work.
pub fn workers(arguments: &ExploreArguments) -> usize {
    match is_limited(arguments) {
        true => 1,
        false => runs::workers(arguments),
    }
}

/// Whether somebody has set a limit of runs or steps.
pub fn is_limited(arguments: &ExploreArguments) -> bool {
    arguments.max_runs < ExploreArguments::MOST_RUNS || arguments.max_steps < ExploreArguments::MOST_STEPS
}
