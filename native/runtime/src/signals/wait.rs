//! Waiting for signals: `sigwait`, `sigwaitinfo`, `sigtimedwait`, `sigsuspend`, `pause`, and files of signals.

use super::information::Information;
use super::mask::{self, Set, bit};
use crate::baton::{Got, wait_for};
use crate::cancel;
use crate::clock::nanoseconds;
use crate::io::{Wait, What};
use crate::next::{interpose, next};
use crate::objects::fail;
use crate::runtime::runtime;
use crate::sys;
use crate::want::{Deadline, Want};
use abi::note::Step;
use libc::{c_int, sigset_t, timespec};

/// Takes a signal of the set that is there, here or in the kernel.
fn take(set: Set) -> Option<Information> {
    let runtime = runtime();
    if let Some(information) = runtime.me().signals.take(set) {
        return Some(information);
    }
    if let Some(at) = runtime.signals.pending.iter().position(|one| set & bit(one.signal) != 0) {
        return Some(runtime.signals.pending.remove(at));
    }
    // SAFETY: all zeros are information.
    let mut information: Information = unsafe { core::mem::zeroed() };
    let now = timespec { tv_sec: 0, tv_nsec: 0 };
    let set = set & mask::LOOKED_AT;
    let arguments = [
        &raw const set as usize,
        &raw mut information as usize,
        &raw const now as usize,
        size_of::<Set>(),
        0,
        0,
    ];
    (sys::call(libc::SYS_rt_sigtimedwait, arguments) > 0).then_some(information)
}

/// Waits until one of the set is there; an error otherwise.
fn wait(set: Set, until: Deadline) -> Result<Information, c_int> {
    // What is waited for is no matter of handlers meanwhile.
    let blocked = runtime().me().signals.mask | set;
    let got = mask::under(Some(blocked), || {
        loop {
            let wait = Wait { what: What::Signals(set), outside: true };
            match wait_for(Want::Io(wait, until)) {
                Got::It => {
                    if let Some(information) = take(set) {
                        return Ok(information);
                    }
                }
                Got::Nothing => return Err(Got::Nothing),
                other => return Err(other),
            }
        }
    });
    match got {
        Ok(information) => {
            runtime().step(Step::System { what: format!("wait for signal {}", information.signal) });
            Ok(information)
        }
        Err(Got::Cancelled) => cancel::act(),
        Err(Got::Nothing) => {
            runtime().step(Step::System { what: "wait for signals in vain".into() });
            Err(libc::EAGAIN)
        }
        Err(_) => Err(libc::EINTR),
    }
}

fn wait_and_tell(set: *const sigset_t, into: *mut Information, until: Deadline) -> c_int {
    match wait(mask::read(set), until) {
        Ok(information) => {
            if !into.is_null() {
                // SAFETY: the caller gives a place for the information.
                unsafe { *into = information };
            }
            information.signal
        }
        Err(error) => fail(error),
    }
}

/// Waits until a handler has run.
fn suspend(mask: Option<Set>) -> c_int {
    runtime().step(Step::System { what: "wait for a handler".into() });
    let got = mask::under(mask, || {
        loop {
            let wait = Wait { what: What::Signals(0), outside: true };
            match wait_for(Want::Io(wait, None)) {
                Got::It if !runtime().over => {}
                got => return got,
            }
        }
    });
    if got == Got::Cancelled {
        cancel::act();
    }
    fail(libc::EINTR)
}

interpose! {
    fn sigwait(set: *const sigset_t, into: *mut c_int) -> c_int {
        loop {
            match wait(mask::read(set), None) {
                Ok(information) => {
                    // SAFETY: the caller gives a place for the number.
                    unsafe { *into = information.signal };
                    return 0;
                }
                Err(libc::EINTR) => {}
                Err(error) => return error,
            }
        }
    }
    fn sigwaitinfo(set: *const sigset_t, into: *mut Information) -> c_int { wait_and_tell(set, into, None) }
    fn sigtimedwait(set: *const sigset_t, into: *mut Information, time: *const timespec) -> c_int {
        if time.is_null() {
            return wait_and_tell(set, into, None);
        }
        // SAFETY: the caller gives a time.
        let Some(time) = nanoseconds(unsafe { *time }) else { return fail(libc::EINVAL) };
        let until = runtime().clock.now().saturating_add(time);
        wait_and_tell(set, into, Some(until))
    }
    fn sigsuspend(set: *const sigset_t) -> c_int { suspend(Some(mask::read(set))) }
    fn pause() -> c_int { suspend(None) }
    fn signalfd(file: c_int, set: *const sigset_t, flags: c_int) -> c_int {
        runtime().signals.files |= mask::read(set);
        next!(signalfd(file: c_int, set: *const sigset_t, flags: c_int) -> c_int)
    }
}
