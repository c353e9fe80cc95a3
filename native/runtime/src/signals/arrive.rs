//! Signals from outside: put down by a handler of ours, taken in at the next scheduling point.
//!
//! The kernel may interrupt any thread at any instruction: one that sleeps until it gets the baton, or the baton's holder in the
//! middle of the runtime or of an event. So the handler touches nothing but a ring of its own.

use super::information::Information;
use crate::runtime::{active, runtime};
use crate::{page, pids};
use abi::Note;
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use libc::c_int;

/// So many can wait to be taken in; more at once would be lost.
const ROOM: usize = 256;

struct Ring {
    places: [UnsafeCell<MaybeUninit<Information>>; ROOM],
    filled: [AtomicBool; ROOM],
    next: AtomicUsize,
    taken: AtomicUsize,
}

// SAFETY: a place is written by whoever got its number, and read only after it was marked as filled.
unsafe impl Sync for Ring {}

static RING: Ring = Ring {
    places: [const { UnsafeCell::new(MaybeUninit::uninit()) }; ROOM],
    filled: [const { AtomicBool::new(false) }; ROOM],
    next: AtomicUsize::new(0),
    taken: AtomicUsize::new(0),
};

/// What the kernel calls.
pub const HANDLER: extern "C" fn(c_int, *const Information, *mut c_void) = handler;

extern "C" fn handler(_: c_int, information: *const Information, _: *mut c_void) {
    let place = RING.next.fetch_add(1, Ordering::AcqRel) % ROOM;
    // SAFETY: the kernel gives the information; nobody else has this place.
    unsafe { (*RING.places[place].get()).write(*information) };
    RING.filled[place].store(true, Ordering::Release);
    if active() {
        page::ask_after(0);
    }
}

/// Whether some wait to be taken in.
#[inline]
pub fn some() -> bool {
    RING.next.load(Ordering::Relaxed) != RING.taken.load(Ordering::Relaxed)
}

/// Takes in what has arrived. Called by the baton's holder.
#[inline]
pub fn take_in() {
    if some() {
        take_all();
    }
}

#[cold]
fn take_all() {
    loop {
        let taken = RING.taken.load(Ordering::Relaxed);
        let place = taken % ROOM;
        if !RING.filled[place].swap(false, Ordering::Acquire) {
            return;
        }
        // SAFETY: it is filled, and only the baton's holder takes.
        let mut information = unsafe { (*RING.places[place].get()).assume_init() };
        RING.taken.store(taken + 1, Ordering::Relaxed);
        let runtime = runtime();
        if matches!(information.code, libc::SI_USER | libc::SI_QUEUE) {
            information.first = pids::named(information.first);
        }
        runtime.note(&Note::Input { what: format!("signal {}", information.signal), hash: 0 });
        // One for a single thread is the answer to what that thread did, as `SIGPIPE` is.
        let own = information.signal == libc::SIGPIPE;
        let to = own.then_some(runtime.current);
        runtime.signal(information, to);
    }
}
