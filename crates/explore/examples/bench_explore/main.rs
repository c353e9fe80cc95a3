//! `make bench-explore`: how many runs each strategy needs, on the programs of PRUNE Table 1 and Fig. 6 and on some of ours.
//!
//! Each strategy goes on until all is known, or until the assertion was seen to fail. `--limit SECONDS` ends a search (20 unless given); names pick
//! rows, `speed` how many runs are made in a second, and `workers` what more than one worker gives `prune`; `--print NAME` prints a program.

#![allow(clippy::unwrap_used, reason = "a benchmark")]

mod families;

use explore::{Limits, Reduction, search};
use explore::{paths, prune};
use families::{Row, batch, counters, rows};
use machine::oracle::Walk;
use machine::{Machine, Options};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use subject::{Strategy, Subject as _};
use trace::{Logging, Trace};

/// What one strategy needed.
struct Needed {
    runs: u64,
    steps: u64,
    time: Duration,
    /// Whether the assertion was seen to fail; `None` if the time was over first.
    fails: Option<bool>,
}

fn machine(row: &Row) -> Machine {
    let checked =
        lang::check(&lang::parse(&row.source).unwrap_or_else(|e| panic!("{}: {e:?}", row.name))).unwrap();
    let options =
        lang::LowerOptions { name: row.name.clone(), path: format!("{}.tb", row.name), ..Default::default() };
    Machine::new(lang::lower(&checked, &options), Options::default()).unwrap()
}

fn dpor(machine: &Machine, limit: Duration) -> Needed {
    let start = Instant::now();
    let mut walk = Walk::new(machine, false);
    let mut over = false;
    let statistics = search(&mut walk, Reduction::Optimal, Limits::default(), &mut |walk, _| {
        over = start.elapsed() > limit;
        walk.answers().failures.is_empty() && !over
    });
    let found = !walk.answers().failures.is_empty();
    let fails = (found || !over).then_some(found);
    Needed { runs: statistics.runs, steps: statistics.steps, time: start.elapsed(), fails }
}

/// What predicts failing assertions only.
fn assertions() -> predict::Options {
    let wanted = predict::Wanted { properties: vec![claim::Property::Assertion], per_place: usize::MAX };
    predict::Options { wanted, ..predict::Options::default() }
}

/// Whether a run fails, or another order of its events does.
fn fails(machine: &Machine, trace: &Trace) -> bool {
    predict::recorded_failure(trace).is_some()
        || !predict::predict(machine.program(), trace, &assertions(), &mut |_| {})
            .unwrap()
            .findings
            .is_empty()
}

fn pruned(machine: &Machine, limit: Duration) -> Needed {
    let start = Instant::now();
    let (mut found, mut over) = (false, false);
    let options = prune::Options { properties: assertions().wanted.properties, ..prune::Options::default() };
    let explored = prune::explore(
        &mut Walk::new(machine, false),
        machine.program(),
        &options,
        &mut |walk| Ok(machine.run(&Strategy::follow(walk.schedule()), &Logging::Everything)?.trace),
        &mut |trace, _| {
            found |= trace.is_some_and(|trace| fails(machine, trace));
            over = start.elapsed() > limit;
            !found && !over
        },
    )
    .unwrap();
    let fails = (found || (!over && explored.incomplete.is_empty())).then_some(found);
    Needed { runs: explored.runs, steps: explored.steps, time: start.elapsed(), fails }
}

fn by_paths(machine: &Machine, limit: Duration) -> Needed {
    let start = Instant::now();
    let (mut runs, mut steps, mut found, mut over) = (0, 0, false, false);
    let explored = paths::explore(machine, &paths::Options::default(), &mut |trace, _| {
        runs += 1;
        steps += trace.events.len() as u64;
        found |= fails(machine, trace);
        over = start.elapsed() > limit;
        !found && !over
    })
    .unwrap();
    let fails =
        (found || (!over && explored.incomplete.is_empty() && explored.cut.is_empty())).then_some(found);
    Needed { runs, steps, time: start.elapsed(), fails }
}

/// How many runs of a program with two threads one worker makes in a second: 184,756 of them.
fn speed(limit: Duration) {
    let row = counters(10);
    let needed = dpor(&machine(&row), limit);
    let (seconds, marks) = (needed.time.as_secs_f64(), if needed.fails.is_none() { "*" } else { "" });
    println!(
        "dpor, one worker, {}: {}{marks} runs in {seconds:.2} s, {:.0} a second",
        row.name,
        needed.runs,
        needed.runs as f64 / seconds
    );
}

/// What two workers, and one on each core, give `prune`: the search alone, without prediction from its runs.
fn workers() {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let row = batch(7, true);
    let machine = machine(&row);
    for phantoms in [true, false] {
        let once = |workers: usize| {
            let start = Instant::now();
            let properties = assertions().wanted.properties;
            let options = prune::Options { properties, phantoms, workers, ..prune::Options::default() };
            let explored = prune::explore(
                &mut Walk::new(&machine, false),
                machine.program(),
                &options,
                &mut |walk| Ok(machine.run(&Strategy::follow(walk.schedule()), &Logging::Everything)?.trace),
                &mut |_, _| true,
            );
            (start.elapsed().as_secs_f64(), explored.unwrap())
        };
        let (one, explored) = once(1);
        let how = if phantoms { "with phantom edges" } else { "without phantom edges" };
        print!("prune, {}, {how}: {} runs, one worker {one:.2} s", row.name, explored.runs);
        for workers in BTreeSet::from([2, cores]) {
            let (many, same) = once(workers);
            assert_eq!(same, explored, "it does not depend on the number of workers");
            print!(", {workers} workers {many:.2} s ({:.2} times as fast)", one / many);
        }
        println!();
    }
}

fn main() {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let mut take = |flag: &str| {
        let at = words.iter().position(|word| word == flag)?;
        let value = words.get(at + 1).cloned();
        words.drain(at..(at + 2).min(words.len()));
        value
    };
    let limit = Duration::from_secs_f64(take("--limit").map_or(20.0, |text| text.parse().unwrap()));
    if let Some(name) = take("--print") {
        let row = rows().into_iter().find(|row| row.name == name);
        return print!("{}", row.unwrap_or_else(|| panic!("no program {name}")).source);
    }
    println!(
        "runs, events and seconds until all is known or the assertion was seen to fail; a * marks the end of the time"
    );
    println!(
        "| program | fails | dpor runs | events | s | prune runs | events | s | paths runs | events | s |"
    );
    println!("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    for row in
        rows().iter().filter(|row| words.is_empty() || words.iter().any(|word| row.name.starts_with(word)))
    {
        let machine = machine(row);
        print!("| {} | {} |", row.name, if row.fails { "yes" } else { "no" });
        for strategy in [dpor, pruned, by_paths] {
            let needed = strategy(&machine, limit);
            let mark = match needed.fails {
                None => "*",
                Some(fails) if fails == row.fails => "",
                Some(_) => " WRONG",
            };
            print!(" {}{mark} | {} | {:.3} |", needed.runs, needed.steps, needed.time.as_secs_f64());
        }
        println!();
    }
    if words.is_empty() || words.iter().any(|word| word == "speed") {
        println!();
        speed(limit);
    }
    if words.is_empty() || words.iter().any(|word| word == "workers") {
        workers();
    }
}
