//! On which processors threads may run: `sched_setaffinity` and its relatives.
//!
//! The process is pinned to one, because handing the baton on is five times as fast then. What the program asks for is remembered and told,
//! and changes nothing that a schedule could not do.

use crate::next::{interpose, next};
use crate::objects::fail;
use crate::runtime::{Runtime, runtime};
use crate::{pids, sys};
use libc::{c_int, cpu_set_t, pid_t, pthread_t};

/// A set of processors, as many bytes as the kernel has.
pub type Processors = Vec<u8>;

/// Room for the sets of large machines.
const ROOM: usize = 1 << 13;

/// The processors that the process may use, before it is pinned.
pub fn all() -> Processors {
    let mut set = vec![0u8; ROOM];
    let bytes = sys::call(libc::SYS_sched_getaffinity, [0, ROOM, set.as_mut_ptr() as usize, 0, 0, 0]);
    set.truncate(bytes.max(0) as usize);
    set
}

/// Keeps the process on the processor that it runs on.
pub fn pin() {
    // SAFETY: the functions have no preconditions, and all zeros are an empty set.
    unsafe {
        let mut set: cpu_set_t = core::mem::zeroed();
        libc::CPU_SET(libc::sched_getcpu().max(0) as usize, &mut set);
        sys::call(libc::SYS_sched_setaffinity, [0, size_of::<cpu_set_t>(), &raw const set as usize, 0, 0, 0]);
    }
}

/// A thread, by its number, is to run on these processors; an error, or 0.
fn set(thread: usize, bytes: usize, given: *const u8) -> c_int {
    // SAFETY: the caller of the C function gives so many bytes.
    let mut given = unsafe { core::slice::from_raw_parts(given, bytes) }.to_vec();
    let runtime = runtime();
    given.resize(runtime.processors.len(), 0);
    let allowed: Processors = given.iter().zip(&runtime.processors).map(|(some, all)| some & all).collect();
    if allowed.iter().all(|&byte| byte == 0) {
        return libc::EINVAL;
    }
    runtime.threads[thread].processors = Some(allowed);
    0
}

/// On which processors a thread, by its number, is to run; an error, or 0.
fn get(runtime: &Runtime, thread: usize, bytes: usize, into: *mut u8) -> c_int {
    let set = runtime.threads[thread].processors.as_ref().unwrap_or(&runtime.processors);
    if bytes < set.len() && set[bytes..].iter().any(|&byte| byte != 0) {
        return libc::EINVAL;
    }
    let count = bytes.min(set.len());
    // SAFETY: the caller of the C function gives so much room.
    unsafe {
        core::ptr::write_bytes(into, 0, bytes);
        core::ptr::copy_nonoverlapping(set.as_ptr(), into, count);
    }
    0
}

fn by_number(number: pid_t) -> Option<usize> {
    if number == 0 { Some(runtime().current) } else { pids::thread(number) }
}

fn answer(error: c_int) -> c_int {
    if error == 0 { 0 } else { fail(error) }
}

interpose! {
    fn sched_setaffinity(number: pid_t, bytes: usize, given: *const u8) -> c_int {
        match by_number(number) {
            Some(thread) => answer(set(thread, bytes, given)),
            None => {
                let number = pids::real(number);
                next!(sched_setaffinity(number: pid_t, bytes: usize, given: *const u8) -> c_int)
            }
        }
    }
    fn sched_getaffinity(number: pid_t, bytes: usize, into: *mut u8) -> c_int {
        match by_number(number) {
            Some(thread) => answer(get(runtime(), thread, bytes, into)),
            None => {
                let number = pids::real(number);
                next!(sched_getaffinity(number: pid_t, bytes: usize, into: *mut u8) -> c_int)
            }
        }
    }
    fn pthread_setaffinity_np(handle: pthread_t, bytes: usize, given: *const u8) -> c_int {
        runtime().by_handle(handle).map_or(libc::ESRCH, |thread| set(thread, bytes, given))
    }
    fn pthread_getaffinity_np(handle: pthread_t, bytes: usize, into: *mut u8) -> c_int {
        runtime().by_handle(handle).map_or(libc::ESRCH, |thread| get(runtime(), thread, bytes, into))
    }
}
