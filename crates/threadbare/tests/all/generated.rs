//! Completions and man pages are generated from the definitions of the flags, for every subcommand.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::process::{Command, Output};

const COMMANDS: [&str; 15] = [
    "run", "record", "predict", "ctp", "list", "show", "clean", "replay", "explore", "cc", "c++", "doctor",
    "fmt", "trace", "solve",
];

fn threadbare(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_threadbare")).args(arguments).output().unwrap()
}

#[test]
fn completions_know_every_subcommand() {
    for shell in ["bash", "zsh", "fish"] {
        let output = threadbare(&["completions", shell]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success());
        assert!(COMMANDS.iter().all(|command| text.contains(command)), "{shell}");
    }
}

#[test]
fn every_subcommand_has_a_man_page() {
    let directory = tempfile::tempdir().unwrap();
    assert!(threadbare(&["man", directory.path().to_str().unwrap()]).status.success());
    let page = |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap();
    assert!(page("threadbare.1").contains("Exit codes"));
    for command in COMMANDS {
        assert!(page(&format!("threadbare-{command}.1")).contains(".SH SYNOPSIS"), "{command}");
    }
}
