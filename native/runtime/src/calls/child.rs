//! Waiting for child processes: `wait`, `waitpid`, `waitid` and their relatives.

use super::{Restart, Waited, point, told};
use crate::io::{Wait, What};
use crate::next::interpose;
use crate::pids;
use crate::runtime::runtime;
use crate::signals::information::Information;
use crate::sys;
use core::ffi::c_void;
use libc::{c_int, id_t, idtype_t, pid_t, rusage};

/// Waits unless the options say otherwise; an error if that was interrupted.
fn until_ready(kind: idtype_t, id: id_t, options: c_int) -> Result<(), isize> {
    if options & libc::WNOHANG != 0 {
        point();
        return Ok(());
    }
    let wanted = Wait { what: What::Child { kind, id, options }, outside: true };
    match super::wait(&wanted, None, Restart::Yes) {
        Waited::Interrupted => Err(-(libc::EINTR as isize)),
        _ => Ok(()),
    }
}

fn wait_for_any(child: pid_t, status: *mut c_int, options: c_int, usage: *mut rusage) -> pid_t {
    let child = pids::real(child);
    let (kind, id) = match child {
        -1 => (libc::P_ALL, 0),
        0 => (libc::P_PGID, 0),
        1.. => (libc::P_PID, child as id_t),
        _ => (libc::P_PGID, child.unsigned_abs()),
    };
    // The options of the two system calls are the same but for that of a child that ends.
    let result = match until_ready(kind, id, options | libc::WEXITED) {
        Err(error) => error,
        Ok(()) => {
            // Of several, the one that is told of first is the one to come.
            let found = announced(kind, id, options | libc::WEXITED).unwrap_or(child);
            let arguments = [found as usize, status as usize, options as usize, usage as usize, 0, 0];
            sys::call(libc::SYS_wait4, arguments)
        }
    };
    gone(result)
}

/// The child that a wait will give, whose end is announced by a signal before.
fn announced(kind: idtype_t, id: id_t, options: c_int) -> Option<pid_t> {
    let found = Information::of_child(kind, id, options)?.first;
    runtime().announce_child_by_number(found);
    Some(found)
}

/// A child was waited for, by its kernel's number.
fn gone(result: isize) -> pid_t {
    let named = if result > 0 { pids::named(result as pid_t) as isize } else { result };
    if result > 0 {
        runtime().child_gone(result as pid_t);
    }
    told("wait for a child".into(), named) as pid_t
}

/// Waits for one child.
pub fn wait_for_child(child: pid_t, status: &mut c_int) -> pid_t {
    wait_for_any(child, status, 0, core::ptr::null_mut())
}

interpose! {
    fn wait(status: *mut c_int) -> pid_t { wait_for_any(-1, status, 0, core::ptr::null_mut()) }
    fn waitpid(child: pid_t, status: *mut c_int, options: c_int) -> pid_t {
        wait_for_any(child, status, options, core::ptr::null_mut())
    }
    fn __waitpid(child: pid_t, status: *mut c_int, options: c_int) -> pid_t { waitpid(child, status, options) }
    fn wait3(status: *mut c_int, options: c_int, usage: *mut rusage) -> pid_t {
        wait_for_any(-1, status, options, usage)
    }
    fn wait4(child: pid_t, status: *mut c_int, options: c_int, usage: *mut rusage) -> pid_t {
        wait_for_any(child, status, options, usage)
    }
    fn waitid(kind: idtype_t, id: id_t, into: *mut Information, options: c_int) -> c_int {
        let id = if kind == libc::P_PID { pids::real(id as pid_t) as id_t } else { id };
        if let Err(error) = until_ready(kind, id, options) {
            return told("wait for a child".into(), error) as c_int;
        }
        let (kind, id) = match announced(kind, id, options) {
            Some(found) => (libc::P_PID, found as id_t),
            None => (kind, id),
        };
        let arguments = [kind as usize, id as usize, into.cast::<c_void>() as usize, options as usize, 0, 0];
        let result = sys::call(libc::SYS_waitid, arguments);
        if result == 0 && !into.is_null() {
            // SAFETY: the kernel has just filled it in.
            let information = unsafe { &mut *into };
            let child = information.first;
            if child != 0 {
                information.first = pids::named(child);
                if options & libc::WNOWAIT == 0 {
                    runtime().child_gone(child);
                }
            }
        }
        told("wait for a child".into(), result) as c_int
    }
}
