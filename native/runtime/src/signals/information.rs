//! What is known of a signal: `siginfo_t`, by the fields that we set.

use crate::{pids, sys};
use libc::{c_int, id_t, idtype_t, pid_t};

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

    /// A child, by the kernel's number, has ended, and nobody has waited for it yet.
    pub fn of_ended_child(child: pid_t) -> Option<Information> {
        Information::of_child(libc::P_PID, child as id_t, libc::WEXITED)
    }

    /// A child that a wait would give now, with the kernel's number.
    pub fn of_child(kind: idtype_t, id: id_t, options: c_int) -> Option<Information> {
        let mut found = Information::new(0, 0, 0, 0, 0);
        let options = options | libc::WNOWAIT | libc::WNOHANG;
        let into = &raw mut found as usize;
        let result = sys::call(libc::SYS_waitid, [kind as usize, id as usize, into, options as usize, 0, 0]);
        // The times that it took are behind the status.
        (result == 0 && found.first != 0).then_some(Information { rest: [0; 12], ..found })
    }

    fn new(signal: c_int, code: c_int, first: c_int, second: c_int, value: usize) -> Information {
        Information { signal, error: 0, code, unused: 0, first, second, value, rest: [0; 12] }
    }
}
