//! The translation means what the program means: functions on integers give the same result when the machine runs
//! their IR and when clang's code runs.

mod common;
#[path = "common/random_c.rs"]
mod random_c;

use ir::{FunctionId, ThreadStart};
use machine::{Machine, Options};
use random_c::Random;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use subject::{Strategy, Subject};
use trace::{Logging, Outcome};

const FUNCTIONS: usize = 40;

/// What clang's code computes.
fn native_results(directory: &Path, source: &Path, count: usize) -> Vec<u64> {
    let mut main = "extern unsigned long".to_owned();
    let names: Vec<String> = (0..count).map(|n| format!(" r{n}")).collect();
    let _ = writeln!(main, "{}; void run_all(void);", names.join(","));
    main.push_str("int printf(const char *, ...);\nint main(void) { run_all();");
    for name in &names {
        let _ = write!(main, " printf(\"%lu\\n\",{name});");
    }
    main.push_str(" }\n");
    let main_source = directory.join("main.c");
    std::fs::write(&main_source, main).expect("space");
    let binary = directory.join("native");
    let mut command = Command::new("clang-22");
    common::run(command.args(["-O1", "-w", "-fwrapv"]).arg(source).arg(main_source).arg("-o").arg(&binary));
    let output = common::run(&mut Command::new(binary));
    let text = String::from_utf8(output.stdout).expect("numbers");
    text.lines().map(|line| line.parse().expect("a number")).collect()
}

/// What the machine computes from the IR.
fn machine_results(mut program: ir::Program, count: usize) -> Vec<u64> {
    let number = program.functions.iter().position(|function| &*function.name == "run_all");
    let function = FunctionId::new(number.expect("it is defined"));
    program.threads = vec![ThreadStart { name: "main".into(), function, main: true }];
    let machine = Machine::new(program, Options::default()).expect("only what the machine runs");
    let run = machine.run(&Strategy::RunToBlock, &Logging::Synchronisation).expect("it runs");
    let Outcome::Completed { state, .. } = run.trace.outcome else { panic!("{:?}", run.trace.outcome) };
    let value = |n: usize| {
        let (_, text) = state.iter().find(|(name, _)| *name == format!("r{n}")).expect("a global");
        text.parse::<i128>().expect("a number") as u64
    };
    (0..count).map(value).collect()
}

fn check(text: &str, count: usize, what: &str) {
    let directory = tempfile::tempdir().expect("a directory");
    let source = directory.path().join("random.c");
    std::fs::write(&source, text).expect("space");
    let expected = native_results(directory.path(), &source, count);
    for level in ["-O0", "-O2"] {
        let object = directory.path().join("random.o");
        let program = common::build(&[source.clone()], &["-c", "-fwrapv", level], &object);
        let found = machine_results(program, count);
        for (n, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert!(found == expected, "{what} at {level}: f{n} gives {found}, natively {expected}\n{text}");
        }
    }
}

fn seeds(from: u64, count: u64) {
    for seed in from..from + count {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        check(&random_c::module(&mut random, FUNCTIONS), FUNCTIONS, &format!("seed {seed}"));
    }
}

/// How many random modules, 40 functions each; `THREADBARE_RANDOM_MODULES` asks for more.
fn modules() -> u64 {
    std::env::var("THREADBARE_RANDOM_MODULES").ok().and_then(|text| text.parse().ok()).unwrap_or(8)
}

#[test]
fn random_functions_mean_the_same_1() {
    seeds(1, modules() / 2);
}

#[test]
fn random_functions_mean_the_same_2() {
    seeds(1_000_001, modules() / 2);
}
