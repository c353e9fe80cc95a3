//! What is known of a signal: `siginfo_t`, by the fields that we set.

use crate::pids;
use libc::c_int;

/// As the C library lays it out.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Information {
    /// Which signal.
    pub signal: c_int,
    /// An error that belongs to it.
    pub error: c_int,
    /// Why it was sent.
    pub code: c_int,
    unused: c_int,
    /// The process that sent it; a timer's number.
    pub first: c_int,
    /// Its user; how often a timer went off without a signal.
    pub second: c_int,
    /// A value that belongs to it.
    pub value: usize,
    rest: [usize; 12],
}

const _: () = assert!(size_of::<Information>() == size_of::<libc::siginfo_t>());

impl Information {
    /// A signal that the program sends to itself.
    pub fn sent(signal: c_int, code: c_int, value: usize) -> Information {
        // SAFETY: the function has no preconditions.
        let user = unsafe { libc::getuid() };
        Information::new(signal, code, pids::own(), user as c_int, value)
    }

    /// A timer went off, `missed` times more than signals were sent.
    pub fn timer(signal: c_int, timer: c_int, missed: c_int, value: usize) -> Information {
        Information::new(signal, libc::SI_TIMER, timer, missed, value)
    }

    fn new(signal: c_int, code: c_int, first: c_int, second: c_int, value: usize) -> Information {
        Information { signal, error: 0, code, unused: 0, first, second, value, rest: [0; 12] }
    }
}
