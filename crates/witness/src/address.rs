//! Addresses of the machine: 16 bits for the thread, 12 for the number of its allocation, 36 for the offset, an allocation in the
//! middle of its offsets. Globals have the thread 0, functions the thread 0xffff.

use ir::{FunctionId, GlobalId};
use trace::ThreadId;

pub const OFFSET_BITS: u32 = 36;
const NUMBER_BITS: u32 = 12;
const MIDDLE: u64 = 1 << (OFFSET_BITS - 1);
const FUNCTIONS: u64 = 0xffff << (OFFSET_BITS + NUMBER_BITS);

pub fn of_global(global: GlobalId) -> u64 {
    (u64::from(global.0) + 1) << OFFSET_BITS | MIDDLE
}

pub fn of_allocation(thread: ThreadId, earlier: u64) -> u64 {
    (thread.code() << NUMBER_BITS | (earlier + 1)) << OFFSET_BITS | MIDDLE
}

pub fn of_function(function: FunctionId) -> u64 {
    FUNCTIONS | u64::from(function.0)
}

pub fn function_at(address: u64) -> Option<FunctionId> {
    u32::try_from(address ^ FUNCTIONS).ok().map(FunctionId)
}

/// The base of what an address points into, and how far into it.
pub fn split(address: u64) -> (u64, i64) {
    let mask = (1 << OFFSET_BITS) - 1;
    let base = (address & !mask) | MIDDLE;
    (base, (address & mask) as i64 - MIDDLE as i64)
}

/// The address that is `by` bytes further; it stays inside the offsets of what it points into.
pub fn advance(address: u64, by: i128) -> u64 {
    let mask = (1_u64 << OFFSET_BITS) - 1;
    let offset = (i128::from(address & mask) + by).clamp(0, i128::from(mask));
    (address & !mask) | offset as u64
}
