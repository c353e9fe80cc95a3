//! Closing and replacing files. The log's own file stays open, whatever the program closes.

use super::{done, point};
use crate::next::interpose;
use crate::objects::fail;
use crate::runtime::runtime;
use crate::{sys, timers};
use libc::{c_int, c_uint};

/// Moves a file to a number that the program's own files do not come to.
pub fn high(file: c_int) -> c_int {
    let moved = sys::call(libc::SYS_fcntl, [file as usize, libc::F_DUPFD_CLOEXEC as usize, 900, 0, 0, 0]);
    match c_int::try_from(moved) {
        Ok(moved) if moved >= 0 => {
            sys::close(file);
            moved
        }
        _ => file,
    }
}

fn is_the_log(number: c_int) -> bool {
    number >= 0 && number == runtime().log.file()
}

fn closed(number: c_int) -> c_int {
    point();
    if is_the_log(number) {
        return fail(libc::EBADF);
    }
    timers::file_closed(number);
    done("close", number, sys::call(libc::SYS_close, [number as usize, 0, 0, 0, 0, 0])) as c_int
}

/// Closes a range of files, around the log's.
fn close_all(first: c_uint, last: c_uint, flags: c_int) -> isize {
    let call = |first: c_uint, last: c_uint| {
        let arguments = [first as usize, last as usize, flags as usize, 0, 0, 0];
        sys::call(libc::SYS_close_range, arguments)
    };
    match c_uint::try_from(runtime().log.file()) {
        Ok(log) if (first..=last).contains(&log) => {
            let below = if log > first { call(first, log - 1) } else { 0 };
            let above = if log < last { call(log + 1, last) } else { 0 };
            below.min(above)
        }
        _ => call(first, last),
    }
}

/// The program wants the number that the log's file has.
fn make_way(number: c_int) {
    if is_the_log(number) {
        let copy =
            sys::call(libc::SYS_fcntl, [number as usize, libc::F_DUPFD_CLOEXEC as usize, 901, 0, 0, 0]);
        runtime().log.moved(copy as c_int);
    }
}

fn replaced(old: c_int, new: c_int, flags: c_int) -> c_int {
    point();
    make_way(new);
    timers::file_closed(new);
    done("dup", old, sys::call(libc::SYS_dup3, [old as usize, new as usize, flags as usize, 0, 0, 0]))
        as c_int
}

interpose! {
    fn close(number: c_int) -> c_int { closed(number) }
    fn __close(number: c_int) -> c_int { closed(number) }
    fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
        point();
        done("close from", first as c_int, close_all(first, last, flags)) as c_int
    }
    fn closefrom(first: c_int) {
        point();
        done("close from", first, close_all(first.max(0) as c_uint, c_uint::MAX, 0));
    }
    fn dup2(old: c_int, new: c_int) -> c_int {
        if old == new {
            point();
            let exists = sys::call(libc::SYS_fcntl, [old as usize, libc::F_GETFD as usize, 0, 0, 0, 0]) >= 0;
            return if exists { new } else { fail(libc::EBADF) };
        }
        replaced(old, new, 0)
    }
    fn dup3(old: c_int, new: c_int, flags: c_int) -> c_int {
        if old == new {
            return fail(libc::EINVAL);
        }
        replaced(old, new, flags)
    }
}
