//! Traces that are cut off, damaged, or of another program: one clear message and exit code 2, whatever the bytes.

#![allow(clippy::unwrap_used, reason = "tests")]

use crate::common::threadbare;
use std::process::Output;

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A directory with a program and its trace.
fn recorded() -> (tempfile::TempDir, Vec<u8>) {
    let directory = tempfile::tempdir().unwrap();
    let program =
        "int x; mutex m;\nthread T { int i = 0; while (i < 50) { lock(m); x++; unlock(m); i++; } }\n";
    std::fs::write(directory.path().join("p.tb"), program).unwrap();
    let output = threadbare(directory.path(), &["record", "p.tb", "-o", "p.trace"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let bytes = std::fs::read(directory.path().join("p.trace")).unwrap();
    (directory, bytes)
}

#[test]
fn a_trace_that_is_cut_anywhere_is_read_up_to_the_cut_and_says_so() {
    let (directory, bytes) = recorded();
    let step = (bytes.len() / 40).max(1);
    for length in (0..bytes.len()).step_by(step) {
        std::fs::write(directory.path().join("cut.trace"), &bytes[..length]).unwrap();
        let output = threadbare(directory.path(), &["trace", "show", "cut.trace"]);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(2), "cut at {length}: {said}");
        assert!(said.contains("cut.trace: ") || said.contains("note: "), "cut at {length}: {said}");
        assert!(!said.contains("panicked"), "cut at {length}: {said}");
    }
}

#[test]
fn a_flipped_bit_is_noticed_wherever_it_is() {
    let (directory, bytes) = recorded();
    let step = (bytes.len() / 60).max(1);
    for at in (0..bytes.len()).step_by(step) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        std::fs::write(directory.path().join("damaged.trace"), &damaged).unwrap();
        for arguments in [&["trace", "show", "damaged.trace"][..], &["replay", "p.tb", "damaged.trace"][..]] {
            let output = threadbare(directory.path(), arguments);
            let said = text(&output);
            assert_eq!(output.status.code(), Some(2), "bit flipped in byte {at}, {arguments:?}: {said}");
            assert!(!said.contains("panicked"), "bit flipped in byte {at}: {said}");
        }
    }
}

#[test]
fn a_trace_of_another_program_or_a_changed_one_is_refused() {
    let (directory, _) = recorded();
    std::fs::write(directory.path().join("other.tb"), "int y;\nthread T { y = 1; }\n").unwrap();
    for arguments in [
        &["replay", "other.tb", "p.trace"][..],
        &["explore", "other.tb", "--along", "p.trace"][..],
        &["trace", "show", "p.trace", "--program", "other.tb"][..],
    ] {
        let output = threadbare(directory.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output));
        assert!(text(&output).contains("another program"), "{arguments:?}: {}", text(&output));
    }
}

#[test]
fn a_failed_write_leaves_the_earlier_trace_as_it_was() {
    let (directory, bytes) = recorded();
    let output = threadbare(directory.path(), &["record", "missing.tb", "-o", "p.trace"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(std::fs::read(directory.path().join("p.trace")).unwrap(), bytes);
    let output = threadbare(directory.path(), &["record", "p.tb", "-o", "no/such/place.trace"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("no/such/place.trace"), "{}", text(&output));
}
