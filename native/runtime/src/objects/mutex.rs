//! Mutexes of all types: `pthread_mutex_*`, `mtx_*`.
//!
//! Initialising and destroying them is left to the C library: its layout is the one here.

use super::deadline;
use crate::baton::{Got, wait_for};
use crate::next::interpose;
use crate::runtime::runtime;
use crate::thread::Held;
use crate::want::{Deadline, Want};
use abi::note::{Mode, Step};
use libc::{c_int, timespec};

/// A mutex as the C library lays it out.
#[repr(C)]
pub struct Mutex {
    state: u32,
    count: u32,
    /// The number of the thread that holds it, plus 1.
    owner: u32,
    users: u32,
    kind: u32,
}

const FREE: u32 = 0;
const HELD: u32 = 1;
/// Its owner ended without releasing it, and nobody has had it since.
const OWNER_DEAD: u32 = 2;
/// Nobody said after that that its data are consistent again.
const LOST: u32 = 3;

const RECURSIVE: u32 = 1;
const ERROR_CHECK: u32 = 2;
const TYPE: u32 = 3;
const ROBUST: u32 = 16;

/// The mutex at an address.
///
/// The caller of the C function says that there is one, and only the baton's holder runs.
fn at(object: usize) -> &'static mut Mutex {
    // SAFETY: see above.
    unsafe { &mut *(object as *mut Mutex) }
}

fn name(number: usize) -> u32 {
    number as u32 + 1
}

/// Whether a thread, by its number, would get the mutex now.
pub fn is_free_for(object: usize, number: usize) -> bool {
    let mutex = at(object);
    mutex.state != HELD || (mutex.kind & TYPE == RECURSIVE && mutex.owner == name(number))
}

/// Acquires a mutex, or finds out that it cannot be had before the deadline.
pub fn lock(object: usize, until: Deadline) -> c_int {
    let me = runtime().current;
    let mutex = at(object);
    if mutex.state == HELD && mutex.owner == name(me) && mutex.kind & TYPE == ERROR_CHECK {
        return libc::EDEADLK;
    }
    if wait_for(Want::Mutex(object, until)) == Got::Nothing {
        runtime().step(Step::TryLock { object: object as u64, mode: Mode::Mutex, acquired: None });
        return libc::ETIMEDOUT;
    }
    let (result, depth) = take(object);
    match depth {
        Some(depth) => {
            runtime().step(Step::Lock { object: object as u64, mode: Mode::Mutex, depth });
            tell(object, result);
        }
        None => runtime().step(Step::TryLock { object: object as u64, mode: Mode::Mutex, acquired: None }),
    }
    result
}

/// Acquires a mutex if it is free.
pub fn try_lock(object: usize) -> c_int {
    wait_for(Want::Nothing);
    let me = runtime().current;
    let (result, acquired) = match is_free_for(object, me) {
        true => take(object),
        false => (libc::EBUSY, None),
    };
    runtime().step(Step::TryLock { object: object as u64, mode: Mode::Mutex, acquired });
    if acquired.is_some() {
        tell(object, result);
    }
    result
}

/// The running thread gets the mutex, which it can have; how often it has it now, if the mutex is not lost.
fn take(object: usize) -> (c_int, Option<u32>) {
    let runtime = runtime();
    let me = runtime.current;
    let mutex = at(object);
    let result = match mutex.state {
        LOST => return (libc::ENOTRECOVERABLE, None),
        OWNER_DEAD => libc::EOWNERDEAD,
        _ => 0,
    };
    mutex.state = HELD;
    mutex.owner = name(me);
    mutex.count += 1;
    // What the C library's own functions look at, in a child process for example.
    mutex.users = 1;
    if result == libc::EOWNERDEAD {
        mutex.users = OWNER_DEAD;
    }
    (result, Some(runtime.me().acquired(object, Mode::Mutex)))
}

/// Gives a mutex back.
pub fn unlock(object: usize) -> c_int {
    wait_for(Want::Nothing);
    let me = runtime().current;
    let mutex = at(object);
    if mutex.owner != name(me)
        && (mutex.kind & TYPE == RECURSIVE || mutex.kind & TYPE == ERROR_CHECK || mutex.kind & ROBUST != 0)
    {
        return libc::EPERM;
    }
    let holder = mutex.owner;
    mutex.count = mutex.count.saturating_sub(1);
    if mutex.count == 0 {
        release(mutex);
    }
    // A plain mutex may be given back by another thread than its owner, against the rules.
    let runtime = runtime();
    let holder =
        (holder as usize).checked_sub(1).filter(|&holder| holder < runtime.threads.len()).unwrap_or(me);
    let depth = runtime.threads[holder].released(object);
    runtime.step(Step::Unlock { object: object as u64, mode: Mode::Mutex, depth });
    0
}

fn release(mutex: &mut Mutex) {
    mutex.state = if mutex.users == OWNER_DEAD { LOST } else { FREE };
    mutex.owner = 0;
    mutex.users = 0;
}

/// For a wait: gives the mutex back however often the running thread has it; how often.
pub fn release_all(object: usize) -> u32 {
    let mutex = at(object);
    let count = core::mem::take(&mut mutex.count);
    release(mutex);
    let thread = runtime().me();
    while thread.holds(object).is_some() {
        thread.released(object);
    }
    count
}

/// For the end of a wait: the running thread gets the free mutex as often as it had it.
pub fn take_again(object: usize, count: u32) {
    let (_, _) = take(object);
    at(object).count = count.max(1);
    if let Some(held) = runtime().me().holds(object) {
        held.depth = count.max(1);
    }
}

/// Whether the running thread may wait with this mutex.
pub fn may_wait(object: usize) -> bool {
    let mutex = at(object);
    mutex.kind & TYPE == 0 || mutex.owner == name(runtime().current)
}

/// The running thread ends: others get the robust mutexes that it still has, and the first of them is told.
pub fn give_up() {
    let me = name(runtime().current);
    let is_robust = |held: &&Held| {
        let mutex = at(held.object);
        held.mode == Mode::Mutex && mutex.kind & ROBUST != 0 && mutex.state == HELD && mutex.owner == me
    };
    let robust: Vec<usize> = runtime().me().held.iter().filter(is_robust).map(|held| held.object).collect();
    for object in robust {
        runtime().step(Step::Release { semaphore: death(object) });
        wait_for(Want::Nothing);
        let mutex = at(object);
        mutex.state = OWNER_DEAD;
        mutex.owner = 0;
        mutex.count = 0;
        mutex.users = 0;
        let thread = runtime().me();
        while thread.holds(object).is_some() {
            thread.released(object);
        }
        runtime().step(Step::Unlock { object: object as u64, mode: Mode::Mutex, depth: 0 });
        wait_for(Want::Nothing);
    }
}

/// What tells that the owner of a robust mutex has ended: a token, as an object beside the mutex, which has room.
fn death(object: usize) -> u64 {
    object as u64 + 1
}

/// Who has got a robust mutex is told whether its last owner had ended.
fn tell(object: usize, result: c_int) {
    if at(object).kind & ROBUST != 0 {
        wait_for(Want::Nothing);
        let acquired = result == libc::EOWNERDEAD;
        runtime().step(Step::TryAcquire { semaphore: death(object), acquired });
    }
}

/// What the functions of `threads.h` return.
pub fn c11(result: c_int) -> c_int {
    match result {
        0 => 0,
        libc::EBUSY => 1,
        libc::ENOMEM => 3,
        libc::ETIMEDOUT => 4,
        _ => 2,
    }
}

fn timed_lock(object: usize, clock: libc::clockid_t, time: *const timespec) -> c_int {
    // A mutex that is free is had whatever the time is.
    if is_free_for(object, runtime().current) {
        return lock(object, None);
    }
    match deadline(clock, time) {
        Ok(until) => lock(object, until),
        Err(error) => error,
    }
}

interpose! {
    fn pthread_mutex_lock(mutex: usize) -> c_int { lock(mutex, None) }
    fn pthread_mutex_trylock(mutex: usize) -> c_int { try_lock(mutex) }
    fn pthread_mutex_timedlock(mutex: usize, time: *const timespec) -> c_int {
        timed_lock(mutex, libc::CLOCK_REALTIME, time)
    }
    fn pthread_mutex_clocklock(mutex: usize, clock: libc::clockid_t, time: *const timespec) -> c_int {
        timed_lock(mutex, clock, time)
    }
    fn pthread_mutex_unlock(mutex: usize) -> c_int { unlock(mutex) }
    fn pthread_mutex_consistent(mutex: usize) -> c_int {
        let mutex = at(mutex);
        if mutex.kind & ROBUST == 0 || mutex.users != OWNER_DEAD {
            return libc::EINVAL;
        }
        mutex.users = 1;
        0
    }
    fn mtx_lock(mutex: usize) -> c_int { c11(lock(mutex, None)) }
    fn mtx_trylock(mutex: usize) -> c_int { c11(try_lock(mutex)) }
    fn mtx_timedlock(mutex: usize, time: *const timespec) -> c_int {
        c11(timed_lock(mutex, libc::CLOCK_REALTIME, time))
    }
    fn mtx_unlock(mutex: usize) -> c_int { c11(unlock(mutex)) }
}
