//! What several tests of the command share.

use std::path::Path;
use std::process::{Command, Output};

/// Runs the command in a directory.
pub fn threadbare(directory: &Path, arguments: &[&str]) -> Output {
    let command =
        Command::new(env!("CARGO_BIN_EXE_threadbare")).args(arguments).current_dir(directory).output();
    command.expect("threadbare runs")
}
