//! Which signals threads block: `pthread_sigmask`, `sigprocmask`, `sigpending`, and jumps that restore a mask.

use super::deliver_due;
use crate::baton::wait_for;
use crate::next::{interpose, next};
use crate::objects::fail;
use crate::runtime::{active, runtime};
use crate::sys;
use crate::want::Want;
use core::ffi::c_void;
use libc::{c_int, sigset_t};

/// A set of signals, one bit each.
pub type Set = u64;

/// The bit of a signal.
pub const fn bit(signal: c_int) -> Set {
    1 << (signal as u32 - 1)
}

/// What a thread can block: all but `SIGKILL`, `SIGSTOP` and the two that the C library has for itself.
pub const MAY_BLOCK: Set = !(bit(libc::SIGKILL) | bit(libc::SIGSTOP) | bit(32) | bit(33));

/// What the kernel is not told to block: a blocked fault would end the process before we could note it.
const FAULTS: Set =
    bit(libc::SIGSEGV) | bit(libc::SIGBUS) | bit(libc::SIGFPE) | bit(libc::SIGILL) | bit(libc::SIGABRT);

/// The set that a pointer leads to.
pub fn read(set: *const sigset_t) -> Set {
    // SAFETY: the caller of the C function gives a set; its first word has all signals.
    unsafe { *set.cast::<Set>() }
}

/// Writes a set through a pointer, unless that is null.
pub fn write(into: *mut sigset_t, set: Set) {
    if !into.is_null() {
        // SAFETY: the caller of the C function gives a place for a set.
        unsafe {
            core::ptr::write_bytes(into.cast::<u8>(), 0, size_of::<sigset_t>());
            *into.cast::<Set>() = set;
        }
    }
}

/// Sets the mask of the running thread, here and in the kernel.
pub fn set(mask: Set) {
    runtime().set_mask(mask);
    let kernels = mask & MAY_BLOCK & !FAULTS;
    let arguments = [libc::SIG_SETMASK as usize, &raw const kernels as usize, 0, size_of::<Set>(), 0, 0];
    sys::call(libc::SYS_rt_sigprocmask, arguments);
}

/// Does something under another mask.
pub fn under<R>(mask: Option<Set>, action: impl FnOnce() -> R) -> R {
    let Some(mask) = mask else { return action() };
    let before = runtime().me().signals.mask;
    set(mask);
    let result = action();
    set(before);
    result
}

fn change(how: c_int, given: *const sigset_t, old: *mut sigset_t) -> c_int {
    wait_for(Want::Nothing);
    let before = runtime().me().signals.mask;
    if !given.is_null() {
        let given = read(given);
        match how {
            libc::SIG_BLOCK => set(before | given),
            libc::SIG_UNBLOCK => set(before & !given),
            libc::SIG_SETMASK => set(given),
            _ => return libc::EINVAL,
        }
    }
    write(old, before);
    deliver_due();
    0
}

/// What the kernel says of the end of children is not looked at: they are announced by ourselves.
pub const LOOKED_AT: Set = !bit(libc::SIGCHLD);

/// The signals that the kernel has for this process.
pub fn pending_in_kernel() -> Set {
    let mut set: Set = 0;
    sys::call(libc::SYS_rt_sigpending, [&raw mut set as usize, size_of::<Set>(), 0, 0, 0, 0]);
    set & LOOKED_AT
}

/// Where a buffer for jumps says whether it has a mask, and the mask.
const SAVED: usize = 64;
const MASK: usize = 72;

/// A jump out of a handler restores the mask that was saved with its aim.
fn before_jump(to: *const c_void) {
    if active() && !runtime().over {
        let to = to.cast::<u8>();
        // SAFETY: the caller of the C function gives a buffer that `setjmp` filled in.
        unsafe {
            if to.add(SAVED).cast::<c_int>().read() != 0 {
                runtime().set_mask(to.add(MASK).cast::<Set>().read());
            }
        }
    }
}

macro_rules! jumps {
    ($($name:ident)*) => { $(
        /// As in C.
        #[unsafe(no_mangle)]
        pub extern "C-unwind" fn $name(to: *const c_void, value: c_int) -> ! {
            before_jump(to);
            next!($name(to: *const c_void, value: c_int) -> !)
        }
    )* };
}

jumps! { longjmp _longjmp siglongjmp __longjmp_chk }

interpose! {
    fn pthread_sigmask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int { change(how, set, old) }
    fn sigprocmask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int {
        match change(how, set, old) {
            0 => 0,
            error => fail(error),
        }
    }
    fn sigpending(into: *mut sigset_t) -> c_int {
        wait_for(Want::Nothing);
        let process = runtime().signals.pending.iter().fold(0, |all, one| all | bit(one.signal));
        let own = runtime().me().signals.waiting();
        write(into, own | process | pending_in_kernel());
        0
    }
    fn sighold(signal: c_int) -> c_int { change_one(libc::SIG_BLOCK, signal) }
    fn sigrelse(signal: c_int) -> c_int { change_one(libc::SIG_UNBLOCK, signal) }
}

fn change_one(how: c_int, signal: c_int) -> c_int {
    if !(1..super::COUNT as c_int).contains(&signal) {
        return fail(libc::EINVAL);
    }
    let mut set = core::mem::MaybeUninit::<sigset_t>::zeroed();
    write(set.as_mut_ptr(), bit(signal));
    sigprocmask(how, set.as_ptr(), core::ptr::null_mut())
}
