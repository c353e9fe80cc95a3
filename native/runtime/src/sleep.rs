//! Time: sleeping, yielding, and clocks, all virtual.

use crate::baton::{Got, wait_for};
use crate::cancel;
use crate::clock::{nanoseconds, timespec};
use crate::next::{interpose, next};
use crate::objects::fail;
use crate::runtime::runtime;
use crate::want::Want;
use abi::note::Step;
use core::ffi::c_void;
use libc::{c_int, c_uint, clockid_t, time_t, timeval};

/// The nanoseconds of a tick of `times`.
const TICK: u64 = 10_000_000;

/// Sleeps until the virtual time. If a handler of a signal ends it before: how long that would still have been.
fn sleep_until(at: u64) -> Result<(), u64> {
    let got = wait_for(Want::Time(at));
    let slept = matches!(got, Got::It | Got::Nothing);
    if slept {
        runtime().clock.reach(at);
    }
    runtime().step(Step::System { what: "sleep".into() });
    if got == Got::Cancelled {
        cancel::act();
    }
    if slept { Ok(()) } else { Err(at.saturating_sub(runtime().clock.now())) }
}

fn sleep_for(nanoseconds: u64) -> Result<(), u64> {
    let now = runtime().clock.now();
    sleep_until(now.saturating_add(nanoseconds))
}

/// Tells the rest of a sleep through a pointer that may be null.
fn tell_rest(left: u64, rest: *mut libc::timespec) {
    if !rest.is_null() {
        // SAFETY: the caller of the C function gives a place for the time.
        unsafe { *rest = timespec(left) };
    }
}

/// What a yield takes of virtual time: threads that yield to each other until a third one's sleep is over get there soon.
const YIELD: u64 = 100_000;

/// Lets others go first.
pub fn yield_now() {
    let clock = &mut runtime().clock;
    clock.reach(clock.now() + YIELD);
    wait_for(Want::Others);
    runtime().step(Step::System { what: "yield".into() });
}

/// The time that a pointer leads to; `None` if it is not well formed.
fn time_at(time: *const libc::timespec) -> Option<u64> {
    if time.is_null() {
        return None;
    }
    // SAFETY: the caller of the C function gives a time.
    nanoseconds(unsafe { *time })
}

fn read_clock(clock: clockid_t, into: *mut libc::timespec) {
    let now = runtime().clock.read(clock);
    if !into.is_null() {
        // SAFETY: the caller of the C function gives a place for the time.
        unsafe { *into = timespec(now) };
    }
}

/// Whether a clock measures what the processor did, which is not ours to say.
fn is_processor_time(clock: clockid_t) -> bool {
    clock < 0 || clock == libc::CLOCK_PROCESS_CPUTIME_ID || clock == libc::CLOCK_THREAD_CPUTIME_ID
}

interpose! {
    fn nanosleep(time: *const libc::timespec, rest: *mut libc::timespec) -> c_int {
        let Some(time) = time_at(time) else { return fail(libc::EINVAL) };
        match sleep_for(time) {
            Ok(()) => 0,
            Err(left) => {
                tell_rest(left, rest);
                fail(libc::EINTR)
            }
        }
    }
    fn clock_nanosleep(clock: clockid_t, flags: c_int, time: *const libc::timespec, rest: *mut libc::timespec) -> c_int {
        let Some(time) = time_at(time) else { return libc::EINVAL };
        if flags & libc::TIMER_ABSTIME != 0 {
            let at = runtime().clock.when(clock, time);
            return if sleep_until(at).is_ok() { 0 } else { libc::EINTR };
        }
        match sleep_for(time) {
            Ok(()) => 0,
            Err(left) => {
                tell_rest(left, rest);
                libc::EINTR
            }
        }
    }
    fn usleep(microseconds: c_uint) -> c_int {
        if sleep_for(u64::from(microseconds) * 1_000).is_ok() { 0 } else { fail(libc::EINTR) }
    }
    fn sleep(seconds: c_uint) -> c_uint {
        match sleep_for(u64::from(seconds) * 1_000_000_000) {
            Ok(()) => 0,
            Err(left) => (left / 1_000_000_000) as c_uint,
        }
    }
    fn thrd_sleep(time: *const libc::timespec, rest: *mut libc::timespec) -> c_int {
        let Some(time) = time_at(time) else { return -2 };
        match sleep_for(time) {
            Ok(()) => 0,
            Err(left) => {
                tell_rest(left, rest);
                -1
            }
        }
    }
    fn sched_yield() -> c_int {
        yield_now();
        0
    }
    fn pthread_yield() -> c_int {
        yield_now();
        0
    }
    fn thrd_yield() { yield_now() }
    fn clock_gettime(clock: clockid_t, into: *mut libc::timespec) -> c_int {
        // Processor time would differ from run to run: virtual time stands for it.
        let clock = if is_processor_time(clock) { libc::CLOCK_MONOTONIC } else { clock };
        read_clock(clock, into);
        0
    }
    fn timespec_get(into: *mut libc::timespec, base: c_int) -> c_int {
        if base != 1 {
            return 0;
        }
        read_clock(libc::CLOCK_REALTIME, into);
        base
    }
    fn gettimeofday(into: *mut timeval, zone: *mut c_void) -> c_int {
        let _ = zone;
        let now = runtime().clock.read(libc::CLOCK_REALTIME);
        if !into.is_null() {
            let (seconds, rest) = (now / 1_000_000_000, now % 1_000_000_000);
            // SAFETY: the caller gives a place for the time.
            unsafe { *into = timeval { tv_sec: seconds as i64, tv_usec: (rest / 1_000) as i64 } };
        }
        0
    }
    fn time(into: *mut time_t) -> time_t {
        let now = (runtime().clock.read(libc::CLOCK_REALTIME) / 1_000_000_000) as time_t;
        if !into.is_null() {
            // SAFETY: the caller gives a place for the time.
            unsafe { *into = now };
        }
        now
    }
    fn times(into: *mut libc::tms) -> libc::clock_t {
        let ticks = (runtime().clock.read(libc::CLOCK_MONOTONIC) / TICK) as libc::clock_t;
        if !into.is_null() {
            // SAFETY: the caller gives a place for the times.
            unsafe { *into = libc::tms { tms_utime: ticks, tms_stime: 0, tms_cutime: 0, tms_cstime: 0 } };
        }
        ticks
    }
    fn getrusage(who: c_int, into: *mut libc::rusage) -> c_int {
        let result = next!(getrusage(who: c_int, into: *mut libc::rusage) -> c_int);
        if result == 0 {
            let now = runtime().clock.read(libc::CLOCK_MONOTONIC) / 1_000;
            // SAFETY: the caller gives a place for the usage.
            unsafe {
                (*into).ru_utime = timeval { tv_sec: (now / 1_000_000) as i64, tv_usec: (now % 1_000_000) as i64 };
                (*into).ru_stime = timeval { tv_sec: 0, tv_usec: 0 };
            }
        }
        result
    }
    fn clock() -> libc::clock_t {
        (runtime().clock.read(libc::CLOCK_MONOTONIC) / 1_000) as libc::clock_t
    }
}
