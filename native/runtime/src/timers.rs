//! Timers: `alarm`, `setitimer`, `timer_create`, `timerfd_create`, in virtual time.
//!
//! A timer goes off when the virtual time has come, which it does at a choice of who runs next: then its signal is put down, its thread
//! is due to be started, or its file becomes readable. Timers of processor time go by the same clock.

use crate::baton::wait_for;
use crate::clock::{nanoseconds, timespec};
use crate::next::{interpose, next};
use crate::objects::fail;
use crate::runtime::{Runtime, runtime};
use crate::signals::Item;
use crate::signals::information::Information;
use crate::want::Want;
use crate::{pids, sys, threads};
use abi::note::Step;
use core::ffi::c_void;
use libc::{c_int, c_uint, clockid_t, itimerspec, itimerval, pthread_attr_t, timeval};

/// What happens when a timer goes off.
#[derive(Clone, Copy)]
enum Effect {
    /// Nothing: it is only looked at.
    Nothing,
    /// A signal with a value, to a thread by its number or to the process.
    Signal(c_int, usize, Option<usize>),
    /// A function is called in a thread of its own, which the thread that made the timer starts.
    Thread(Notice, usize),
    /// A file becomes readable.
    File(c_int),
}

/// Which timer it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Name {
    /// One of the three of `setitimer`.
    Interval(c_int),
    /// One of `timer_create`.
    Made(usize),
    /// One of `timerfd_create`.
    File(c_int),
}

/// A timer.
pub struct Timer {
    name: Name,
    clock: clockid_t,
    effect: Effect,
    /// When it goes off.
    at: Option<u64>,
    interval: u64,
    /// How often it went off since somebody was told.
    count: u64,
    /// How often it went off beyond the last signal.
    missed: u64,
}

/// A function to be called in a thread of its own.
#[derive(Clone, Copy)]
pub struct Notice {
    function: usize,
    value: usize,
    attributes: *const pthread_attr_t,
}

impl Notice {
    /// Starts the thread, as a child of the running one.
    pub fn start(self) {
        threads::start_detached(self.attributes, self.function, self.value);
    }
}

impl Runtime {
    /// When the next timer goes off.
    pub fn next_timer(&self) -> Option<u64> {
        self.timers.iter().filter_map(|timer| timer.at).min()
    }

    /// Lets timers go off whose time has come. True if there were some.
    pub fn fire_timers(&mut self) -> bool {
        let now = self.clock.now();
        let mut fired = false;
        for at in 0..self.timers.len() {
            let timer = &mut self.timers[at];
            let Some(time) = timer.at.filter(|time| *time <= now) else { continue };
            let times = match timer.interval {
                0 => 1,
                interval => 1 + (now - time) / interval,
            };
            timer.at = (timer.interval != 0).then(|| time + times * timer.interval);
            timer.count += times;
            timer.missed = times - 1;
            fired = true;
            let (effect, missed, id) = (timer.effect, timer.missed as c_int, timer.id());
            match effect {
                Effect::Nothing => {}
                Effect::Signal(signal, value, to) => {
                    self.signal(Information::timer(signal, id, missed, value), to);
                }
                Effect::Thread(notice, by) => {
                    self.threads[by].signals.pending.push(Item::Notice(notice));
                    self.threads[by].signals.settle();
                }
                Effect::File(file) => {
                    make_readable(file);
                    self.changed();
                }
            }
        }
        fired
    }
}

impl Timer {
    fn id(&self) -> c_int {
        match self.name {
            Name::Interval(which) | Name::File(which) => which,
            Name::Made(id) => id as c_int,
        }
    }

    /// The time that is left, and the interval.
    fn left(&self, now: u64) -> (u64, u64) {
        (self.at.map_or(0, |at| at.saturating_sub(now).max(1)), self.interval)
    }

    /// Sets it anew.
    fn set(&mut self, at: Option<u64>, interval: u64) {
        self.at = at;
        self.interval = interval;
        self.count = 0;
    }
}

/// Lets the kernel's timer, which the program's file is, go off at once.
fn make_readable(file: c_int) {
    let soon = itimerspec { it_interval: timespec(0), it_value: timespec(1) };
    sys::call(libc::SYS_timerfd_settime, [file as usize, 0, &raw const soon as usize, 0, 0, 0]);
    let mut ready = libc::pollfd { fd: file, events: libc::POLLIN, revents: 0 };
    sys::call(libc::SYS_poll, [&raw mut ready as usize, 1, 1000, 0, 0, 0]);
}

/// A file was read: if it is one of a timer, how often that went off.
pub fn count_of_file(file: c_int) -> Option<u64> {
    let timer = runtime().timers.iter_mut().find(|timer| timer.name == Name::File(file))?;
    Some(core::mem::take(&mut timer.count))
}

/// A file was closed.
pub fn file_closed(file: c_int) {
    runtime().timers.retain(|timer| timer.name != Name::File(file));
}

fn find(name: Name) -> Option<&'static mut Timer> {
    runtime().timers.iter_mut().find(|timer| timer.name == name)
}

/// Sets a timer to a time and an interval. The old ones come through a pointer.
fn set(name: Name, flags: c_int, new: *const itimerspec, old: *mut itimerspec) -> c_int {
    wait_for(Want::Nothing);
    let now = runtime().clock.now();
    let Some(timer) = find(name) else { return fail(libc::EINVAL) };
    if new.is_null() {
        return fail(libc::EFAULT);
    }
    // SAFETY: the caller gives a time.
    let (value, interval) = unsafe { (nanoseconds((*new).it_value), nanoseconds((*new).it_interval)) };
    let (Some(value), Some(interval)) = (value, interval) else { return fail(libc::EINVAL) };
    tell(timer, old);
    let at = match flags & libc::TIMER_ABSTIME {
        _ if value == 0 => None,
        0 => Some(now.saturating_add(value)),
        _ => Some(runtime().clock.when(timer.clock, value)),
    };
    timer.set(at, interval);
    runtime().step(Step::System { what: "set a timer".into() });
    0
}

fn tell(timer: &Timer, into: *mut itimerspec) {
    if !into.is_null() {
        let (left, interval) = timer.left(runtime().clock.now());
        // SAFETY: the caller gives a place for the time.
        unsafe { *into = itimerspec { it_interval: timespec(interval), it_value: timespec(left) } };
    }
}

/// The timer of `setitimer`, made when it is first used.
fn interval_timer(which: c_int) -> Option<&'static mut Timer> {
    let signal = match which {
        libc::ITIMER_REAL => libc::SIGALRM,
        libc::ITIMER_VIRTUAL => libc::SIGVTALRM,
        libc::ITIMER_PROF => libc::SIGPROF,
        _ => return None,
    };
    let name = Name::Interval(which);
    if find(name).is_none() {
        add(name, libc::CLOCK_MONOTONIC, Effect::Signal(signal, 0, None));
    }
    find(name)
}

fn add(name: Name, clock: clockid_t, effect: Effect) {
    let timer = Timer { name, clock, effect, at: None, interval: 0, count: 0, missed: 0 };
    runtime().timers.push(timer);
}

fn from_timeval(time: timeval) -> Option<u64> {
    let in_range = (0..1_000_000).contains(&time.tv_usec) && time.tv_sec >= 0;
    in_range.then(|| (time.tv_sec as u64).saturating_mul(1_000_000_000) + time.tv_usec as u64 * 1_000)
}

fn to_timeval(nanoseconds: u64) -> timeval {
    // Rounded up: what is left is not nothing.
    let microseconds = nanoseconds.div_ceil(1_000);
    timeval { tv_sec: (microseconds / 1_000_000) as i64, tv_usec: (microseconds % 1_000_000) as i64 }
}

fn tell_interval(timer: &Timer, into: *mut itimerval) {
    if !into.is_null() {
        let (left, interval) = timer.left(runtime().clock.now());
        // SAFETY: the caller gives a place for the time.
        unsafe { *into = itimerval { it_interval: to_timeval(interval), it_value: to_timeval(left) } };
    }
}

/// What a `sigevent` asks for.
#[repr(C)]
struct Event {
    value: usize,
    signal: c_int,
    notify: c_int,
    /// The thread's number for `SIGEV_THREAD_ID`, the function for `SIGEV_THREAD`.
    function: usize,
    attributes: *const pthread_attr_t,
}

const SIGEV_THREAD_ID: c_int = 4;

fn effect(event: *const Event, id: usize) -> Option<Effect> {
    if event.is_null() {
        return Some(Effect::Signal(libc::SIGALRM, id, None));
    }
    // SAFETY: the caller gives an event.
    let event = unsafe { &*event };
    let signal = (1..crate::signals::COUNT as c_int).contains(&event.signal);
    match event.notify {
        libc::SIGEV_NONE => Some(Effect::Nothing),
        libc::SIGEV_SIGNAL if signal => Some(Effect::Signal(event.signal, event.value, None)),
        SIGEV_THREAD_ID if signal => {
            let to = pids::thread(event.function as libc::pid_t)?;
            Some(Effect::Signal(event.signal, event.value, Some(to)))
        }
        libc::SIGEV_THREAD => {
            let notice =
                Notice { function: event.function, value: event.value, attributes: event.attributes };
            Some(Effect::Thread(notice, runtime().current))
        }
        _ => None,
    }
}

interpose! {
    fn alarm(seconds: c_uint) -> c_uint {
        wait_for(Want::Nothing);
        let now = runtime().clock.now();
        let Some(timer) = interval_timer(libc::ITIMER_REAL) else { return 0 };
        let left = timer.left(now).0.div_ceil(1_000_000_000);
        let at = (seconds != 0).then(|| now.saturating_add(u64::from(seconds) * 1_000_000_000));
        timer.set(at, 0);
        runtime().step(Step::System { what: "set a timer".into() });
        left as c_uint
    }
    fn ualarm(microseconds: c_uint, interval: c_uint) -> c_uint {
        wait_for(Want::Nothing);
        let now = runtime().clock.now();
        let Some(timer) = interval_timer(libc::ITIMER_REAL) else { return 0 };
        let left = timer.left(now).0.div_ceil(1_000);
        let at = (microseconds != 0).then(|| now.saturating_add(u64::from(microseconds) * 1_000));
        timer.set(at, u64::from(interval) * 1_000);
        runtime().step(Step::System { what: "set a timer".into() });
        left as c_uint
    }
    fn setitimer(which: c_int, new: *const itimerval, old: *mut itimerval) -> c_int {
        wait_for(Want::Nothing);
        let now = runtime().clock.now();
        let Some(timer) = interval_timer(which) else { return fail(libc::EINVAL) };
        let (mut value, mut interval) = (Some(0), Some(0));
        if !new.is_null() {
            // SAFETY: the caller gives a time.
            (value, interval) = unsafe { (from_timeval((*new).it_value), from_timeval((*new).it_interval)) };
        }
        let (Some(value), Some(interval)) = (value, interval) else { return fail(libc::EINVAL) };
        tell_interval(timer, old);
        timer.set((value != 0).then(|| now.saturating_add(value)), interval);
        runtime().step(Step::System { what: "set a timer".into() });
        0
    }
    fn getitimer(which: c_int, into: *mut itimerval) -> c_int {
        let Some(timer) = interval_timer(which) else { return fail(libc::EINVAL) };
        tell_interval(timer, into);
        0
    }
    fn timer_create(clock: clockid_t, event: *const c_void, into: *mut usize) -> c_int {
        wait_for(Want::Nothing);
        let id = 1 + runtime().timers_made;
        let Some(effect) = effect(event.cast(), id) else { return fail(libc::EINVAL) };
        runtime().timers_made = id;
        add(Name::Made(id), clock, effect);
        // SAFETY: the caller gives a place for the timer.
        unsafe { *into = id };
        0
    }
    fn timer_delete(timer: usize) -> c_int {
        wait_for(Want::Nothing);
        let before = runtime().timers.len();
        runtime().timers.retain(|one| one.name != Name::Made(timer));
        if runtime().timers.len() < before { 0 } else { fail(libc::EINVAL) }
    }
    fn timer_settime(timer: usize, flags: c_int, new: *const itimerspec, old: *mut itimerspec) -> c_int {
        set(Name::Made(timer), flags, new, old)
    }
    fn timer_gettime(timer: usize, into: *mut itimerspec) -> c_int {
        let Some(timer) = find(Name::Made(timer)) else { return fail(libc::EINVAL) };
        tell(timer, into);
        0
    }
    fn timer_getoverrun(timer: usize) -> c_int {
        find(Name::Made(timer)).map_or_else(|| fail(libc::EINVAL), |timer| timer.missed as c_int)
    }
    fn timerfd_create(clock: clockid_t, flags: c_int) -> c_int {
        wait_for(Want::Nothing);
        let file = next!(timerfd_create(clock: clockid_t, flags: c_int) -> c_int);
        if file >= 0 {
            file_closed(file);
            add(Name::File(file), clock, Effect::File(file));
        }
        file
    }
    fn timerfd_settime(file: c_int, flags: c_int, new: *const itimerspec, old: *mut itimerspec) -> c_int {
        if find(Name::File(file)).is_none() {
            return next!(timerfd_settime(
                file: c_int, flags: c_int, new: *const itimerspec, old: *mut itimerspec
            ) -> c_int);
        }
        let result = set(Name::File(file), flags, new, old);
        if result == 0 {
            // What has gone off and was not read is forgotten.
            let never = itimerspec { it_interval: timespec(0), it_value: timespec(0) };
            sys::call(libc::SYS_timerfd_settime, [file as usize, 0, &raw const never as usize, 0, 0, 0]);
        }
        result
    }
    fn timerfd_gettime(file: c_int, into: *mut itimerspec) -> c_int {
        let Some(timer) = find(Name::File(file)) else {
            return next!(timerfd_gettime(file: c_int, into: *mut itimerspec) -> c_int);
        };
        tell(timer, into);
        0
    }
}
