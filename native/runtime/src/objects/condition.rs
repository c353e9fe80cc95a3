//! Condition variables: `pthread_cond_*`, `cnd_*`.
//!
//! Who waits is known from the threads; the object itself only says by which clock its timed waits go.

use super::deadline;
use super::mutex::{self, c11};
use crate::baton::{Got, wait_for};
use crate::next::{interpose, next};
use crate::runtime::runtime;
use crate::thread::Life;
use crate::want::{Deadline, Want};
use crate::{cancel, sys};
use abi::Note;
use abi::note::{Choice, Step, Wake};
use libc::{c_int, timespec};

/// The bytes of the C library's type.
const BYTES: usize = 48;

fn clock_of(condition: usize) -> libc::clockid_t {
    // SAFETY: the caller of the C function says that a condition variable is there; only the baton's holder runs.
    unsafe { *(condition as *const libc::clockid_t) }
}

/// Waits at `condition` with `mutex` given back; 0 for no mutex.
pub fn wait(condition: usize, mutex: usize, until: Deadline) -> c_int {
    if !mutex::may_wait(mutex) {
        return libc::EPERM;
    }
    wait_for(Want::Nothing);
    let count = mutex::release_all(mutex);
    let (object, with) = (condition as u64, Some(mutex as u64));
    runtime().step(Step::WaitBegin { condition: object, mutex: with });
    runtime().me().wake = None;
    let mut got = wait_for(Want::Signal(condition, mutex, until));
    let reason = match runtime().me().wake.take() {
        Some(signal @ Wake::Signal(..)) => signal,
        reason => {
            let reason = reason.unwrap_or(match got {
                Got::Cancelled => Wake::Spurious,
                _ => Wake::Expired,
            });
            runtime().step(Step::StopWaiting { condition: object, reason });
            if wait_for(Want::Mutex(mutex, None)) == Got::Cancelled {
                got = Got::Cancelled;
            }
            reason
        }
    };
    mutex::take_again(mutex, count);
    runtime().step(Step::WaitEnd { condition: object, mutex: with, reason });
    if got == Got::Cancelled {
        cancel::act();
    }
    match reason {
        Wake::Expired => libc::ETIMEDOUT,
        _ => 0,
    }
}

fn waits_at(want: &Want, wake: Option<Wake>, object: usize) -> bool {
    wake.is_none() && matches!(want, Want::Signal(at, ..) | Want::Word(at, _) if *at == object)
}

/// The threads that wait there without having been woken, ordered by their names.
pub fn waiters(condition: usize) -> Vec<usize> {
    let threads = &runtime().threads;
    let waits = |number: &usize| {
        let thread = &threads[*number];
        let outer = thread.interrupted.iter().any(|outer| waits_at(&outer.want, outer.wake, condition));
        thread.life == Life::Alive && (outer || waits_at(&thread.want, thread.wake, condition))
    };
    let mut waiters: Vec<usize> = (0..threads.len()).filter(waits).collect();
    waiters.sort_unstable_by_key(|&number| threads[number].id);
    waiters
}

/// Wakes one of those that wait at an object, if there are any.
pub fn signal(object: usize) {
    wait_for(Want::Nothing);
    wake_one(object, waiters(object));
}

/// Wakes one of the given threads, if there are any. Which one is a choice of the schedule.
pub fn wake_one(object: usize, waiters: Vec<usize>) {
    let runtime = runtime();
    let woken = match waiters[..] {
        [] => None,
        [one] => Some(one),
        _ => {
            let names: Vec<_> = waiters.iter().map(|&number| runtime.threads[number].id).collect();
            let chosen = runtime.scheduler.wake(&names);
            runtime.note(&Note::Choice(Choice::Wake(chosen.code())));
            waiters.iter().copied().find(|&number| runtime.threads[number].id == chosen)
        }
    };
    let name = woken.map(|number| runtime.threads[number].id.code());
    runtime.step(Step::Signal { condition: object as u64, woken: name });
    woken.into_iter().for_each(|number| wake(number, object));
}

/// Wakes all that wait at an object.
pub fn broadcast(object: usize) {
    wait_for(Want::Nothing);
    wake_all(object, waiters(object));
}

/// Wakes all of the given threads.
pub fn wake_all(object: usize, waiters: Vec<usize>) {
    runtime().step(Step::Broadcast { condition: object as u64, woken: waiters.len() as u32 });
    waiters.into_iter().for_each(|number| wake(number, object));
}

/// The last event of the running thread wakes another one, by its number, which waits at an object: also if it is in a handler of a
/// signal just now.
fn wake(number: usize, object: usize) {
    let runtime = runtime();
    let by = Wake::Signal(runtime.me().id.code(), runtime.done());
    let thread = &mut runtime.threads[number];
    let outer = thread.interrupted.iter_mut().map(|outer| (&mut outer.want, &mut outer.wake));
    let waits = outer.chain([(&mut thread.want, &mut thread.wake)]);
    for (want, wake) in waits {
        if waits_at(want, *wake, object) {
            *wake = Some(by);
            if let Want::Signal(_, mutex, _) = *want {
                *want = Want::Mutex(mutex, None);
            }
            return;
        }
    }
}

fn timed_wait(condition: usize, mutex: usize, clock: libc::clockid_t, time: *const timespec) -> c_int {
    match deadline(clock, time) {
        Ok(until) => wait(condition, mutex, until),
        Err(error) => error,
    }
}

fn initialise(condition: usize, clock: libc::clockid_t) -> c_int {
    // SAFETY: the caller of the C function gives memory for a condition variable.
    unsafe {
        core::ptr::write_bytes(condition as *mut u8, 0, BYTES);
        *(condition as *mut libc::clockid_t) = clock;
    }
    0
}

interpose! {
    fn pthread_cond_init(condition: usize, attributes: *const libc::pthread_condattr_t) -> c_int {
        let mut clock = libc::CLOCK_REALTIME;
        let into = &raw mut clock;
        if !attributes.is_null()
            && next!(pthread_condattr_getclock(
                attributes: *const libc::pthread_condattr_t,
                into: *mut libc::clockid_t
            ) -> c_int) != 0
        {
            sys::die("the clock of a condition variable cannot be found out");
        }
        initialise(condition, clock)
    }
    fn pthread_cond_destroy(_condition: usize) -> c_int { 0 }
    fn pthread_cond_wait(condition: usize, mutex: usize) -> c_int { wait(condition, mutex, None) }
    fn pthread_cond_timedwait(condition: usize, mutex: usize, time: *const timespec) -> c_int {
        timed_wait(condition, mutex, clock_of(condition), time)
    }
    fn pthread_cond_clockwait(
        condition: usize,
        mutex: usize,
        clock: libc::clockid_t,
        time: *const timespec,
    ) -> c_int {
        timed_wait(condition, mutex, clock, time)
    }
    fn pthread_cond_signal(condition: usize) -> c_int {
        signal(condition);
        0
    }
    fn pthread_cond_broadcast(condition: usize) -> c_int {
        broadcast(condition);
        0
    }
    fn cnd_init(condition: usize) -> c_int { initialise(condition, libc::CLOCK_REALTIME) }
    fn cnd_destroy(_condition: usize) {}
    fn cnd_wait(condition: usize, mutex: usize) -> c_int { c11(wait(condition, mutex, None)) }
    fn cnd_timedwait(condition: usize, mutex: usize, time: *const timespec) -> c_int {
        c11(timed_wait(condition, mutex, libc::CLOCK_REALTIME, time))
    }
    fn cnd_signal(condition: usize) -> c_int {
        signal(condition);
        0
    }
    fn cnd_broadcast(condition: usize) -> c_int {
        broadcast(condition);
        0
    }
}
