//! Guards of static variables in functions, by which C++ initialises them once: `__cxa_guard_*`.
//!
//! Compiled code looks at the first byte of the guard by itself, and calls these only while it is 0.

use crate::baton::wait_for;
use crate::next::interpose;
use crate::objects::once;
use crate::page;
use crate::runtime::runtime;
use crate::want::Want;
use libc::c_int;

#[repr(C)]
struct Guard {
    done: u8,
    unused: [u8; 3],
    /// A word as that of `pthread_once`.
    state: u32,
}

/// The guard: compiled code says that there is one, and only the baton's holder runs.
fn at(object: usize) -> &'static mut Guard {
    // SAFETY: see above.
    unsafe { &mut *(object as *mut Guard) }
}

fn release(object: usize, done: bool) {
    if done {
        wait_for(Want::Nothing);
        at(object).done = 1;
        runtime().bytes(page::call_site(), object as u64, &[1]);
    }
    once::leave(object, !done, || at(object).state = 0);
}

interpose! {
    fn __cxa_guard_acquire(object: usize) -> c_int {
        wait_for(Want::Once(&raw const at(object).state as usize));
        let is_new = at(object).done == 0;
        at(object).state = 1;
        once::enter(object, is_new);
        if !is_new {
            once::leave(object, false, || at(object).state = 0);
        }
        c_int::from(is_new)
    }
    fn __cxa_guard_release(object: usize) { release(object, true) }
    fn __cxa_guard_abort(object: usize) { release(object, false) }
}
