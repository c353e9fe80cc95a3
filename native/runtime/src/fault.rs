//! Signals that the processor raises because of what the program did, and `SIGABRT`: noted with their place, then handed to the
//! program's own handler, or left to end the process.
//!
//! They come to us always, on a stack of their own in each thread, because the thread's may be what is exhausted.

use crate::next::next;
use crate::process::die_by;
use crate::runtime::{active, runtime};
use crate::signals::action::Does;
use crate::signals::information::Information;
use crate::{module, page, signals, sys};
use abi::Note;
use abi::note::{End, Step};
use core::ffi::c_void;
use core::mem::zeroed;
use libc::{c_int, ucontext_t};

/// The signals.
const SIGNALS: [c_int; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT];

/// The size of the stack for handlers. The program's own run on it too.
pub const STACK: usize = 1 << 18;

/// Whether a signal is one of them.
pub fn is_one(signal: c_int) -> bool {
    SIGNALS.contains(&signal)
}

/// Installs the handlers, and the stack of `main`.
pub fn prepare() {
    if let Some(stack) = sys::map(0, STACK) {
        use_stack(stack);
    }
    // SAFETY: all zeros are an action.
    let mut action: libc::sigaction = unsafe { zeroed() };
    action.sa_sigaction = handler as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
    for signal in SIGNALS {
        let (new, old) = (&raw const action, core::ptr::null_mut::<libc::sigaction>());
        next!(sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int);
    }
}

/// Lets the running thread handle signals on a stack at this address.
pub fn use_stack(stack: usize) {
    let alternate = libc::stack_t { ss_sp: stack as *mut c_void, ss_flags: 0, ss_size: STACK };
    // SAFETY: the stack is mapped, and nobody else's.
    unsafe { libc::sigaltstack(&alternate, core::ptr::null_mut()) };
}

extern "C-unwind" fn handler(signal: c_int, information: *mut Information, context: *mut ucontext_t) {
    if !active() || runtime().over {
        die_by(signal);
    }
    let address = match signal {
        libc::SIGABRT => 0,
        // SAFETY: the kernel gives the information; the address comes where others have a process.
        _ => unsafe { (*information.cast::<libc::siginfo_t>()).si_addr() as u64 },
    };
    note(signal, address, context);
    let action = runtime().signals.actions[signal as usize];
    match action.does(signal) {
        Does::Call(function) => {
            // SAFETY: as above.
            signals::call(&action, function, unsafe { &mut *information }, context.cast());
            if signal == libc::SIGABRT {
                // `abort` does not come back.
                runtime().end(End::Signal(signal));
            }
        }
        _ => {
            runtime().end(End::Signal(signal));
            die_by(signal);
        }
    }
}

/// Notes a fault. In instrumented code it is at the next event that the log does not have any more, or in the division that was
/// announced; elsewhere in the call that was made last.
fn note(signal: c_int, address: u64, context: *const ucontext_t) {
    // SAFETY: the kernel gives the context.
    let instruction = unsafe { (*context).uc_mcontext.gregs[libc::REG_RIP as usize] } as usize;
    let unannounced = signal != libc::SIGFPE && module::is_instrumented(instruction);
    let site = if unannounced { 0 } else { page::call_site() };
    runtime().note(&Note::Step(site, Step::Fault { signal, address }));
}
