//! The C library's `syscall`, through which programs and libraries reach `futex` and others without a function of their own.
//!
//! What the runtime takes over as a function it takes over here too, where programs are known to do this.

use crate::calls::{poll, read, write};
use crate::children::refuse_clone;
use crate::objects::fail;
use crate::objects::futex::futex;
use crate::process::{_exit, unsupported};
use crate::runtime::active;
use crate::signals::send;
use crate::{affinity, children, pids, random, sleep, sys};
use libc::{c_int, c_long};

/// System calls that wait at words, beyond `futex`; programs that use them know kernels that do not have them.
const NEW_FUTEXES: [c_long; 4] = [449, 454, 455, 456];

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
    if active()
        && let Some(result) = taken_over(number, [a, b, c, d, e, f])
    {
        return result;
    }
    answer(sys::call(number, [a, b, c, d, e, f]))
}

fn answer(result: isize) -> c_long {
    match result {
        -4095..0 => c_long::from(fail(-result as i32)),
        _ => result as c_long,
    }
}

/// What the runtime's own function gives, if there is one.
fn taken_over(number: c_long, arguments: [usize; 6]) -> Option<c_long> {
    let [a, b, c, d, _, _] = arguments;
    Some(match number {
        libc::SYS_futex => answer(futex(arguments)),
        _ if NEW_FUTEXES.contains(&number) => c_long::from(fail(libc::ENOSYS)),
        libc::SYS_getpid => c_long::from(pids::getpid()),
        libc::SYS_getppid => c_long::from(pids::getppid()),
        libc::SYS_gettid => c_long::from(pids::gettid()),
        libc::SYS_getrandom => random::getrandom(a as *mut _, b, c as u32) as c_long,
        libc::SYS_kill => c_long::from(send::kill(a as c_int, b as c_int)),
        libc::SYS_tgkill => c_long::from(send::tgkill(a as c_int, b as c_int, c as c_int)),
        libc::SYS_tkill => c_long::from(send::to_number(a as c_int, b as c_int)),
        libc::SYS_read => read::read(a as c_int, b as *mut _, c) as c_long,
        libc::SYS_write => write::write(a as c_int, b as *const _, c) as c_long,
        libc::SYS_poll => c_long::from(poll::poll(a as *mut _, b as u64, c as c_int)),
        libc::SYS_sched_yield => c_long::from(sleep::sched_yield()),
        libc::SYS_nanosleep => c_long::from(sleep::nanosleep(a as *const _, b as *mut _)),
        libc::SYS_clock_nanosleep => {
            // The function gives the error that the system call gives in `errno`.
            match sleep::clock_nanosleep(a as c_int, b as c_int, c as *const _, d as *mut _) {
                0 => 0,
                error => c_long::from(fail(error)),
            }
        }
        libc::SYS_clock_gettime => c_long::from(sleep::clock_gettime(a as c_int, b as *mut _)),
        libc::SYS_gettimeofday => c_long::from(sleep::gettimeofday(a as *mut _, b as *mut _)),
        libc::SYS_time => sleep::time(a as *mut _),
        libc::SYS_sched_setaffinity => {
            c_long::from(affinity::sched_setaffinity(a as c_int, b, c as *const _))
        }
        libc::SYS_fork | libc::SYS_vfork => c_long::from(children::fork()),
        libc::SYS_clone => {
            refuse_clone(a as c_int);
            return None;
        }
        libc::SYS_clone3 => unsupported("clone3: use pthread_create or fork"),
        libc::SYS_exit => unsupported("the system call exit, which ends a thread past the C library"),
        libc::SYS_exit_group => _exit(a as c_int),
        _ => return None,
    })
}
