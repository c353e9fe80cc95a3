//! One process: without address randomisation, within limits of time and memory, waited for.

use super::Stopped;
use nix::errno::Errno;
use nix::sys::personality::{self, Persona};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the memory of a program is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// What a program may take.
pub struct Limits {
    pub timeout: Option<Duration>,
    pub most_memory: Option<u64>,
    /// Files that it writes, and how long they may become.
    pub output: Option<(Vec<PathBuf>, u64)>,
}

/// Why there is no process.
pub enum Failure {
    Personality(Errno),
    Start(io::Error),
}

/// Switches address randomisation off for what this thread starts.
pub fn without_randomisation() -> Result<(), Errno> {
    let before = personality::get()?;
    personality::set(before | Persona::ADDR_NO_RANDOMIZE)?;
    Ok(())
}

/// Runs a command to its end.
pub fn run(mut command: Command, limits: &Limits) -> Result<(ExitStatus, Option<Stopped>), Failure> {
    // The personality belongs to the thread that starts the process, so that ours stays as it is.
    let child = std::thread::scope(|scope| {
        let started = scope.spawn(|| {
            without_randomisation().map_err(Failure::Personality)?;
            command.spawn().map_err(Failure::Start)
        });
        started.join().unwrap_or_else(|_| Err(Failure::Start(io::Error::other("a thread of ours ended"))))
    })?;
    wait(child, limits).map_err(Failure::Start)
}

fn wait(mut child: Child, limits: &Limits) -> io::Result<(ExitStatus, Option<Stopped>)> {
    if limits.timeout.is_none() && limits.most_memory.is_none() && limits.output.is_none() {
        return Ok((child.wait()?, None));
    }
    let pid = Pid::from_raw(i32::try_from(child.id()).map_err(io::Error::other)?);
    let over = (Mutex::new(false), Condvar::new());
    let stopped = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(pid, limits, &over));
        // Waiting leaves the process where it is, so that its number stays its own until the watcher is done.
        while let Err(Errno::EINTR) = waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT) {}
        *over.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        over.1.notify_all();
        watcher.join().unwrap_or(None)
    });
    Ok((child.wait()?, stopped))
}

/// Ends the process when it takes too much; gives up when it is over.
fn watch(pid: Pid, limits: &Limits, over: &(Mutex<bool>, Condvar)) -> Option<Stopped> {
    let start = Instant::now();
    let mut is_over = over.0.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if *is_over {
            return None;
        }
        let left = limits.timeout.map(|timeout| timeout.saturating_sub(start.elapsed()));
        let reason = match () {
            () if left == Some(Duration::ZERO) => Some(Stopped::Timeout),
            () if limits.most_memory.is_some_and(|most| own_memory(pid) > most) => Some(Stopped::Memory),
            () if limits.output.as_ref().is_some_and(too_long) => Some(Stopped::Output),
            () => None,
        };
        if let Some(reason) = reason {
            // It cannot have ended and been waited for: `is_over` is not set.
            let _ = kill(pid, Signal::SIGKILL);
            return Some(reason);
        }
        let looks = limits.most_memory.is_some() || limits.output.is_some();
        let pause = match left {
            Some(left) if !looks => left,
            Some(left) => left.min(LOOK),
            None => LOOK,
        };
        is_over = over.1.wait_timeout(is_over, pause).unwrap_or_else(PoisonError::into_inner).0;
    }
}

/// Whether a file has become too long.
fn too_long((files, most): &(Vec<PathBuf>, u64)) -> bool {
    files.iter().any(|file| std::fs::metadata(file).is_ok_and(|metadata| metadata.len() > *most))
}

/// The bytes of memory that belong to a process alone; the log, which is shared with us, does not count.
fn own_memory(pid: Pid) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kilobytes =
        line.and_then(|line| line.trim().split(' ').next()).and_then(|number| number.parse().ok());
    kilobytes.map_or(0, |kilobytes: u64| kilobytes << 10)
}

/// Whether address randomisation can be switched off.
pub fn can_fix_addresses() -> Result<(), Errno> {
    std::thread::spawn(without_randomisation).join().unwrap_or(Err(Errno::ENOSYS))
}

/// Whether a directory has room for so many bytes.
pub fn has_room(directory: &Path, bytes: u64) -> bool {
    room(directory).is_some_and(|room| room >= bytes)
}

/// How many bytes a directory has room for.
pub fn room(directory: &Path) -> Option<u64> {
    let room = nix::sys::statvfs::statvfs(directory).ok()?;
    Some(room.blocks_available().saturating_mul(room.fragment_size()))
}

/// How a process ended, in words.
pub fn words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("it ended with status {code}"),
        (None, Some(signal)) => match Signal::try_from(signal) {
            Ok(signal) => format!("it was ended by {signal}"),
            Err(_) => format!("it was ended by signal {signal}"),
        },
        (None, None) => "it ended".to_owned(),
    }
}
