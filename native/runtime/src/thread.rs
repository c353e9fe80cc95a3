//! What the runtime knows of each thread.

use crate::affinity::Processors;
use crate::io::Looked;
use crate::signals;
use crate::want::Want;
use abi::note::{Mode, Wake};
use core::sync::atomic::{AtomicU32, Ordering};
use schedule::ThreadId;

use crate::sys;

/// A lock that a thread holds.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// Its address.
    pub object: usize,
    /// How.
    pub mode: Mode,
    /// How often.
    pub depth: u32,
}

/// How far a thread has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Life {
    /// It runs, or waits for something.
    Alive,
    /// It has done its last event.
    Ended,
    /// And somebody knows.
    Joined,
}

/// A thread of the program.
pub struct Thread {
    /// Its name in every schedule.
    pub id: ThreadId,
    /// Its number in the table of stacks and arenas.
    pub slot: usize,
    /// What the C library calls it.
    pub handle: libc::pthread_t,
    /// The C library's own id of it: the address of its block of thread-local storage.
    pub pointer: usize,
    /// 1: it has the baton. 2: it sleeps until it gets it.
    pub baton: AtomicU32,
    /// What it needs in order to go on.
    pub want: Want,
    /// It goes on because the time was over, not because it has what it wants.
    pub expired: bool,
    /// What ended its wait for a signal.
    pub wake: Option<Wake>,
    /// Which wakers of the word that it waits at are meant for it.
    pub bits: u32,
    /// What it knows of the files that it waits for.
    pub looked: Looked,
    /// Waits that handlers of signals interrupt, from the outermost to the innermost.
    pub interrupted: Vec<Interrupted>,
    /// Signals.
    pub signals: signals::Own,
    /// Its events so far, but for units that are not counted yet.
    pub done: u64,
    /// The site of the call that it is in.
    pub site: u32,
    /// How many threads it has forked.
    pub children: u64,
    /// How far it has come.
    pub life: Life,
    /// Nobody will join it.
    pub detached: bool,
    /// The locks that it holds.
    pub held: Vec<Held>,
    /// While this is not 0, the baton is not taken from it unless it blocks.
    pub unwilling: u32,
    /// Cancellation.
    pub cancel: Cancel,
    /// What it runs, and with what.
    pub start: (usize, usize),
    /// How many rounds of destructors have run.
    pub rounds: u32,
    /// The kernel's number of it.
    pub kernels_number: libc::pid_t,
    /// How many child processes it has made.
    pub processes: u32,
    /// How many random numbers it has drawn.
    pub drawn: u64,
    /// Where its next mapping of memory goes.
    pub next_mapping: usize,
    /// The processors that the program wants it to run on, if it said so.
    pub processors: Option<Processors>,
}

/// A wait during which a handler runs.
pub struct Interrupted {
    /// What is waited for.
    pub want: Want,
    /// What ended it, in the meantime.
    pub wake: Option<Wake>,
    /// An address of the stack at which the wait is: above it, the wait was left by a jump.
    pub frame: usize,
}

/// The state of a thread's cancellation.
#[derive(Clone, Copy, Default, Debug)]
pub struct Cancel {
    /// Somebody asked for it.
    pub requested: bool,
    /// It is put off (`PTHREAD_CANCEL_DISABLE`).
    pub disabled: bool,
    /// It may come anywhere (`PTHREAD_CANCEL_ASYNCHRONOUS`).
    pub asynchronous: bool,
    /// It is under way: no second time.
    pub acting: bool,
}

impl Thread {
    /// A thread that has not run yet.
    pub fn new(id: ThreadId, slot: usize) -> Thread {
        Thread {
            id,
            slot,
            handle: 0,
            pointer: 0,
            baton: AtomicU32::new(0),
            want: Want::Nothing,
            expired: false,
            wake: None,
            bits: u32::MAX,
            looked: Looked::default(),
            interrupted: vec![],
            signals: signals::Own::default(),
            done: 0,
            site: 0,
            children: 0,
            life: Life::Alive,
            detached: false,
            held: vec![],
            unwilling: 0,
            cancel: Cancel::default(),
            start: (0, 0),
            rounds: 0,
            kernels_number: 0,
            processes: 0,
            drawn: 0,
            next_mapping: 0,
            processors: None,
        }
    }

    /// Gives the baton to this thread. From here on the caller must not touch what the baton guards.
    pub fn give(&self) {
        if self.baton.swap(1, Ordering::AcqRel) == 2 {
            sys::futex_wake(&self.baton);
        }
    }

    /// Sleeps until this thread, the caller, is given the baton.
    pub fn take(&self) {
        while self.baton.load(Ordering::Acquire) != 1 {
            let asleep = self.baton.compare_exchange(0, 2, Ordering::AcqRel, Ordering::Acquire);
            if asleep.is_ok() || asleep == Err(2) {
                sys::futex_wait(&self.baton, 2);
            }
        }
        self.baton.store(0, Ordering::Relaxed);
    }

    /// The lock among those that it holds.
    pub fn holds(&mut self, object: usize) -> Option<&mut Held> {
        self.held.iter_mut().find(|held| held.object == object)
    }

    /// It has the lock once more; how often now.
    pub fn acquired(&mut self, object: usize, mode: Mode) -> u32 {
        match self.holds(object) {
            Some(held) => {
                held.depth += 1;
                held.depth
            }
            None => {
                self.held.push(Held { object, mode, depth: 1 });
                1
            }
        }
    }

    /// It has the lock once less; how often still.
    pub fn released(&mut self, object: usize) -> u32 {
        let Some(at) = self.held.iter().position(|held| held.object == object) else { return 0 };
        let depth = self.held[at].depth - 1;
        match depth {
            // The last one is mostly the first to go, and need not be moved.
            0 if at + 1 == self.held.len() => self.held.truncate(at),
            0 => {
                self.held.swap_remove(at);
            }
            _ => self.held[at].depth = depth,
        }
        depth
    }
}
