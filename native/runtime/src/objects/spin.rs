//! Spinlocks: `pthread_spin_*`. Who waits for one does not spin here, and is disabled like one who waits for a mutex.

use crate::baton::wait_for;
use crate::next::interpose;
use crate::runtime::runtime;
use crate::want::Want;
use abi::note::{Mode, Step};
use libc::c_int;

/// The word of a spinlock: 0, or the number of the thread that holds it, plus 1.
///
/// The caller of the C function says that there is one, and only the baton's holder runs.
fn at(object: usize) -> &'static mut u32 {
    // SAFETY: see above.
    unsafe { &mut *(object as *mut u32) }
}

/// Whether nobody holds it.
pub fn is_free(object: usize) -> bool {
    *at(object) == 0
}

fn take(object: usize) -> u32 {
    let runtime = runtime();
    *at(object) = runtime.current as u32 + 1;
    runtime.me().acquired(object, Mode::Mutex)
}

interpose! {
    fn pthread_spin_init(object: usize, _shared: c_int) -> c_int {
        *at(object) = 0;
        0
    }
    fn pthread_spin_destroy(_object: usize) -> c_int { 0 }
    fn pthread_spin_lock(object: usize) -> c_int {
        wait_for(Want::Spin(object));
        let depth = take(object);
        runtime().step(Step::Lock { object: object as u64, mode: Mode::Mutex, depth });
        0
    }
    fn pthread_spin_trylock(object: usize) -> c_int {
        wait_for(Want::Nothing);
        let acquired = is_free(object).then(|| take(object));
        runtime().step(Step::TryLock { object: object as u64, mode: Mode::Mutex, acquired });
        if acquired.is_some() { 0 } else { libc::EBUSY }
    }
    fn pthread_spin_unlock(object: usize) -> c_int {
        wait_for(Want::Nothing);
        *at(object) = 0;
        let depth = runtime().me().released(object);
        runtime().step(Step::Unlock { object: object as u64, mode: Mode::Mutex, depth });
        0
    }
}
