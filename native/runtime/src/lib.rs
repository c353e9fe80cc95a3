//! The runtime: linked into every program that `threadbare cc` builds, before the C library.
//!
//! With a plan (`abi::plan`) it takes over who runs: one thread at a time, handing on a baton at events. It defines the functions
//! of threads, locks, time, memory and blocking calls anew, and falls back on the C library's own for the rest, for callers that do not have
//! the baton, and without a plan. It writes the log that `crates/native` reads.
//!
//! Where to look: `runtime` the state of a run; `baton` and `turns` who runs next; `want` what threads wait for; `page`, `log`, `sift` and
//! `shadow` what is kept; `slow` what instrumented code calls; `objects/` one file for each primitive; `threads`, `cancel` and `sleep` the
//! life of threads; `calls/` and `io` system calls that block; `signals/`, `timers` and `fault` signals; `process`, `serve`, `children`, `exec` and
//! `pids` processes; `library` locks of the C library itself; `random` and `ports` what the system would choose at random; `alloc`,
//! `mappings` and `place` where memory lies.
//!
//! Rules here: no lock and no thread-local of the standard library (its futex would come back to our own `syscall`), no
//! allocation but from our own heap, and panics unwind, because exceptions and `pthread_exit` pass through our frames.

#![allow(
    clippy::not_unsafe_ptr_arg_deref,
    reason = "the functions are C's, called with what C's contracts promise"
)]

mod affinity;
mod alloc;
mod baton;
mod calls;
mod cancel;
mod children;
mod clock;
mod exec;
mod fault;
mod heap;
mod io;
mod library;
mod log;
mod mappings;
mod marks;
mod module;
mod next;
mod objects;
mod packing;
mod page;
mod pids;
mod place;
mod ports;
mod process;
mod random;
mod runtime;
mod serve;
mod shadow;
mod sift;
mod signals;
mod sleep;
mod slow;
mod sys;
mod syscall;
mod thread;
mod threads;
mod timers;
mod touched;
mod turns;
mod want;

#[global_allocator]
static HEAP: heap::Heap = heap::Heap::new();
