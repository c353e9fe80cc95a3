//! Waiting for the world outside: files and child processes.
//!
//! A thread that would block in a system call is disabled until the kernel says that the call would not block. Only when no other thread can
//! go on does the process really wait.

use crate::runtime::Runtime;
use crate::sys;
use crate::thread::Life;
use crate::want::Want;
use libc::{pid_t, pollfd};

/// How long, in milliseconds, the process waits for the outside before a thread whose time is over in virtual time goes on.
const GRACE: i32 = 20;

/// What a system call waits for.
#[derive(Clone, Debug)]
pub enum Wait {
    /// One of these files.
    Files(Vec<pollfd>),
    /// A child process, as `waitpid` names it.
    Child(pid_t),
}

impl PartialEq for Wait {
    fn eq(&self, other: &Wait) -> bool {
        match (self, other) {
            (Wait::Files(these), Wait::Files(those)) => {
                let plain =
                    |files: &[pollfd]| files.iter().map(|file| (file.fd, file.events)).collect::<Vec<_>>();
                plain(these) == plain(those)
            }
            (Wait::Child(this), Wait::Child(that)) => this == that,
            _ => false,
        }
    }
}

fn poll(files: &mut [pollfd], milliseconds: i32) -> isize {
    sys::call(libc::SYS_poll, [files.as_mut_ptr() as usize, files.len(), milliseconds as usize, 0, 0, 0])
}

/// Whether the system call would not block now.
pub fn is_ready(wait: &Wait) -> bool {
    match wait {
        Wait::Files(files) => poll(&mut files.clone(), 0) != 0,
        Wait::Child(child) => child_is_ready(*child, libc::WNOHANG),
    }
}

fn child_is_ready(child: pid_t, options: i32) -> bool {
    let (kind, id) = match child {
        -1 => (libc::P_ALL, 0),
        0 => (libc::P_PGID, 0),
        1.. => (libc::P_PID, child as usize),
        _ => (libc::P_PGID, child.unsigned_abs() as usize),
    };
    // SAFETY: all zeros are a value of this plain type.
    let mut found: libc::siginfo_t = unsafe { core::mem::zeroed() };
    let options = options | libc::WEXITED | libc::WSTOPPED | libc::WNOWAIT;
    let result =
        sys::call(libc::SYS_waitid, [kind as usize, id, &raw mut found as usize, options as usize, 0, 0]);
    // An error (no such child) ends the wait too.
    // SAFETY: the kernel filled it in, or it is zero.
    result < 0 || unsafe { found.si_pid() } != 0
}

/// Nobody can go on without the world outside, or only by the end of their time. Waits for it: without an end if `nobody` can go on
/// at all. False if no thread waits for it.
pub fn wait_for_any(runtime: &Runtime, nobody: bool) -> bool {
    let alive = runtime.threads.iter().filter(|thread| thread.life == Life::Alive);
    let waits: Vec<&Wait> = alive
        .filter_map(|thread| match &thread.want {
            Want::Io(wait, _) => Some(wait),
            _ => None,
        })
        .collect();
    if waits.is_empty() {
        return false;
    }
    let mut files = vec![];
    let mut child = false;
    for wait in &waits {
        match wait {
            Wait::Files(some) => files.extend_from_slice(some),
            Wait::Child(_) => child = true,
        }
    }
    // Children cannot be polled together with files: look at both in turn.
    let mut left = if nobody { i32::MAX } else { GRACE };
    loop {
        let step = if child { 1.min(left) } else { left };
        let ready = poll(&mut files, if nobody && !child { -1 } else { step });
        if ready != 0 || waits.iter().any(|wait| is_ready(wait)) {
            return true;
        }
        left = if nobody { i32::MAX } else { left - step };
        if left <= 0 {
            return false;
        }
    }
}
