//! What functions of the C library read that is known of them (`abi::model`).

use crate::runtime::{active, runtime};
use abi::model::{ARGUMENTS, Extent, MODELS};
use core::ffi::c_char;

/// Notes what a call has read that was just made at `site`, of a function by its number.
///
/// # Safety
/// The arguments, and the result, are those of the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tb_touched(site: u64, model: u64, a: u64, b: u64, c: u64, result: u64) {
    if !active() {
        return;
    }
    let Some(model) = MODELS.get(model as usize) else { return };
    let arguments: [u64; ARGUMENTS] = [a, b, c];
    for &(argument, extent) in model.reads {
        let address = arguments[argument];
        // SAFETY: the function has read at least so far.
        let content = unsafe {
            match count(extent, address, arguments, result) {
                0 => &[][..],
                count => core::slice::from_raw_parts(address as *const u8, count),
            }
        };
        runtime().bytes(site as u32, address, content);
    }
}

/// How many bytes were read at an address.
///
/// # Safety
/// As above.
unsafe fn count(extent: Extent, address: u64, arguments: [u64; ARGUMENTS], result: u64) -> usize {
    // SAFETY: as above.
    let text = |most: u64| match unsafe { libc::strnlen(address as *const c_char, most as usize) } as u64 {
        length if length < most => length + 1,
        _ => most,
    };
    let found = || (result != 0).then(|| result.wrapping_sub(address).wrapping_add(1));
    let count = match extent {
        Extent::Bytes(n) => arguments[n],
        Extent::Text => text(u64::MAX),
        Extent::TextUpTo(n) => text(arguments[n]),
        Extent::Counted => result + 1,
        Extent::FoundIn(n) => found().unwrap_or(arguments[n]),
        Extent::FoundInText => found().unwrap_or_else(|| text(u64::MAX)),
        Extent::Common { case, up_to } => {
            let most = up_to.map_or(u64::MAX, |n| arguments[n]);
            let last = |n: u64| {
                // SAFETY: as above, of both.
                let (mut one, mut other) = unsafe { (byte(arguments[0], n), byte(arguments[1], n)) };
                if !case {
                    one.make_ascii_lowercase();
                    other.make_ascii_lowercase();
                }
                one != other || one == 0
            };
            (0..most).find(|&n| last(n)).map_or(most, |n| n + 1)
        }
    };
    count as usize
}

/// # Safety
/// It may be read.
unsafe fn byte(address: u64, n: u64) -> u8 {
    // SAFETY: the caller's promise.
    unsafe { *(address as *const u8).add(n as usize) }
}
