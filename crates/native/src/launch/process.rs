//! One process: without address randomisation, within limits of time and memory, waited for.

use super::files::Streams;
use super::{MOST_OUTPUT, Options, Stopped};
use nix::errno::Errno;
use nix::sys::personality::{self, Persona};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the memory of a program is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// What a program may take, from now on.
pub struct Limits<'s> {
    start: Instant,
    timeout: Option<Duration>,
    most_memory: Option<u64>,
    /// What it writes, if that may become too long.
    output: Option<&'s Streams>,
}

impl<'s> Limits<'s> {
    pub fn new(options: &Options, streams: &'s Streams) -> Limits<'s> {
        Limits {
            start: Instant::now(),
            timeout: options.timeout,
            most_memory: options.most_memory,
            output: streams.are_kept().then_some(streams),
        }
    }

    /// Why a process has to be ended now, if it has.
    pub fn exceeded(&self, process: impl Fn() -> Option<Pid>) -> Option<Stopped> {
        let memory = || process().map_or(0, own_memory);
        match () {
            () if self.left() == Some(Duration::ZERO) => Some(Stopped::Timeout),
            () if self.most_memory.is_some_and(|most| memory() > most) => Some(Stopped::Memory),
            () if self.output.is_some_and(|streams| streams.are_longer_than(MOST_OUTPUT)) => {
                Some(Stopped::Output)
            }
            () => None,
        }
    }

    fn left(&self) -> Option<Duration> {
        self.timeout.map(|timeout| timeout.saturating_sub(self.start.elapsed()))
    }

    /// How long nobody has to look; `None` if there is nothing to look for.
    pub fn pause(&self) -> Option<Duration> {
        let looks = self.most_memory.is_some() || self.output.is_some();
        match self.left() {
            Some(left) if !looks => Some(left),
            Some(left) => Some(left.min(LOOK)),
            None => looks.then_some(LOOK),
        }
    }
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

/// Starts a command.
pub fn start(mut command: Command) -> Result<Child, Failure> {
    // The personality belongs to the thread that starts the process, so that ours stays as it is.
    std::thread::scope(|scope| {
        let started = scope.spawn(|| {
            without_randomisation().map_err(Failure::Personality)?;
            command.spawn().map_err(Failure::Start)
        });
        started.join().unwrap_or_else(|_| Err(Failure::Start(io::Error::other("a thread of ours ended"))))
    })
}

/// Runs a command to its end.
pub fn run(command: Command, limits: &Limits<'_>) -> Result<(ExitStatus, Option<Stopped>), Failure> {
    wait(start(command)?, limits).map_err(Failure::Start)
}

fn wait(mut child: Child, limits: &Limits<'_>) -> io::Result<(ExitStatus, Option<Stopped>)> {
    if limits.pause().is_none() {
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
fn watch(pid: Pid, limits: &Limits<'_>, over: &(Mutex<bool>, Condvar)) -> Option<Stopped> {
    let mut is_over = over.0.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if *is_over {
            return None;
        }
        if let Some(reason) = limits.exceeded(|| Some(pid)) {
            // It cannot have ended and been waited for: `is_over` is not set.
            let _ = kill(pid, Signal::SIGKILL);
            return Some(reason);
        }
        let pause = limits.pause().unwrap_or(LOOK);
        is_over = over.1.wait_timeout(is_over, pause).unwrap_or_else(PoisonError::into_inner).0;
    }
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
