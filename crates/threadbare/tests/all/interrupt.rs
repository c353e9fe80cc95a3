//! Ctrl-C: what was found so far is told, and the exit code says that it is not all.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::common::Interrupted;
use std::fmt::Write as _;
use std::process::Command;

/// Threads whose squares no solver is done with soon.
fn slow_program() -> String {
    let mut source = "int x = 1;\nmutex m;\n".to_owned();
    for n in 0..24 {
        let bad = n * 7919 + 12345;
        writeln!(
            source,
            "thread T{n} {{ local a; atomic {{ lock(m); a = x; unlock(m); lock(m); x = a * a + {n}; unlock(m); }} \
             assert(x != {bad}); }}"
        )
        .unwrap();
    }
    source
}

#[test]
fn an_interrupted_search_tells_what_it_has_found() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("slow.tb"), slow_program()).unwrap();
    // The budget ends what is not interrupted all the same.
    let words = ["run", "slow.tb", "--only", "atomicity,assert", "--solve-time", "100000", "--budget", "90s"];
    let interrupted = Interrupted::when(directory.path(), &words, |said| said.starts_with("predicting: "));
    let text = interrupted.printed;
    assert_eq!(interrupted.status, Some(3), "{text}");
    assert!(text.contains(": interrupted"), "{text}");
    assert!(text.contains("looked at "), "{text}");
}

/// Threads that write the same variable again and again: very many orders.
fn many_orders() -> String {
    let writes = |n: u32, times: u32| (0..times).map(|k| format!("x = {};", 10 * n + k)).collect::<String>();
    let thread = |n: u32| format!("thread T{n} {{ {} }}\n", writes(n, if n == 4 { 2 } else { 3 }));
    format!("atomic int x;\n{}", (1..=4).map(thread).collect::<String>())
}

fn explore(directory: &std::path::Path, more: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_threadbare"))
        .args(["explore", "--strategy", "dpor", "many.tb"])
        .args(more)
        .current_dir(directory)
        .output()
        .unwrap()
}

#[test]
fn an_interrupted_exploration_goes_on_where_it_was() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("many.tb"), many_orders()).unwrap();
    let words = ["explore", "--strategy", "dpor", "--workers", "1", "many.tb"];
    let interrupted = Interrupted::when(directory.path(), &words, |said| said.contains(" parts"));
    let Interrupted { printed: text, said, status } = interrupted;
    assert_eq!(status, Some(3), "{text}{said}");
    assert!(text.contains("incomplete: interrupted") && said.contains("--resume"), "{text}{said}");
    let states = || std::fs::read_dir(directory.path().join(".threadbare/explorations")).unwrap();
    let state = states().next().unwrap().unwrap().path();
    assert_eq!(states().count(), 1);
    // A damaged one is refused, and stays.
    let bytes = std::fs::read(&state).unwrap();
    std::fs::write(&state, &bytes[..bytes.len() / 2]).unwrap();
    let damaged = explore(directory.path(), &["--resume"]);
    assert_eq!(damaged.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&damaged.stderr).contains("is damaged"));
    std::fs::write(&state, bytes).unwrap();
    // Another question does not find it.
    let other = explore(directory.path(), &["--reduction", "source", "--resume"]);
    assert_eq!(other.status.code(), Some(2));
    let resumed = explore(directory.path(), &["--resume", "--workers", "2"]);
    assert_eq!(states().count(), 0, "nothing is left to go on with");
    let at_once = explore(directory.path(), &["--workers", "4"]);
    assert_eq!(String::from_utf8_lossy(&resumed.stdout), String::from_utf8_lossy(&at_once.stdout));
    assert_eq!((resumed.status.code(), at_once.status.code()), (Some(0), Some(0)));
    assert!(String::from_utf8_lossy(&at_once.stdout).contains("runs: 92400 (92400 completed)"));
}

#[test]
fn what_was_not_interrupted_cannot_be_gone_on_with() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("many.tb"), "int x; thread A { x = 1; }").unwrap();
    let missing = explore(directory.path(), &["--resume"]);
    assert_eq!(missing.status.code(), Some(2));
    let said = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(said.contains("was interrupted here"), "{said}");
}
