//! An independent SMT solver as a child process, many queries at a time.

use std::io::Write;
use std::process::{Command, Stdio};

const END: &str = "end of script";

/// The verdicts of z3 on some scripts, each with one `check-sat`.
pub fn z3(scripts: &[String]) -> Vec<String> {
    let answers = z3_all(scripts);
    let one = |mut all: Vec<String>| {
        assert_eq!(all.len(), 1, "z3 said: {all:?}");
        all.remove(0)
    };
    answers.into_iter().map(one).collect()
}

/// All that z3 says to each of some scripts, line by line.
pub fn z3_all(scripts: &[String]) -> Vec<Vec<String>> {
    let mut input = String::new();
    for script in scripts {
        input.push_str(script);
        input.push_str(&format!("\n(echo \"{END}\")\n(reset)\n"));
    }
    let program = std::env::var("Z3").unwrap_or_else(|_| "z3".into());
    let mut child = Command::new(&program)
        // A question on which it would spend hours is one that it does not answer.
        .args(["-in", "-smt2", "-t:20000"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("{program} is needed for this test (Debian package z3): {e}"));
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut answers = vec![Vec::new()];
    for line in text.lines() {
        match answers.last_mut() {
            Some(lines) if line != END => lines.push(line.to_string()),
            _ => answers.push(Vec::new()),
        }
    }
    assert_eq!(answers.pop(), Some(vec![]), "z3 said: {text}");
    assert_eq!(answers.len(), scripts.len(), "z3 said: {text}");
    answers
}
