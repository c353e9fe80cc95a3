//! `threadbare explore --strategy dpor` of a model program: one schedule of each class of equivalent ones, by all cores.

use super::divided::{self, Done, PARTS, Progress};
use super::tree::Tree;
use crate::cli::{ExploreArguments, Reduction};
use crate::output::Spinner;
use crate::prediction;
use explore::{Limits, Part, Statistics};
use machine::Machine;
use machine::oracle::{Answers, LimitReached, Walk};
use std::sync::atomic::{AtomicU64, Ordering};

/// Goes through one schedule of each class of equivalent ones.
pub fn reduce(machine: &Machine, arguments: &ExploreArguments) -> anyhow::Result<Answers> {
    let bar = Spinner::start();
    let search = Search {
        machine,
        arguments,
        bar: &bar,
        limits: Limits { runs: arguments.max_runs, ..Limits::default() },
        runs: AtomicU64::new(0),
        steps: AtomicU64::new(0),
        findings: AtomicU64::new(0),
        progress: Progress::default(),
    };
    let answers = match arguments.predict.switches.is_some() || arguments.dot.is_some() {
        true => search.at_once(),
        false => search.by_parts(),
    };
    bar.end();
    answers
}

struct Search<'a> {
    machine: &'a Machine,
    arguments: &'a ExploreArguments,
    bar: &'a Spinner,
    limits: Limits,
    /// Of all workers.
    runs: AtomicU64,
    steps: AtomicU64,
    findings: AtomicU64,
    progress: Progress,
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
        let part = |at: usize| self.part(&parts[at]);
        let fingerprint = self.machine.fingerprint();
        let all = divided::do_all(self.arguments, fingerprint, parts.len(), &self.progress, &part)?;
        let mut answers = Answers { one_of_each_class: true, ..Answers::default() };
        all.shown.into_iter().for_each(|more| answers.merge(more));
        if all.interrupted {
            answers.limit = Some(LimitReached::Interrupted);
        }
        Ok(answers)
    }

    fn part(&self, part: &Part) -> Done<Answers> {
        let mut walk = self.walk();
        let mut limit = self.limit();
        if limit.is_some() {
            return Done { shown: walk.into_answers(limit), whole: false };
        }
        let mut before = Statistics::default();
        let mut each = |walk: &Walk<'_>, statistics: &Statistics| {
            limit = self.after_run(walk, statistics, &mut before);
            limit.is_none()
        };
        let statistics = explore::search_part(&mut walk, part, self.reduction(), self.limits, &mut each);
        let limit = limit.filter(|_| statistics.stopped).or_else(|| self.cut(&statistics));
        Done { shown: walk.into_answers(limit), whole: !statistics.stopped }
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
            let parts = self.progress.words();
            self.bar.tell(|| format!("exploring: {runs} runs, {findings} findings{parts}"));
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
