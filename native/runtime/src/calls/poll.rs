//! Waiting for several files: `poll`, `select`, `epoll_wait` and their relatives.

use super::{Restart, Waited, after, done, point, told, wait};
use crate::clock::nanoseconds;
use crate::io::{Wait, What};
use crate::next::{interpose, next};
use crate::objects::fail;
use crate::runtime::runtime;
use crate::signals::mask::{self, Set};
use crate::sys;
use crate::want::Deadline;
use core::mem::size_of;
use libc::{c_int, epoll_event, fd_set, nfds_t, pollfd, sigset_t, timespec, timeval};

/// How long a call waits.
enum Time {
    /// Not at all.
    No,
    /// At most until then.
    Until(Deadline),
}

impl Time {
    fn milliseconds(count: c_int) -> Time {
        match count {
            0 => Time::No,
            1.. => Time::Until(after(count as u64 * 1_000_000)),
            _ => Time::Until(None),
        }
    }

    /// `None` if it is not well formed.
    fn read(time: *const timespec) -> Option<Time> {
        if time.is_null() {
            return Some(Time::Until(None));
        }
        // SAFETY: the caller of the C function gives a time.
        let time = unsafe { *time };
        if time.tv_sec < 0 {
            return None;
        }
        Some(match nanoseconds(time)? {
            0 => Time::No,
            length => Time::Until(after(length)),
        })
    }
}

fn optional(set: *const sigset_t) -> Option<Set> {
    (!set.is_null()).then(|| mask::read(set))
}

/// Waits for files by polling, then calls; again if the call finds nothing after all.
fn ready(files: Vec<pollfd>, time: Time, mask: Option<Set>, call: impl Fn() -> isize) -> isize {
    let outside =
        runtime().is_child || runtime().pids.has_children() || files.iter().any(|file| file.fd <= 2);
    mask::under(mask, || {
        let Time::Until(until) = time else {
            point();
            return call();
        };
        let wanted = Wait { what: What::Files(files), outside };
        loop {
            match wait(&wanted, until, Restart::No) {
                Waited::Ready => match call() {
                    0 if !runtime().over => {}
                    result => return result,
                },
                Waited::Expired => return call(),
                Waited::Interrupted => return -(libc::EINTR as isize),
            }
        }
    })
}

fn poll_files(files: *mut pollfd, count: nfds_t, time: Time, mask: Option<Set>) -> c_int {
    let mut copy = vec![];
    if count > 0 && !files.is_null() {
        // SAFETY: the caller gives so many files.
        copy.extend_from_slice(unsafe { core::slice::from_raw_parts(files, count as usize) });
    }
    let result =
        ready(copy, time, mask, || sys::call(libc::SYS_poll, [files as usize, count as usize, 0, 0, 0, 0]));
    told("poll".into(), result) as c_int
}

/// The three sets of `select`, and what polling means for each.
const EVENTS: [i16; 3] = [libc::POLLIN, libc::POLLOUT, libc::POLLPRI];

fn select_files(count: c_int, sets: [*mut fd_set; 3], time: Time, mask: Option<Set>) -> c_int {
    let count = count.clamp(0, libc::FD_SETSIZE as c_int);
    let mut files: Vec<pollfd> = vec![];
    let mut wanted = [None; 3];
    for (at, &set) in sets.iter().enumerate().filter(|(_, set)| !set.is_null()) {
        // SAFETY: the caller gives a set.
        let set = unsafe { *set };
        wanted[at] = Some(set);
        for number in 0..count {
            // SAFETY: the number is one that a set can have.
            if unsafe { libc::FD_ISSET(number, &set) } {
                files.push(pollfd { fd: number, events: EVENTS[at], revents: 0 });
            }
        }
    }
    let result = ready(files, time, mask, || {
        for (set, wanted) in sets.iter().zip(&wanted) {
            if let Some(wanted) = wanted {
                // SAFETY: as above. The call takes out what is not ready.
                unsafe { **set = *wanted };
            }
        }
        let now = timeval { tv_sec: 0, tv_usec: 0 };
        let [readable, writable, other] = sets.map(|set| set as usize);
        let time = &raw const now as usize;
        sys::call(libc::SYS_select, [count as usize, readable, writable, other, time, 0])
    });
    told("select".into(), result) as c_int
}

fn epoll(number: c_int, into: *mut epoll_event, most: c_int, time: Time, mask: Option<Set>) -> c_int {
    let files = vec![pollfd { fd: number, events: libc::POLLIN, revents: 0 }];
    let result = ready(files, time, mask, || {
        let arguments = [number as usize, into as usize, most as usize, 0, 0, 0];
        sys::call(libc::SYS_epoll_wait, arguments)
    });
    done("epoll_wait", number, result) as c_int
}

interpose! {
    fn poll(files: *mut pollfd, count: nfds_t, milliseconds: c_int) -> c_int {
        poll_files(files, count, Time::milliseconds(milliseconds), None)
    }
    fn __poll(files: *mut pollfd, count: nfds_t, milliseconds: c_int) -> c_int { poll(files, count, milliseconds) }
    fn __poll_chk(files: *mut pollfd, count: nfds_t, milliseconds: c_int, room: usize) -> c_int {
        if room / size_of::<pollfd>() < count as usize {
            return next!(__poll_chk(files: *mut pollfd, count: nfds_t, milliseconds: c_int, room: usize) -> c_int);
        }
        poll(files, count, milliseconds)
    }
    fn ppoll(files: *mut pollfd, count: nfds_t, time: *const timespec, set: *const sigset_t) -> c_int {
        let Some(time) = Time::read(time) else { return fail(libc::EINVAL) };
        poll_files(files, count, time, optional(set))
    }
    fn __ppoll_chk(
        files: *mut pollfd,
        count: nfds_t,
        time: *const timespec,
        set: *const sigset_t,
        room: usize,
    ) -> c_int {
        if room / size_of::<pollfd>() < count as usize {
            return next!(__ppoll_chk(
                files: *mut pollfd, count: nfds_t, time: *const timespec, set: *const sigset_t, room: usize
            ) -> c_int);
        }
        ppoll(files, count, time, set)
    }
    fn select(
        count: c_int,
        readable: *mut fd_set,
        writable: *mut fd_set,
        other: *mut fd_set,
        time: *mut timeval,
    ) -> c_int {
        let mut length = timespec { tv_sec: 0, tv_nsec: 0 };
        let mut given = core::ptr::null();
        if !time.is_null() {
            // SAFETY: the caller gives a time.
            let (seconds, microseconds) = unsafe { ((*time).tv_sec, (*time).tv_usec) };
            length.tv_sec = seconds + microseconds / 1_000_000;
            length.tv_nsec = microseconds % 1_000_000 * 1_000;
            given = &raw const length;
        }
        let Some(parsed) = Time::read(given) else { return fail(libc::EINVAL) };
        let until = match parsed {
            Time::Until(Some(until)) => until,
            _ => 0,
        };
        let result = select_files(count, [readable, writable, other], parsed, None);
        if !time.is_null() {
            // As Linux does: what is left of the time.
            let left = until.saturating_sub(runtime().clock.now()) / 1_000;
            // SAFETY: as above.
            unsafe { *time = timeval { tv_sec: (left / 1_000_000) as i64, tv_usec: (left % 1_000_000) as i64 } };
        }
        result
    }
    fn pselect(
        count: c_int,
        readable: *mut fd_set,
        writable: *mut fd_set,
        other: *mut fd_set,
        time: *const timespec,
        set: *const sigset_t,
    ) -> c_int {
        let Some(time) = Time::read(time) else { return fail(libc::EINVAL) };
        select_files(count, [readable, writable, other], time, optional(set))
    }
    fn epoll_wait(number: c_int, into: *mut epoll_event, most: c_int, milliseconds: c_int) -> c_int {
        epoll(number, into, most, Time::milliseconds(milliseconds), None)
    }
    fn epoll_pwait(
        number: c_int,
        into: *mut epoll_event,
        most: c_int,
        milliseconds: c_int,
        set: *const sigset_t,
    ) -> c_int {
        epoll(number, into, most, Time::milliseconds(milliseconds), optional(set))
    }
    fn epoll_pwait2(
        number: c_int,
        into: *mut epoll_event,
        most: c_int,
        time: *const timespec,
        set: *const sigset_t,
    ) -> c_int {
        let Some(time) = Time::read(time) else { return fail(libc::EINVAL) };
        epoll(number, into, most, time, optional(set))
    }
    fn epoll_ctl(number: c_int, operation: c_int, file: c_int, event: *mut epoll_event) -> c_int {
        point();
        let arguments = [number as usize, operation as usize, file as usize, event as usize, 0, 0];
        done("epoll_ctl", number, sys::call(libc::SYS_epoll_ctl, arguments)) as c_int
    }
}
