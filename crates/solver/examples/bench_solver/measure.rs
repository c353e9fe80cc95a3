//! A child process with a time limit: its output, CPU time and peak memory, from `/proc`.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub struct Measured {
    pub output: String,
    pub wall: f64,
    pub cpu: f64,
    /// Peak resident memory in MiB.
    pub memory: f64,
    pub finished: bool,
}

pub fn run(mut command: Command, limit: Duration) -> std::io::Result<Measured> {
    let start = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let proc = format!("/proc/{}", child.id());
    let mut stdout = child.stdout.take();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        if let Some(stdout) = &mut stdout {
            // A killed child gives what it had written.
            let _ = stdout.read_to_string(&mut text);
        }
        text
    });
    let (mut memory, mut finished) = (0.0_f64, true);
    loop {
        if let Ok(status) = std::fs::read_to_string(format!("{proc}/status")) {
            let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
            let kib = line.and_then(|l| l.split_whitespace().next()?.parse::<f64>().ok());
            memory = memory.max(kib.unwrap_or(0.0) / 1024.0);
            // A zombie still has its times.
            if status.lines().any(|l| l.starts_with("State:") && l.contains('Z')) {
                break;
            }
        }
        if start.elapsed() > limit {
            finished = false;
            child.kill()?;
            std::thread::sleep(Duration::from_millis(20));
            break;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let wall = start.elapsed().as_secs_f64();
    let times = std::fs::read_to_string(format!("{proc}/schedstat")).unwrap_or_default();
    let cpu = times.split_whitespace().next().and_then(|t| t.parse::<f64>().ok()).unwrap_or(0.0) / 1e9;
    child.wait()?;
    let output = reader.join().unwrap_or_default();
    Ok(Measured { output, wall, cpu, memory, finished })
}
