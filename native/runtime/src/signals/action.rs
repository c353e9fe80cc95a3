//! What is done at signals: `sigaction`, `signal` and their relatives.

use super::COUNT;
use super::mask::{self, MAY_BLOCK, Set};
use crate::baton::wait_for;
use crate::fault;
use crate::next::{interpose, next};
use crate::objects::fail;
use crate::runtime::runtime;
use crate::signals::arrive;
use crate::want::Want;
use core::mem::zeroed;
use libc::{c_int, sighandler_t};

/// What the program wants done at a signal.
#[derive(Clone, Copy)]
pub struct Action {
    /// `SIG_DFL`, `SIG_IGN`, or the address of a function.
    pub handler: usize,
    /// As `sigaction` has them.
    pub flags: c_int,
    /// What is blocked while it runs.
    pub mask: Set,
}

/// What that means.
pub enum Does {
    /// Nothing happens.
    Nothing,
    /// The process stops until it is told to go on.
    Stop,
    /// The process ends.
    End,
    /// The function at this address is called.
    Call(usize),
}

impl Action {
    /// The program has not said anything.
    pub const NONE: Action = Action { handler: libc::SIG_DFL, flags: 0, mask: 0 };

    /// What happens at a signal.
    pub fn does(&self, signal: c_int) -> Does {
        match (self.handler, signal) {
            (libc::SIG_DFL, libc::SIGCHLD | libc::SIGCONT | libc::SIGURG | libc::SIGWINCH) => Does::Nothing,
            (libc::SIG_DFL, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU) => Does::Stop,
            (libc::SIG_DFL, _) => Does::End,
            (libc::SIG_IGN, _) => Does::Nothing,
            (handler, _) => Does::Call(handler),
        }
    }

    /// Whether nothing happens.
    pub fn is_ignoring(&self, signal: c_int) -> bool {
        matches!(self.does(signal), Does::Nothing)
    }
}

fn is_one(signal: c_int) -> bool {
    (1..COUNT as c_int).contains(&signal)
}

/// Asks the kernel, through the C library, for this action.
fn install(signal: c_int, handler: usize, flags: c_int) -> c_int {
    // SAFETY: all zeros are an action.
    let mut action: libc::sigaction = unsafe { zeroed() };
    action.sa_sigaction = handler;
    action.sa_flags = flags;
    let (action, old) = (&raw const action, core::ptr::null_mut::<libc::sigaction>());
    next!(sigaction(signal: c_int, action: *const libc::sigaction, old: *mut libc::sigaction) -> c_int)
}

/// The program wants this done: the kernel calls us where it wants to be called. Faults always come to us.
fn change(signal: c_int, action: Action) -> c_int {
    let result = match action.handler {
        _ if fault::is_one(signal) => 0,
        libc::SIG_DFL | libc::SIG_IGN => install(signal, action.handler, 0),
        // Children are announced by ourselves, when they are looked at.
        _ if signal == libc::SIGCHLD && action.flags & libc::SA_NOCLDWAIT == 0 => {
            install(signal, libc::SIG_DFL, 0)
        }
        _ => {
            let keep = libc::SA_RESTART | libc::SA_NOCLDSTOP | libc::SA_NOCLDWAIT;
            let flags = action.flags & keep | libc::SA_SIGINFO | libc::SA_ONSTACK;
            install(signal, arrive::HANDLER as *const () as usize, flags)
        }
    };
    if result == 0 {
        runtime().signals.actions[signal as usize] = action;
    }
    result
}

/// From now on the kernel does by itself what it does by default.
pub fn restore_default(signal: c_int) {
    install(signal, libc::SIG_DFL, 0);
}

/// A handler that is called once only is called.
pub fn reset(signal: c_int) {
    change(signal, Action::NONE);
}

/// `signal` and relatives.
fn simple(signal: c_int, handler: sighandler_t, flags: c_int) -> sighandler_t {
    wait_for(Want::Nothing);
    if !is_one(signal) {
        fail(libc::EINVAL);
        return libc::SIG_ERR;
    }
    let before = runtime().signals.actions[signal as usize].handler;
    match change(signal, Action { handler, flags, mask: 0 }) {
        0 => before,
        _ => libc::SIG_ERR,
    }
}

const ONCE: c_int = libc::SA_RESETHAND | libc::SA_NODEFER;

interpose! {
    fn sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
        wait_for(Want::Nothing);
        if !is_one(signal) || (!new.is_null() && MAY_BLOCK & mask::bit(signal) == 0) {
            return fail(libc::EINVAL);
        }
        let before = runtime().signals.actions[signal as usize];
        if !new.is_null() {
            // SAFETY: the caller gives an action.
            let (handler, flags, blocked) = unsafe { ((*new).sa_sigaction, (*new).sa_flags, &raw const (*new).sa_mask) };
            let result = change(signal, Action { handler, flags, mask: mask::read(blocked) });
            if result != 0 {
                return result;
            }
        }
        if !old.is_null() {
            // SAFETY: the caller gives a place for an action.
            unsafe {
                *old = zeroed();
                (*old).sa_sigaction = before.handler;
                (*old).sa_flags = before.flags;
                mask::write(&raw mut (*old).sa_mask, before.mask);
            }
        }
        0
    }
    fn __sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
        sigaction(signal, new, old)
    }
    fn signal(signal: c_int, handler: sighandler_t) -> sighandler_t { simple(signal, handler, libc::SA_RESTART) }
    fn bsd_signal(signal: c_int, handler: sighandler_t) -> sighandler_t { simple(signal, handler, libc::SA_RESTART) }
    fn ssignal(signal: c_int, handler: sighandler_t) -> sighandler_t { simple(signal, handler, libc::SA_RESTART) }
    fn sysv_signal(signal: c_int, handler: sighandler_t) -> sighandler_t { simple(signal, handler, ONCE) }
    fn __sysv_signal(signal: c_int, handler: sighandler_t) -> sighandler_t { simple(signal, handler, ONCE) }
    fn sigset(signal: c_int, handler: sighandler_t) -> sighandler_t { simple(signal, handler, 0) }
    fn sigignore(signal: c_int) -> c_int {
        if simple(signal, libc::SIG_IGN, 0) == libc::SIG_ERR { -1 } else { 0 }
    }
    fn siginterrupt(signal: c_int, interrupts: c_int) -> c_int {
        if !is_one(signal) {
            return fail(libc::EINVAL);
        }
        let mut action = runtime().signals.actions[signal as usize];
        action.flags = if interrupts == 0 { action.flags | libc::SA_RESTART } else { action.flags & !libc::SA_RESTART };
        change(signal, action)
    }
}
