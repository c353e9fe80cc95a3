//! How prediction grows with the trace: time by phase and peak memory for each size, each in a process of its own.

use crate::long::{Shape, long};
use claim::{Answer, Candidate, Property};
use machine::{Machine, Options};
use predict::Prediction;
use std::process::Command;
use std::time::Instant;
use subject::{Logging, Strategy, Subject as _};
use trace::{AllocationOrigin, EventId, Location, Trace};

/// The largest resident memory of this process so far, in MiB (Linux).
fn peak() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok()).map_or(0, |kib| kib / 1024)
}

/// How many of the planted bugs were found: for each distance a race and an atomicity violation.
fn found(machine: &Machine, trace: &Trace, prediction: &Prediction, distances: &[usize]) -> usize {
    let accesses: std::collections::HashMap<EventId, Location> = (trace.events.iter())
        .filter_map(|event| event.kind.access().map(|(_, location, ..)| (event.id, location)))
        .collect();
    let name = |event: &EventId| {
        let allocation = accesses.get(event)?.allocation;
        let AllocationOrigin::Global(global) = trace.allocations.get(allocation.0 as usize)?.origin else {
            return None;
        };
        Some(machine.program().globals.get(global.index())?.name.clone())
    };
    let mut names: Vec<(Property, String)> = vec![];
    for (candidate, answer) in &prediction.answers {
        let place = match (candidate, answer) {
            (
                Candidate::CoEnabledRace { first: event, .. } | Candidate::Atomicity { before: event, .. },
                Answer::Feasible(_),
            ) => *event,
            _ => continue,
        };
        names.extend(name(&place).map(|name| (candidate.property(), name.to_string())));
    }
    let is_found = |property, name: &str, d: usize| {
        names.iter().any(|(p, n)| *p == property && *n == format!("{name}{d}"))
    };
    distances
        .iter()
        .map(|&d| {
            usize::from(is_found(Property::Race, "race", d))
                + usize::from(is_found(Property::Atomicity, "torn", d))
        })
        .sum()
}

/// One measurement, printed as a row.
pub fn one(shape: Shape, events: usize) {
    let long = long(shape, events, 1);
    let name = format!("{shape:?}").to_lowercase();
    let lowered = lang::LowerOptions { name: name.clone(), path: name.clone(), ..Default::default() };
    let program = lang::compile(&long.source, &lowered).expect("the generator writes well-formed programs");
    let machine = Machine::new(program, Options::default()).expect("its programs run");
    let strategy = Strategy::RoundRobin { quantum: 5 };
    let trace = machine.run(&strategy, &Logging::Everything).expect("it runs").trace;
    let before = peak();
    let start = Instant::now();
    let ctp = ctp::Options { atomic: ctp::Atomic::Marked, ..Default::default() };
    let options = predict::Options { ctp, ..Default::default() };
    let prediction =
        predict::predict(machine.program(), &trace, &options, &mut |_| {}).expect("it is predicted");
    let total = start.elapsed();
    let (t, c) = (prediction.statistics.times, &prediction.coverage);
    let decided = c.feasible + c.infeasible;
    println!(
        "| {name} | {} | {} | {} | {} | {} | {:.1} | {}/{} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {before} | {} |",
        trace.events.len(),
        prediction.statistics.simplified,
        c.candidates,
        c.feasible,
        c.infeasible,
        100.0 * decided as f64 / c.candidates.max(1) as f64,
        found(&machine, &trace, &prediction, &long.distances),
        2 * long.distances.len(),
        t.build.as_secs_f64(),
        t.candidates.as_secs_f64(),
        t.encode.as_secs_f64(),
        t.solve.as_secs_f64(),
        t.witnesses.as_secs_f64(),
        total.as_secs_f64(),
        peak(),
    );
}

/// The table, each row from a process of its own.
pub fn print(sizes: &[usize]) -> Result<(), String> {
    println!(
        "| trace | events | simplified | candidates | feasible | infeasible | decided % | planted | build s | candidates s | encode s | \
         solve s | witnesses s | total s | MiB before | peak MiB |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    for shape in ["mix", "loop"] {
        for size in sizes {
            let status = Command::new(&own).args(["scaling-one", shape, &size.to_string()]).status();
            if !status.is_ok_and(|status| status.success()) {
                println!("| {shape} | {size} | failed |");
            }
        }
    }
    Ok(())
}
