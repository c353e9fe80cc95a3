//! How many runs of a compiled program are made in a second: `make bench-runs`.
//!
//! Small programs of the suite, each run under one drawn schedule after another, all on one processor: with a process that is started for each run, and with one that
//! forks itself for each. A run is counted when its trace is at hand. Words on the command line choose programs by their names.

use native::Compiled;
use native::launch::{Options, Output, Starts};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use std::time::{Duration, Instant};
use subject::Strategy;
use suite::{Build, build, open, programs};
use trace::Logging;

/// Where the programs are, and their names.
const PROGRAMS: [(&str, &str); 5] = [
    ("twins", "counter.c"),
    ("", "fa02.c"),
    ("findings", "lock_order.c"),
    ("twins", "bounded_buffer.c"),
    ("", "indexer.c"),
];

/// So long each is measured.
const TIME: Duration = Duration::from_secs(3);

const LOGGINGS: [(&str, Logging); 2] =
    [("everything", Logging::Everything), ("synchronisation", Logging::Synchronisation)];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut one = CpuSet::new();
    one.set(0).expect("there is a first processor");
    sched_setaffinity(Pid::from_raw(0), &one).expect("we may choose among ours");
    println!(
        "{:<20} {:<16} {:>8} {:>8} {:>12} {:>12} {:>7}",
        "program", "log", "threads", "events", "started/s", "forked/s", "ratio"
    );
    for (below, name) in PROGRAMS
        .into_iter()
        .filter(|(_, name)| words.is_empty() || words.iter().any(|word| name.contains(word)))
    {
        let all = programs(below);
        let program = all.iter().find(|program| program.name() == name).expect("a program of the suite");
        let built = build(program, &Build::at("-O1"));
        for (log, logging) in &LOGGINGS {
            let mut compiled = open(&built.path);
            let first =
                compiled.record(&Strategy::RunToBlock, &Logging::Everything).expect("it runs").run.trace;
            let anew = per_second(&mut compiled, Starts::Always, logging);
            let forked = per_second(&mut compiled, Starts::Twice, logging);
            assert_eq!(compiled.unserved(), None, "{name}");
            println!(
                "{name:<20} {log:<16} {:>8} {:>8} {anew:>12.0} {forked:>12.0} {:>7.1}",
                first.threads.len(),
                first.events.len(),
                forked / anew
            );
        }
    }
}

/// How many runs of a program are made in a second.
fn per_second(compiled: &mut Compiled, starts: Starts, logging: &Logging) -> f64 {
    let options = Options { starts, output: Output::Captured, ..compiled.options().clone() };
    compiled.set_options(options);
    let run = |seed| compiled.record(&Strategy::Random { seed }, logging).expect("it runs");
    // What is done once is not measured.
    let _ = run(0);
    let start = Instant::now();
    let mut runs = 0;
    while start.elapsed() < TIME {
        runs += 1;
        let _ = run(runs);
    }
    runs as f64 / start.elapsed().as_secs_f64()
}
