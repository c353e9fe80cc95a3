//! The C library's `syscall`, through which programs and libraries reach `futex` and others without a function of their own.

use crate::objects::fail;
use crate::objects::futex::futex;
use crate::runtime::active;
use crate::sys;
use libc::c_long;

/// A system call. Variadic in C; on x86-64 up to six integer arguments are passed just like these.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn syscall(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_long {
    let result = match number {
        libc::SYS_futex if active() => futex(a, b, c, d),
        _ => sys::call(number, [a, b, c, d, e, f]),
    };
    match result {
        -4095..0 => c_long::from(fail(-result as i32)),
        _ => result as c_long,
    }
}
