//! Waiting for the world outside: files, child processes, signals.
//!
//! A thread that would block in a system call is disabled until the kernel says that the call would not block. The kernel is asked when
//! one of the program's own threads did something that may have changed the answer, not whenever somebody is chosen: so a pipe between two
//! threads wakes its reader at the same point of every run. What comes from other processes (`outside`) comes at any time;
//! it is looked for only when nobody else can go on, and seldom otherwise. Then the process really waits.

use crate::runtime::Runtime;
use crate::signals::{arrive, mask};
use crate::sys;
use crate::thread::{Life, Thread};
use crate::want::{Readiness, Want};
use libc::{pollfd, timespec};

/// How long, in nanoseconds, the process waits for the outside before a thread whose time is over in virtual time goes on.
const GRACE: u64 = 20_000_000;

/// How long, in nanoseconds, the process waits for one certain child before it takes what comes first. Most children end by
/// themselves, and then the order in which others learn of it is the same in every run.
const CHILD: u64 = 200_000_000;

/// How long, in nanoseconds, a schedule that is followed waits for the outside to give a thread what it had.
const PATIENCE: u64 = 2_000_000_000;

/// The first and the longest pause between two looks.
const FIRST_PAUSE: u64 = 50_000;
const LONGEST_PAUSE: u64 = 5_000_000;

/// After so many choices the outside is looked at though others can go on: they may all be spinning.
pub const SELDOM: u64 = 1 << 12;

/// After so many choices files are looked at though no call of ours changed them: something in the C library may have.
pub const SOMETIMES: u64 = 1 << 6;

/// What a system call waits for.
#[derive(Clone, Debug)]
pub enum What {
    /// One of these files.
    Files(Vec<pollfd>),
    /// A child process, as `waitid` names it.
    Child {
        /// What the number is.
        kind: libc::idtype_t,
        /// The number, the kernel's.
        id: libc::id_t,
        /// What the child must do.
        options: i32,
    },
    /// One of these signals.
    Signals(mask::Set),
    /// Anything: the call was tried in vain, and is tried again.
    Change,
}

/// A wait.
#[derive(Clone, Debug)]
pub struct Wait {
    /// For what.
    pub what: What,
    /// Whether other processes can end it.
    pub outside: bool,
}

/// What a thread that waits knows.
#[derive(Clone, Copy, Default, Debug)]
pub struct Looked {
    /// It is ready.
    pub ready: bool,
    /// The number of changes when this was found out, or when the wait began.
    pub at: u64,
    /// A child was waited for in vain.
    pub slow: bool,
}

fn poll(files: &mut [pollfd], nanoseconds: u64) -> isize {
    let time = timespec {
        tv_sec: (nanoseconds / 1_000_000_000) as i64,
        tv_nsec: (nanoseconds % 1_000_000_000) as i64,
    };
    let arguments = [files.as_mut_ptr() as usize, files.len(), &raw const time as usize, 0, 0, 0];
    sys::call(libc::SYS_ppoll, arguments)
}

impl What {
    /// Whether the system call would not block now. `Change` is for others to answer.
    pub fn is_ready(&self) -> bool {
        match self {
            // An error is the call's to tell.
            What::Files(files) => poll(&mut files.clone(), 0) != 0,
            What::Child { kind, id, options } => child_is_ready(*kind, *id, *options),
            What::Signals(set) => mask::pending_in_kernel() & set != 0,
            What::Change => false,
        }
    }
}

/// Whether a wait for a child would end: also by an error, if there is none.
fn child_is_ready(kind: libc::idtype_t, id: libc::id_t, options: i32) -> bool {
    let options = (options | libc::WNOWAIT | libc::WNOHANG) as usize;
    // SAFETY: all zeros are a value of this plain type.
    let mut found: libc::siginfo_t = unsafe { core::mem::zeroed() };
    let arguments = [kind as usize, id as usize, &raw mut found as usize, options, 0, 0];
    // SAFETY: the kernel filled it in, or it is zero.
    sys::call(libc::SYS_waitid, arguments) < 0 || unsafe { found.si_pid() } != 0
}

impl Runtime {
    /// A thread did something that may have made files of others ready.
    pub fn changed(&mut self) {
        self.changes += 1;
    }

    /// The running thread begins to wait, or is about to go on: looks at its files, unless only the outside can change them.
    pub fn look_at_own(&mut self, beginning: bool) {
        let (me, changes) = (self.current, self.changes);
        let Want::Io(wait, _) = &self.threads[me].want else { return };
        let ready = match &wait.what {
            What::Change if beginning => false,
            What::Change => return,
            what => (!beginning || !wait.outside) && what.is_ready(),
        };
        self.threads[me].looked = Looked { ready, at: changes, slow: false };
    }

    /// Looks at what threads wait for: where something has changed since the last look, or at everything.
    pub fn look(&mut self, everything: bool) {
        if everything {
            self.announce_children();
        }
        for number in 0..self.threads.len() {
            let thread = &self.threads[number];
            let Want::Io(wait, _) = &thread.want else { continue };
            let alive = thread.life == Life::Alive;
            if alive && (everything || !wait.outside && thread.looked.at != self.changes) {
                self.look_at(number, everything);
            }
        }
    }

    /// Looks at what a thread, by its number, waits for.
    fn look_at(&mut self, number: usize, again: bool) {
        let changes = self.changes;
        let thread = &mut self.threads[number];
        let Want::Io(wait, _) = &thread.want else { return };
        match &wait.what {
            What::Change => thread.looked.ready = again || thread.looked.at != changes,
            what => {
                thread.looked.ready = what.is_ready();
                thread.looked.at = changes;
            }
        }
    }

    fn somebody_is_ready(&self) -> bool {
        (0..self.threads.len()).any(|number| self.readiness(number) == Readiness::Ready)
    }

    /// Whether other processes could let somebody go on.
    fn outside_matters(&self) -> bool {
        let waits = |thread: &Thread| matches!(&thread.want, Want::Io(wait, _) if wait.outside);
        self.is_child
            || self.pids.has_children()
            || self.threads.iter().any(|thread| thread.life == Life::Alive && waits(thread))
    }

    /// Nobody can go on, or only because their time is over. Waits for the outside: without an end if `nobody` can go on at
    /// all. False if it has nothing to wait for, or nothing came.
    pub fn wait_outside(&mut self, nobody: bool) -> bool {
        self.changed();
        self.look(false);
        if self.somebody_is_ready() || self.wait_for_first_child() {
            return true;
        }
        self.look(true);
        if self.somebody_is_ready() {
            return true;
        }
        if !self.outside_matters() {
            return false;
        }
        let most = if nobody { u64::MAX } else { GRACE };
        self.wait_until(most, |runtime| runtime.look(true), Runtime::somebody_is_ready)
    }

    /// Waits for the child of the first thread that waits for one, or for the eldest whose end is a signal to somebody. False if there
    /// is none, or if it takes its time.
    fn wait_for_first_child(&mut self) -> bool {
        let waits = |thread: &Thread| {
            let child = matches!(&thread.want, Want::Io(Wait { what: What::Child { .. }, .. }, _));
            thread.life == Life::Alive && child && !thread.looked.slow
        };
        let waiting = (0..self.threads.len()).filter(|&number| waits(&self.threads[number]));
        if let Some(number) = waiting.min_by_key(|&number| self.threads[number].id) {
            let look = |runtime: &mut Runtime| runtime.look_at(number, true);
            let came = self.wait_until(CHILD, look, |runtime| runtime.threads[number].looked.ready);
            self.threads[number].looked.slow = !came;
            return came;
        }
        let Some(child) = self.eldest_to_announce() else { return false };
        let look = |runtime: &mut Runtime| runtime.announce_child(child);
        let came = self.wait_until(CHILD, look, Runtime::somebody_is_ready);
        if !came {
            self.child_is_slow(child);
        }
        came
    }

    /// A schedule is followed that lets a thread go on now which waits for the outside: it comes when it comes.
    pub fn wait_for_followed(&mut self) {
        let Some(wanted) = self.scheduler.wanted() else { return };
        let Some(number) = self.threads.iter().rposition(|thread| thread.id == wanted) else { return };
        let is_ready = |runtime: &Runtime| runtime.readiness(number) == Readiness::Ready;
        let waits = matches!(&self.threads[number].want, Want::Io(wait, _) if wait.outside);
        if waits && !is_ready(self) {
            self.wait_until(PATIENCE, |runtime| runtime.look_at(number, true), is_ready);
        }
    }

    /// Lets real time pass, and looks, until something holds; false if that takes too many nanoseconds.
    fn wait_until(
        &mut self,
        most: u64,
        look: impl Fn(&mut Runtime),
        holds: impl Fn(&Runtime) -> bool,
    ) -> bool {
        let start = sys::now();
        let mut pause = FIRST_PAUSE;
        loop {
            let mut files = vec![];
            for thread in self.threads.iter().filter(|thread| thread.life == Life::Alive) {
                if let Want::Io(Wait { what: What::Files(some), .. }, _) = &thread.want {
                    files.extend_from_slice(some);
                }
            }
            poll(&mut files, pause);
            arrive::take_in();
            look(self);
            if holds(self) {
                return true;
            }
            if sys::now() - start >= most {
                return false;
            }
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }
}
