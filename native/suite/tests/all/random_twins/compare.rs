//! One program in two languages: whether the two can be compared, and what the model is known to do.

use super::common::findings::expected;
use super::compared::Compared;
use super::found::{Found, Memory, memory};
use super::pair::Pair;
use explore::{Limits, Reduction, Statistics, search};
use ir::{CheckKind, Op};
use machine::Machine;
use machine::oracle::{self, Answers, Method, Question, Walk};
use std::collections::BTreeSet;
use subject::{Strategy as Who, Subject as _};
use suite::{Build, Places, Program, Twin, build, open};
use trace::{Logging, Outcome};

/// Programs with more classes of schedules are left out.
pub const MOST_CLASSES: u64 = 150;

/// Compares the two; in words how they differ.
pub fn compare(twin: &Twin) -> Result<Compared, String> {
    let mut compared = Compared::default();
    // Who is the last thread then ends the process, and the search does not follow that.
    if twin.c.contains("pthread_exit") {
        compared.left_out("the main thread ends before others");
        return Ok(compared);
    }
    let machine = Machine::new(twin.program.clone(), machine::Options::default()).expect("it runs");
    let question =
        Question { method: Method::Stateful, max_steps: 100_000, max_states: 10_000, ..Question::default() };
    let answers = oracle::ask(&machine, &question);
    let classes = Classes::of_model(&machine);
    if let Some(why) = out_of_reach(&machine, &question, &answers, &classes.statistics) {
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
    let pair = Pair { machine: &machine, compiled: &compiled, expected: found, classes, twin };
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
        .classes(&mut compared)
        .and_then(|()| pair.pruned(&mut compared))
        .and_then(|()| pair.paths(&mut compared));
    done.map_err(|why| format!("{why}\n{}", twin.show()))?;
    Ok(compared)
}

/// Why the two cannot be compared.
fn out_of_reach(
    machine: &Machine,
    question: &Question<'_>,
    answers: &Answers,
    model: &Statistics,
) -> Option<&'static str> {
    if answers.limit.is_some() || answers.cyclic || !answers.exhausted.is_empty() || model.stopped {
        return Some("it has too many schedules");
    }
    if !oracle::ask(&without_assertions(machine), question).bounds.is_empty() {
        return Some("a loop reaches its bound, which C has not");
    }
    let mut faults = answers.failures.keys().filter(|failure| failure.fault.is_some());
    faults.next().map(|_| "it does what C leaves undefined")
}

/// The same program, in which a thread comes to the bound of its loop also where a failure would end the run.
fn without_assertions(machine: &Machine) -> Machine {
    let mut program = machine.program().clone();
    for block in program.functions.iter_mut().flat_map(|function| &mut function.blocks) {
        let fails = |op: &Op| matches!(op, Op::Check { kind: CheckKind::Assert, .. });
        block.instructions.retain(|instruction| !fails(&instruction.op));
    }
    Machine::new(program, machine::Options::default()).expect("it runs")
}

/// One run of each class of schedules of the model.
pub struct Classes {
    /// How many there are.
    pub statistics: Statistics,
    /// What memory those leave that end.
    pub memory: BTreeSet<Memory>,
}

impl Classes {
    fn of_model(machine: &Machine) -> Classes {
        let limits = Limits { runs: MOST_CLASSES, ..Limits::default() };
        let mut ends = BTreeSet::new();
        let mut walk = Walk::new(machine, false);
        let statistics = search(&mut walk, Reduction::Optimal, limits, &mut |walk: &Walk<'_>, _| {
            let run = machine.run(&Who::follow(walk.schedule()), &Logging::Everything).expect("it runs");
            if let Outcome::Completed { .. } = run.trace.outcome {
                ends.insert(memory(machine.program(), &run.trace));
            }
            true
        });
        Classes { statistics, memory: ends }
    }
}
