//! Cancellation: `pthread_cancel` and its relatives.
//!
//! A request makes its thread able to go on wherever it waits at a cancellation point; the thread then leaves by the C library's
//! `pthread_exit`, which runs the clean-up handlers.

use crate::baton::wait_for;
use crate::next::{interpose, next};
use crate::runtime::runtime;
use crate::want::Want;
use abi::note::Step;
use core::ffi::c_void;
use libc::{c_int, pthread_t};

const DISABLE: c_int = 1;
const ASYNCHRONOUS: c_int = 1;

/// What a cancelled thread returns (`PTHREAD_CANCELED`).
const CANCELED: *mut c_void = usize::MAX as *mut c_void;

/// The running thread is cancelled: leaves it.
pub fn act() -> ! {
    runtime().me().cancel.acting = true;
    let value = CANCELED;
    next!(pthread_exit(value: *mut c_void) -> !)
}

/// Cancels the running thread if that was asked for.
pub fn test() {
    let cancel = runtime().me().cancel;
    if cancel.requested && !cancel.disabled && !cancel.acting {
        act();
    }
}

/// Cancels the running thread if that was asked for and may happen anywhere.
fn test_anywhere() {
    if runtime().me().cancel.asynchronous {
        test();
    }
}

/// Sets a switch, gives its old value through a pointer that may be null.
fn exchange(switch: &mut bool, new: bool, old: *mut c_int) {
    if !old.is_null() {
        // SAFETY: the caller gives a place for the old value.
        unsafe { *old = c_int::from(*switch) };
    }
    *switch = new;
}

interpose! {
    fn pthread_cancel(handle: pthread_t) -> c_int {
        wait_for(Want::Nothing);
        let runtime = runtime();
        let Some(number) = runtime.by_handle(handle) else { return libc::ESRCH };
        runtime.step(Step::System { what: "pthread_cancel".into() });
        let cancel = &mut runtime.threads[number].cancel;
        cancel.requested = true;
        if number == runtime.current {
            test_anywhere();
        }
        0
    }
    fn pthread_testcancel() {
        wait_for(Want::Nothing);
        test();
    }
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int {
        if !(0..=1).contains(&state) {
            return libc::EINVAL;
        }
        exchange(&mut runtime().me().cancel.disabled, state == DISABLE, old);
        test_anywhere();
        0
    }
    fn pthread_setcanceltype(kind: c_int, old: *mut c_int) -> c_int {
        if !(0..=1).contains(&kind) {
            return libc::EINVAL;
        }
        exchange(&mut runtime().me().cancel.asynchronous, kind == ASYNCHRONOUS, old);
        test_anywhere();
        0
    }
}
