//! Exploring compiled programs: a program and its twin in the model language have the same combinations of paths, and the same verdict.

use claim::Property;
use ctp::Ctp;
use explore::paths::{self, Combination, Explored, Options, Paths};
use explore::{Limits, Reduction, Traced, prune, search};
use machine::Machine;
use machine::oracle::Walk;
use native::Compiled;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use subject::{RunError, Steps, Strategy as Who, Subject};
use suite::{Build, Program, build, for_each, open, programs};
use trace::{Logging, Outcome, Trace};

/// More combinations than this are not gone through here.
const MOST_RUNS: u64 = 40;

fn explored(subject: &(impl Subject + Sync), runs: u64) -> Explored {
    let options = Options { runs, ..Options::default() };
    paths::explore(subject, &options, &mut |_, _| true).expect("it is explored")
}

fn model(program: &Program) -> Machine {
    model_with(program, machine::Options::default())
}

fn model_with(program: &Program, how: machine::Options) -> Machine {
    let source = std::fs::read_to_string(program.path.with_extension("tb")).expect("a twin");
    let file = lang::parse(&source).expect("it parses");
    let checked = lang::check(&file).expect("it is well formed");
    let options = lang::LowerOptions { name: "twin.tb".into(), path: "twin.tb".into(), ..Default::default() };
    Machine::new(lang::lower(&checked, &options), how).expect("it runs")
}

/// How runs end, in words that both kinds of subject share.
fn ends(runs: &[Trace]) -> BTreeSet<&'static str> {
    let end = |run: &Trace| match run.outcome {
        Outcome::Completed { .. } | Outcome::Exited { status: 0 } => "ends",
        Outcome::AssertionFailed { .. } => "fails",
        Outcome::Deadlock { .. } => "is stuck",
        _ => "something else",
    };
    runs.iter().map(end).collect()
}

#[test]
fn twins_have_the_same_combinations_of_paths() {
    for_each(&programs("twins"), |program| {
        let built = build(program, &Build::at("-O1"));
        let (compiled, twin) =
            (explored(&open(&built.path), MOST_RUNS), explored(&model(program), MOST_RUNS));
        let name = program.name();
        assert_eq!((compiled.duplicates, twin.duplicates), (0, 0), "{name}");
        assert_eq!(ends(&compiled.runs), ends(&twin.runs), "{name}");
        if name == "timed_wait.c" {
            // What the clock says is not up to the schedule, and that is said.
            let says_so = compiled.incomplete.iter().any(|why| why.contains("clock_gettime"));
            assert!(says_so, "{:?}", compiled.incomplete);
            return;
        }
        assert_eq!(compiled.runs.len(), twin.runs.len(), "{name}");
        assert_eq!(compiled.incomplete, twin.incomplete, "{name}");
    });
}

#[test]
fn right_programs_are_safe_and_wrong_ones_are_not() {
    let runs = |below: &str, name: &str| {
        let all = programs(below);
        let program = all.iter().find(|program| program.name() == name).expect("a program");
        explored(&open(&build(program, &Build::at("-O1")).path), 100)
    };
    let fixed = runs("findings", "wait_if_fixed.c");
    assert_eq!(ends(&fixed.runs), BTreeSet::from(["ends"]));
    assert!(fixed.incomplete.is_empty() && fixed.duplicates == 0, "{:?}", fixed.incomplete);
    // Threads are stopped right before compare-and-exchanges.
    let indexer = runs("", "indexer.c");
    assert_eq!(ends(&indexer.runs), BTreeSet::from(["ends"]));
    assert_eq!((indexer.runs.len(), indexer.duplicates), (64, 0), "{:?}", indexer.incomplete);
    let wrong = runs("", "fa02.c");
    assert!(ends(&wrong.runs).contains("fails"));
    assert_eq!(wrong.duplicates, 0);
}

/// More classes of schedules than this are not gone through here.
const MOST_CLASSES: u64 = 400;

#[test]
fn loops_that_only_wait_are_recognised_as_in_their_twins() {
    for_each(&programs("waiting"), |program| {
        let built = build(program, &Build::at("-O1"));
        let (compiled, machine) = (open(&built.path), model(program));
        let (limits, name) = (Limits { runs: MOST_CLASSES, ..Limits::default() }, program.name());
        for reduction in [Reduction::Optimal, Reduction::Source] {
            let mut walk = Walk::new(&machine, false).recognising_spins();
            let twin = search(&mut walk, reduction, limits, &mut |_, _| true);
            let mut steps = Traced::recognising_spins(&compiled).expect("it runs");
            let ours = search(&mut steps, reduction, limits, &mut |_, _| true);
            println!("{name}: {ours:?} in {} runs; its twin {twin:?}", steps.runs());
            assert_eq!((steps.error(), steps.incomplete()), (None, BTreeSet::new()), "{name}");
            assert_eq!((ours.runs, ours.stopped), (twin.runs, false), "{name}");
        }
        let options = Options { spins: true, ..Options::default() };
        let twin = model_with(program, machine::Options { spins: true, ..machine::Options::default() });
        let twin = paths::explore(&twin, &options, &mut |_, _| true).expect("it is explored");
        let ours = paths::explore(&compiled, &options, &mut |_, _| true).expect("it is explored");
        println!("{name}: {} combinations, its twin {}", ours.runs.len(), twin.runs.len());
        assert_eq!((&ours.incomplete, &twin.incomplete), (&BTreeSet::new(), &BTreeSet::new()), "{name}");
        assert_eq!((ours.runs.len(), ours.duplicates), (twin.runs.len(), 0), "{name}");
        assert!(!twin.bounded, "{name}");
    });
}

#[test]
fn rounds_of_loops_that_only_wait_are_left_out_of_a_run() {
    let all = programs("waiting");
    let program = all.iter().find(|program| program.name() == "flag.c").expect("a program");
    let built = build(program, &Build::at("-O1"));
    let compiled = open(&built.path);
    let run = |strategy: &Who| compiled.run(strategy, &Logging::Everything).expect("it runs").trace;
    let long = run(&Who::RunToBlock);
    let short = explore::without_rounds(&compiled, &long).expect("it runs").expect("most of it is of rounds");
    assert!(long.events.len() > 100_000 && short.events.len() < 40, "{} events", short.events.len());
    assert_eq!(short.outcome, long.outcome);
    // Nothing is left to be left out, and short runs are as they are.
    assert_eq!(explore::without_rounds(&compiled, &short).expect("it runs"), None);
    let few = run(&Who::RoundRobin { quantum: 8 });
    assert_eq!(explore::without_rounds(&compiled, &few).expect("it runs"), None);
}

/// The combinations of paths of runs of a compiled program.
fn combinations(subject: &impl Subject, runs: &[Trace]) -> BTreeSet<Combination> {
    let combination = |run: &Trace| {
        let ctp = Ctp::build(subject.program(), run, &paths::OPTIONS).expect("the trace fits");
        Paths::of_ctp(&ctp, &run.outcome).decisions
    };
    runs.iter().map(combination).collect()
}

/// The runs of different events that pruning leaves of a compiled program, and what it did.
fn pruned(compiled: &Compiled, wanted: Property, phantoms: bool) -> (Vec<Trace>, prune::Explored) {
    let mut steps = Traced::new(compiled).expect("it runs");
    let mut record = |steps: &Traced<'_, _>| Ok(steps.trace().clone());
    leaves(&mut steps, compiled.program(), wanted, phantoms, &mut record)
}

/// The same for a model program.
fn pruned_model(machine: &Machine, wanted: Property, phantoms: bool) -> (Vec<Trace>, prune::Explored) {
    let mut record =
        |walk: &Walk<'_>| Ok(machine.run(&Who::follow(walk.schedule()), &Logging::Everything)?.trace);
    leaves(&mut Walk::new(machine, false), machine.program(), wanted, phantoms, &mut record)
}

fn leaves<S: Steps>(
    steps: &mut S,
    program: &ir::Program,
    wanted: Property,
    phantoms: bool,
    record: &mut dyn FnMut(&S) -> Result<Trace, RunError>,
) -> (Vec<Trace>, prune::Explored) {
    let mut runs = vec![];
    let options = prune::Options { properties: vec![wanted], phantoms, ..prune::Options::default() };
    let explored = prune::explore(steps, program, &options, record, &mut |trace, _| {
        runs.extend(trace.cloned());
        true
    });
    (runs, explored.expect("it is explored"))
}

/// Ways that were not taken are described by what they may write, in compiled programs as in their twins: where nothing depends on that they are not run, and where
/// an assertion does they are.
#[test]
fn ways_that_cannot_matter_are_left_out_as_in_their_twins() {
    for_each(&programs("ways"), |program| {
        let built = build(program, &Build::at("-O1"));
        let (compiled, machine, name) = (open(&built.path), model(program), program.name());
        let (ours, twin) = (explored(&compiled, MOST_RUNS), explored(&machine, MOST_RUNS));
        assert_eq!((ours.runs.len(), ours.duplicates), (twin.runs.len(), 0), "{name}");
        let (left, with) = pruned(&compiled, Property::Assertion, true);
        let (left_of_twin, of_twin) = pruned_model(&machine, Property::Assertion, true);
        let (all, without) = pruned(&compiled, Property::Assertion, false);
        println!("{name}: {with:?}, without phantom edges {without:?}");
        assert!(
            of_twin.incomplete.is_empty() && with.incomplete.is_empty() && without.incomplete.is_empty(),
            "{name}"
        );
        assert_eq!(ends(&left), ends(&all), "{name}");
        assert_eq!(ends(&left), ends(&left_of_twin), "{name}");
        match &*name {
            // Whom a thread calls has no phantom edges.
            "callbacks.c" => assert_eq!((with.phantoms, with.runs), (0, without.runs), "{name}"),
            // The other way has to be run.
            "read.c" => assert!(with.phantoms > 0 && ends(&left).contains("fails"), "{name}"),
            _ => assert!(with.phantoms > 0 && with.runs == 1 && without.runs > 1, "{name}"),
        }
    });
}

/// Who does what is done once is up to the schedule.
#[test]
fn everybody_may_be_the_first_to_do_what_is_done_once() {
    for_each(&programs("once"), |program| {
        let built = build(program, &Build::at("-O1"));
        let (compiled, name) = (open(&built.path), program.name());
        let mut steps = Traced::new(&compiled).expect("it runs");
        let mut classes = vec![];
        search(&mut steps, Reduction::Optimal, Limits::default(), &mut |steps: &Traced<'_, _>, _| {
            classes.push(steps.trace().clone());
            true
        });
        assert_eq!((steps.error(), steps.incomplete()), (None, BTreeSet::new()), "{name}");
        let (left, _) = pruned(&compiled, Property::Assertion, true);
        let by_paths = explored(&compiled, MOST_CLASSES);
        assert_eq!(by_paths.duplicates, 0, "{name}");
        for runs in [&classes, &left, &by_paths.runs] {
            assert_eq!(ends(runs), BTreeSet::from(["ends", "fails"]), "{name}");
        }
    });
}

/// What memory holds that nobody wrote is not known, so no search says that it cannot be read.
#[test]
fn what_nobody_wrote_may_be_anything() {
    let all = programs("findings");
    let program = all.iter().find(|program| program.name() == "unset.c").expect("a program");
    let built = build(program, &Build::at("-O1"));
    let compiled = open(&built.path);
    let found = explored(&compiled, MOST_RUNS);
    assert!(ends(&found.runs).contains("fails") || !found.incomplete.is_empty(), "paths");
    let (runs, found) = pruned(&compiled, Property::Assertion, true);
    assert!(ends(&runs).contains("fails") || !found.incomplete.is_empty(), "prune: {found:?}");
}

#[test]
fn twins_have_the_same_classes_of_schedules() {
    let compared = AtomicUsize::new(0);
    for_each(&programs("twins"), |program| {
        let built = build(program, &Build::at("-O1"));
        let (compiled, machine) = (open(&built.path), model(program));
        let limits = Limits { runs: MOST_CLASSES, ..Limits::default() };
        let twin = search(&mut Walk::new(&machine, false), Reduction::Optimal, limits, &mut |_, _| true);
        let mut steps = Traced::new(&compiled).expect("it runs");
        let mut ended = vec![];
        let ours = search(&mut steps, Reduction::Optimal, limits, &mut |steps: &Traced<'_, _>, _| {
            ended.push(steps.trace().clone());
            true
        });
        let name = program.name();
        println!("{name}: {ours:?} in {} runs; its twin {twin:?}; {:?}", steps.runs(), steps.incomplete());
        assert_eq!(steps.error(), None, "{name}");
        // What the time decides is not gone through.
        if twin.stopped || ours.stopped || name == "timed_wait.c" {
            return;
        }
        assert_eq!(steps.incomplete(), BTreeSet::new(), "{name}");
        assert_eq!((ours.runs, ours.given_up), (twin.runs, 0), "{name}");
        assert!(!ends(&ended).contains("something else"), "{name}");
        // One run for each combination of paths has all of those that the classes have.
        let by_paths = explored(&compiled, MOST_CLASSES);
        assert_eq!(by_paths.incomplete, BTreeSet::new(), "{name}");
        assert_eq!(combinations(&compiled, &by_paths.runs), combinations(&compiled, &ended), "{name}");
        // So have the runs that pruning leaves, where all ways that were not taken have to be run.
        let (pruned, left) = pruned(&compiled, Property::Race, false);
        println!("{name}: pruning leaves {}", left.runs);
        assert_eq!(left.incomplete, BTreeSet::new(), "{name}");
        assert_eq!(combinations(&compiled, &pruned), combinations(&compiled, &ended), "{name}");
        compared.fetch_add(1, Ordering::Relaxed);
    });
    assert!(compared.into_inner() >= 3);
}
