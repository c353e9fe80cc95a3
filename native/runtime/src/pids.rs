//! Numbers of processes and threads: `getpid`, `gettid`, and what takes such numbers.
//!
//! The kernel's numbers differ from run to run, and programs seed generators, name files and log with them. So the program sees numbers of
//! ours: of its own process always the same, of a thread one that its slot gives, of a child process one that the forking
//! thread and its count of children give. They are translated where a function takes or gives one; numbers of other
//! processes stay as they are. What is not translated: numbers in paths below `/proc`, and what other programs say.

use crate::next::{interpose, next};
use crate::runtime::{Runtime, active, runtime};
use crate::signals::information::Information;
use crate::signals::mask::bit;
use crate::sys;
use crate::thread::{Life, Thread};
use core::ffi::c_void;
use libc::{c_int, c_uint, clockid_t, id_t, pid_t, pthread_t};

/// The number of the process: large, so that the kernel hardly ever gives it, but within its limit of 22 bits.
const FIRST: pid_t = 0x30_0000;

/// The number that stands for the parent of the process.
const PARENT: pid_t = FIRST - 1;

/// Bits of the count of children of one thread.
const CHILD_BITS: u32 = 10;

/// What the process knows of numbers.
pub struct Pids {
    own: pid_t,
    parent: pid_t,
    /// Children that nobody has waited for.
    children: Vec<Child>,
}

/// A child process.
struct Child {
    /// Our number of it.
    ours: pid_t,
    /// The kernel's.
    kernels: pid_t,
    /// `SIGCHLD` was sent for its end.
    announced: bool,
    /// It was waited for in vain: it takes its time.
    slow: bool,
}

impl Pids {
    /// Those of the first process.
    pub const fn new() -> Pids {
        Pids { own: FIRST, parent: PARENT, children: vec![] }
    }

    /// Whether there are children.
    pub fn has_children(&self) -> bool {
        !self.children.is_empty()
    }
}

/// The number of this process.
pub fn own() -> pid_t {
    runtime().pids.own
}

/// The number of a thread.
fn number_of(runtime: &Runtime, thread: usize) -> pid_t {
    runtime.pids.own + ((runtime.threads[thread].slot as pid_t) << CHILD_BITS)
}

/// The thread that a number stands for.
pub fn thread(number: pid_t) -> Option<usize> {
    let runtime = runtime();
    let alive = |thread: &usize| runtime.threads[*thread].life == Life::Alive;
    (0..runtime.threads.len()).filter(alive).find(|&thread| number_of(runtime, thread) == number)
}

/// The kernel's number for one of ours; others, and groups, stay what they are.
pub fn real(number: pid_t) -> pid_t {
    let runtime = runtime();
    match number.unsigned_abs() as pid_t {
        0 => 0,
        own if own == runtime.pids.own => sys::process() * number.signum(),
        parent if parent == runtime.pids.parent => sys::parent_process() * number.signum(),
        given => match runtime.pids.children.iter().find(|child| child.ours == given) {
            Some(child) => child.kernels * number.signum(),
            None => thread(number).map_or(number, |thread| runtime.threads[thread].kernels_number),
        },
    }
}

/// Our number for one of the kernel's.
pub fn named(number: pid_t) -> pid_t {
    let runtime = runtime();
    match number {
        _ if number == sys::process() => runtime.pids.own,
        _ if number == sys::parent_process() => runtime.pids.parent,
        _ => {
            let child = runtime.pids.children.iter().find(|child| child.kernels == number);
            child.map_or(number, |child| child.ours)
        }
    }
}

impl Runtime {
    /// The number of the running thread's next child.
    pub fn next_child(&mut self) -> pid_t {
        loop {
            let me = self.me();
            me.processes = (me.processes + 1) % (1 << CHILD_BITS);
            let number = FIRST + ((me.slot as pid_t) << CHILD_BITS) + me.processes.max(1) as pid_t;
            if number != self.pids.own && !self.pids.children.iter().any(|child| child.ours == number) {
                return number;
            }
        }
    }

    /// The kernel gave the child this number.
    pub fn child_started(&mut self, ours: pid_t, kernels: pid_t) {
        self.pids.children.push(Child { ours, kernels, announced: false, slow: false });
    }

    /// Somebody waited for the child, by the kernel's number.
    pub fn child_gone(&mut self, kernels: pid_t) {
        self.pids.children.retain(|child| child.kernels != kernels);
    }

    /// Sends `SIGCHLD` for children that have ended. The kernel's own comes at any time, and is not looked at.
    pub fn announce_children(&mut self) {
        for at in 0..self.pids.children.len() {
            self.announce_child(at);
        }
    }

    /// The same for one child, by its place.
    pub fn announce_child(&mut self, at: usize) {
        let child = &mut self.pids.children[at];
        if child.announced {
            return;
        }
        let Some(mut ended) = Information::of_ended_child(child.kernels) else { return };
        child.announced = true;
        ended.first = child.ours;
        self.signal(ended, None);
    }

    /// The same for one child, by the kernel's number.
    pub fn announce_child_by_number(&mut self, kernels: pid_t) {
        if let Some(at) = self.pids.children.iter().position(|child| child.kernels == kernels) {
            self.announce_child(at);
        }
    }

    /// The place of the eldest child whose end somebody would notice as a signal, and for which it was not waited in vain.
    pub fn eldest_to_announce(&self) -> Option<usize> {
        let blocks = |thread: &Thread| thread.signals.mask & bit(libc::SIGCHLD) != 0;
        let handled = !self.signals.actions[libc::SIGCHLD as usize].is_ignoring(libc::SIGCHLD);
        let noticed = handled || self.threads.iter().any(|thread| blocks(thread));
        let left = |child: &Child| !child.announced && !child.slow;
        self.pids.children.iter().position(left).filter(|_| noticed)
    }

    /// It was waited for a child, by its place, in vain.
    pub fn child_is_slow(&mut self, at: usize) {
        self.pids.children[at].slow = true;
    }

    /// In a child process: its own number, and none of its parent's children.
    pub fn number_child(&mut self, own: pid_t) {
        self.pids = Pids { own, parent: self.pids.own, children: vec![] };
    }
}

/// Functions whose first argument is a number, and that do nothing else for us.
macro_rules! translate {
    ($(fn $name:ident(process: pid_t $(, $argument:ident: $type:ty)*) -> $result:ty;)*) => {
        interpose! { $(
            fn $name(process: pid_t $(, $argument: $type)*) -> $result {
                let process = real(process);
                next!($name(process: pid_t $(, $argument: $type)*) -> $result)
            }
        )* }
    };
}

translate! {
    fn killpg(process: pid_t, signal: c_int) -> c_int;
    fn sched_getscheduler(process: pid_t) -> c_int;
    fn sched_setscheduler(process: pid_t, policy: c_int, parameters: *const c_void) -> c_int;
    fn sched_getparam(process: pid_t, parameters: *mut c_void) -> c_int;
    fn sched_setparam(process: pid_t, parameters: *const c_void) -> c_int;
    fn sched_rr_get_interval(process: pid_t, interval: *mut c_void) -> c_int;
    fn prlimit(process: pid_t, resource: c_int, new: *const c_void, old: *mut c_void) -> c_int;
    fn prlimit64(process: pid_t, resource: c_int, new: *const c_void, old: *mut c_void) -> c_int;
    fn pidfd_open(process: pid_t, flags: c_uint) -> c_int;
}

interpose! {
    fn clock_getcpuclockid(process: pid_t, into: *mut clockid_t) -> c_int {
        let runtime = runtime();
        let own = if process == 0 { runtime.pids.own } else { process };
        tell_clock(own, PROCESS_CLOCK, into)
    }
    fn pthread_getcpuclockid(handle: pthread_t, into: *mut clockid_t) -> c_int {
        let runtime = runtime();
        let Some(thread) = runtime.by_handle(handle) else { return libc::ESRCH };
        tell_clock(number_of(runtime, thread), THREAD_CLOCK, into)
    }
    fn getppid() -> pid_t { runtime().pids.parent }
    fn gettid() -> pid_t {
        let runtime = runtime();
        number_of(runtime, runtime.current)
    }
    fn getpgid(process: pid_t) -> pid_t {
        let process = real(process);
        named(next!(getpgid(process: pid_t) -> pid_t))
    }
    fn getpgrp() -> pid_t { named(next!(getpgrp() -> pid_t)) }
    fn getsid(process: pid_t) -> pid_t {
        let process = real(process);
        named(next!(getsid(process: pid_t) -> pid_t))
    }
    fn setsid() -> pid_t { named(next!(setsid() -> pid_t)) }
    fn setpgid(process: pid_t, group: pid_t) -> c_int {
        let (process, group) = (real(process), real(group));
        next!(setpgid(process: pid_t, group: pid_t) -> c_int)
    }
    fn tcgetpgrp(file: c_int) -> pid_t { named(next!(tcgetpgrp(file: c_int) -> pid_t)) }
    fn tcsetpgrp(file: c_int, group: pid_t) -> c_int {
        let group = real(group);
        next!(tcsetpgrp(file: c_int, group: pid_t) -> c_int)
    }
    fn getpriority(which: c_uint, who: id_t) -> c_int {
        let who = real_if_process(which, who);
        next!(getpriority(which: c_uint, who: id_t) -> c_int)
    }
    fn setpriority(which: c_uint, who: id_t, priority: c_int) -> c_int {
        let who = real_if_process(which, who);
        next!(setpriority(which: c_uint, who: id_t, priority: c_int) -> c_int)
    }
}

/// The low bits of a clock that measures the processor time of a process, and of a thread.
const PROCESS_CLOCK: clockid_t = 2;
const THREAD_CLOCK: clockid_t = 6;

/// The clock of a number, made as the kernel does. What it shows is virtual time.
fn tell_clock(number: pid_t, kind: clockid_t, into: *mut clockid_t) -> c_int {
    // SAFETY: the caller of the C function gives a place for the clock.
    unsafe { *into = (!number << 3) | kind };
    0
}

fn real_if_process(which: c_uint, who: id_t) -> id_t {
    if which == libc::PRIO_USER { who } else { real(who as pid_t) as id_t }
}

/// As in C. Others than the baton's holder may ask too, as handlers of `pthread_atfork` do in the child.
#[unsafe(no_mangle)]
pub extern "C" fn getpid() -> pid_t {
    if active() {
        return own();
    }
    sys::process()
}
