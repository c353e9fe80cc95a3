//! Locks with shared readers: `pthread_rwlock_*`. Readers do not wait for writers that wait.

use super::deadline;
use crate::baton::{Got, wait_for};
use crate::next::interpose;
use crate::runtime::runtime;
use crate::want::{Deadline, Want};
use abi::note::{Mode, Step};
use libc::{c_int, timespec};

/// The state, in the C library's type, which it initialises with zeros.
#[repr(C)]
struct RwLock {
    readers: u32,
    /// The number of the thread that holds it alone, plus 1.
    writer: u32,
}

/// The lock at an address: the caller of the C function says that there is one, and only the baton's holder runs.
fn at(object: usize) -> &'static mut RwLock {
    // SAFETY: see above.
    unsafe { &mut *(object as *mut RwLock) }
}

/// Whether it could be had now.
pub fn is_free_for(object: usize, mode: Mode) -> bool {
    let lock = at(object);
    lock.writer == 0 && (mode == Mode::Read || lock.readers == 0)
}

fn take(object: usize, mode: Mode) -> u32 {
    let runtime = runtime();
    let me = runtime.current as u32 + 1;
    match mode {
        Mode::Read => at(object).readers += 1,
        _ => at(object).writer = me,
    }
    runtime.me().acquired(object, mode)
}

fn lock(object: usize, mode: Mode, until: Deadline) -> c_int {
    if at(object).writer == runtime().current as u32 + 1 {
        return libc::EDEADLK;
    }
    if wait_for(Want::RwLock(object, mode, until)) == Got::Nothing {
        runtime().step(Step::TryLock { object: object as u64, mode, acquired: None });
        return libc::ETIMEDOUT;
    }
    let depth = take(object, mode);
    runtime().step(Step::Lock { object: object as u64, mode, depth });
    0
}

fn try_lock(object: usize, mode: Mode) -> c_int {
    wait_for(Want::Nothing);
    let acquired = is_free_for(object, mode).then(|| take(object, mode));
    runtime().step(Step::TryLock { object: object as u64, mode, acquired });
    if acquired.is_some() { 0 } else { libc::EBUSY }
}

fn timed_lock(object: usize, mode: Mode, clock: libc::clockid_t, time: *const timespec) -> c_int {
    match deadline(clock, time) {
        Ok(until) => lock(object, mode, until),
        Err(error) => error,
    }
}

fn unlock(object: usize) -> c_int {
    wait_for(Want::Nothing);
    let state = at(object);
    let mode = match state.writer {
        0 => {
            state.readers = state.readers.saturating_sub(1);
            Mode::Read
        }
        _ => {
            state.writer = 0;
            Mode::Write
        }
    };
    let runtime = runtime();
    let depth = runtime.me().released(object);
    runtime.step(Step::Unlock { object: object as u64, mode, depth });
    0
}

interpose! {
    fn pthread_rwlock_rdlock(object: usize) -> c_int { lock(object, Mode::Read, None) }
    fn pthread_rwlock_wrlock(object: usize) -> c_int { lock(object, Mode::Write, None) }
    fn pthread_rwlock_tryrdlock(object: usize) -> c_int { try_lock(object, Mode::Read) }
    fn pthread_rwlock_trywrlock(object: usize) -> c_int { try_lock(object, Mode::Write) }
    fn pthread_rwlock_timedrdlock(object: usize, time: *const timespec) -> c_int {
        timed_lock(object, Mode::Read, libc::CLOCK_REALTIME, time)
    }
    fn pthread_rwlock_timedwrlock(object: usize, time: *const timespec) -> c_int {
        timed_lock(object, Mode::Write, libc::CLOCK_REALTIME, time)
    }
    fn pthread_rwlock_clockrdlock(object: usize, clock: libc::clockid_t, time: *const timespec) -> c_int {
        timed_lock(object, Mode::Read, clock, time)
    }
    fn pthread_rwlock_clockwrlock(object: usize, clock: libc::clockid_t, time: *const timespec) -> c_int {
        timed_lock(object, Mode::Write, clock, time)
    }
    fn pthread_rwlock_unlock(object: usize) -> c_int { unlock(object) }
}
