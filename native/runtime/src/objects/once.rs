//! What is done once: `pthread_once`, `call_once`. To others it looks like a lock around the doing, and one token: who gets it does what is to be done.

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

/// The one token of what is done once, as an object beside the lock. There is room: the word has four bytes.
fn token(object: usize) -> u64 {
    object as u64 + 1
}

/// Takes the lock, and looks whether it is up to us.
pub fn enter(object: usize, is_new: bool) {
    let depth = runtime().me().acquired(object, Mode::Mutex);
    runtime().step(Step::Lock { object: object as u64, mode: Mode::Mutex, depth });
    wait_for(Want::Nothing);
    runtime().step(Step::TryAcquire { semaphore: token(object), acquired: is_new });
}

/// Gives the lock back, and the token too if nothing was done; `unlock` is what lets others in.
pub fn leave(object: usize, gives_back: bool, unlock: impl FnOnce()) {
    if gives_back {
        wait_for(Want::Nothing);
        runtime().step(Step::Release { semaphore: token(object) });
    }
    wait_for(Want::Nothing);
    unlock();
    runtime().me().released(object);
    runtime().step(Step::Unlock { object: object as u64, mode: Mode::Mutex, depth: 0 });
}

/// Ends the doing, also when an exception leaves it: then it was not done.
struct Doing {
    object: usize,
    becomes: u32,
}

impl Drop for Doing {
    fn drop(&mut self) {
        leave(self.object, self.becomes == NEW, || *at(self.object) = self.becomes);
    }
}

fn once(object: usize, function: extern "C-unwind" fn()) {
    if *at(object) == DONE && runtime().over {
        return;
    }
    wait_for(Want::Once(object));
    let mut doing = Doing { object, becomes: *at(object) };
    let is_new = doing.becomes == NEW;
    *at(object) = DOING;
    enter(object, is_new);
    if is_new {
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
