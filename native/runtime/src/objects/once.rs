//! What is done once: `pthread_once`, `call_once`. To others it looks like a lock around the doing.

use crate::baton::wait_for;
use crate::next::interpose;
use crate::runtime::runtime;
use crate::want::Want;
use abi::note::{Mode, Step};
use libc::c_int;

const NEW: u32 = 0;
const DOING: u32 = 1;
const DONE: u32 = 2;

/// The word: the caller of the C function says that there is one, and only the baton's holder runs.
fn at(object: usize) -> &'static mut u32 {
    // SAFETY: see above.
    unsafe { &mut *(object as *mut u32) }
}

/// Whether nobody is doing it now.
pub fn is_idle(object: usize) -> bool {
    *at(object) != DOING
}

/// Ends the doing, also when an exception leaves it: then it was not done.
struct Doing {
    object: usize,
    becomes: u32,
}

impl Drop for Doing {
    fn drop(&mut self) {
        *at(self.object) = self.becomes;
        runtime().me().released(self.object);
        runtime().step(Step::Unlock { object: self.object as u64, mode: Mode::Mutex, depth: 0 });
    }
}

fn once(object: usize, function: extern "C-unwind" fn()) {
    if *at(object) == DONE && runtime().over {
        return;
    }
    wait_for(Want::Once(object));
    let new = *at(object) == NEW;
    let depth = runtime().me().acquired(object, Mode::Mutex);
    runtime().step(Step::Lock { object: object as u64, mode: Mode::Mutex, depth });
    let mut doing = Doing { object, becomes: *at(object) };
    if new {
        *at(object) = DOING;
        function();
        doing.becomes = DONE;
    }
}

interpose! {
    fn pthread_once(object: usize, function: extern "C-unwind" fn()) -> c_int {
        once(object, function);
        0
    }
    fn call_once(object: usize, function: extern "C-unwind" fn()) { once(object, function) }
}
