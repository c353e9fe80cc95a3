//! What threads wait for, and whether they have it.
//!
//! Nobody is put into a queue: a thread that cannot go on says what it wants, and whoever looks for the next one to run asks
//! the objects themselves. So enabledness is exact, as in the machine: a thread is enabled if its next event could happen now.

use crate::io::{self, What};
use crate::library;
use crate::objects::{barrier, mutex, once, rwlock, semaphore, spin};
use crate::runtime::Runtime;
use crate::signals::mask::{Set, bit};
use crate::thread::Life;
use abi::note::{Mode, Waits};

/// A point of virtual time; `None` for never.
pub type Deadline = Option<u64>;

/// What a thread needs in order to go on.
#[derive(Clone, Debug)]
pub enum Want {
    /// Nothing.
    Nothing,
    /// That others go first, if they can.
    Others,
    /// A mutex.
    Mutex(usize, Deadline),
    /// A lock, shared or alone.
    RwLock(usize, Mode, Deadline),
    /// A lock that its holder does not hold for long.
    Spin(usize),
    /// A signal at a condition variable, and then the mutex (0: none). The signal makes it a want of the mutex.
    Signal(usize, usize, Deadline),
    /// A token.
    Token(usize, Deadline),
    /// That all have come to a barrier; the last one makes it a want of nothing.
    Round(usize),
    /// The end of a thread, by its number.
    End(usize, Deadline),
    /// That nobody is doing what is done once.
    Once(usize),
    /// To be woken at a word of memory; `wake` of the thread says by whom.
    Word(usize, Deadline),
    /// A lock of the C library's own.
    Library(usize),
    /// That the time has come.
    Time(u64),
    /// A file, a child process, or a signal.
    Io(io::Wait, Deadline),
}

/// Whether a thread can go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Readiness {
    /// It has what it wants.
    Ready,
    /// It can go on without it; the number orders those who can.
    Reluctant(u64),
    /// Not now.
    Blocked,
}

impl Want {
    /// When the wait is over in any case.
    pub fn deadline(&self) -> Deadline {
        match *self {
            Want::Mutex(_, deadline)
            | Want::RwLock(_, _, deadline)
            | Want::Signal(_, _, deadline)
            | Want::Token(_, deadline)
            | Want::End(_, deadline)
            | Want::Word(_, deadline)
            | Want::Io(_, deadline) => deadline,
            Want::Time(at) => Some(at),
            Want::Nothing
            | Want::Others
            | Want::Spin(_)
            | Want::Round(_)
            | Want::Once(_)
            | Want::Library(_) => None,
        }
    }

    /// Whether a request to cancel the thread ends the wait.
    pub fn is_cancellation_point(&self) -> bool {
        matches!(self, Want::Signal(..) | Want::Token(..) | Want::End(..) | Want::Time(_) | Want::Io(..))
    }

    /// Whether the wait is over when a handler of a signal has run; otherwise it goes on.
    pub fn ends_by_handler(&self) -> bool {
        matches!(self, Want::Token(..) | Want::Word(..) | Want::Time(_) | Want::Io(..))
    }
}

impl Runtime {
    /// Whether a thread, by its number, has what it wants now.
    pub fn has_what_it_wants(&self, number: usize) -> bool {
        self.has(number, &self.threads[number].want)
    }

    /// Whether a thread, by its number, has this now.
    #[inline]
    pub fn has(&self, number: usize, want: &Want) -> bool {
        let thread = &self.threads[number];
        match *want {
            Want::Nothing => true,
            Want::Others | Want::Signal(..) | Want::Round(_) => false,
            Want::Mutex(object, _) => mutex::is_free_for(object, number),
            Want::RwLock(object, mode, _) => rwlock::is_free_for(object, mode),
            Want::Spin(object) => spin::is_free(object),
            Want::Word(..) => thread.wake.is_some(),
            Want::Token(object, _) => semaphore::has_token(object),
            Want::End(other, _) => self.threads[other].life != Life::Alive,
            Want::Once(object) => once::is_idle(object),
            Want::Library(object) => library::is_free_for(&self.library, object, number),
            Want::Time(at) => at <= self.clock.now(),
            Want::Io(ref wait, _) => match wait.what {
                What::Signals(set) => thread.looked.ready || self.has_signal(number, set),
                _ => thread.looked.ready,
            },
        }
    }

    /// Whether a thread, by its number, can go on.
    pub fn readiness(&self, number: usize) -> Readiness {
        let thread = &self.threads[number];
        if thread.life != Life::Alive || self.exclusive.is_some_and(|(holder, _)| holder != number) {
            return Readiness::Blocked;
        }
        if self.has_what_it_wants(number) || self.is_cancelled(number) || thread.signals.due {
            return Readiness::Ready;
        }
        match (&thread.want, thread.want.deadline()) {
            (Want::Others, _) => Readiness::Reluctant(1),
            (_, Some(deadline)) if deadline <= self.clock.now() => Readiness::Ready,
            (_, Some(deadline)) => Readiness::Reluctant(deadline.saturating_add(2)),
            (Want::Signal(..), None) if self.plan.spurious => Readiness::Reluctant(u64::MAX),
            _ => Readiness::Blocked,
        }
    }

    /// Whether the thread stands where a request to cancel it takes effect.
    pub fn is_cancelled(&self, number: usize) -> bool {
        let thread = &self.threads[number];
        let cancel = thread.cancel;
        let here = cancel.asynchronous || thread.want.is_cancellation_point();
        cancel.requested && !cancel.disabled && !cancel.acting && here
    }

    /// Whether a signal of the set waits for the thread.
    fn has_signal(&self, number: usize, set: Set) -> bool {
        let process = self.signals.pending.iter().fold(0, |all, one| all | bit(one.signal));
        (self.threads[number].signals.waiting() | process) & set != 0
    }

    /// What a blocked thread waits for, for people.
    pub fn waits_for(&self, number: usize) -> Waits {
        let code = |number: usize| self.threads[number].id.code();
        let holders = |object: usize| {
            let holds = |number: &usize| self.threads[*number].held.iter().any(|held| held.object == object);
            (0..self.threads.len()).filter(holds).map(code).collect()
        };
        if let Some((holder, _)) = self.exclusive {
            return Waits::Exclusive { thread: code(holder) };
        }
        match self.threads[number].want {
            Want::Mutex(object, _)
            | Want::RwLock(object, ..)
            | Want::Spin(object)
            | Want::Library(object) => Waits::Lock { object: object as u64, held_by: holders(object) },
            Want::Signal(object, ..) => Waits::Condition { object: object as u64 },
            Want::Token(object, _) => Waits::Semaphore { object: object as u64 },
            Want::Round(object) => {
                let (arrived, parties) = barrier::counts(object);
                Waits::Barrier { object: object as u64, arrived, parties }
            }
            Want::End(other, _) => Waits::Join { thread: code(other) },
            Want::Once(object) | Want::Word(object, _) => Waits::Word { address: object as u64 },
            Want::Nothing | Want::Others | Want::Time(_) | Want::Io(..) => Waits::Word { address: 0 },
        }
    }
}
