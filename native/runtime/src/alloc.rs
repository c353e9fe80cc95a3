//! The program's heap: an address depends on the thread that allocates and on what it allocated before, on nothing else.
//!
//! Each thread has an arena at a fixed place. A block comes back to the thread that allocated it, and only if that thread itself gave it
//! back: when another one does, or how soon, depends on the schedule. Blocks that others gave back are never used again; of large ones
//! the memory goes back to the system. Freed blocks first wait in a quarantine, so that a use after free meets the old block.

use crate::place::{self, FOREIGN_ARENA, FOREIGN_ARENA_BYTES};
use crate::runtime::{active, has_plan, runtime};
use crate::sys;
use abi::note::Step;
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering};
use libc::c_int;

unsafe extern "C" {
    fn __libc_malloc(bytes: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, bytes: usize) -> *mut c_void;
    fn __libc_realloc(block: *mut c_void, bytes: usize) -> *mut c_void;
    fn __libc_memalign(alignment: usize, bytes: usize) -> *mut c_void;
    fn __libc_free(block: *mut c_void);
}

/// Sizes up to 1024 in steps of 16, then four steps for each power of two.
const SMALL: usize = 64;
const CLASSES: usize = SMALL + 4 * 30;

/// Blocks from this size on give their memory back to the system when somebody else than their thread frees them.
const LARGE: usize = 1 << 16;

const PAGE: usize = 4096;

/// What stands before each block.
#[repr(C)]
struct Header {
    /// The class of its size.
    class: u32,
    /// From the start of the raw block to this one, for aligned blocks.
    shift: u32,
    /// How many bytes were asked for; [`FREED`] after it was given back.
    bytes: u64,
}

const HEADER: usize = size_of::<Header>();

/// At most so many blocks wait, however small they are.
const WAITING: usize = 1 << 11;
const FREED: u64 = u64::MAX;

/// What stands at the start of each arena.
#[repr(C)]
struct Arena {
    next: usize,
    end: usize,
    /// Blocks that may be used again, by class.
    free: [*mut Header; CLASSES],
    /// Blocks that wait, with their classes, from the oldest on: a ring, because looking into the oldest block would be a cache miss.
    waiting: [(*mut Header, u32); WAITING],
    oldest: usize,
    count: usize,
    /// The bytes of them.
    bytes: u64,
}

struct Arenas(UnsafeCell<[*mut Arena; place::SLOTS]>);

// SAFETY: only the baton's holder uses the arenas; the foreign one has a lock.
unsafe impl Sync for Arenas {}

static ARENAS: Arenas = Arenas(UnsafeCell::new([ptr::null_mut(); place::SLOTS]));

/// The arena for all that is no allocation of the program's threads, and its lock.
static FOREIGN: AtomicBool = AtomicBool::new(false);

/// Whether the baton's holder allocates on behalf of the C library.
static IN_LIBRARY: AtomicBool = AtomicBool::new(false);

/// Does something during which the C library allocates for itself.
pub fn foreign<R>(action: impl FnOnce() -> R) -> R {
    let before = IN_LIBRARY.swap(true, Ordering::Relaxed);
    let result = action();
    IN_LIBRARY.store(before, Ordering::Relaxed);
    result
}

/// Takes the lock of the foreign arena. A fork happens under it, so that no other thread holds it in the child for ever.
pub fn hold() {
    while FOREIGN.swap(true, Ordering::Acquire) {
        sys::call(libc::SYS_sched_yield, [0; 6]);
    }
}

/// Gives it back.
pub fn let_go() {
    FOREIGN.store(false, Ordering::Release);
}

fn class(bytes: usize) -> (usize, usize) {
    if bytes <= 16 * SMALL {
        let class = bytes.div_ceil(16).max(1) - 1;
        return (class, (class + 1) * 16);
    }
    let power = (bytes - 1).ilog2() as usize;
    let step = 1usize << (power - 2);
    let part = (bytes - 1 - (1 << power)) / step;
    (SMALL + (power - 10) * 4 + part, (1 << power) + (part + 1) * step)
}

/// The bytes of a class.
fn class_bytes(class: usize) -> usize {
    if class < SMALL {
        return (class + 1) * 16;
    }
    let (power, part) = (10 + (class - SMALL) / 4, (class - SMALL) % 4);
    (1 << power) + (part + 1) * (1 << (power - 2))
}

fn open(start: usize, bytes: usize) -> *mut Arena {
    if sys::map(start, bytes) != Some(start) {
        sys::die("the memory that the heap needs is taken");
    }
    let arena = start as *mut Arena;
    // SAFETY: fresh memory, and all zeros are an arena otherwise.
    unsafe {
        (*arena).next = start + size_of::<Arena>().next_multiple_of(PAGE);
        (*arena).end = start + bytes;
    }
    arena
}

/// Uses the arena that the caller's allocations go to.
fn with_arena<R>(action: impl FnOnce(&mut Arena) -> R) -> R {
    if active() && !IN_LIBRARY.load(Ordering::Relaxed) {
        let slot = runtime().me().slot;
        // SAFETY: the caller has the baton.
        let entry = unsafe { &mut (*ARENAS.0.get())[slot] };
        if entry.is_null() {
            let (start, bytes) = place::arena(slot);
            *entry = open(start, bytes);
        }
        // SAFETY: as above.
        return action(unsafe { &mut **entry });
    }
    hold();
    let arena = FOREIGN_ARENA as *mut Arena;
    static OPEN: AtomicBool = AtomicBool::new(false);
    if !OPEN.swap(true, Ordering::Relaxed) {
        open(FOREIGN_ARENA, FOREIGN_ARENA_BYTES);
    }
    // SAFETY: the lock is held.
    let result = action(unsafe { &mut *arena });
    let_go();
    result
}

impl Arena {
    fn allocate(&mut self, bytes: usize) -> Option<(*mut Header, bool)> {
        let (class, size) = class(bytes);
        if class >= CLASSES {
            return None;
        }
        let listed = self.free[class];
        if !listed.is_null() {
            // SAFETY: a free block holds the address of the next one behind its header.
            self.free[class] = unsafe { *link(listed) };
            return Some((listed, false));
        }
        if size + HEADER > self.end - self.next {
            return None;
        }
        let header = self.next as *mut Header;
        self.next += size + HEADER;
        // SAFETY: fresh memory of the arena.
        unsafe { (*header).class = class as u32 };
        Some((header, true))
    }

    /// The owner gives a block back.
    fn free(&mut self, header: *mut Header, quarantine: u64) {
        // SAFETY: the block is allocated, so its memory is ours now.
        let class = unsafe { (*header).class };
        if self.count == WAITING {
            self.use_again();
        }
        self.waiting[(self.oldest + self.count) % WAITING] = (header, class);
        self.count += 1;
        self.bytes += class_bytes(class as usize) as u64;
        while self.bytes > quarantine {
            self.use_again();
        }
    }

    /// The block that has waited longest may be used again.
    fn use_again(&mut self) {
        let (block, class) = self.waiting[self.oldest];
        self.oldest = (self.oldest + 1) % WAITING;
        self.count -= 1;
        self.bytes -= class_bytes(class as usize) as u64;
        // SAFETY: the block is free.
        unsafe { *link(block) = self.free[class as usize] };
        self.free[class as usize] = block;
    }
}

/// Where a free block holds the address of the next one.
fn link(header: *mut Header) -> *mut *mut Header {
    // The block behind the header has at least 16 bytes.
    header.wrapping_add(1).cast()
}

fn header_of(block: *mut c_void) -> *mut Header {
    block.cast::<Header>().wrapping_sub(1)
}

/// Whether an address is in one of our arenas: the first ones of a process come from the C library.
fn is_ours(block: *mut c_void) -> bool {
    let address = block as usize;
    (place::MAIN_ARENA..FOREIGN_ARENA + FOREIGN_ARENA_BYTES).contains(&address)
        || (place::ARENAS..place::ARENAS + place::SLOTS * place::ARENA_BYTES).contains(&address)
}

fn told(block: *mut c_void, bytes: usize) -> *mut c_void {
    if active() && !IN_LIBRARY.load(Ordering::Relaxed) {
        let (address, bytes) = (block as u64, bytes as u64);
        runtime().allocation(Step::Alloc { address, bytes }, address, bytes);
    }
    block
}

fn allocate(bytes: usize, zeroed: bool) -> *mut c_void {
    let Some((header, fresh)) = with_arena(|arena| arena.allocate(bytes)) else {
        crate::objects::fail(libc::ENOMEM);
        return ptr::null_mut();
    };
    let block = header.wrapping_add(1).cast::<c_void>();
    // SAFETY: the block is ours, and has so many bytes. Fresh memory is zero.
    unsafe {
        (*header).shift = 0;
        (*header).bytes = bytes as u64;
        if zeroed && !fresh {
            ptr::write_bytes(block.cast::<u8>(), 0, bytes);
        }
    }
    told(block, bytes)
}

fn allocate_aligned(alignment: usize, bytes: usize) -> *mut c_void {
    if alignment <= 16 {
        return allocate(bytes, false);
    }
    let total = bytes.checked_add(alignment);
    let Some((raw, _)) = total.and_then(|total| with_arena(|arena| arena.allocate(total))) else {
        crate::objects::fail(libc::ENOMEM);
        return ptr::null_mut();
    };
    let start = raw.wrapping_add(1) as usize;
    let block = start.next_multiple_of(alignment);
    // SAFETY: both headers are in the raw block, or the same.
    unsafe {
        (*raw).shift = 0;
        (*raw).bytes = bytes as u64;
        let header = header_of(block as *mut c_void);
        (*header).shift = (block - start) as u32;
        (*header).bytes = bytes as u64;
    }
    told(block as *mut c_void, bytes)
}

/// The header of the raw block that an aligned one is in.
fn raw(block: *mut c_void) -> *mut Header {
    let header = header_of(block);
    // SAFETY: the block is one of ours.
    let shift = unsafe { (*header).shift } as usize;
    header_of((block as usize - shift) as *mut c_void)
}

fn release(block: *mut c_void) {
    let (header, raw) = (header_of(block), raw(block));
    // SAFETY: the block is one of ours.
    unsafe {
        if (*header).bytes == FREED {
            sys::say("threadbare: double free\n");
            libc::abort();
        }
        // What the C library allocated for itself is none of the program's business when it is freed either.
        let librarys = (FOREIGN_ARENA..FOREIGN_ARENA + FOREIGN_ARENA_BYTES).contains(&(block as usize));
        if active() && !librarys && !IN_LIBRARY.load(Ordering::Relaxed) {
            let (address, bytes) = (block as u64, (*header).bytes);
            runtime().allocation(Step::Free { address }, address, bytes);
        }
        (*header).bytes = FREED;
    }
    let quarantine = if active() { runtime().plan.quarantine } else { 0 };
    let owned = with_arena(|arena| {
        let start = ptr::from_mut(arena) as usize;
        let owned = (start..arena.end).contains(&(raw as usize));
        if owned {
            arena.free(raw, quarantine);
        }
        owned
    });
    if !owned {
        let start = raw.wrapping_add(1) as usize;
        // SAFETY: the header is that of one of our blocks.
        let end = start + class_bytes(unsafe { (*raw).class } as usize);
        if end - start >= LARGE {
            let from = start.next_multiple_of(PAGE);
            sys::call(
                libc::SYS_madvise,
                [from, (end & !(PAGE - 1)) - from, libc::MADV_DONTNEED as usize, 0, 0, 0],
            );
        }
    }
}

fn room(block: *mut c_void) -> usize {
    let (raw, start) = (raw(block), block as usize);
    // SAFETY: the block is one of ours.
    let end = raw.wrapping_add(1) as usize + class_bytes(unsafe { (*raw).class } as usize);
    end - start
}

fn bytes_of(block: *mut c_void) -> usize {
    // SAFETY: the block is one of ours.
    unsafe { (*header_of(block)).bytes as usize }
}

/// A block that was moved, or that is the only copy of its content still.
fn reallocate(block: *mut c_void, bytes: usize) -> *mut c_void {
    if block.is_null() {
        return allocate(bytes, false);
    }
    if bytes == 0 {
        release(block);
        return ptr::null_mut();
    }
    let old = bytes_of(block).min(room(block));
    let new = allocate(bytes, false);
    if !new.is_null() {
        // SAFETY: both blocks have at least so many bytes.
        unsafe { ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast::<u8>(), old.min(bytes)) };
        release(block);
    }
    new
}

/// The C library's own function, without a plan; ours otherwise.
macro_rules! heap {
    ($($(#[$attribute:meta])* fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?
        { $library:expr, $block:expr, $ours:expr })*) => { $(
        $(#[$attribute])*
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($argument: $type),*) $(-> $result)? {
            let block: *mut c_void = $block;
            let libraries = if block.is_null() { !has_plan() } else { !is_ours(block) };
            // SAFETY: the arguments are those of the C function.
            if libraries { unsafe { $library } } else { $ours }
        }
    )* };
}

const NO_BLOCK: *mut c_void = ptr::null_mut();

heap! {
    fn malloc(bytes: usize) -> *mut c_void { __libc_malloc(bytes), NO_BLOCK, allocate(bytes, false) }
    fn calloc(count: usize, bytes: usize) -> *mut c_void {
        __libc_calloc(count, bytes), NO_BLOCK,
        match count.checked_mul(bytes) {
            Some(bytes) => allocate(bytes, true),
            None => {
                crate::objects::fail(libc::ENOMEM);
                ptr::null_mut()
            }
        }
    }
    fn realloc(block: *mut c_void, bytes: usize) -> *mut c_void {
        __libc_realloc(block, bytes), block, reallocate(block, bytes)
    }
    fn reallocarray(block: *mut c_void, count: usize, bytes: usize) -> *mut c_void {
        match count.checked_mul(bytes) {
            Some(bytes) => __libc_realloc(block, bytes),
            None => {
                crate::objects::fail(libc::ENOMEM);
                ptr::null_mut()
            }
        },
        block,
        match count.checked_mul(bytes) {
            Some(bytes) => reallocate(block, bytes),
            None => {
                crate::objects::fail(libc::ENOMEM);
                ptr::null_mut()
            }
        }
    }
    fn free(block: *mut c_void) {
        __libc_free(block), block, if !block.is_null() { release(block) }
    }
    fn aligned_alloc(alignment: usize, bytes: usize) -> *mut c_void {
        __libc_memalign(alignment, bytes), NO_BLOCK, allocate_aligned(alignment, bytes)
    }
    fn memalign(alignment: usize, bytes: usize) -> *mut c_void {
        __libc_memalign(alignment, bytes), NO_BLOCK, allocate_aligned(alignment.next_power_of_two(), bytes)
    }
    fn valloc(bytes: usize) -> *mut c_void { __libc_memalign(PAGE, bytes), NO_BLOCK, allocate_aligned(PAGE, bytes) }
    fn pvalloc(bytes: usize) -> *mut c_void {
        __libc_memalign(PAGE, bytes.next_multiple_of(PAGE)), NO_BLOCK,
        allocate_aligned(PAGE, bytes.next_multiple_of(PAGE))
    }
}

/// As `aligned_alloc`, with the address through a pointer.
#[unsafe(no_mangle)]
pub extern "C" fn posix_memalign(into: *mut *mut c_void, alignment: usize, bytes: usize) -> c_int {
    if !alignment.is_power_of_two() || !alignment.is_multiple_of(size_of::<usize>()) {
        return libc::EINVAL;
    }
    let block = aligned_alloc(alignment, bytes);
    if block.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: the caller gives a place for the address.
    unsafe { *into = block };
    0
}

/// How many bytes of a block may be used: here just those that were asked for.
#[unsafe(no_mangle)]
pub extern "C" fn malloc_usable_size(block: *mut c_void) -> usize {
    if block.is_null() || is_ours(block) {
        return if block.is_null() { 0 } else { bytes_of(block) };
    }
    crate::next::next!(malloc_usable_size(block: *mut c_void) -> usize)
}
