//! Words of memory to wait at: the system call `futex`, which `std::atomic::wait`, semaphores and latches of C++ and the standard
//! library of Rust use through the C library's `syscall`. A word is like a condition variable without a mutex.

use super::condition::{waiters, wake_all, wake_one};
use crate::baton::{Got, wait_for};
use crate::clock::nanoseconds;
use crate::process::unsupported;
use crate::runtime::runtime;
use crate::want::Want;
use abi::note::{Step, Wake};
use libc::timespec;

const WAIT: usize = 0;
const WAKE: usize = 1;
const REQUEUE: usize = 3;
const CMP_REQUEUE: usize = 4;
const WAKE_OP: usize = 5;
const WAIT_BITSET: usize = 9;
const WAKE_BITSET: usize = 10;

/// Bits of the operation that say what it is.
const OPERATION: usize = 0x7f;

const CLOCK_REALTIME: usize = 256;

/// For whom a waker is meant that does not say it.
const EVERYBODY: u32 = u32::MAX;

/// The system call; the result is as the kernel's.
pub fn futex(arguments: [usize; 6]) -> isize {
    let [word, operation, value, time, second, third] = arguments;
    match operation & OPERATION {
        WAIT => wait(word, operation, value as u32, time as *const timespec, EVERYBODY),
        WAIT_BITSET => wait(word, operation, value as u32, time as *const timespec, third as u32),
        WAKE => {
            wait_for(Want::Nothing);
            wake(word, value, EVERYBODY)
        }
        WAKE_BITSET => {
            wait_for(Want::Nothing);
            wake(word, value, third as u32)
        }
        REQUEUE => requeue(word, value, second, time),
        CMP_REQUEUE => {
            wait_for(Want::Nothing);
            if at(word) != third as u32 {
                return -(libc::EAGAIN as isize);
            }
            requeue(word, value, second, time)
        }
        WAKE_OP => wake_and_change(word, value, second, time, third as u32),
        _ => unsupported("an operation of futex that Threadbare does not take over (priority inheritance)"),
    }
}

fn at(word: usize) -> u32 {
    // SAFETY: the caller of the system call gives the address of a word.
    unsafe { core::ptr::read_volatile(word as *const u32) }
}

/// Wakes so many of those that wait for the bits; how many it were.
fn wake(word: usize, most: usize, bits: u32) -> isize {
    let meant = |number: &usize| runtime().threads[*number].bits & bits != 0;
    let waiting = || waiters(word).into_iter().filter(meant).collect::<Vec<_>>();
    let all = waiting();
    if most > 1 && all.len() <= most {
        let count = all.len();
        wake_all(word, all);
        return count as isize;
    }
    for _ in 0..most.min(all.len().max(1)) {
        wake_one(word, waiting());
    }
    all.len().min(most) as isize
}

/// Wakes so many, and moves so many of the others to a second word.
fn requeue(word: usize, wakes: usize, second: usize, moves: usize) -> isize {
    wait_for(Want::Nothing);
    let woken = if wakes > 0 { wake(word, wakes, EVERYBODY) } else { 0 };
    let moved: Vec<usize> = waiters(word).into_iter().take(moves).collect();
    for &number in &moved {
        let thread = &mut runtime().threads[number];
        let outer = thread.interrupted.iter_mut().map(|outer| &mut outer.want);
        for want in outer.chain([&mut thread.want]) {
            if let Want::Word(at, _) = want
                && *at == word
            {
                *at = second;
            }
        }
    }
    runtime().step(Step::System { what: format!("move {} to another word", moved.len()) });
    woken + moved.len() as isize
}

/// Changes the second word, wakes those at the first, and at the second if its old value compares so.
fn wake_and_change(word: usize, wakes: usize, second: usize, more: usize, what: u32) -> isize {
    wait_for(Want::Nothing);
    let old = at(second);
    let (mut operand, compared) = ((what << 8) as i32 >> 20, (what << 20) as i32 >> 20);
    if what >> 31 != 0 {
        operand = 1i32.wrapping_shl(operand as u32);
    }
    let new = match what >> 28 & 7 {
        0 => operand as u32,
        1 => old.wrapping_add(operand as u32),
        2 => old | operand as u32,
        3 => old & !(operand as u32),
        4 => old ^ operand as u32,
        _ => return -(libc::ENOSYS as isize),
    };
    // SAFETY: as `at`.
    unsafe { core::ptr::write_volatile(second as *mut u32, new) };
    let old = old as i32;
    let holds = match what >> 24 & 15 {
        0 => old == compared,
        1 => old != compared,
        2 => old < compared,
        3 => old <= compared,
        4 => old > compared,
        5 => old >= compared,
        _ => return -(libc::ENOSYS as isize),
    };
    wake(word, wakes, EVERYBODY) + if holds { wake(second, more, EVERYBODY) } else { 0 }
}

fn wait(word: usize, operation: usize, value: u32, time: *const timespec, bits: u32) -> isize {
    if bits == 0 {
        return -(libc::EINVAL as isize);
    }
    wait_for(Want::Nothing);
    if at(word) != value {
        runtime().step(Step::System { what: "find another value at a word".into() });
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
    let condition = word as u64;
    runtime().step(Step::WaitBegin { condition, mutex: None });
    runtime().me().wake = None;
    runtime().me().bits = bits;
    let got = loop {
        match wait_for(Want::Word(word, until)) {
            Got::Interrupted { restart: true } => {}
            got => break got,
        }
    };
    let (reason, result) = match (runtime().me().wake.take(), got) {
        (Some(signal @ Wake::Signal(..)), _) => (signal, 0),
        (_, Got::Interrupted { .. }) => (Wake::Spurious, -(libc::EINTR as isize)),
        _ => (Wake::Expired, -(libc::ETIMEDOUT as isize)),
    };
    if result != 0 {
        runtime().step(Step::StopWaiting { condition, reason });
    }
    runtime().step(Step::WaitEnd { condition, mutex: None, reason });
    result
}
