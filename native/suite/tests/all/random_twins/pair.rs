//! What each strategy finds in the compiled program, beside the oracle's answers about the model.

use super::common::findings::Findings;
use super::compare::{Classes, MOST_CLASSES};
use super::compared::Compared;
use super::found::{Found, memory};
use claim::Property;
use explore::{Limits, Reduction, Traced, paths, prune, search};
use machine::Machine;
use native::Compiled;
use std::collections::BTreeSet;
use std::fmt::Debug;
use subject::Subject as _;
use suite::{Places, Twin};
use trace::Outcome;

const EVERY: [Property; 4] = [Property::Assertion, Property::Race, Property::Deadlock, Property::Atomicity];

/// A program in both languages, and what is known of the model.
pub struct Pair<'p> {
    pub machine: &'p Machine,
    pub compiled: &'p Compiled,
    pub expected: Found,
    pub classes: Classes,
    pub twin: &'p Twin,
}

impl Pair<'_> {
    /// `dpor`: as many classes, which end in the same ways.
    pub fn classes(&self, compared: &mut Compared) -> Result<(), String> {
        let limits = Limits { runs: 2 * MOST_CLASSES, ..Limits::default() };
        let mut steps = Traced::new(self.compiled).expect("it runs");
        let mut findings = Findings::default();
        let mut ends = BTreeSet::new();
        let mut others = BTreeSet::new();
        let found = search(&mut steps, Reduction::Optimal, limits, &mut |steps: &Traced<'_, _>, _| {
            let trace = steps.trace();
            findings.add_outcome(trace);
            match &trace.outcome {
                Outcome::Exited { status: 0 } => _ = ends.insert(memory(self.compiled.program(), trace)),
                Outcome::AssertionFailed { .. } | Outcome::Fault { .. } | Outcome::Deadlock { .. } => {}
                other => _ = others.insert(format!("{other:?}")),
            }
            true
        });
        let model = &self.classes.statistics;
        let context = || format!("dpor: {found:?}, the model {model:?}, {:?}", steps.incomplete());
        same("errors", &steps.error(), &None, context)?;
        same("other ends", &others, &BTreeSet::new(), context)?;
        if !steps.incomplete().is_empty() {
            compared.partial("dpor", steps.incomplete());
            return self.nothing_else(&findings, context);
        }
        self.all(&findings, &[Property::Assertion], context)?;
        same("memory at the end", &ends, &self.classes.memory, context)?;
        // What fails can come before or after any step of others, and the main thread has some in C that it has not in the model: it reads handles
        // from memory that others could have written. And where something fails, a circle of some threads is no end of the run.
        if self.expected.failures.is_empty() {
            self.all(&findings, &[Property::Deadlock], context)?;
            same("classes", &(found.runs, found.given_up), &(model.runs, 0), context)?;
        }
        compared.classes += found.runs;
        Ok(())
    }

    /// `prune`: whatever is looked for, alone or with all else, is found where it is.
    pub fn pruned(&self, compared: &mut Compared) -> Result<(), String> {
        for wanted in [&EVERY[..], &EVERY[..1], &EVERY[1..2], &EVERY[2..3], &EVERY[3..]] {
            let (findings, explored, why) = self.pruned_for(wanted)?;
            let context = || format!("prune for {wanted:?}: {explored:?}");
            if findings.unknown || !why.is_empty() {
                compared.partial("prune", why);
                compared.partial("prune", findings.unknown.then_some("an answer is not known"));
                self.nothing_else(&findings, context)?;
                continue;
            }
            self.all(&findings, wanted, context)?;
            match wanted {
                [Property::Assertion] => compared.pruned_for_assertions += explored.runs,
                [_] => {}
                _ => compared.pruned += explored.runs,
            }
        }
        Ok(())
    }

    fn pruned_for(
        &self,
        wanted: &[Property],
    ) -> Result<(Findings, prune::Explored, BTreeSet<String>), String> {
        let mut findings = Findings::default();
        let ctp = ctp::Options { atomic: ctp::Atomic::Marked, ..ctp::Options::default() };
        let options = prune::Options { properties: wanted.to_vec(), ctp, ..prune::Options::default() };
        let mut steps = Traced::new(self.compiled).expect("it runs");
        let program = self.compiled.program();
        let explored = prune::explore(
            &mut steps,
            program,
            &options,
            &mut |steps| Ok(steps.trace().clone()),
            &mut |trace, _| {
                trace.into_iter().for_each(|trace| findings.add(program, trace));
                true
            },
        );
        let explored = explored.map_err(|error| format!("prune for {wanted:?}: {error}"))?;
        same("errors", &steps.error(), &None, || format!("prune for {wanted:?}"))?;
        let why = explored.incomplete.union(&steps.incomplete()).cloned().collect();
        Ok((findings, explored, why))
    }

    /// `paths`: as many combinations, whose runs show all that there is.
    pub fn paths(&self, compared: &mut Compared) -> Result<(), String> {
        let explored = paths::explore(self.compiled, &paths::Options::default(), &mut |_, _| true)
            .map_err(|error| format!("paths: {error}"))?;
        let mut findings = Findings::default();
        explored.runs.iter().for_each(|run| findings.add(self.compiled.program(), run));
        let context = || {
            let (runs, cut, why) = (explored.runs.len(), &explored.cut, &explored.incomplete);
            format!("paths: {runs} runs, {cut:?}, {why:?}")
        };
        same("combinations run twice", &explored.duplicates, &0, context)?;
        // What lies behind a compiled run that failed or got stuck is not looked for, and that is said.
        if findings.unknown || !explored.incomplete.is_empty() || !explored.cut.is_empty() {
            compared.partial("paths", &explored.incomplete);
            compared.partial("paths", &explored.cut);
            compared.partial("paths", findings.unknown.then_some("an answer is not known"));
            return self.nothing_else(&findings, context);
        }
        self.all(&findings, &EVERY, context)?;
        let model = paths::explore(self.machine, &paths::Options::default(), &mut |_, _| true)
            .map_err(|error| format!("paths of the model: {error}"))?;
        same("combinations", &explored.runs.len(), &model.runs.len(), context)?;
        compared.combinations += explored.runs.len() as u64;
        Ok(())
    }

    /// What was found in the compiled program.
    fn found(&self, findings: &Findings) -> Found {
        Found::new(findings, &Places::of_c(self.compiled.program(), &self.twin.c))
    }

    /// Whether all that was looked for was found, and nothing else.
    fn all(
        &self,
        findings: &Findings,
        wanted: &[Property],
        context: impl Fn() -> String,
    ) -> Result<(), String> {
        let found = self.found(findings);
        let missed = wanted.iter().find_map(|&property| found.missed(property, &self.expected));
        same("missed", &missed, &None, &context)?;
        self.nothing_else(findings, context)
    }

    /// Whether all that was found is there.
    fn nothing_else(&self, findings: &Findings, context: impl Fn() -> String) -> Result<(), String> {
        let found = self.found(findings);
        let much = EVERY.iter().find_map(|&property| found.too_much(property, &self.expected));
        same("what the model has not", &much, &None, context)
    }
}

/// Whether the compiled program has what the model has.
fn same<T: PartialEq + Debug>(
    what: &str,
    found: &T,
    expected: &T,
    context: impl Fn() -> String,
) -> Result<(), String> {
    match found == expected {
        true => Ok(()),
        false => Err(format!("{what}: {found:?}\nin the model: {expected:?}\n{}", context())),
    }
}
