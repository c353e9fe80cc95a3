//! How many runs of a compiled program are made in a second: `make bench-runs`.
//!
//! Small programs of the suite, each run under one drawn schedule after another, all on one processor: with a process that is started for each run, and with one that
//! forks itself for each. A run is counted when its trace is at hand. Printed are runs in a second, and the processor's time for one run, ours and the program's together, in
//! microseconds, which other work on the machine disturbs less. Words on the command line choose programs by their names.

use native::Compiled;
use native::launch::{Options, Output, Starts};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::resource::{UsageWho, getrusage};
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
        "{:<18} {:<16} {:>7} {:>6} {:>10} {:>10} {:>10} {:>10}",
        "program", "log", "threads", "events", "started/s", "cpu us", "forked/s", "cpu us"
    );
    let chosen = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word));
    for (below, name) in PROGRAMS.into_iter().filter(|(_, name)| chosen(name)) {
        let all = programs(below);
        let program = all.iter().find(|program| program.name() == name).expect("a program of the suite");
        let built = build(program, &Build::at("-O1"));
        for (log, logging) in &LOGGINGS {
            let first = open(&built.path).record(&Strategy::RunToBlock, &Logging::Everything);
            let first = first.expect("it runs").run.trace;
            let [(anew, anew_time), (forked, forked_time)] =
                [Starts::Always, Starts::Twice].map(|starts| per_second(open(&built.path), starts, logging));
            println!(
                "{name:<18} {log:<16} {:>7} {:>6} {anew:>10.0} {anew_time:>10.0} {forked:>10.0} {forked_time:>10.0}",
                first.threads.len(),
                first.events.len(),
            );
        }
    }
}

/// How many runs of a program are made in a second, and how many microseconds the processor needs for one.
fn per_second(mut compiled: Compiled, starts: Starts, logging: &Logging) -> (f64, f64) {
    let options = Options { starts, output: Output::Captured, ..compiled.options().clone() };
    compiled.set_options(options);
    let run = |seed| compiled.record(&Strategy::Random { seed }, logging).expect("it runs");
    // What is done once is not measured.
    let _ = (run(0), run(0));
    let (start, before) = (Instant::now(), processor_time());
    let mut runs = 0;
    while start.elapsed() < TIME {
        runs += 1;
        let _ = run(runs);
    }
    let rate = runs as f64 / start.elapsed().as_secs_f64();
    assert_eq!(compiled.unserved(), None);
    // The time of processes counts when they have ended.
    drop(compiled);
    (rate, (processor_time() - before) as f64 / runs as f64)
}

/// Microseconds that the processor has worked for us and for all processes that we have waited for.
fn processor_time() -> i64 {
    let used = |who| {
        let usage = getrusage(who).expect("the system tells");
        let times = [usage.user_time(), usage.system_time()];
        times.iter().map(|time| time.tv_sec() * 1_000_000 + time.tv_usec()).sum::<i64>()
    };
    used(UsageWho::RUSAGE_SELF) + used(UsageWho::RUSAGE_CHILDREN)
}
