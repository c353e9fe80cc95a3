//! Signals that end the process because of what it did: noted with their place, then left to do what they do.

use crate::runtime::{active, runtime};
use crate::sys;
use abi::note::{End, Step};
use core::ffi::c_void;
use core::mem::zeroed;
use libc::{c_int, siginfo_t};

/// The signals.
const SIGNALS: [c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT, libc::SIGTRAP];

const STACK: usize = 1 << 16;

/// Installs the handlers. A program that installs its own takes them over.
pub fn prepare() {
    let Some(stack) = sys::map(0, STACK) else { return };
    // SAFETY: the stack is mapped, and the handler has the type that SA_SIGINFO asks for.
    unsafe {
        let alternate = libc::stack_t { ss_sp: stack as *mut c_void, ss_flags: 0, ss_size: STACK };
        libc::sigaltstack(&alternate, core::ptr::null_mut());
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESETHAND | libc::SA_NODEFER;
        for signal in SIGNALS.iter().filter(|&&signal| signal != libc::SIGTRAP) {
            libc::sigaction(*signal, &action, core::ptr::null_mut());
        }
    }
}

extern "C" fn handler(signal: c_int, information: *mut siginfo_t, _context: *mut c_void) {
    if active() && !runtime().over {
        // SAFETY: the kernel gives the information.
        let address = match signal {
            libc::SIGABRT => 0,
            _ => unsafe { (*information).si_addr() as u64 },
        };
        runtime().step(Step::Fault { signal, address });
        runtime().end(End::Signal(signal));
    }
    // The action is the default one again: the instruction, or this, ends the process.
    // SAFETY: the function has no preconditions.
    unsafe { libc::raise(signal) };
}
