//! Semaphores: `sem_*`, unnamed and named. Making and removing them is left to the C library.

use super::{deadline, fail};
use crate::baton::{Got, wait_for};
use crate::next::interpose;
use crate::runtime::runtime;
use crate::want::{Deadline, Want};
use crate::{cancel, sys};
use abi::note::Step;
use libc::{c_int, timespec};

/// The number of tokens, where the C library has it.
///
/// The caller of the C function says that there is a semaphore, and only the baton's holder runs.
fn tokens(object: usize) -> &'static mut u32 {
    // SAFETY: see above.
    unsafe { &mut *(object as *mut u32) }
}

/// Whether a token is there.
pub fn has_token(object: usize) -> bool {
    *tokens(object) > 0
}

fn acquire(object: usize, until: Deadline) -> c_int {
    loop {
        match wait_for(Want::Token(object, until)) {
            Got::It => {
                *tokens(object) -= 1;
                runtime().step(Step::Acquire { semaphore: object as u64 });
                return 0;
            }
            Got::Nothing => {
                runtime().step(Step::TryAcquire { semaphore: object as u64, acquired: false });
                return fail(libc::ETIMEDOUT);
            }
            Got::Cancelled => cancel::act(),
            Got::Interrupted { restart: true } => {}
            Got::Interrupted { restart: false } => {
                runtime().step(Step::TryAcquire { semaphore: object as u64, acquired: false });
                return fail(libc::EINTR);
            }
        }
    }
}

fn timed_acquire(object: usize, clock: libc::clockid_t, time: *const timespec) -> c_int {
    if has_token(object) {
        return acquire(object, None);
    }
    match deadline(clock, time) {
        Ok(until) => acquire(object, until),
        Err(error) => fail(error),
    }
}

/// Wakes a thread of another process, if one waits there: the C library counts them behind the tokens.
fn wake_others(object: usize) {
    // SAFETY: the C library's type has at least eight bytes.
    if unsafe { *(object as *const u32).add(1) } != 0 {
        sys::call(libc::SYS_futex, [object, libc::FUTEX_WAKE as usize, 1, 0, 0, 0]);
    }
}

interpose! {
    fn sem_wait(object: usize) -> c_int { acquire(object, None) }
    fn sem_timedwait(object: usize, time: *const timespec) -> c_int {
        timed_acquire(object, libc::CLOCK_REALTIME, time)
    }
    fn sem_clockwait(object: usize, clock: libc::clockid_t, time: *const timespec) -> c_int {
        timed_acquire(object, clock, time)
    }
    fn sem_trywait(object: usize) -> c_int {
        wait_for(Want::Nothing);
        let acquired = has_token(object);
        if acquired {
            *tokens(object) -= 1;
        }
        runtime().step(Step::TryAcquire { semaphore: object as u64, acquired });
        if acquired { 0 } else { fail(libc::EAGAIN) }
    }
    fn sem_post(object: usize) -> c_int {
        wait_for(Want::Nothing);
        if *tokens(object) >= i32::MAX as u32 {
            return fail(libc::EOVERFLOW);
        }
        *tokens(object) += 1;
        runtime().step(Step::Release { semaphore: object as u64 });
        wake_others(object);
        0
    }
    fn sem_getvalue(object: usize, value: *mut c_int) -> c_int {
        wait_for(Want::Nothing);
        let count = *tokens(object);
        // SAFETY: the caller gives a place for the value.
        unsafe { *value = count as c_int };
        runtime().step(Step::TokenCount { semaphore: object as u64, value: u64::from(count) });
        0
    }
}
