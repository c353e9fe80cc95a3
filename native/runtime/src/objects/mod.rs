//! The primitives, one file each: the state in the object's own memory, and the functions that work on it.
//!
//! The state lives in the memory of the C library's own types, so that static initialisers work and an object is gone when its
//! memory is. Where the library initialises an object by itself, its layout is kept.

pub mod barrier;
pub mod condition;
pub mod futex;
pub mod guard;
pub mod mutex;
pub mod once;
pub mod rwlock;
pub mod semaphore;
pub mod spin;

use crate::clock;
use crate::runtime::runtime;
use libc::{c_int, timespec};

/// When a wait on a clock is over in any case; the error for a time that is not well formed, or a clock that nobody waits by.
///
/// The address is that of a `timespec`, as the function's contract says.
pub fn deadline(clock: libc::clockid_t, time: *const timespec) -> Result<Option<u64>, c_int> {
    if time.is_null() || !matches!(clock, libc::CLOCK_REALTIME | libc::CLOCK_MONOTONIC) {
        return Err(libc::EINVAL);
    }
    // SAFETY: the caller of the C function gave a valid time.
    let nanoseconds = clock::nanoseconds(unsafe { *time }).ok_or(libc::EINVAL)?;
    Ok(Some(runtime().clock.when(clock, nanoseconds)))
}

/// Sets `errno`, and gives what functions return then.
pub fn fail(error: c_int) -> c_int {
    // SAFETY: the C library gives the address of the thread's own variable.
    unsafe { *libc::__errno_location() = error };
    -1
}
