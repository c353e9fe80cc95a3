//! What several tests of the command share.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs the command in a directory.
pub fn threadbare(directory: &Path, arguments: &[&str]) -> Output {
    let command =
        Command::new(env!("CARGO_BIN_EXE_threadbare")).args(arguments).current_dir(directory).output();
    command.expect("threadbare runs")
}

/// What somebody sees who presses Ctrl-C.
pub struct Interrupted {
    /// On standard output.
    pub printed: String,
    /// On standard error, with a line for each step of the work.
    pub said: String,
    pub status: Option<i32>,
}

impl Interrupted {
    /// Runs the command, and interrupts it when it has said something on standard error. What it does then must take far longer than a
    /// signal does.
    pub fn when(directory: &Path, words: &[&str], has_come_so_far: impl Fn(&str) -> bool) -> Interrupted {
        // Who is started in the background ignores the signal, and so would the tool: here it must not.
        let mut command = Command::new("env");
        command.args(["--default-signal=INT", env!("CARGO_BIN_EXE_threadbare")]).args(words);
        command.current_dir(directory).env("THREADBARE_PROGRESS", "lines");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("env runs threadbare");
        let mut printing = child.stdout.take().expect("its output");
        let printed = std::thread::spawn(move || {
            let mut printed = String::new();
            printing.read_to_string(&mut printed).expect("what it prints is text");
            printed
        });
        let mut saying = BufReader::new(child.stderr.take().expect("its messages"));
        let (mut said, mut from) = (String::new(), 0);
        while !has_come_so_far(&said[from..]) {
            from = said.len();
            let read = saying.read_line(&mut said).expect("what it says is text");
            assert_ne!(read, 0, "it ended before it could be interrupted: {said}");
        }
        let interrupt = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status();
        assert!(interrupt.is_ok_and(|status| status.success()), "{said}");
        saying.read_to_string(&mut said).expect("what it says is text");
        let status = child.wait().expect("it ends").code();
        Interrupted { printed: printed.join().expect("no panic"), said, status }
    }
}
