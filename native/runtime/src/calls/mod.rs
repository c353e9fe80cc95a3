//! System calls that block: the baton goes to others until the call would not block, then the call is made.
//!
//! A call on a file that cannot block, on one in non-blocking mode, or with no time to wait goes straight to the kernel. Time-outs are virtual.
//! Each is an event, with its name in words; its result follows as that of the call. What comes from outside is noted as
//! input, by its hash. Calls that the C library makes for itself (stdio) do not come here: they block the whole process.

pub mod child;
pub mod descriptor;
pub mod file;
pub mod lock;
pub mod parts;
pub mod poll;
pub mod queue;
pub mod read;
pub mod socket;
pub mod write;

use crate::baton::{Got, wait_for};
use crate::cancel;
use crate::io::{Wait, What};
use crate::objects::fail;
use crate::runtime::runtime;
use crate::signals;
use crate::want::{Deadline, Want};
use abi::Note;
use abi::note::Step;
use libc::{c_int, pollfd};

/// How a wait ended that was not cancelled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    /// The call would not block any more.
    Ready,
    /// The time is over.
    Expired,
    /// A handler of a signal ran.
    Interrupted,
}

/// Whether a call is made again after handlers that want that.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Restart {
    Yes,
    No,
}

/// Waits until a call would not block any more. Leaves the thread if it is cancelled.
pub fn wait(wait: &Wait, until: Deadline, restart: Restart) -> Waited {
    loop {
        match wait_for(Want::Io(wait.clone(), until)) {
            Got::It => return Waited::Ready,
            Got::Nothing => return Waited::Expired,
            Got::Cancelled => cancel::act(),
            Got::Interrupted { restart: true } if restart == Restart::Yes => {}
            Got::Interrupted { .. } => return Waited::Interrupted,
        }
    }
}

/// Waits until a file is ready.
pub fn wait_for_file(file: &file::File, events: i16, until: Deadline) -> Waited {
    let files = vec![pollfd { fd: file.number, events, revents: 0 }];
    // Room for what is written is there nearly always; what is read from outside comes when it comes.
    if file.outside && events == libc::POLLOUT && What::Files(files.clone()).is_ready() {
        point();
        return Waited::Ready;
    }
    let restart = if until.is_some() { Restart::No } else { Restart::Yes };
    wait(&Wait { what: What::Files(files), outside: file.outside }, until, restart)
}

/// Tries a call that would rather fail than block, until it does not fail for that reason.
pub fn retry(until: Deadline, in_vain: impl Fn(isize) -> bool, call: impl Fn() -> isize) -> isize {
    point();
    loop {
        let result = call();
        if !in_vain(result) {
            return result;
        }
        match wait(&Wait { what: What::Change, outside: true }, until, Restart::Yes) {
            Waited::Ready => {}
            Waited::Expired => return result,
            Waited::Interrupted => return -(libc::EINTR as isize),
        }
    }
}

/// The running thread comes to a system call that does not block: others may go first, and it may be cancelled there.
pub fn point() {
    wait_for(Want::Nothing);
    cancel::test();
}

/// A call has been made: notes it, and does what the C library does with its result.
pub fn done(what: &str, file: c_int, result: isize) -> isize {
    told(format!("{what} {file}"), result)
}

/// As [`done`], for calls that are not about a file.
pub fn told(what: String, result: isize) -> isize {
    runtime().changed();
    runtime().step(Step::System { what });
    signals::deliver_due();
    answer(result)
}

/// What functions of the C library return for a result of the kernel's.
pub fn answer(result: isize) -> isize {
    match result {
        -4095..0 => fail(-result as c_int) as isize,
        _ => result,
    }
}

/// The running thread was given bytes from outside.
pub fn input(what: &str, file: c_int, bytes: &[u8]) {
    runtime().note(&Note::Input { what: format!("{what} {file}"), hash: abi::hash(bytes) });
}

/// When a wait is over that is to last so many nanoseconds.
pub fn after(nanoseconds: u64) -> Deadline {
    Some(runtime().clock.now().saturating_add(nanoseconds))
}
