//! `threadbare explore --strategy dpor`: one schedule of each class of equivalent ones, by all cores.
//!
//! The search is divided into parts that depend on the program alone; workers do them, and what each has shown is put together in the order of the
//! parts. So the answer does not depend on how many workers there are, nor on whether it was interrupted.

use super::resume::Kept;
use super::runs;
use super::tree::Tree;
use crate::cli::{ExploreArguments, Reduction};
use crate::{output, prediction};
use explore::{Limits, Part, Statistics};
use indicatif::ProgressBar;
use machine::Machine;
use machine::oracle::{Answers, LimitReached, Walk};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// So many parts keep all workers busy until the end, and little of the work is lost when it is interrupted.
const PARTS: usize = 256;

/// What a part has shown.
struct Done {
    answers: Answers,
    /// All of the part was done.
    whole: bool,
}

/// Goes through one schedule of each class of equivalent ones.
pub fn reduce(machine: &Machine, arguments: &ExploreArguments) -> anyhow::Result<Answers> {
    let bar = output::spinner();
    let search = Search {
        machine,
        arguments,
        bar: &bar,
        limits: Limits { runs: arguments.max_runs, ..Limits::default() },
        runs: AtomicU64::new(0),
        steps: AtomicU64::new(0),
        findings: AtomicU64::new(0),
    };
    let answers = match arguments.predict.switches.is_some() || arguments.dot.is_some() {
        true => search.at_once(),
        false => search.by_parts(),
    };
    bar.finish_and_clear();
    answers
}

struct Search<'a> {
    machine: &'a Machine,
    arguments: &'a ExploreArguments,
    bar: &'a ProgressBar,
    limits: Limits,
    /// Of all workers.
    runs: AtomicU64,
    steps: AtomicU64,
    findings: AtomicU64,
}

impl Search<'_> {
    fn reduction(&self) -> explore::Reduction {
        match self.arguments.reduction {
            Reduction::Optimal => explore::Reduction::Optimal,
            Reduction::Source => explore::Reduction::Source,
        }
    }

    fn walk(&self) -> Walk<'_> {
        Walk::new(self.machine, true).recognising_spins()
    }

    /// In one go: with a bound on switches, and for a picture of all runs.
    fn at_once(&self) -> anyhow::Result<Answers> {
        if self.arguments.resume {
            anyhow::bail!("--resume does not go together with --switches or --dot");
        }
        let mut walk = self.walk();
        let mut tree = Tree::wanted(self.arguments, self.machine.program());
        let mut limit = None;
        let mut before = Statistics::default();
        let mut each = |walk: &Walk<'_>, statistics: &Statistics| {
            if let Some(tree) = &mut tree {
                let name = |thread| walk.answers().threads.get(&thread).cloned().unwrap_or_default();
                tree.add(&walk.schedule(), &walk.outcome(), name);
            }
            limit = self.after_run(walk, statistics, &mut before);
            limit.is_none()
        };
        let switches = self.arguments.predict.switches;
        let statistics = match switches {
            Some(most) => explore::search_bounded(&mut walk, most, self.limits, &mut each),
            None => explore::search(&mut walk, self.reduction(), self.limits, &mut each),
        };
        if let Some(tree) = tree {
            tree.write()?;
        }
        let limit = limit.filter(|_| statistics.stopped).or_else(|| self.cut(&statistics));
        let mut answers = walk.into_bounded_answers(limit, switches.filter(|_| statistics.beyond > 0));
        // What a bound on switches leaves of a class may be more than one.
        answers.one_of_each_class = switches.is_none();
        Ok(answers)
    }

    fn by_parts(&self) -> anyhow::Result<Answers> {
        let parts = explore::parts(&mut self.walk(), PARTS);
        let mut kept = Kept::new(self.arguments, self.machine.fingerprint());
        let mut done: BTreeMap<usize, Answers> = kept.load(self.arguments)?.unwrap_or_default();
        let left: Vec<usize> = (0..parts.len()).filter(|at| !done.contains_key(at)).collect();
        let mut written = Ok(());
        let results = explore::by_workers(
            left.len(),
            self.workers(),
            &|at| self.part(&parts[left[at]]),
            &mut |at, one: &Done| {
                if one.whole {
                    done.insert(left[at], one.answers.clone());
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
            done.insert(at, one.answers);
        }
        let mut answers = Answers { one_of_each_class: true, ..Answers::default() };
        done.into_values().for_each(|more| answers.merge(more));
        if interrupted {
            answers.limit = Some(LimitReached::Interrupted);
        }
        Ok(answers)
    }

    /// With a limit it depends on the order of the work what is found up to it.
    fn workers(&self) -> usize {
        match self.arguments.max_runs < ExploreArguments::MOST_RUNS
            || self.arguments.max_steps < ExploreArguments::MOST_STEPS
        {
            true => 1,
            false => runs::workers(self.arguments),
        }
    }

    fn part(&self, part: &Part) -> Done {
        let mut walk = self.walk();
        let mut limit = self.limit();
        if limit.is_some() {
            return Done { answers: walk.into_answers(limit), whole: false };
        }
        let mut before = Statistics::default();
        let mut each = |walk: &Walk<'_>, statistics: &Statistics| {
            limit = self.after_run(walk, statistics, &mut before);
            limit.is_none()
        };
        let statistics = explore::search_part(&mut walk, part, self.reduction(), self.limits, &mut each);
        let limit = limit.filter(|_| statistics.stopped).or_else(|| self.cut(&statistics));
        Done { answers: walk.into_answers(limit), whole: !statistics.stopped }
    }

    /// Counts a run, and says whether a limit was reached.
    fn after_run(
        &self,
        walk: &Walk<'_>,
        statistics: &Statistics,
        before: &mut Statistics,
    ) -> Option<LimitReached> {
        let runs = self.runs.fetch_add(statistics.runs - before.runs, Ordering::Relaxed);
        self.steps.fetch_add(statistics.steps - before.steps, Ordering::Relaxed);
        *before = *statistics;
        if runs.is_multiple_of(1024) {
            self.findings.fetch_max(walk.answers().findings(), Ordering::Relaxed);
            let findings = self.findings.load(Ordering::Relaxed);
            self.bar.set_message(format!("exploring: {runs} runs, {findings} findings"));
            self.bar.tick();
        }
        self.limit()
    }

    fn limit(&self) -> Option<LimitReached> {
        let arguments = self.arguments;
        match () {
            () if prediction::interrupter().is_set() => Some(LimitReached::Interrupted),
            () if self.runs.load(Ordering::Relaxed) >= arguments.max_runs => {
                Some(LimitReached::Runs(arguments.max_runs))
            }
            () if self.steps.load(Ordering::Relaxed) >= arguments.max_steps => {
                Some(LimitReached::Steps(arguments.max_steps))
            }
            () => None,
        }
    }

    fn cut(&self, statistics: &Statistics) -> Option<LimitReached> {
        (statistics.cut > 0).then_some(LimitReached::RunLength(self.limits.steps as u64))
    }
}
