//! Queues and semaphores of the system: `mq_*`, and `msgsnd`, `msgrcv`, `semop` of System V.

use super::{Waited, done, file, point, retry, told, wait_for_file};
use crate::clock::nanoseconds;
use crate::next::interpose;
use crate::objects::{deadline, fail};
use crate::runtime::runtime;
use crate::sys;
use crate::want::Deadline;
use core::ffi::{c_char, c_void};
use libc::{POLLIN, POLLOUT, c_int, c_long, c_uint, ssize_t, timespec};

/// A queue is a file that can be polled: waits for it, then calls.
fn with_queue(what: &str, number: c_int, events: i16, until: Deadline, call: impl Fn() -> isize) -> isize {
    let result = match file::queue(number) {
        Some(file) => match wait_for_file(&file, events, until) {
            Waited::Ready => call(),
            Waited::Expired => -(libc::ETIMEDOUT as isize),
            Waited::Interrupted => -(libc::EINTR as isize),
        },
        None => {
            point();
            call()
        }
    };
    done(what, number, result)
}

fn receive(number: c_int, into: *mut c_char, room: usize, priority: *mut c_uint, until: Deadline) -> ssize_t {
    let now = timespec { tv_sec: 0, tv_nsec: 0 };
    let arguments = [number as usize, into as usize, room, priority as usize, &raw const now as usize, 0];
    with_queue("mq_receive", number, POLLIN, until, || sys::call(libc::SYS_mq_timedreceive, arguments))
}

fn send(number: c_int, from: *const c_char, bytes: usize, priority: c_uint, until: Deadline) -> c_int {
    let now = timespec { tv_sec: 0, tv_nsec: 0 };
    let arguments = [number as usize, from as usize, bytes, priority as usize, &raw const now as usize, 0];
    with_queue("mq_send", number, POLLOUT, until, || sys::call(libc::SYS_mq_timedsend, arguments)) as c_int
}

fn is_full_or_empty(result: isize) -> bool {
    result == -(libc::EAGAIN as isize) || result == -(libc::ENOMSG as isize)
}

/// Calls with a flag that lets the call fail rather than block; the same once only if the program gave the flag.
fn with_flag(what: &str, flags: c_int, until: Deadline, call: impl Fn(c_int) -> isize) -> isize {
    let result = match flags & libc::IPC_NOWAIT {
        0 => retry(until, is_full_or_empty, || call(flags | libc::IPC_NOWAIT)),
        _ => {
            point();
            call(flags)
        }
    };
    told(what.into(), result)
}

/// An operation on one semaphore of a set, as the C library lays it out.
#[repr(C)]
#[derive(Clone, Copy)]
struct Operation {
    semaphore: u16,
    change: i16,
    flags: i16,
}

fn operate(set: c_int, operations: *const c_void, count: usize, until: Deadline) -> c_int {
    if operations.is_null() || count == 0 {
        return fail(libc::EINVAL);
    }
    // SAFETY: the caller gives so many operations.
    let mut list = unsafe { core::slice::from_raw_parts(operations.cast::<Operation>(), count) }.to_vec();
    let flags = list.iter().fold(0, |flags, one| flags | c_int::from(one.flags));
    list.iter_mut().for_each(|one| one.flags |= libc::IPC_NOWAIT as i16);
    let arguments = [set as usize, list.as_ptr() as usize, count, 0, 0, 0];
    with_flag("semop", flags & libc::IPC_NOWAIT, until, |_| sys::call(libc::SYS_semop, arguments)) as c_int
}

interpose! {
    fn mq_receive(number: c_int, into: *mut c_char, room: usize, priority: *mut c_uint) -> ssize_t {
        receive(number, into, room, priority, None)
    }
    fn mq_timedreceive(
        number: c_int,
        into: *mut c_char,
        room: usize,
        priority: *mut c_uint,
        time: *const timespec,
    ) -> ssize_t {
        match deadline(libc::CLOCK_REALTIME, time) {
            Ok(until) => receive(number, into, room, priority, until),
            Err(error) => fail(error) as ssize_t,
        }
    }
    fn mq_send(number: c_int, from: *const c_char, bytes: usize, priority: c_uint) -> c_int {
        send(number, from, bytes, priority, None)
    }
    fn mq_timedsend(number: c_int, from: *const c_char, bytes: usize, priority: c_uint, time: *const timespec) -> c_int {
        match deadline(libc::CLOCK_REALTIME, time) {
            Ok(until) => send(number, from, bytes, priority, until),
            Err(error) => fail(error),
        }
    }
    fn msgsnd(queue: c_int, message: *const c_void, bytes: usize, flags: c_int) -> c_int {
        let call = |flags: c_int| {
            sys::call(libc::SYS_msgsnd, [queue as usize, message as usize, bytes, flags as usize, 0, 0])
        };
        with_flag("msgsnd", flags, None, call) as c_int
    }
    fn msgrcv(queue: c_int, message: *mut c_void, room: usize, kind: c_long, flags: c_int) -> ssize_t {
        let call = |flags: c_int| {
            sys::call(libc::SYS_msgrcv, [queue as usize, message as usize, room, kind as usize, flags as usize, 0])
        };
        with_flag("msgrcv", flags, None, call)
    }
    fn semop(set: c_int, operations: *const c_void, count: usize) -> c_int { operate(set, operations, count, None) }
    fn semtimedop(set: c_int, operations: *const c_void, count: usize, time: *const timespec) -> c_int {
        if time.is_null() {
            return operate(set, operations, count, None);
        }
        // SAFETY: the caller gives a time.
        let Some(length) = nanoseconds(unsafe { *time }) else { return fail(libc::EINVAL) };
        let until = runtime().clock.now().saturating_add(length);
        operate(set, operations, count, Some(until))
    }
}
