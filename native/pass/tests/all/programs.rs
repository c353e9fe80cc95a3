//! Every program in `programs/` goes through the pass: it compiles without a warning at several levels of optimisation,
//! behaves as without the pass, and its IR comes back from the linked binary, well formed and with all its functions.
//!
//! The first comments of a program say what it is for, and may ask for more: `// with:` other sources, `// flags:`,
//! `// link:` libraries, `// part of` another program.

use crate::common;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Case {
    sources: Vec<PathBuf>,
    flags: Vec<String>,
}

fn cases() -> Vec<Case> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let files = std::fs::read_dir(&directory).expect("the programs");
    let mut cases = vec![];
    let paths: BTreeSet<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a program");
        let asked = |what: &str| -> Vec<String> {
            let line = text.lines().take(4).find_map(|line| line.strip_prefix(what));
            line.unwrap_or("").split_whitespace().map(str::to_owned).collect()
        };
        if text.starts_with("// part of") {
            continue;
        }
        let mut sources = vec![path];
        sources.extend(asked("// with:").iter().map(|name| directory.join(name)));
        let mut flags = asked("// flags:");
        flags.extend(asked("// link:"));
        flags.extend(["-lm".to_owned(), "-pthread".to_owned()]);
        cases.push(Case { sources, flags });
    }
    cases
}

fn output(program: &Path) -> (Option<i32>, String) {
    let output = Command::new(program).output().expect("it runs");
    (output.status.code(), String::from_utf8(output.stdout).expect("text"))
}

fn check(number: usize, case: &Case) {
    let directory = tempfile::tempdir().expect("a directory");
    let mut flags: Vec<&str> = case.flags.iter().map(String::as_str).collect();
    let plain = directory.path().join("plain");
    let mut command = Command::new(common::compiler(&case.sources[0]));
    common::run(command.args(["-w", "-O1"]).args(&case.sources).args(&flags).arg("-o").arg(&plain));
    let expected = output(&plain);
    assert!(!expected.1.is_empty(), "{}: prints nothing", case.sources[0].display());
    // Each program unoptimised and optimised, and all levels among them.
    let third = [["-O1", "-g0"], ["-O3", "-g"], ["-O1", "-g"], ["-O3", "-g0"]][number % 4];
    for level in [["-O0", "-g"], ["-O2", "-g0"], third] {
        flags.extend(level);
        let binary = directory.path().join("binary");
        let program = common::build(&case.sources, &flags, &binary);
        flags.truncate(case.flags.len());
        assert_eq!(output(&binary), expected, "{} at {level:?}", case.sources[0].display());
        assert!(program.functions.iter().any(|function| &*function.name == "main"));
        let again = ir::parse(&ir::print(&program)).expect("what was printed");
        assert!(again == program, "{}: the text form loses something", case.sources[0].display());
    }
}

/// The programs of one share, so that the shares run side by side.
fn share(part: usize) {
    for (number, case) in cases().iter().enumerate().filter(|(number, _)| number % 4 == part) {
        check(number, case);
    }
}

#[test]
fn programs_go_through_unchanged_1() {
    share(0);
}

#[test]
fn programs_go_through_unchanged_2() {
    share(1);
}

#[test]
fn programs_go_through_unchanged_3() {
    share(2);
}

#[test]
fn programs_go_through_unchanged_4() {
    share(3);
}

#[test]
fn there_are_programs_for_the_language_areas() {
    assert!(cases().len() >= 25, "{}", cases().len());
}
