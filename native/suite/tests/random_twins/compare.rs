//! One program in two languages: the oracle's answers beside what each strategy finds in the compiled one.

use crate::common::findings::{Findings, expected};
use crate::found::{Found, Memory, memory};
use claim::Property;
use explore::paths;
use explore::{Limits, Reduction, Statistics, Traced, prune, search};
use machine::Machine;
use machine::oracle::{self, Answers, Method, Question, Walk};
use native::Compiled;
use std::collections::{BTreeMap, BTreeSet};
use subject::{Strategy as Who, Subject as _};
use suite::{Build, Places, Program, Twin, build, open};
use trace::{FaultKind, Logging, Outcome, Trace};

/// Programs with more classes of schedules are left out.
const MOST_CLASSES: u64 = 150;

/// What was compared.
#[derive(Debug, Default)]
pub struct Compared {
    /// Programs of which both could be asked.
    pub programs: u64,
    /// Why others could not.
    pub left_out: BTreeMap<&'static str, u64>,
    /// Programs with such findings.
    with: BTreeMap<&'static str, u64>,
    /// Classes of schedules, runs that pruning left when all is looked for and when assertions are, combinations of paths.
    classes: u64,
    pruned: u64,
    pruned_for_assertions: u64,
    combinations: u64,
    /// Searches that could say only a part.
    partial: BTreeMap<&'static str, u64>,
}

impl Compared {
    pub fn left_out(&mut self, why: &'static str) {
        *self.left_out.entry(why).or_default() += 1;
    }

    pub fn add(&mut self, more: &Compared) {
        self.programs += more.programs;
        self.classes += more.classes;
        self.pruned += more.pruned;
        self.pruned_for_assertions += more.pruned_for_assertions;
        self.combinations += more.combinations;
        for (to, from) in [
            (&mut self.left_out, &more.left_out),
            (&mut self.with, &more.with),
            (&mut self.partial, &more.partial),
        ] {
            from.iter().for_each(|(what, n)| *to.entry(what).or_default() += n);
        }
    }

    /// How many programs there were.
    pub fn drawn(&self) -> u64 {
        self.programs + self.left_out.values().sum::<u64>()
    }
}

/// Compares the two; in words how they differ.
pub fn compare(twin: &Twin) -> Result<Compared, String> {
    let mut compared = Compared::default();
    let machine = Machine::new(twin.program.clone(), machine::Options::default()).expect("it runs");
    let question =
        Question { method: Method::Stateful, max_steps: 100_000, max_states: 10_000, ..Question::default() };
    let answers = oracle::ask(&machine, &question);
    let model = classes_of_model(&machine);
    if let Some(why) = out_of_reach(&answers, &model.0) {
        compared.left_out(why);
        return Ok(compared);
    }
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("twin.c");
    std::fs::write(&path, &twin.c).expect("it can be written");
    let how = Build { flags: vec!["-fwrapv".into()], ..Build::at("-O1") };
    let built = build(&Program::in_c(path), &how);
    let compiled = open(&built.path);
    let found = Found::new(&expected(&answers), &Places::of_model(&twin.program));
    let pair = Pair { machine: &machine, compiled: &compiled, expected: found, twin };
    compared.programs = 1;
    for (what, is_there) in [
        ("failures", !pair.expected.failures.is_empty()),
        ("deadlocks", !pair.expected.blocked.is_empty()),
        ("races", !pair.expected.races.is_empty()),
        ("triples", !pair.expected.triples.is_empty()),
    ] {
        *compared.with.entry(what).or_default() += u64::from(is_there);
    }
    let done = pair
        .classes(&model, &mut compared)
        .and_then(|()| pair.pruned(&mut compared))
        .and_then(|()| pair.paths(&mut compared));
    done.map_err(|why| format!("{why}\n{}", twin.show()))?;
    Ok(compared)
}

/// Why the two cannot be compared.
fn out_of_reach(answers: &Answers, model: &Statistics) -> Option<&'static str> {
    let is_undefined = |fault| !matches!(fault, FaultKind::DivisionByZero | FaultKind::NullAccess);
    if answers.limit.is_some() || answers.cyclic || !answers.exhausted.is_empty() || model.stopped {
        return Some("it has too many schedules");
    }
    if !answers.bounds.is_empty() {
        return Some("a loop reaches its bound, which C has not");
    }
    let mut faults = answers.failures.keys().filter_map(|failure| failure.fault);
    faults.any(is_undefined).then_some("it does what C leaves undefined")
}

/// One run of each class of schedules of the model, and what memory they leave.
fn classes_of_model(machine: &Machine) -> (Statistics, BTreeSet<Memory>) {
    let limits = Limits { runs: MOST_CLASSES, ..Limits::default() };
    let mut ends = BTreeSet::new();
    let statistics =
        search(&mut Walk::new(machine, false), Reduction::Optimal, limits, &mut |walk: &Walk<'_>, _| {
            let run = machine.run(&Who::follow(walk.schedule()), &Logging::Everything).expect("it runs");
            if let Outcome::Completed { .. } = run.trace.outcome {
                ends.insert(memory(machine.program(), &run.trace));
            }
            true
        });
    (statistics, ends)
}

/// A program in both languages, and what the oracle says of it.
struct Pair<'p> {
    machine: &'p Machine,
    compiled: &'p Compiled,
    expected: Found,
    twin: &'p Twin,
}

impl Pair<'_> {
    /// What was found in the compiled program.
    fn found(&self, findings: &Findings) -> Found {
        Found::new(findings, &Places::of_c(self.compiled.program(), &self.twin.c))
    }

    /// `dpor`: as many classes, which end in the same ways.
    fn classes(&self, model: &(Statistics, BTreeSet<Memory>), compared: &mut Compared) -> Result<(), String> {
        let limits = Limits { runs: 2 * MOST_CLASSES, ..Limits::default() };
        let mut steps = Traced::new(self.compiled).expect("it runs");
        let mut findings = Findings::default();
        let mut ends = BTreeSet::new();
        let mut others = BTreeSet::new();
        let statistics = search(&mut steps, Reduction::Optimal, limits, &mut |steps: &Traced<'_, _>, _| {
            let trace = steps.trace();
            findings.add_outcome(trace);
            match &trace.outcome {
                Outcome::Exited { status: 0 } => _ = ends.insert(memory(self.compiled.program(), trace)),
                Outcome::AssertionFailed { .. } | Outcome::Fault { .. } | Outcome::Deadlock { .. } => {}
                other => _ = others.insert(format!("{other:?}")),
            }
            true
        });
        let context = || format!("dpor: {statistics:?}, the model {:?}, {:?}", model.0, steps.incomplete());
        same("errors", &steps.error(), &None, context)?;
        same("other ends", &others, &BTreeSet::new(), context)?;
        let found = self.found(&findings);
        if !steps.incomplete().is_empty() {
            *compared.partial.entry("dpor").or_default() += 1;
            return within(&found, &self.expected, context);
        }
        alike(found.other_failure(&self.expected), context)?;
        // Where something fails, a circle of some threads is no end of the run.
        if found.failures.is_empty() {
            alike(found.other_deadlock(&self.expected), context)?;
        }
        same("memory at the end", &ends, &model.1, context)?;
        // What fails can come before or after any step of others, and the main thread has some in C that it has not in the model: it reads handles
        // from memory that others could have written.
        if found.failures.is_empty() {
            same("classes", &(statistics.runs, statistics.given_up), &(model.0.runs, 0), context)?;
        }
        compared.classes += statistics.runs;
        Ok(())
    }

    /// `prune`: whatever is looked for, alone or with all else, is found where it is.
    fn pruned(&self, compared: &mut Compared) -> Result<(), String> {
        let every = [Property::Assertion, Property::Race, Property::Deadlock, Property::Atomicity];
        for wanted in [&every[..], &every[..1], &every[1..2], &every[2..3], &every[3..]] {
            let (findings, explored, why) = self.pruned_for(wanted);
            let found = self.found(&findings);
            let context = || format!("prune for {wanted:?}: {explored:?}");
            if findings.unknown || !why.is_empty() {
                *compared.partial.entry("prune").or_default() += 1;
                within(&found, &self.expected, context)?;
                continue;
            }
            match wanted {
                [Property::Assertion] => compared.pruned_for_assertions += explored.runs,
                [_] => {}
                _ => compared.pruned += explored.runs,
            }
            self.same(&found, wanted, context)?;
        }
        Ok(())
    }

    fn pruned_for(&self, wanted: &[Property]) -> (Findings, prune::Explored, BTreeSet<String>) {
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
        let explored = explored.expect("it is explored");
        assert_eq!(steps.error(), None, "{}", self.twin.show());
        let why = explored.incomplete.union(&steps.incomplete()).cloned().collect();
        (findings, explored, why)
    }

    /// `paths`: as many combinations, whose runs show all that there is. Nothing lies behind a compiled run that failed or got stuck; where there is one it
    /// is enough that something was found.
    fn paths(&self, compared: &mut Compared) -> Result<(), String> {
        let explored = paths::explore(self.compiled, &paths::Options::default(), &mut |_, _| true)
            .expect("it is explored");
        let mut findings = Findings::default();
        explored.runs.iter().for_each(|run: &Trace| findings.add(self.compiled.program(), run));
        let found = self.found(&findings);
        let context = || {
            let (runs, cut, why) = (explored.runs.len(), &explored.cut, &explored.incomplete);
            format!("paths: {runs} runs, {cut:?}, {why:?}")
        };
        same("runs of combinations that were run before", &explored.duplicates, &0, context)?;
        if findings.unknown || !explored.incomplete.is_empty() || !explored.cut.is_empty() {
            *compared.partial.entry("paths").or_default() += 1;
            return within(&found, &self.expected, context);
        }
        let every = [Property::Assertion, Property::Race, Property::Deadlock, Property::Atomicity];
        self.same(&found, &every, context)?;
        let model = paths::explore(self.machine, &paths::Options::default(), &mut |_, _| true)
            .expect("it is explored");
        same("combinations", &explored.runs.len(), &model.runs.len(), context)?;
        compared.combinations += explored.runs.len() as u64;
        Ok(())
    }

    fn same(&self, found: &Found, wanted: &[Property], context: impl Fn() -> String) -> Result<(), String> {
        for property in wanted {
            match property {
                Property::Assertion => alike(found.other_failure(&self.expected), &context)?,
                Property::Race => same("races", &found.races, &self.expected.races, &context)?,
                Property::Atomicity => same("triples", &found.triples, &self.expected.triples, &context)?,
                _ => alike(found.other_deadlock(&self.expected), &context)?,
            }
        }
        Ok(())
    }
}

/// Whether the compiled program has what the model has.
fn same<T: PartialEq + std::fmt::Debug>(
    what: &str,
    found: &T,
    expected: &T,
    context: impl Fn() -> String,
) -> Result<(), String> {
    match found == expected {
        true => Ok(()),
        false => Err(format!("{what}: {found:#?}\nin the model: {expected:#?}\n{}", context())),
    }
}

fn alike(difference: Option<String>, context: impl Fn() -> String) -> Result<(), String> {
    match difference {
        None => Ok(()),
        Some(why) => Err(format!("{why}\n{}", context())),
    }
}

/// Whether all that was found is there.
fn within(found: &Found, expected: &Found, context: impl Fn() -> String) -> Result<(), String> {
    let much = found.failures.difference(&expected.failures).map(|failure| format!("{failure:?}"));
    let much = much.chain(found.races.difference(&expected.races).map(|race| format!("{race:?}")));
    let much: Vec<String> =
        much.chain(found.triples.difference(&expected.triples).map(|triple| format!("{triple:?}"))).collect();
    same("what the model has not", &much, &vec![], context)
}
