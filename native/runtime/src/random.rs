//! Random numbers: for each thread a fixed stream, which depends on its name and on how many it has drawn before.

use crate::baton::wait_for;
use crate::next::interpose;
use crate::objects::fail;
use crate::runtime::runtime;
use crate::sys;
use crate::want::Want;
use abi::note::Step;
use core::ffi::c_void;
use core::sync::atomic::{AtomicU64, Ordering};
use libc::{c_int, c_uint, ssize_t};

/// The most that `getentropy` gives at once.
const MOST_ENTROPY: usize = 256;

/// The next number of the running thread: SplitMix64 of its name and count.
pub fn number() -> u64 {
    let thread = runtime().me();
    thread.drawn += 1;
    let mut z = (thread.id.code() << 32).wrapping_add(thread.drawn).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// So many bytes.
pub fn bytes(count: usize) -> Vec<u8> {
    let numbers = core::iter::repeat_with(number).flat_map(u64::to_le_bytes);
    numbers.take(count).collect()
}

/// A number for the program that runs.
pub fn program() -> u64 {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    if NUMBER.load(Ordering::Relaxed) == 0 {
        let mut path = [0u8; 4096];
        let link = c"/proc/self/exe".as_ptr() as usize;
        let arguments = [libc::AT_FDCWD as usize, link, path.as_mut_ptr() as usize, path.len(), 0, 0];
        let length = sys::call(libc::SYS_readlinkat, arguments).max(0) as usize;
        NUMBER.store(abi::hash(&path[..length]) | 1, Ordering::Relaxed);
    }
    NUMBER.load(Ordering::Relaxed)
}

/// Fills memory of the program's.
fn fill(into: *mut c_void, count: usize) {
    wait_for(Want::Nothing);
    let content = bytes(count);
    // SAFETY: the caller of the C function gives so much room.
    unsafe { core::ptr::copy_nonoverlapping(content.as_ptr(), into.cast::<u8>(), count) };
    runtime().step(Step::System { what: "draw random bytes".into() });
}

fn draw() -> c_uint {
    wait_for(Want::Nothing);
    let number = number();
    runtime().step(Step::System { what: "draw a random number".into() });
    number as c_uint
}

interpose! {
    fn getrandom(into: *mut c_void, count: usize, _flags: c_uint) -> ssize_t {
        fill(into, count);
        count as ssize_t
    }
    fn getentropy(into: *mut c_void, count: usize) -> c_int {
        if count > MOST_ENTROPY {
            return fail(libc::EIO);
        }
        fill(into, count);
        0
    }
    fn arc4random() -> c_uint { draw() }
    fn arc4random_buf(into: *mut c_void, count: usize) { fill(into, count) }
    fn arc4random_uniform(bound: c_uint) -> c_uint {
        if bound < 2 {
            return 0;
        }
        ((u64::from(draw()) * u64::from(bound)) >> 32) as c_uint
    }
    // std::random_device::_M_getval() of libstdc++, which asks the processor.
    fn _ZNSt13random_device9_M_getvalEv(_device: usize) -> c_uint { draw() }
    // std::random_device::_M_getval_pretr1() of libstdc++.
    fn _ZNSt13random_device16_M_getval_pretr1Ev(_device: usize) -> c_uint { draw() }
    // std::random_device::operator()() of libc++.
    fn _ZNSt3__113random_deviceclEv(_device: usize) -> c_uint { draw() }
}
