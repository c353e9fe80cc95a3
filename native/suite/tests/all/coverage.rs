//! The table "Threads and system functions" of `docs/coverage.md`: each row names a program or a test, and each program is named.

use std::collections::BTreeSet;
use subject::Strategy;
use suite::{
    Build, Cxx, Language, Program, build, concurrent_trace_program, directory, first_difference, for_each,
    open, plain, programs, record,
};
use trace::Logging;

/// What the section's last column names.
fn named() -> BTreeSet<String> {
    let path = directory().join("../../docs/coverage.md");
    let text = std::fs::read_to_string(path).expect("docs/coverage.md");
    let (_, behind) = text.split_once("\n## Threads and system functions\n").expect("the section");
    let section = behind.split("\n## ").next().expect("its text");
    let mut named = BTreeSet::new();
    for row in section.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| function ")) {
        if row.starts_with("| what ") {
            continue;
        }
        let last = row.trim_end_matches('|').rsplit('|').next().expect("a column");
        let before = named.len();
        named.extend(last.split('`').skip(1).step_by(2).map(str::to_owned));
        assert!(named.len() > before || last.contains("what_cannot_work"), "a row without a test: {row}");
    }
    named
}

#[test]
fn every_row_has_a_test_and_every_program_a_row() {
    let mut there: BTreeSet<String> = programs("coverage").iter().map(suite::Program::name).collect();
    there.insert("what_cannot_work_is_refused".to_owned());
    assert_eq!(named(), there);
}

#[test]
fn what_cannot_work_is_refused() {
    let toolchain = native::Toolchain::find();
    for option in ["-static", "-fopenmp", "-fsanitize=thread", "-flto"] {
        let words = [option.into(), "program.c".into()];
        let error = native::cc::command(native::cc::Language::C, &toolchain, &words).expect_err(option);
        assert!(error.to_string().contains(option), "{error}");
    }
}

/// A program that fails without Threadbare says nothing about Threadbare.
#[test]
fn programs_hold_without_threadbare() {
    for_each(&programs("coverage"), |program| {
        for cxx in Cxx::ALL {
            if cxx == Cxx::LibCxx && program.language == Language::C {
                continue;
            }
            let built = plain(program, &Build { cxx, ..Build::at("-O1") });
            let output = std::process::Command::new(&built.path).output().expect("it runs");
            assert_eq!(String::from_utf8_lossy(&output.stdout), program.prints, "{cxx:?}: {output:?}");
        }
    });
}

/// How many schedules each program is run under.
const SEEDS: u64 = 50;

/// Runs a program under many schedules, each twice.
fn holds_under_random_schedules(program: &Program, builds: &[Build]) {
    // With LLVM's library the walk loses its way in most programs. It comes as archives, whose plain copies of inline functions are suspected.
    let follows = builds.iter().all(|how| how.cxx == Cxx::LibStdCxx);
    let compiled: Vec<_> = builds
        .iter()
        .map(|how| {
            let built = build(program, how);
            let compiled = open(&built.path);
            (built, compiled)
        })
        .collect();
    for (seed, (_, compiled)) in (0..SEEDS).zip(compiled.iter().cycle()) {
        let strategy = Strategy::Random { seed };
        let [one, again] =
            [(); 2].map(|()| record(compiled, &strategy, &Logging::Everything, &program.prints));
        let difference = first_difference(&one.run.trace, &again.run.trace, program.reads_outside);
        assert_eq!(difference, None, "{strategy}, run twice");
        // One run of each build: making a concurrent trace program takes longer than running.
        if follows && seed < builds.len() as u64 {
            let _ = concurrent_trace_program(compiled, &one.run.trace);
        }
    }
}

#[test]
fn programs_hold_under_random_schedules() {
    for_each(&programs("coverage"), |program| {
        holds_under_random_schedules(program, &[Build::at("-O0"), Build::at("-O2")]);
    });
}

#[test]
fn programs_with_the_other_library_hold_under_random_schedules() {
    let mut all = programs("coverage");
    all.retain(|program| program.language == Language::Cxx);
    for_each(&all, |program| {
        holds_under_random_schedules(program, &[Build { cxx: Cxx::LibCxx, ..Build::at("-O1") }]);
    });
}
