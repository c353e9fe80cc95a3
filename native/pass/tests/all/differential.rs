//! The translation means what the program means: functions on integers give the same result when the machine runs
//! their IR and when clang's code runs.

use crate::common;
use crate::common::random_c::{self, Random};
use ir::{FunctionId, ThreadStart};
use machine::{Machine, Options};
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
        let program = common::build(std::slice::from_ref(&source), &["-c", "-fwrapv", level], &object);
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

/// Random operands rarely meet the borders: each exact equivalent of an intrinsic, on all pairs of border values.
#[test]
fn equivalents_of_intrinsics_hold_at_the_borders() {
    let mut text = "typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32;\n\
                    typedef unsigned long u64; typedef signed char i8; typedef short i16; typedef int i32;\n\
                    typedef long i64;\n\
                    static const u64 edges[] = {0, 1, 2, 3, 7, 8, 127, 128, 129, 255, 256, 32767, 32768, 65535, \
                    2147483647, 2147483648UL, 4294967295UL, -1L, -2L, -128L, -129L, 1UL << 63, ~0UL >> 1};\n"
        .to_owned();
    let mut count = 0;
    let mut test = |expression: &str, setup: &str| {
        let _ = writeln!(
            text,
            "u64 r{count}; static void t{count}(void) {{ u64 h = 0; for (int i = 0; i < 23; i++) \
             for (int j = 0; j < 23; j++) {{ u64 a = edges[i], b = edges[j]; {setup} \
             h = h * 31 + (u64)({expression}); }} r{count} = h; }}"
        );
        count += 1;
    };
    for ty in ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"] {
        for op in ["add", "sub", "mul"] {
            // The machine has no integers of 128 bits, in which this multiplies.
            if op != "mul" || !ty.ends_with("64") {
                let setup = format!("{ty} o; int t = __builtin_{op}_overflow(({ty})a, ({ty})b, &o);");
                test("o * 2 + t", &setup);
            }
        }
        for op in ["add_sat", "sub_sat", "max", "min"] {
            test(&format!("__builtin_elementwise_{op}(({ty})a, ({ty})b)"), "");
        }
    }
    for bits in [8, 16, 32, 64] {
        test(&format!("__builtin_rotateleft{bits}(a, b)"), "");
        test(&format!("__builtin_rotateright{bits}(a, b)"), "");
        test(&format!("__builtin_bitreverse{bits}(a + b)"), "");
        test(&format!("__builtin_popcountg((u{bits})(a + b))"), "");
        test(&format!("__builtin_clzg((u{bits})(a - b), {bits})"), "");
        test(&format!("__builtin_ctzg((u{bits})(a - b), {bits})"), "");
        test(&format!("__builtin_elementwise_abs((i{bits})(a ^ b))"), "");
    }
    for bits in [16, 32, 64] {
        test(&format!("__builtin_bswap{bits}(a + b)"), "");
    }
    text.push_str("void run_all(void) {");
    for number in 0..count {
        let _ = write!(text, " t{number}();");
    }
    text.push_str(" }\n");
    check(&text, count, "borders");
}
