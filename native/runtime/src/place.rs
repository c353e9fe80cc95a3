//! Where the memory of threads lies: at addresses that depend on the thread alone, not on what others did before.
//!
//! Each thread has a *slot*, a number that its name gives it, and with it a stack and an arena at fixed addresses. All lie below 4
//! TiB, in the parts that `abi::unit::widen` leaves to the runtime.

use crate::runtime::Runtime;
use crate::thread::Life;
use schedule::ThreadId;

/// How many slots there are: so many threads can be alive at once.
pub const SLOTS: usize = 1024;

/// The arena of `main`.
pub const MAIN_ARENA: usize = 0x10_0000_0000;
pub const MAIN_ARENA_BYTES: usize = 0x100_0000_0000;

/// The arena for what the C library allocates while it makes a thread, and for threads that are not the program's.
pub const FOREIGN_ARENA: usize = 0x110_0000_0000;
pub const FOREIGN_ARENA_BYTES: usize = 0x10_0000_0000;

/// Stacks: that of slot n is the n-th.
pub const STACKS: usize = 0x160_0000_0000;
pub const STACK_BYTES: usize = 1 << 28;

/// Arenas of other threads.
pub const ARENAS: usize = 0x200_0000_0000;
pub const ARENA_BYTES: usize = 1 << 30;

/// What `main` maps by itself, and what other threads do.
pub const MAIN_MAPPINGS: usize = 0x120_0000_0000;
pub const MAIN_MAPPINGS_BYTES: usize = 0x30_0000_0000;
pub const MAPPINGS: usize = 0x1a0_0000_0000;
pub const MAPPINGS_BYTES: usize = 1 << 28;

// Behind these are the marks of allocations.
const _: () = assert!(MAPPINGS + SLOTS * MAPPINGS_BYTES <= abi::unit::ALLOC as usize);
const _: () = assert!(abi::unit::FREE < ARENAS as u64);

/// The area for what the thread of a slot maps: start and bytes.
pub fn mappings(slot: usize) -> (usize, usize) {
    match slot {
        0 => (MAIN_MAPPINGS, MAIN_MAPPINGS_BYTES),
        _ => (MAPPINGS + slot * MAPPINGS_BYTES, MAPPINGS_BYTES),
    }
}

/// The arena of a slot: start and bytes.
pub fn arena(slot: usize) -> (usize, usize) {
    match slot {
        0 => (MAIN_ARENA, MAIN_ARENA_BYTES),
        _ => (ARENAS + slot * ARENA_BYTES, ARENA_BYTES),
    }
}

impl Runtime {
    /// The slot of a new thread. Children of `main` get theirs by their number; others by a hash of their name. Only if a living thread
    /// has it already does the next free one have to do, and that depends on the schedule.
    pub fn slot_for(&self, id: ThreadId) -> Option<usize> {
        let path = id.path();
        let wanted = match path[..] {
            [number] => number as usize,
            _ => (id.code().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize,
        };
        let taken = |slot: usize| {
            self.threads.iter().any(|thread| thread.slot == slot && thread.life != Life::Joined)
        };
        (0..SLOTS - 1).map(|further| 1 + (wanted + further) % (SLOTS - 1)).find(|&slot| !taken(slot))
    }
}
