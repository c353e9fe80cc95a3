//! Ports: a program that lets the kernel choose one gets the same one in every run, if it is free.
//!
//! Where the search for a free port begins depends on the program's path and on how many the thread has asked for, so that
//! different programs that run at once hardly get into each other's way.

use crate::random;
use crate::sys;
use core::mem::size_of;
use libc::{c_int, sockaddr, sockaddr_in, sockaddr_in6, socklen_t};

/// Ports below those that the kernel chooses by itself.
const FIRST: u64 = 10_000;
const COUNT: u64 = 20_000;

/// How many ports are tried before the kernel chooses.
const TRIES: u64 = 64;

fn plain(number: c_int, name: usize, bytes: usize) -> isize {
    sys::call(libc::SYS_bind, [number as usize, name, bytes, 0, 0, 0])
}

/// Binds a socket to a name.
pub fn bind(number: c_int, name: *const sockaddr, bytes: socklen_t) -> isize {
    let bytes = bytes as usize;
    if name.is_null() || bytes < size_of::<sockaddr_in>() {
        return plain(number, name as usize, bytes);
    }
    // SAFETY: the caller gives so many bytes; the family comes first in all names.
    let family = c_int::from(unsafe { (*name).sa_family });
    let room = match family {
        libc::AF_INET => size_of::<sockaddr_in>(),
        libc::AF_INET6 if bytes >= size_of::<sockaddr_in6>() => size_of::<sockaddr_in6>(),
        _ => return plain(number, name as usize, bytes),
    };
    let mut copy = [0u8; size_of::<sockaddr_in6>()];
    // SAFETY: as above.
    unsafe { core::ptr::copy_nonoverlapping(name.cast::<u8>(), copy.as_mut_ptr(), room) };
    // In both families the port is the second word of 16 bits, the high byte first.
    if copy[2..4] != [0, 0] {
        return plain(number, name as usize, bytes);
    }
    // Connections of an earlier run may still be known under this port.
    let yes: c_int = 1;
    let option = [
        number as usize,
        libc::SOL_SOCKET as usize,
        libc::SO_REUSEADDR as usize,
        &raw const yes as usize,
        size_of::<c_int>(),
        0,
    ];
    sys::call(libc::SYS_setsockopt, option);
    let start = random::program() ^ random::number();
    for further in 0..TRIES {
        let port = (FIRST + start.wrapping_add(further) % COUNT) as u16;
        copy[2..4].copy_from_slice(&port.to_be_bytes());
        let result = plain(number, copy.as_ptr() as usize, room);
        if result != -(libc::EADDRINUSE as isize) {
            return result;
        }
    }
    plain(number, name as usize, bytes)
}
