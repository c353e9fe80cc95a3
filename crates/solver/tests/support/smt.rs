//! An independent SMT solver as a child process, many queries at a time.

use std::io::Write;
use std::process::{Command, Stdio};

/// The verdicts of z3 on some scripts, each with one `check-sat`.
pub fn z3(scripts: &[String]) -> Vec<String> {
    let mut input = String::new();
    for script in scripts {
        input.push_str("(reset)\n");
        input.push_str(script);
    }
    let program = std::env::var("Z3").unwrap_or_else(|_| "z3".into());
    let mut child = Command::new(&program)
        .args(["-in", "-smt2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("{program} is needed for this test (Debian package z3): {e}"));
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let verdicts: Vec<String> = text.lines().map(str::to_string).collect();
    assert_eq!(verdicts.len(), scripts.len(), "z3 said: {text}");
    verdicts
}
