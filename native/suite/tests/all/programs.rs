//! Programs of the kinds that people write, and the papers': they print under Threadbare what they print without, and everything
//! that the log leaves out is rebuilt.

use native::rebuild::rebuild;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use subject::Strategy;
use suite::{Build, Program, build, concurrent_trace_program, for_each, open, plain, programs, record};
use trace::Logging;

const LEVELS: [&str; 2] = ["-O0", "-O2"];

/// What it prints without Threadbare.
fn plain_output(program: &Program, level: &'static str) -> String {
    let built = plain(program, &Build::at(level));
    let output = Command::new(&built.path).output().expect("it runs");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn there_are_enough() {
    assert!(programs("").len() >= 20);
}

#[test]
fn programs_print_what_they_print_without_threadbare() {
    for_each(&programs(""), |program| {
        for level in LEVELS {
            // A bug may show at any time; what is right stands in the program.
            if !program.has_bug {
                assert_eq!(plain_output(program, level), program.prints, "plain, {level}");
            }
            let built = build(program, &Build::at(level));
            let compiled = open(&built.path);
            let mut strategies = vec![Strategy::RunToBlock];
            if !program.has_bug {
                strategies.extend((0..10).map(|seed| Strategy::Random { seed }));
            }
            for strategy in strategies {
                let _ = record(&compiled, &strategy, &Logging::Synchronisation, &program.prints);
            }
        }
    });
}

#[test]
fn what_the_log_leaves_out_is_rebuilt() {
    let (branches, pinned) = (AtomicU64::new(0), AtomicU64::new(0));
    for_each(&programs(""), |program| {
        for level in LEVELS {
            let built = build(program, &Build::at(level));
            let compiled = open(&built.path);
            let strategies =
                [Strategy::RunToBlock, Strategy::RoundRobin { quantum: 3 }, Strategy::Random { seed: 7 }];
            for strategy in &strategies {
                let recorded = compiled.record(strategy, &Logging::Everything).expect("it runs");
                let found = rebuild(compiled.linked(), recorded.log.bytes());
                let name = program.name();
                assert_eq!(found.mismatches, 0, "{name} {level} {strategy}: {:?}", found.first_mismatches);
                assert!(found.lost.is_empty(), "{name} {level} {strategy}: lost the way: {:?}", found.lost);
                assert!(found.accesses > 0, "{name} {level} {strategy}: no accesses");
                // A thread that spins until it is preempted makes long traces, which say nothing.
                if *strategy != Strategy::RunToBlock {
                    let _ = concurrent_trace_program(&compiled, &recorded.run.trace);
                }
                branches.fetch_add(found.shared_branches, Ordering::Relaxed);
                pinned.fetch_add(found.pinned_shared_branches(), Ordering::Relaxed);
                if found.pinned_shared_branches() > 0 {
                    let (of, reasons) = (found.shared_branches, &found.pinned_branches);
                    println!(
                        "{name} {level} {strategy}: of {of} branches on shared reads pinned: {reasons:?}"
                    );
                }
            }
        }
    });
    let (branches, pinned) = (branches.into_inner(), pinned.into_inner());
    // Run-to-block counts, and its spinning threads make most of the branches. Without it 862 of 25,396 are pinned, by `memcmp`, `strlen`
    // and `strchr` for the most part: with models of these the count can leave it out.
    println!("of {branches} branches that depend on shared reads {pinned} are pinned");
    assert!(branches > 0 && pinned * 100 <= branches, "{pinned} of {branches} are pinned");
}
