//! Guards of static variables in functions, by which C++ initialises them once: `__cxa_guard_*`.
//!
//! Compiled code looks at the first byte of the guard by itself, and calls these only while it is 0.

use crate::baton::wait_for;
use crate::next::interpose;
use crate::runtime::runtime;
use crate::want::Want;
use abi::note::{Mode, Step};
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
    wait_for(Want::Nothing);
    let guard = at(object);
    guard.state = 0;
    guard.done = u8::from(done);
    runtime().me().released(object);
    runtime().step(Step::Unlock { object: object as u64, mode: Mode::Mutex, depth: 0 });
}

interpose! {
    fn __cxa_guard_acquire(object: usize) -> c_int {
        wait_for(Want::Once(&raw const at(object).state as usize));
        if at(object).done != 0 {
            return 0;
        }
        at(object).state = 1;
        let depth = runtime().me().acquired(object, Mode::Mutex);
        runtime().step(Step::Lock { object: object as u64, mode: Mode::Mutex, depth });
        1
    }
    fn __cxa_guard_release(object: usize) { release(object, true) }
    fn __cxa_guard_abort(object: usize) { release(object, false) }
}
