//! Locks of the C library that are held while code of the program runs: those of stdio's streams (`flockfile`) and that of the
//! loader, while it runs constructors of a library that it loads.
//!
//! Who waits for such a lock inside the C library would wait with the baton in hand. So they are modelled, as locks at the address of the
//! stream, and of a place that stands for the loader; and their holder is not preempted.

use crate::baton::wait_for;
use crate::next::{interpose, next};
use crate::runtime::{active, runtime};
use crate::want::Want;
use abi::note::{Mode, Step};
use core::arch::naked_asm;
use core::ffi::{CStr, c_char, c_void};
use libc::{FILE, c_int};
use std::ffi::CString;

/// Stands for the loader.
static LOADER: u64 = 0;

fn loader() -> usize {
    &raw const LOADER as usize
}

/// A lock of the library that somebody holds.
pub struct Held {
    object: usize,
    /// The thread, by its number.
    by: usize,
    depth: u32,
}

/// Whether a thread, by its number, could have a lock.
pub fn is_free_for(held: &[Held], object: usize, number: usize) -> bool {
    held.iter().all(|one| one.object != object || one.by == number)
}

fn take(object: usize) -> u32 {
    let runtime = runtime();
    let me = runtime.current;
    match runtime.library.iter_mut().find(|one| one.object == object) {
        Some(one) => one.depth += 1,
        None => runtime.library.push(Held { object, by: me, depth: 1 }),
    }
    runtime.me().unwilling += 1;
    runtime.me().acquired(object, Mode::Mutex)
}

/// Waits for a lock, and takes it.
fn lock(object: usize) {
    wait_for(Want::Library(object));
    let depth = take(object);
    runtime().step(Step::Lock { object: object as u64, mode: Mode::Mutex, depth });
}

/// Gives it back.
fn unlock(object: usize) {
    let runtime = runtime();
    let me = runtime.current;
    let Some(at) = runtime.library.iter().position(|one| one.object == object && one.by == me) else {
        return;
    };
    runtime.library[at].depth -= 1;
    if runtime.library[at].depth == 0 {
        runtime.library.remove(at);
    }
    runtime.me().unwilling = runtime.me().unwilling.saturating_sub(1);
    let depth = runtime.me().released(object);
    runtime.step(Step::Unlock { object: object as u64, mode: Mode::Mutex, depth });
}

/// Waits until nobody else has a lock.
fn pass(object: usize) {
    if active() && !is_free_for(&runtime().library, object, runtime().current) {
        wait_for(Want::Library(object));
    }
}

interpose! {
    fn flockfile(stream: *mut FILE) {
        lock(stream as usize);
        next!(flockfile(stream: *mut FILE));
    }
    fn ftrylockfile(stream: *mut FILE) -> c_int {
        wait_for(Want::Nothing);
        let object = stream as usize;
        let free = is_free_for(&runtime().library, object, runtime().current);
        let result = if free { next!(ftrylockfile(stream: *mut FILE) -> c_int) } else { libc::EBUSY };
        let acquired = (result == 0).then(|| take(object));
        runtime().step(Step::TryLock { object: object as u64, mode: Mode::Mutex, acquired });
        result
    }
    fn funlockfile(stream: *mut FILE) {
        next!(funlockfile(stream: *mut FILE));
        unlock(stream as usize);
    }
    fn dlclose(library: *mut c_void) -> c_int {
        lock(loader());
        let result = next!(dlclose(library: *mut c_void) -> c_int);
        unlock(loader());
        result
    }
    fn dladdr(address: *const c_void, into: *mut c_void) -> c_int {
        pass(loader());
        next!(dladdr(address: *const c_void, into: *mut c_void) -> c_int)
    }
    // Remembers the destructor of a thread-local object; looks for its library under the loader's lock.
    fn __cxa_thread_atexit_impl(destructor: usize, object: usize, library: usize) -> c_int {
        pass(loader());
        next!(__cxa_thread_atexit_impl(destructor: usize, object: usize, library: usize) -> c_int)
    }
}

/// As in C. The loader looks where the caller's library says it should, so it must be told who calls.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub extern "C" fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void {
    naked_asm!("mov rdx, [rsp]", "jmp {function}", function = sym load)
}

extern "C-unwind" fn load(path: *const c_char, flags: c_int, caller: *const c_void) -> *mut c_void {
    let found = if active() { find(path, caller) } else { None };
    let path = found.as_ref().map_or(path, |found| found.as_ptr());
    if !active() {
        return next!(dlopen(path: *const c_char, flags: c_int) -> *mut c_void);
    }
    lock(loader());
    let library = next!(dlopen(path: *const c_char, flags: c_int) -> *mut c_void);
    unlock(loader());
    library
}

/// Where the loader looks for libraries, as `dlinfo` tells it.
#[repr(C)]
struct Places {
    bytes: usize,
    count: u32,
    first: [(*const c_char, u32); 0],
}

const RTLD_DI_SERINFO: c_int = 4;
const RTLD_DI_SERINFOSIZE: c_int = 5;

unsafe extern "C" {
    fn dlinfo(library: *mut c_void, request: c_int, into: *mut c_void) -> c_int;
}

/// A library that is named without a directory, in the directories that the caller's own library names.
fn find(path: *const c_char, caller: *const c_void) -> Option<CString> {
    if path.is_null() {
        return None;
    }
    // SAFETY: the caller gives a path that ends with a zero byte.
    let name = unsafe { CStr::from_ptr(path) }.to_bytes();
    if name.is_empty() || name.contains(&b'/') {
        return None;
    }
    // SAFETY: all zeros are such a value, and the loader fills it in.
    let mut of: libc::Dl_info = unsafe { core::mem::zeroed() };
    let into = (&raw mut of).cast::<c_void>();
    if next!(dladdr(caller: *const c_void, into: *mut c_void) -> c_int) == 0 {
        return None;
    }
    let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
    let (own, program) = (of.dli_fname, core::ptr::null());
    let mut library = next!(dlopen(own: *const c_char, flags: c_int) -> *mut c_void);
    if library.is_null() {
        // The program itself is not loaded under its name.
        library = next!(dlopen(program: *const c_char, flags: c_int) -> *mut c_void);
    }
    // SAFETY: the loader tells how much room it needs, and fills it in.
    unsafe {
        let mut size = Places { bytes: 0, count: 0, first: [] };
        if library.is_null() || dlinfo(library, RTLD_DI_SERINFOSIZE, (&raw mut size).cast()) != 0 {
            return None;
        }
        let mut room = vec![0u64; size.bytes.div_ceil(8)];
        let places = room.as_mut_ptr().cast::<Places>();
        (*places).bytes = size.bytes;
        (*places).count = size.count;
        if dlinfo(library, RTLD_DI_SERINFO, places.cast()) != 0 {
            return None;
        }
        let first = (&raw const (*places).first).cast::<(*const c_char, u32)>();
        (0..(*places).count as usize).find_map(|at| {
            let directory = CStr::from_ptr((*first.add(at)).0).to_bytes();
            let path = CString::new([directory, b"/", name].concat()).ok()?;
            (libc::access(path.as_ptr(), libc::R_OK) == 0).then_some(path)
        })
    }
}

/// Functions that look from their caller's point of view, so that they must not be called from here: waits, then jumps there.
macro_rules! guarded {
    ($($name:ident: $next:ident)*) => { $(
        /// As in C.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() {
            naked_asm!(
                "push rdi", "push rsi", "push rdx",
                "call {guard}",
                "pop rdx", "pop rsi", "pop rdi",
                "jmp rax",
                guard = sym $next,
            )
        }

        extern "C-unwind" fn $next() -> usize {
            static NEXT: crate::next::Next = crate::next::Next::new(
                // SAFETY: a name without zero bytes, and one at its end.
                unsafe { CStr::from_bytes_with_nul_unchecked(concat!(stringify!($name), "\0").as_bytes()) }
            );
            pass(loader());
            NEXT.address()
        }
    )* };
}

guarded! {
    dlsym: next_dlsym
    dlmopen: next_dlmopen
}
