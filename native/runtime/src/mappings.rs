//! Memory that the program maps by itself: `mmap` and its relatives.
//!
//! Where the kernel would choose the address, it is the next one of the running thread's own area, so that it depends on what this thread
//! mapped before and on nothing else. Addresses are not used twice. A mapping is an allocation.

use crate::baton::wait_for;
use crate::calls::answer;
use crate::next::interpose;
use crate::place;
use crate::runtime::runtime;
use crate::sys;
use crate::want::Want;
use abi::note::Step;
use core::ffi::c_void;
use libc::{c_int, off_t};

const PAGE: usize = 4096;

/// The kernel chooses an address below 2 GiB.
const BELOW: c_int = libc::MAP_32BIT;

/// Room for so many bytes in the running thread's area, with a page between it and the last one.
fn room(bytes: usize) -> Option<usize> {
    let thread = runtime().me();
    let (start, size) = place::mappings(thread.slot);
    let at = if thread.next_mapping == 0 { start } else { thread.next_mapping };
    let bytes = bytes.checked_next_multiple_of(PAGE)?.checked_add(PAGE)?;
    if bytes > (start + size).checked_sub(at)? {
        return None;
    }
    thread.next_mapping = at + bytes;
    Some(at)
}

fn map(address: usize, bytes: usize, protection: c_int, flags: c_int, file: c_int, offset: off_t) -> usize {
    wait_for(Want::Nothing);
    let call = |address: usize, flags: c_int| {
        let arguments = [address, bytes, protection as usize, flags as usize, file as usize, offset as usize];
        sys::call(libc::SYS_mmap, arguments)
    };
    let chosen = match address {
        0 if flags & (libc::MAP_FIXED | BELOW) == 0 && bytes > 0 => room(bytes),
        _ => None,
    };
    let mut result = match chosen {
        Some(at) => call(at, flags | libc::MAP_FIXED_NOREPLACE),
        None => call(address, flags),
    };
    if result < 0 && chosen.is_some() {
        result = call(address, flags);
    }
    if result > 0 {
        let (address, bytes) = (result as u64, bytes as u64);
        runtime().mapped.push(address);
        runtime().allocation(Step::Alloc { address, bytes }, address, bytes);
    }
    answer(result) as usize
}

fn unmapped(address: usize, bytes: usize) {
    let mapped = &mut runtime().mapped;
    if let Some(at) = mapped.iter().position(|&known| known == address as u64) {
        mapped.swap_remove(at);
        runtime().allocation(Step::Free { address: address as u64 }, address as u64, bytes as u64);
    }
}

interpose! {
    fn mmap(address: usize, bytes: usize, protection: c_int, flags: c_int, file: c_int, offset: off_t) -> usize {
        map(address, bytes, protection, flags, file, offset)
    }
    fn mmap64(address: usize, bytes: usize, protection: c_int, flags: c_int, file: c_int, offset: off_t) -> usize {
        map(address, bytes, protection, flags, file, offset)
    }
    fn munmap(address: usize, bytes: usize) -> c_int {
        wait_for(Want::Nothing);
        let result = sys::call(libc::SYS_munmap, [address, bytes, 0, 0, 0, 0]);
        if result == 0 {
            unmapped(address, bytes);
        }
        answer(result) as c_int
    }
    // Variadic in C; on x86-64 a fifth argument is passed just like this.
    fn mremap(old: *mut c_void, bytes: usize, new_bytes: usize, flags: c_int, new: *mut c_void) -> usize {
        wait_for(Want::Nothing);
        let call = |flags: c_int, new: usize| {
            sys::call(libc::SYS_mremap, [old as usize, bytes, new_bytes, flags as usize, new, 0])
        };
        let moves = flags & libc::MREMAP_MAYMOVE != 0 && flags & libc::MREMAP_FIXED == 0;
        let mut result = call(if moves { 0 } else { flags }, new as usize);
        if result < 0 && moves {
            result = match room(new_bytes) {
                Some(at) => call(flags | libc::MREMAP_FIXED, at),
                None => call(flags, 0),
            };
        }
        if result > 0 {
            unmapped(old as usize, bytes);
            let (address, bytes) = (result as u64, new_bytes as u64);
            runtime().mapped.push(address);
            runtime().allocation(Step::Alloc { address, bytes }, address, bytes);
        }
        answer(result) as usize
    }
}
