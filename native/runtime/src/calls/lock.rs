//! Locks of files: `flock`, `lockf`, and `fcntl` where it waits.

use super::{done, point, retry};
use crate::next::interpose;
use crate::sys;
use libc::{c_int, off_t};

/// What the kernel answers where it would have blocked.
fn in_vain(result: isize) -> bool {
    result == -(libc::EAGAIN as isize) || result == -(libc::EACCES as isize)
}

fn control(number: c_int, operation: c_int, argument: usize) -> isize {
    sys::call(libc::SYS_fcntl, [number as usize, operation as usize, argument, 0, 0, 0])
}

fn fcntl_call(number: c_int, operation: c_int, argument: usize) -> c_int {
    let tried = match operation {
        libc::F_SETLKW => libc::F_SETLK,
        libc::F_OFD_SETLKW => libc::F_OFD_SETLK,
        libc::F_SETLK | libc::F_OFD_SETLK => {
            point();
            return done("fcntl", number, control(number, operation, argument)) as c_int;
        }
        _ => return super::answer(control(number, operation, argument)) as c_int,
    };
    let result = retry(None, in_vain, || control(number, tried, argument));
    done("fcntl", number, result) as c_int
}

fn lock_part(number: c_int, operation: c_int, bytes: off_t) -> c_int {
    // SAFETY: all zeros are a lock.
    let mut lock: libc::flock = unsafe { core::mem::zeroed() };
    lock.l_whence = libc::SEEK_CUR as i16;
    lock.l_len = bytes;
    lock.l_type = if operation == libc::F_ULOCK { libc::F_UNLCK } else { libc::F_WRLCK } as i16;
    let argument = &raw mut lock as usize;
    match operation {
        libc::F_LOCK => fcntl_call(number, libc::F_SETLKW, argument),
        libc::F_TLOCK | libc::F_ULOCK => fcntl_call(number, libc::F_SETLK, argument),
        libc::F_TEST => {
            lock.l_type = libc::F_RDLCK as i16;
            if fcntl_call(number, libc::F_GETLK, argument) < 0 {
                return -1;
            }
            if lock.l_type == libc::F_UNLCK as i16 || lock.l_pid == sys::process() {
                return 0;
            }
            crate::objects::fail(libc::EACCES)
        }
        _ => crate::objects::fail(libc::EINVAL),
    }
}

interpose! {
    fn flock(number: c_int, operation: c_int) -> c_int {
        let call = |operation: c_int| sys::call(libc::SYS_flock, [number as usize, operation as usize, 0, 0, 0, 0]);
        let result = match operation & (libc::LOCK_NB | libc::LOCK_UN) {
            0 => retry(None, in_vain, || call(operation | libc::LOCK_NB)),
            _ => {
                point();
                call(operation)
            }
        };
        done("flock", number, result) as c_int
    }
    fn lockf(number: c_int, operation: c_int, bytes: off_t) -> c_int { lock_part(number, operation, bytes) }
    fn lockf64(number: c_int, operation: c_int, bytes: off_t) -> c_int { lock_part(number, operation, bytes) }
    // Variadic in C; on x86-64 a third argument is passed just like this.
    fn fcntl(number: c_int, operation: c_int, argument: usize) -> c_int { fcntl_call(number, operation, argument) }
    fn fcntl64(number: c_int, operation: c_int, argument: usize) -> c_int { fcntl_call(number, operation, argument) }
}
