//! Memory for the runtime's own data, apart from the program's: what the runtime keeps must not move the program's
//! addresses, and its own allocations must not come back to the `malloc` that it defines.
//!
//! Powers of two, cut from large pieces, given back to a list for each. Nearly all of it is used by the baton's holder alone; the
//! lock is for the moments when a thread starts or ends.

use crate::sys;
use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ops::Range;
use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering};

const SMALLEST: u32 = 4;
const LARGEST: u32 = 20;
const PIECE: usize = 1 << 22;

/// The allocator of the runtime's own data.
pub struct Heap {
    locked: AtomicBool,
    lists: UnsafeCell<Lists>,
}

struct Lists {
    free: [*mut u8; (LARGEST + 1) as usize],
    next: usize,
    end: usize,
    /// The piece that was in use before the run: its blocks are not given again.
    before: Range<usize>,
}

// SAFETY: `lists` is used under the lock only.
unsafe impl Sync for Heap {}

impl Heap {
    /// An empty heap.
    pub const fn new() -> Heap {
        let lists = Lists { free: [ptr::null_mut(); (LARGEST + 1) as usize], next: 0, end: 0, before: 0..0 };
        Heap { locked: AtomicBool::new(false), lists: UnsafeCell::new(lists) }
    }

    fn with<R>(&self, use_lists: impl FnOnce(&mut Lists) -> R) -> R {
        self.hold();
        // SAFETY: the lock is held.
        let result = use_lists(unsafe { &mut *self.lists.get() });
        self.let_go();
        result
    }

    /// The run begins: from now on addresses do not depend on what was done before, which differs with the way the run is started. They are left on the
    /// stacks of the program, where it may read them without having written there.
    pub fn begin_run(&self) {
        self.with(|lists| {
            lists.free = [ptr::null_mut(); _];
            lists.before = lists.end.saturating_sub(PIECE)..lists.end;
            lists.next = 0;
        });
    }

    /// Takes the lock. A fork happens under it, so that no other thread holds it in the child for ever.
    pub fn hold(&self) {
        while self.locked.swap(true, Ordering::Acquire) {
            sys::call(libc::SYS_sched_yield, [0; 6]);
        }
    }

    /// Gives it back.
    pub fn let_go(&self) {
        self.locked.store(false, Ordering::Release);
    }
}

/// The power of two that holds a layout.
fn class(layout: Layout) -> u32 {
    layout.size().max(layout.align()).max(1 << SMALLEST).next_power_of_two().trailing_zeros()
}

// SAFETY: blocks of a class are aligned to their size and do not overlap; large ones are whole pages.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let class = class(layout);
        if class > LARGEST {
            return sys::map(0, 1 << class).map_or(ptr::null_mut(), |at| at as *mut u8);
        }
        self.with(|lists| {
            let list = &mut lists.free[class as usize];
            if !list.is_null() {
                let block = *list;
                // SAFETY: a free block holds the address of the next.
                *list = unsafe { *block.cast::<*mut u8>() };
                return block;
            }
            let size = 1usize << class;
            let mut at = lists.next.next_multiple_of(size);
            if lists.next == 0 || at + size > lists.end {
                let Some(piece) = sys::map(0, PIECE) else { return ptr::null_mut() };
                lists.end = piece + PIECE;
                at = piece.next_multiple_of(size);
                if at + size > lists.end {
                    return sys::map(0, 2 * size)
                        .map_or(ptr::null_mut(), |at| at.next_multiple_of(size) as *mut u8);
                }
            }
            lists.next = at + size;
            at as *mut u8
        })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let class = class(layout);
        if class > LARGEST {
            return sys::unmap(block as usize, 1 << class);
        }
        self.with(|lists| {
            if lists.before.contains(&(block as usize)) {
                return;
            }
            // SAFETY: the block is free, and large enough for an address.
            unsafe { *block.cast::<*mut u8>() = lists.free[class as usize] };
            lists.free[class as usize] = block;
        });
    }
}
