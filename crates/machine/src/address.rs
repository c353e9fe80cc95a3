//! Addresses of the machine.
//!
//! An address depends only on what it names: a global, or the k-th allocation of a thread. So another schedule
//! leaves every address as it is, and no address is ever used twice. The 64 bits are, from the top: 16
//! for the thread (0 for globals), 12 for the number of the allocation (from 1), 36 for the offset. An
//! allocation begins in the middle of its offsets: there is room for any 32-bit index of 8-byte elements on both
//! sides, so that an index out of bounds, negative ones included, cannot fall into another allocation.

use ir::GlobalId;
use trace::ThreadId;

const OFFSET_BITS: u32 = 36;
const NUMBER_BITS: u32 = 12;
/// Where an allocation begins among its offsets.
const START: u64 = 1 << (OFFSET_BITS - 1);

/// The largest allocation, in bytes.
pub const MAX_BYTES: u64 = 1 << 24;
/// How many globals there may be, and how many allocations of one thread.
pub const MAX_ALLOCATIONS: u64 = (1 << NUMBER_BITS) - 1;
/// The thread part of function addresses; thread codes stay below it.
const FUNCTIONS: u64 = 0xffff;

/// The base address of a global.
pub fn of_global(global: GlobalId) -> u64 {
    ((u64::from(global.0) + 1) << OFFSET_BITS) | START
}

/// The base address of the allocation that a thread makes after `earlier` others, unless it has no room.
pub fn of_allocation(thread: ThreadId, earlier: u64) -> Option<u64> {
    let fits = thread.code() < FUNCTIONS && earlier < MAX_ALLOCATIONS;
    fits.then(|| (((thread.code() << NUMBER_BITS) | (earlier + 1)) << OFFSET_BITS) | START)
}

/// The address of a function.
pub fn of_function(function: ir::FunctionId) -> u64 {
    FUNCTIONS << (OFFSET_BITS + NUMBER_BITS) | u64::from(function.0)
}

/// The function at an address.
pub fn function_at(address: u64) -> Option<ir::FunctionId> {
    let is_function = address >> (OFFSET_BITS + NUMBER_BITS) == FUNCTIONS;
    let number = u32::try_from(address & ((1 << (OFFSET_BITS + NUMBER_BITS)) - 1)).ok()?;
    is_function.then_some(ir::FunctionId(number))
}

/// The owner of an allocation by its base address, and the allocation's number.
pub fn allocation_at(base: u64) -> (Option<ThreadId>, u64) {
    let number = (base >> OFFSET_BITS) & MAX_ALLOCATIONS;
    (ThreadId::from_code(base >> (OFFSET_BITS + NUMBER_BITS)), number)
}

/// What an address names, before looking whether that exists.
pub enum Named {
    /// Null, or an offset from it.
    Null,
    /// A global and an offset.
    Global(GlobalId, i64),
    /// A base address of an allocation and an offset.
    Allocation(u64, i64),
}

/// Takes an address apart.
#[inline]
pub fn decode(address: u64) -> Named {
    let offset = (address & ((1 << OFFSET_BITS) - 1)) as i64 - START as i64;
    let base = address >> OFFSET_BITS;
    if base == 0 {
        Named::Null
    } else if base >> NUMBER_BITS == 0 {
        Named::Global(GlobalId(base as u32 - 1), offset)
    } else {
        Named::Allocation((base << OFFSET_BITS) | START, offset)
    }
}

/// The address that is `by` bytes further. An address never leaves the offsets of what it names: far out it stays at the
/// last one, which is out of bounds, so that no index leads into another allocation.
#[inline]
pub fn advance(address: u64, by: i128) -> u64 {
    let mask = (1 << OFFSET_BITS) - 1;
    let offset = (i128::from(address & mask) + by).clamp(0, mask as i128);
    (address & !mask) | offset as u64
}

/// An offset that is inside an allocation of `size` bytes together with the `bytes` bytes from it on.
#[inline]
pub fn inside(offset: i64, bytes: u64, size: u64) -> Option<u64> {
    let offset = u64::try_from(offset).ok()?;
    (offset.checked_add(bytes)? <= size).then_some(offset)
}
