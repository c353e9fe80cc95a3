//! Words of memory to wait at: the system call `futex`, which `std::atomic::wait`, semaphores and latches of C++ and the standard
//! library of Rust use through the C library's `syscall`. A word is like a condition variable without a mutex.

use super::condition::{broadcast, signal};
use crate::clock::nanoseconds;
use crate::runtime::{Got, runtime, wait_for};
use crate::sys;
use crate::want::Want;
use abi::note::{Step, Wake};
use libc::timespec;

const WAIT: usize = 0;
const WAKE: usize = 1;
const REQUEUE: usize = 3;
const CMP_REQUEUE: usize = 4;
const WAIT_BITSET: usize = 9;
const WAKE_BITSET: usize = 10;

/// Bits of the operation that say what it is.
const OPERATION: usize = 0x7f;

const CLOCK_REALTIME: usize = 256;

/// The system call; the result is as the kernel's. The bits of `..._BITSET` are not looked at: a thread that is woken for another's
/// bits takes it for a wake-up without a reason, which every user of the call must expect.
pub fn futex(word: usize, operation: usize, value: usize, time: usize) -> isize {
    match operation & OPERATION {
        WAIT | WAIT_BITSET => wait(word, operation, value as u32, time as *const timespec),
        WAKE | WAKE_BITSET => {
            // All, or one after the other.
            if value >= i32::MAX as usize {
                return broadcast(word) as isize;
            }
            (0..value).take_while(|_| signal(word)).count() as isize
        }
        // Who is moved to another word may as well be woken: it looks at its own word again.
        REQUEUE | CMP_REQUEUE => broadcast(word) as isize,
        _ => sys::die(
            "the program uses an operation of futex that Threadbare does not take over (priority inheritance)",
        ),
    }
}

fn wait(word: usize, operation: usize, value: u32, time: *const timespec) -> isize {
    wait_for(Want::Nothing);
    // SAFETY: the caller of the system call gives the address of a word.
    if unsafe { core::ptr::read_volatile(word as *const u32) } != value {
        return -(libc::EAGAIN as isize);
    }
    let mut until = None;
    if !time.is_null() {
        // SAFETY: as the system call says.
        let Some(time) = nanoseconds(unsafe { *time }) else { return -(libc::EINVAL as isize) };
        let clock = &runtime().clock;
        until = Some(match operation & OPERATION {
            WAIT => clock.now().saturating_add(time),
            _ if operation & CLOCK_REALTIME != 0 => clock.when(libc::CLOCK_REALTIME, time),
            _ => clock.when(libc::CLOCK_MONOTONIC, time),
        });
    }
    runtime().step(Step::WaitBegin { condition: word as u64, mutex: None });
    runtime().me().wake = None;
    let got = wait_for(Want::Word(word, until));
    let reason = runtime().me().wake.take().unwrap_or(Wake::Expired);
    let expired = got == Got::Nothing;
    if expired {
        runtime().step(Step::StopWaiting { condition: word as u64, reason });
    }
    runtime().step(Step::WaitEnd { condition: word as u64, mutex: None, reason });
    if expired { -(libc::ETIMEDOUT as isize) } else { 0 }
}
