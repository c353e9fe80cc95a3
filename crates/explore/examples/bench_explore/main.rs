//! `make bench-explore`: how many runs each strategy needs, on the programs of PRUNE Table 1 and Fig. 6 and on some of ours.
//!
//! Each strategy goes on until all is known, or until the assertion was seen to fail. `--limit SECONDS` ends a search (20 unless given); names pick
//! rows; `--print NAME` prints a program.

#![allow(clippy::unwrap_used, reason = "a benchmark")]

mod families;

use explore::paths;
use explore::{Limits, Reduction, search};
use families::{Row, rows};
use machine::oracle::Walk;
use machine::{Machine, Options};
use std::time::{Duration, Instant};

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

fn by_paths(machine: &Machine, limit: Duration) -> Needed {
    let start = Instant::now();
    let (mut runs, mut steps, mut found, mut over) = (0, 0, false, false);
    let wanted = predict::Wanted { properties: vec![claim::Property::Assertion], per_place: usize::MAX };
    let options = predict::Options { wanted, ..predict::Options::default() };
    let explored = paths::explore(machine, &paths::Options::default(), &mut |trace| {
        runs += 1;
        steps += trace.events.len() as u64;
        let predicted = predict::predict(machine.program(), trace, &options, &mut |_| {}).unwrap();
        found |= predict::recorded_failure(trace).is_some() || !predicted.findings.is_empty();
        over = start.elapsed() > limit;
        !found && !over
    })
    .unwrap();
    let fails = (found || (!over && explored.incomplete.is_empty())).then_some(found);
    Needed { runs, steps, time: start.elapsed(), fails }
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
    println!("| program | fails | dpor runs | events | s | paths runs | events | s |");
    println!("|---|---|---:|---:|---:|---:|---:|---:|");
    for row in
        rows().iter().filter(|row| words.is_empty() || words.iter().any(|word| row.name.starts_with(word)))
    {
        let machine = machine(row);
        let one = dpor(&machine, limit);
        let other = by_paths(&machine, limit);
        let mark = |needed: &Needed| match needed.fails {
            None => "*",
            Some(fails) if fails == row.fails => "",
            Some(_) => " WRONG",
        };
        println!(
            "| {} | {} | {}{} | {} | {:.3} | {}{} | {} | {:.3} |",
            row.name,
            if row.fails { "yes" } else { "no" },
            one.runs,
            mark(&one),
            one.steps,
            one.time.as_secs_f64(),
            other.runs,
            mark(&other),
            other.steps,
            other.time.as_secs_f64()
        );
    }
}
