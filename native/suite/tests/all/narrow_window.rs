//! A window that random schedules miss: `narrow_window.c`, whose bug `findings.rs` finds from one passing run.
//!
//! `THREADBARE_RANDOM_RUNS=10000` asks for the full count; here it is smaller.

use subject::Strategy;
use suite::{Build, build, open, programs};
use trace::{Logging, Outcome};

/// How many random schedules are tried if nobody says otherwise.
const RUNS: u64 = 200;

#[test]
fn random_schedules_miss_it() {
    let wanted = std::env::var("THREADBARE_RANDOM_RUNS").ok().and_then(|count| count.parse().ok());
    let all = programs("findings");
    let program = all.iter().find(|program| program.name() == "narrow_window.c").expect("the program");
    let built = build(program, &Build::at("-O1"));
    let compiled = open(&built.path);
    let runs: u64 = wanted.unwrap_or(RUNS);
    for seed in 0..runs {
        let run =
            compiled.record(&Strategy::Random { seed }, &Logging::Synchronisation).expect("it runs").run;
        assert_eq!(run.trace.outcome, Outcome::Exited { status: 0 }, "seed {seed}");
    }
    println!("{runs} random schedules, no failure");
}
