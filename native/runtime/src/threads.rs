//! Making, joining and ending threads: `pthread_create` and its relatives, `thrd_*`.
//!
//! Each thread of the program is one of the C library's, joinable, on a stack that we lay out; the library puts its control block and
//! the thread-local storage at the top of the stack, so `pthread_t` and thread-local addresses are the same in every schedule.

use crate::baton::{Got, switch, wait_for};
use crate::next::{interpose, next};
use crate::objects::{deadline, mutex};
use crate::place::{STACK_BYTES, STACKS};
use crate::runtime::{active, runtime};
use crate::thread::{Life, Thread};
use crate::want::{Deadline, Want};
use crate::{alloc, cancel, fault, signals, sys};
use abi::Note;
use abi::note::Step;
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU32, Ordering};
use libc::{c_int, pthread_attr_t, pthread_t, timespec};

/// The size of a stack if the program does not say it.
const DEFAULT_STACK: usize = 8 << 20;

const GUARD: usize = 4096;

/// Rounds of destructors of thread-specific data, as the C library has it: the last is ours.
const DESTRUCTOR_ROUNDS: u32 = 4;

unsafe extern "C" {
    fn pthread_attr_getdetachstate(attributes: *const pthread_attr_t, state: *mut c_int) -> c_int;
}

type Start = extern "C-unwind" fn(*mut c_void) -> *mut c_void;

/// The key whose destructor is the end of a thread.
static KEY: AtomicU32 = AtomicU32::new(0);

/// Makes the key that tells us of the end of threads: the last one there can be, because in each round of destructors that of the
/// last key is called last. It is for no thread yet.
pub fn make_key() {
    let mut keys = vec![];
    let mut key = 0;
    // SAFETY: the destructor has the right type.
    while unsafe { libc::pthread_key_create(&mut key, Some(destructor)) } == 0 {
        keys.push(key);
    }
    let Some(last) = keys.pop() else { sys::die("no key for thread-specific data is left") };
    for key in keys {
        // SAFETY: the key was made just now.
        unsafe { libc::pthread_key_delete(key) };
    }
    KEY.store(last, Ordering::Relaxed);
}

/// Lets the destructor run in the next round.
pub fn arm() {
    let key = KEY.load(Ordering::Relaxed);
    // SAFETY: the key exists; the value is never looked at.
    alloc::foreign(|| unsafe { libc::pthread_setspecific(key, core::ptr::dangling::<c_void>()) });
}

/// What the program's attributes ask for.
struct Attributes {
    detached: bool,
    stack: usize,
    own_stack: Option<(usize, usize)>,
}

fn attributes(given: *const pthread_attr_t) -> Attributes {
    let mut wanted = Attributes { detached: false, stack: DEFAULT_STACK, own_stack: None };
    if given.is_null() {
        return wanted;
    }
    let (mut state, mut bytes, mut address) = (0, 0, core::ptr::null_mut());
    // SAFETY: the caller of the C function gives valid attributes.
    unsafe {
        pthread_attr_getdetachstate(given, &mut state);
        libc::pthread_attr_getstack(given, &mut address, &mut bytes);
        wanted.detached = state == libc::PTHREAD_CREATE_DETACHED;
        // The library subtracts the size from the upper end, which is 0 if there is no stack of the program's own.
        if (address as usize).wrapping_add(bytes) != 0 {
            wanted.own_stack = Some((address as usize, bytes));
        } else {
            libc::pthread_attr_getstacksize(given, &mut bytes);
            wanted.stack = bytes;
        }
    }
    wanted
}

/// Maps the stack of a slot, with a guard below it.
fn map_stack(slot: usize, bytes: usize) -> Option<(usize, usize)> {
    let bytes = bytes.next_multiple_of(GUARD);
    if bytes + GUARD + fault::STACK > STACK_BYTES {
        return sys::map(0, bytes).map(|at| (at, bytes));
    }
    let top = STACKS + (slot + 1) * STACK_BYTES;
    let bottom = top - bytes;
    // What an earlier thread of this slot left is gone, and its memory zero again.
    sys::unmap(top - STACK_BYTES, STACK_BYTES);
    sys::map(bottom, bytes).map(|at| (at, bytes))
}

fn create(handle: *mut pthread_t, given: *const pthread_attr_t, start: usize, argument: usize) -> c_int {
    wait_for(Want::Nothing);
    reclaim();
    let runtime = runtime();
    let parent = runtime.me().id;
    let Some(id) = parent.child(runtime.me().children) else { return libc::EAGAIN };
    let Some(slot) = runtime.slot_for(id) else { return libc::EAGAIN };
    let wanted = attributes(given);
    let Some(stack) = wanted.own_stack.or_else(|| map_stack(slot, wanted.stack)) else { return libc::EAGAIN };
    let mut thread = Box::new(Thread::new(id, slot));
    thread.detached = wanted.detached;
    thread.start = (start, argument);
    thread.signals.mask = runtime.me().signals.mask;
    thread.processors = runtime.me().processors.clone();
    let number = runtime.threads.len();
    runtime.threads.push(thread);
    match start_thread(number, stack) {
        Err(error) => {
            runtime.threads.pop();
            return error;
        }
        Ok(made) => {
            let thread = &mut runtime.threads[number];
            thread.handle = made;
            // The control block, whose address the handle is, is where the thread pointer points.
            thread.pointer = made as usize;
            // SAFETY: the caller gives a place for the handle.
            unsafe { *handle = made };
        }
    }
    runtime.me().children += 1;
    let (start, stack) = (start as u64, (stack.0 as u64, stack.1 as u64));
    runtime.note(&Note::Thread { thread: id.code(), parent: Some(parent.code()), start, stack });
    runtime.step(Step::Fork { child: id.code() });
    0
}

/// Starts a thread that nobody will join.
pub fn start_detached(given: *const pthread_attr_t, start: usize, argument: usize) {
    let mut handle = 0;
    if create(&mut handle, given, start, argument) == 0
        && let Some(number) = runtime().by_handle(handle)
    {
        runtime().threads[number].detached = true;
    }
}

/// Makes the C library start a thread on the given stack; it waits for the baton before anything else.
fn start_thread(number: usize, stack: (usize, usize)) -> Result<pthread_t, c_int> {
    let mut made: pthread_t = 0;
    let mut attributes = MaybeUninit::<pthread_attr_t>::uninit();
    let attributes = attributes.as_mut_ptr();
    let handle = &raw mut made;
    let start: Start = trampoline;
    let argument = (&raw const *runtime().threads[number]).cast_mut().cast::<c_void>();
    alloc::foreign(|| {
        // SAFETY: the attributes are initialised before they are used, and the stack is mapped.
        unsafe {
            libc::pthread_attr_init(attributes);
            libc::pthread_attr_setstack(attributes, stack.0 as *mut c_void, stack.1);
        }
        let result = next!(pthread_create(
            handle: *mut pthread_t,
            attributes: *mut pthread_attr_t,
            start: Start,
            argument: *mut c_void
        ) -> c_int);
        // SAFETY: they are initialised.
        unsafe { libc::pthread_attr_destroy(attributes) };
        if result == 0 { Ok(made) } else { Err(result) }
    })
}

/// Where a new thread begins. It is given its `Thread`, because it must not look at the table before it has the baton.
extern "C-unwind" fn trampoline(thread: *mut c_void) -> *mut c_void {
    let thread = thread.cast_const().cast::<Thread>();
    // SAFETY: threads are boxed and never removed once they have started.
    unsafe { (*thread).take() };
    crate::page::set_call_site(0);
    arm();
    let runtime = runtime();
    let me = runtime.me();
    me.kernels_number = sys::thread();
    // The lowest part of the slot's place is not the stack's. An earlier thread of the slot may have left it mapped.
    let handlers = STACKS + me.slot * STACK_BYTES;
    sys::map(handlers, fault::STACK);
    fault::use_stack(handlers);
    let due = me.signals.due;
    runtime.ask();
    if due {
        signals::deliver();
    }
    // SAFETY: as above.
    let (start, argument) = unsafe { (*thread).start };
    // SAFETY: the program gave a function of this type.
    let start: Start = unsafe { core::mem::transmute(start) };
    start(argument as *mut c_void)
}

/// The end of a thread: runs in each round of destructors, acts in the last.
extern "C" fn destructor(_: *mut c_void) {
    if !active() {
        return;
    }
    let thread = runtime().me();
    thread.rounds += 1;
    if thread.rounds < DESTRUCTOR_ROUNDS {
        return arm();
    }
    wait_for(Want::Nothing);
    mutex::give_up();
    if is_last() {
        return;
    }
    let runtime = runtime();
    runtime.step(Step::End);
    runtime.me().life = Life::Ended;
    switch();
}

/// Whether the running thread is the only one left: then it is not over, for the C library calls `exit` in it. That needs all others to be
/// really gone.
fn is_last() -> bool {
    let runtime = runtime();
    let me = runtime.current;
    if (0..runtime.threads.len()).any(|number| number != me && runtime.threads[number].life == Life::Alive) {
        return false;
    }
    for number in 0..runtime.threads.len() {
        if runtime.threads[number].life == Life::Ended {
            forget(number);
        }
    }
    true
}

/// Lets the C library give back what threads hold that nobody will join.
fn reclaim() {
    let runtime = runtime();
    for number in 0..runtime.threads.len() {
        let thread = &runtime.threads[number];
        if thread.detached && thread.life == Life::Ended {
            forget(number);
        }
    }
}

/// Waits until a thread that has ended is really gone, and takes its result.
fn forget(number: usize) -> *mut c_void {
    let runtime = runtime();
    let handle = runtime.threads[number].handle;
    let mut result = core::ptr::null_mut();
    let into = &raw mut result;
    alloc::foreign(|| next!(pthread_join(handle: pthread_t, into: *mut *mut c_void) -> c_int));
    runtime.threads[number].life = Life::Joined;
    result
}

fn join(handle: pthread_t, result: *mut *mut c_void, until: Deadline, blocking: bool) -> c_int {
    let Some(number) = runtime().by_handle(handle) else { return libc::ESRCH };
    if number == runtime().current {
        return libc::EDEADLK;
    }
    if runtime().threads[number].detached {
        return libc::EINVAL;
    }
    let want = if blocking { Want::End(number, until) } else { Want::Nothing };
    match wait_for(want) {
        Got::Cancelled => cancel::act(),
        Got::Nothing => return not_joined(libc::ETIMEDOUT),
        _ if runtime().threads[number].life == Life::Alive => return not_joined(libc::EBUSY),
        _ => {}
    }
    let value = forget(number);
    let child = runtime().threads[number].id.code();
    runtime().step(Step::Join { child });
    if !result.is_null() {
        // SAFETY: the caller gives a place for the result.
        unsafe { *result = value };
    }
    0
}

/// The other thread still runs.
fn not_joined(error: c_int) -> c_int {
    runtime().step(Step::System { what: "join in vain".into() });
    error
}

fn timed_join(
    handle: pthread_t,
    result: *mut *mut c_void,
    clock: libc::clockid_t,
    time: *const timespec,
) -> c_int {
    if time.is_null() {
        return join(handle, result, None, true);
    }
    match deadline(clock, time) {
        Ok(until) => join(handle, result, until, true),
        Err(error) => error,
    }
}

fn detach(handle: pthread_t) -> c_int {
    let runtime = runtime();
    let Some(number) = runtime.by_handle(handle) else { return libc::ESRCH };
    let thread = &mut runtime.threads[number];
    if thread.detached {
        return libc::EINVAL;
    }
    thread.detached = true;
    0
}

interpose! {
    fn pthread_create(handle: *mut pthread_t, given: *const pthread_attr_t, start: usize, argument: usize) -> c_int {
        create(handle, given, start, argument)
    }
    fn pthread_join(handle: pthread_t, result: *mut *mut c_void) -> c_int { join(handle, result, None, true) }
    fn pthread_tryjoin_np(handle: pthread_t, result: *mut *mut c_void) -> c_int { join(handle, result, None, false) }
    fn pthread_timedjoin_np(handle: pthread_t, result: *mut *mut c_void, time: *const timespec) -> c_int {
        timed_join(handle, result, libc::CLOCK_REALTIME, time)
    }
    fn pthread_clockjoin_np(
        handle: pthread_t,
        result: *mut *mut c_void,
        clock: libc::clockid_t,
        time: *const timespec,
    ) -> c_int {
        timed_join(handle, result, clock, time)
    }
    fn pthread_detach(handle: pthread_t) -> c_int { detach(handle) }
    fn thrd_create(handle: *mut pthread_t, start: usize, argument: usize) -> c_int {
        match create(handle, core::ptr::null(), start, argument) {
            0 => 0,
            libc::ENOMEM => 3,
            _ => 2,
        }
    }
    fn thrd_join(handle: pthread_t, result: *mut c_int) -> c_int {
        let mut value = core::ptr::null_mut();
        if join(handle, &raw mut value, None, true) != 0 {
            return 2;
        }
        if !result.is_null() {
            // SAFETY: the caller gives a place for the result.
            unsafe { *result = value as usize as c_int };
        }
        0
    }
    fn thrd_detach(handle: pthread_t) -> c_int { if detach(handle) == 0 { 0 } else { 2 } }
}
