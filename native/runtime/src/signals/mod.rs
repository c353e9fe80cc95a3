//! Signals: a handler of the program runs in the thread that has the baton, at a scheduling point, and nowhere else.
//!
//! Signals that the program sends to itself (`raise`, `kill`, `pthread_kill`, timers) never reach the kernel: they are put down for
//! a thread, which runs the handler when it has the baton next, whatever it waits for. So where a handler runs depends on the
//! schedule alone. Signals from outside come to a handler of ours (`arrive`) that only puts them down too; when that happens is
//! not in our hands, and noted as input. Signals that the processor raises (`fault`) are handled where they happen.
//!
//! The program's actions and masks are kept here. The kernel has the masks as well, so that what is blocked stays pending there.

pub mod action;
pub mod arrive;
pub mod information;
pub mod mask;
pub mod send;
pub mod wait;

use crate::process::end_by_signal;
use crate::runtime::{Runtime, runtime};
use crate::thread::Life;
use crate::timers::Notice;
use crate::{page, sys};
use abi::note::Step;
use action::{Action, Does};
use core::ffi::c_void;
use core::mem::MaybeUninit;
use information::Information;
use libc::c_int;
use mask::{Set, bit};

/// How many signals there are, and one more.
pub const COUNT: usize = 65;

/// From here on signals are queued as often as they are sent.
const FIRST_QUEUED: c_int = 32;

/// What the whole process has.
pub struct Process {
    /// What is done at each signal.
    pub actions: [Action; COUNT],
    /// Signals for any thread, all of which block them.
    pub pending: Vec<Information>,
    /// Signals that a file of `signalfd` may wait for: the kernel must have these.
    pub files: Set,
}

impl Process {
    /// A process that has done nothing about signals yet.
    pub const fn new() -> Process {
        Process { actions: [Action::NONE; COUNT], pending: vec![], files: 0 }
    }
}

/// What waits for a thread.
pub enum Item {
    /// A signal.
    Signal(Information),
    /// A thread to start (`SIGEV_THREAD`).
    Notice(Notice),
}

/// What a thread has.
#[derive(Default)]
pub struct Own {
    /// What it blocks.
    pub mask: Set,
    /// What waits for it.
    pub pending: Vec<Item>,
    /// Whether some of that is not blocked.
    pub due: bool,
}

impl Own {
    /// Finds out anew whether something is due.
    pub fn settle(&mut self) {
        let mask = self.mask;
        self.due = self.pending.iter().any(|item| match item {
            Item::Signal(information) => mask & bit(information.signal) == 0,
            Item::Notice(_) => true,
        });
    }

    fn add(&mut self, information: Information) {
        let known = |item: &Item| matches!(item, Item::Signal(known) if known.signal == information.signal);
        if information.signal >= FIRST_QUEUED || !self.pending.iter().any(known) {
            self.pending.push(Item::Signal(information));
            self.settle();
        }
    }

    fn next(&mut self) -> Option<Item> {
        let mask = self.mask;
        let at = self.pending.iter().position(|item| match item {
            Item::Signal(information) => mask & bit(information.signal) == 0,
            Item::Notice(_) => true,
        })?;
        let item = self.pending.remove(at);
        self.settle();
        Some(item)
    }

    /// Takes the first signal of a set, blocked or not.
    pub fn take(&mut self, set: Set) -> Option<Information> {
        let wanted =
            |item: &Item| matches!(item, Item::Signal(information) if set & bit(information.signal) != 0);
        let at = self.pending.iter().position(wanted)?;
        let item = self.pending.remove(at);
        self.settle();
        match item {
            Item::Signal(information) => Some(information),
            Item::Notice(_) => None,
        }
    }

    /// The signals that wait.
    pub fn waiting(&self) -> Set {
        let bits = self.pending.iter().map(|item| match item {
            Item::Signal(information) => bit(information.signal),
            Item::Notice(_) => 0,
        });
        bits.fold(0, |all, one| all | one)
    }
}

impl Runtime {
    /// A signal was sent, to a thread by its number or to the process.
    pub fn signal(&mut self, information: Information, to: Option<usize>) {
        let one = bit(information.signal);
        let blocks = |thread: &crate::thread::Thread| thread.signals.mask & one != 0;
        let takes =
            |number: usize| self.threads[number].life == Life::Alive && !blocks(&self.threads[number]);
        let to = match to {
            Some(number) => Some(number),
            // Whoever sends it, or else the first that does not block it.
            None if takes(self.current) => Some(self.current),
            None => (0..self.threads.len()).find(|&number| takes(number)),
        };
        let ignored = self.signals.actions[information.signal as usize].is_ignoring(information.signal);
        match to {
            Some(number) if ignored && !blocks(&self.threads[number]) => {}
            Some(number) => self.threads[number].signals.add(information),
            None => {
                let known = self.signals.pending.iter().any(|known| known.signal == information.signal);
                if information.signal >= FIRST_QUEUED || !known {
                    self.signals.pending.push(information);
                }
            }
        }
    }

    /// Signals for the process that a thread has stopped blocking become its own.
    fn take_process_signals(&mut self, number: usize) {
        let mask = self.threads[number].signals.mask;
        let (free, blocked): (Vec<_>, Vec<_>) =
            self.signals.pending.drain(..).partition(|information| mask & bit(information.signal) == 0);
        self.signals.pending = blocked;
        free.into_iter().for_each(|information| self.threads[number].signals.add(information));
    }

    /// The running thread blocks this from now on.
    pub fn set_mask(&mut self, mask: Set) {
        let number = self.current;
        self.threads[number].signals.mask = mask & mask::MAY_BLOCK;
        self.threads[number].signals.settle();
        self.take_process_signals(number);
    }

    /// In a child process: what was sent was sent to the parent.
    pub fn forget_signals(&mut self) {
        self.signals.pending.clear();
        let own = &mut self.me().signals;
        own.pending.clear();
        own.due = false;
    }
}

/// Does all that waits for the running thread and is not blocked. If handlers ran: whether all of them want interrupted calls to be
/// made again (`SA_RESTART`).
pub fn deliver() -> Option<bool> {
    let mut restart = None;
    if runtime().over {
        return None;
    }
    while let Some(item) = runtime().me().signals.next() {
        match item {
            Item::Notice(notice) => notice.start(),
            Item::Signal(information) => {
                if let Some(flags) = handle(information) {
                    restart = Some(restart.unwrap_or(true) && flags & libc::SA_RESTART != 0);
                }
            }
        }
    }
    restart
}

/// Does what is due for the running thread, if anything is. To be called where a system call returns.
pub fn deliver_due() {
    arrive::take_in();
    if runtime().me().signals.due {
        deliver();
    }
}

/// Does what the program wants done at a signal. If that is a handler: its flags.
fn handle(mut information: Information) -> Option<c_int> {
    let signal = information.signal;
    let action = runtime().signals.actions[signal as usize];
    match action.does(signal) {
        Does::Nothing => None,
        Does::Stop => {
            sys::kill_self(libc::SIGSTOP);
            None
        }
        Does::End => end_by_signal(signal),
        Does::Call(handler) => {
            runtime().step(Step::System { what: format!("signal {signal}") });
            let mut context = MaybeUninit::<libc::ucontext_t>::uninit();
            // SAFETY: there is room for a context.
            unsafe { libc::getcontext(context.as_mut_ptr()) };
            call(&action, handler, &mut information, context.as_mut_ptr().cast());
            Some(action.flags)
        }
    }
}

/// Calls a handler of the program, with the signals blocked that it wants blocked.
pub fn call(action: &Action, handler: usize, information: &mut Information, context: *mut c_void) {
    let signal = information.signal;
    let before = runtime().me().signals.mask;
    let own = if action.flags & libc::SA_NODEFER == 0 { bit(signal) } else { 0 };
    runtime().set_mask(before | action.mask | own);
    if action.flags & libc::SA_RESETHAND != 0 {
        action::reset(signal);
    }
    let site = page::call_site();
    // SAFETY: the C library gives the address of the thread's own variable.
    let error = unsafe { *libc::__errno_location() };
    // SAFETY: the program gave a function of this type; one with fewer parameters does not look at the others.
    unsafe {
        let handler: extern "C-unwind" fn(c_int, *mut Information, *mut c_void) =
            core::mem::transmute(handler);
        handler(signal, information, context);
        *libc::__errno_location() = error;
    }
    page::set_call_site(site);
    runtime().set_mask(before);
}
