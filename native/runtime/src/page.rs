//! The words and the buffer that instrumented code shares with the runtime (`abi::page`).

use crate::sys;
use abi::page::{self, BUFFER, SLACK};
use abi::unit::{self, MOST_SITES};

/// The buffer of instrumented code.
pub const UNITS: usize = page::ADDRESS as usize + page::BYTES;

/// The buffer of what is kept, where not everything is.
pub const KEPT: usize = UNITS + BUFFER + SLACK;

/// So much of the buffer of instrumented code is used where units are looked at once and not kept: with the program's own data it fits into the
/// fastest cache of any processor. Packing does better with more.
const LITTLE: usize = 1 << 14;

/// A word of the page.
fn word(address: u64) -> *mut usize {
    address as *mut usize
}

/// Where instrumented code puts its next unit.
#[inline]
pub fn cursor() -> usize {
    // SAFETY: the page is mapped at the start.
    unsafe { word(page::CURSOR).read() }
}

/// Moves it.
#[inline]
pub fn set_cursor(to: usize) {
    // SAFETY: the page is mapped at the start.
    unsafe { word(page::CURSOR).write(to) };
}

/// Up to where the buffer of instrumented code is used.
#[inline]
pub fn limit() -> usize {
    // SAFETY: the page is mapped at the start.
    unsafe { word(page::LIMIT).read() }
}

/// Uses only as much of the buffer as is best where units are not kept.
pub fn use_little() {
    // SAFETY: the page is mapped at the start.
    unsafe { word(page::LIMIT).write(UNITS + LITTLE) };
    ask_after(u64::MAX);
}

/// The site of the call that instrumented code made last.
pub fn call_site() -> u32 {
    // SAFETY: the page is mapped at the start.
    unsafe { word(page::SITE).read() as u32 & MOST_SITES }
}

/// Puts the site of the last call back, when its thread runs again.
pub fn set_call_site(site: u32) {
    // SAFETY: the page is mapped at the start.
    unsafe { word(page::SITE).write(site as usize) };
}

/// Makes instrumented code ask before the event that comes after `events` more, or when its buffer is full.
#[inline]
pub fn ask_after(events: u64) {
    let room = (limit().saturating_sub(cursor()) / unit::BYTES) as u64;
    // SAFETY: the page is mapped at the start.
    unsafe { word(page::END).write(cursor() + events.min(room) as usize * unit::BYTES) };
}

/// Tells whoever reads the tail what is not in the log's file yet: up to the cursor if `end` is 0.
#[inline]
pub fn tell_pending(start: usize, end: usize) {
    // SAFETY: the page is mapped at the start.
    unsafe {
        word(page::PENDING).write(start);
        word(page::PENDING_END).write(end);
    }
}

/// Maps the page and the buffers, and lets instrumented code write where nobody reads.
pub fn start_discarding() {
    if sys::map(page::ADDRESS as usize, page::MAPPED) != Some(page::ADDRESS as usize) {
        sys::die("the address 0x7f000000, which instrumented code needs, is taken");
    }
    begin();
}

/// Maps the tail of the log in place of the page and the buffers; false if that cannot be done. Nobody writes there before it [`begin`]s.
pub fn map_tail(tail: i32) -> bool {
    sys::set_length(tail, page::MAPPED as u64) && sys::map_file(page::ADDRESS as usize, tail, page::MAPPED)
}

/// Takes memory of the process's own in place of the tail.
pub fn leave_tail() {
    sys::unmap(page::ADDRESS as usize, page::MAPPED);
    start_discarding();
}

/// Lets instrumented code begin at the start of its buffer.
pub fn begin() {
    set_cursor(UNITS);
    set_call_site(0);
    // SAFETY: the page is mapped.
    unsafe {
        word(page::LIMIT).write(UNITS + BUFFER);
        word(page::PROCESS).write(sys::process() as usize);
    }
    ask_after(u64::MAX);
}

/// Starts the discarded buffer anew. Threads may race here without harm: every unit that is appended was preceded by a check.
pub fn rewind_discarded() {
    set_cursor(UNITS);
}
