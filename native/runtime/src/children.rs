//! Child processes: `fork`, `posix_spawn`, `system` and their relatives.
//!
//! A child that is forked goes on under a runtime of its own, alone and without a log; what it executes runs as if it were not instrumented,
//! because the plan is taken. How far children come by when is up to the kernel.

use crate::HEAP;
use crate::alloc;
use crate::baton::wait_for;
use crate::calls::child::wait_for_child;
use crate::next::{interpose, next};
use crate::objects::fail;
use crate::process::unsupported;
use crate::runtime::{active, runtime};
use crate::want::Want;
use abi::note::Step;
use core::ffi::{c_char, c_void};
use libc::{c_int, pid_t};

/// Registered before all others: so the first is called last before a fork, and the others first after it.
pub fn prepare() {
    // SAFETY: the functions have the types that are asked for.
    unsafe { libc::pthread_atfork(Some(before), Some(after), Some(in_child)) };
}

/// The child shares the page until it has one of its own: nothing must be left to do there. Threads that end, without the baton, may
/// allocate just now.
unsafe extern "C" fn before() {
    if active() {
        runtime().settle();
    }
    alloc::hold();
    HEAP.hold();
}

unsafe extern "C" fn after() {
    HEAP.let_go();
    alloc::let_go();
}

unsafe extern "C" fn in_child() {
    HEAP.let_go();
    alloc::let_go();
    if active() {
        let runtime = runtime();
        let own = match core::mem::take(&mut runtime.forking) {
            // The C library forks by itself, as `forkpty` does.
            0 => runtime.next_child(),
            own => own,
        };
        runtime.become_child();
        runtime.number_child(own);
    }
}

fn forked(fork: impl FnOnce() -> pid_t) -> pid_t {
    wait_for(Want::Nothing);
    runtime().step(Step::System { what: "fork".into() });
    let ours = runtime().next_child();
    runtime().forking = ours;
    // Handlers of `pthread_atfork` run under a lock of the C library.
    runtime().me().unwilling += 1;
    let child = fork();
    let runtime = runtime();
    if child == 0 {
        return 0;
    }
    runtime.forking = 0;
    runtime.me().unwilling -= 1;
    if child < 0 {
        return child;
    }
    runtime.child_started(ours, child);
    ours
}

fn spawned(into: *mut pid_t, spawn: impl FnOnce(*mut pid_t) -> c_int) -> c_int {
    wait_for(Want::Nothing);
    runtime().step(Step::System { what: "spawn".into() });
    let ours = runtime().next_child();
    let mut child = 0;
    let result = spawn(&raw mut child);
    if result == 0 {
        runtime().child_started(ours, child);
        if !into.is_null() {
            // SAFETY: the caller gives a place for the number.
            unsafe { *into = ours };
        }
    }
    result
}

unsafe extern "C" {
    static environ: *const *const c_char;
}

/// Runs a command of the shell, and lets others go on until it is over.
fn run(command: *const c_char) -> c_int {
    let mut child = 0;
    let words = [c"sh".as_ptr(), c"-c".as_ptr(), command, core::ptr::null()];
    let (path, nothing, words) = (c"/bin/sh".as_ptr(), core::ptr::null::<c_void>(), words.as_ptr());
    // SAFETY: the C library keeps its environment there.
    let environment = unsafe { environ };
    if posix_spawn(&mut child, path, nothing, nothing, words, environment) != 0 {
        return fail(libc::EAGAIN);
    }
    let mut status = 0;
    while wait_for_child(child, &mut status) < 0 {
        // SAFETY: the C library gives the address of the thread's own variable.
        if unsafe { *libc::__errno_location() } != libc::EINTR {
            return -1;
        }
    }
    status
}

/// Flags of `clone`: memory is shared, and the caller waits until the child has left it.
const SHARES_MEMORY: c_int = libc::CLONE_VM;
const CALLER_WAITS: c_int = libc::CLONE_VFORK;

/// Whether `clone` with these flags makes a thread, or a process that does not know what it is.
pub fn refuse_clone(flags: c_int) {
    if flags & (SHARES_MEMORY | CALLER_WAITS) != SHARES_MEMORY | CALLER_WAITS {
        unsupported(
            "clone, which makes threads and processes past the C library: use pthread_create or fork",
        );
    }
}

type Words = *const *const c_char;

interpose! {
    fn fork() -> pid_t { forked(|| next!(fork() -> pid_t)) }
    fn __fork() -> pid_t { forked(|| next!(fork() -> pid_t)) }
    // The child of a real `vfork` would run on our stack, and on our state.
    fn vfork() -> pid_t { forked(|| next!(fork() -> pid_t)) }
    fn _Fork() -> pid_t { forked(|| next!(fork() -> pid_t)) }
    fn posix_spawn(
        into: *mut pid_t,
        path: *const c_char,
        actions: *const c_void,
        attributes: *const c_void,
        words: Words,
        environment: Words,
    ) -> c_int {
        spawned(into, |into| {
            next!(posix_spawn(
                into: *mut pid_t,
                path: *const c_char,
                actions: *const c_void,
                attributes: *const c_void,
                words: Words,
                environment: Words
            ) -> c_int)
        })
    }
    fn posix_spawnp(
        into: *mut pid_t,
        path: *const c_char,
        actions: *const c_void,
        attributes: *const c_void,
        words: Words,
        environment: Words,
    ) -> c_int {
        spawned(into, |into| {
            next!(posix_spawnp(
                into: *mut pid_t,
                path: *const c_char,
                actions: *const c_void,
                attributes: *const c_void,
                words: Words,
                environment: Words
            ) -> c_int)
        })
    }
    fn system(command: *const c_char) -> c_int {
        if command.is_null() {
            return next!(system(command: *const c_char) -> c_int);
        }
        run(command)
    }
    // A daemon stays the process that it is: its parent's end would be taken for its own.
    fn daemon(stays_in_directory: c_int, keeps_files: c_int) -> c_int {
        wait_for(Want::Nothing);
        runtime().step(Step::System { what: "daemon".into() });
        // SAFETY: the paths end with zero bytes; files are replaced as the function says.
        unsafe {
            libc::setsid();
            if stays_in_directory == 0 {
                libc::chdir(c"/".as_ptr());
            }
            if keeps_files == 0 {
                let nothing = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
                for file in 0..=2 {
                    libc::dup2(nothing, file);
                }
                if nothing > 2 {
                    libc::close(nothing);
                }
            }
        }
        0
    }
    fn clone(
        function: usize,
        stack: usize,
        flags: c_int,
        argument: usize,
        parent: usize,
        storage: usize,
        child: usize,
    ) -> c_int {
        refuse_clone(flags);
        next!(clone(
            function: usize, stack: usize, flags: c_int, argument: usize, parent: usize, storage: usize, child: usize
        ) -> c_int)
    }
}
