//! Ctrl-C: what was found so far is told, and the exit code says that it is not all.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::time::Duration;

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
    // Who is started in the background ignores the signal, and so would the tool: here it must not. The budget ends what is not
    // interrupted all the same.
    let mut child = Command::new("env")
        .args(["--default-signal=INT", env!("CARGO_BIN_EXE_threadbare")])
        .args(["run", "slow.tb", "--only", "atomicity,assert", "--solve-time", "100000", "--budget", "90s"])
        .current_dir(directory.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // It says how the run went, and then looks; that takes far longer than we wait.
    let mut said = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    said.read_line(&mut text).unwrap();
    std::thread::sleep(Duration::from_secs(3));
    let interrupted = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
    assert!(interrupted.success());
    said.read_to_string(&mut text).unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(3), "{text}");
    assert!(text.contains(": interrupted"), "{text}");
    assert!(text.contains("looked at "), "{text}");
}
