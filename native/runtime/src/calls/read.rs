//! Reading: `read`, `readv`, and the receiving half of sockets.

use super::file::{self, File, Kind, time_out};
use super::parts::Parts;
use super::{Waited, answer, done, input, point, wait_for_file};
use crate::next::{interpose, next};
use crate::{random, sys, timers};
use core::ffi::c_void;
use libc::{POLLIN, c_int, iovec, msghdr, ssize_t};

/// How a call hands what it has read to the program.
pub struct Reader<'call> {
    /// Its name.
    pub what: &'call str,
    /// The file.
    pub number: c_int,
    /// Flags of `recv`.
    pub flags: c_int,
}

impl Reader<'_> {
    /// Reads into the parts by a call that is given the list and the flags.
    pub fn read(&self, parts: Parts, call: impl Fn(&Parts, c_int) -> isize) -> ssize_t {
        let found = file::file(self.number);
        let result = match found {
            Some(file) if file.kind == Kind::Random => {
                point();
                return self.random(&parts);
            }
            Some(file) if file.blocks && self.flags & (libc::MSG_DONTWAIT | libc::MSG_ERRQUEUE) == 0 => {
                self.wait_and_read(&file, &parts, call)
            }
            _ => {
                point();
                call(&parts, self.flags)
            }
        };
        if let Some(file) = found
            && file.foreign
            && result > 0
        {
            input(self.what, self.number, &parts.content(result as usize));
        }
        done(self.what, self.number, result)
    }

    fn wait_and_read(&self, file: &File, parts: &Parts, call: impl Fn(&Parts, c_int) -> isize) -> isize {
        let until = time_out(file, libc::SO_RCVTIMEO);
        let wanted = parts.bytes();
        let all = self.flags & libc::MSG_WAITALL != 0 && file.kind == Kind::Stream;
        let socket = matches!(file.kind, Kind::Stream | Kind::Messages);
        let mut so_far = 0;
        loop {
            let error = match wait_for_file(file, POLLIN, until) {
                Waited::Ready => {
                    let mut rest = parts.first(wanted);
                    rest.advance(so_far as usize);
                    let extra = if socket { libc::MSG_DONTWAIT } else { 0 };
                    match call(&rest, self.flags & !libc::MSG_WAITALL | extra) {
                        // Somebody else was faster.
                        result if result == -(libc::EAGAIN as isize) => continue,
                        result if result <= 0 => result,
                        result => {
                            so_far += result;
                            if !all || so_far as usize >= wanted || self.flags & libc::MSG_PEEK != 0 {
                                return so_far;
                            }
                            continue;
                        }
                    }
                }
                Waited::Expired => -(libc::EAGAIN as isize),
                Waited::Interrupted => -(libc::EINTR as isize),
            };
            return if so_far > 0 { so_far } else { error };
        }
    }

    fn random(&self, parts: &Parts) -> ssize_t {
        let bytes = parts.bytes();
        let content = random::bytes(bytes);
        let mut rest = parts.first(bytes);
        for byte in content {
            let (list, count) = rest.list();
            if count == 0 {
                break;
            }
            // SAFETY: the list has a first piece, with at least one byte.
            unsafe { *(*(list as *const iovec)).iov_base.cast::<u8>() = byte };
            rest.advance(1);
        }
        done(self.what, self.number, bytes as isize)
    }
}

fn read_parts(what: &str, number: c_int, parts: Parts) -> ssize_t {
    let socket = file::file(number).is_some_and(|file| matches!(file.kind, Kind::Stream | Kind::Messages));
    let reader = Reader { what, number, flags: 0 };
    reader.read(parts, |parts, flags| {
        let (list, count) = parts.list();
        match socket {
            true => receive(number, parts, flags),
            false => {
                let result = sys::call(libc::SYS_readv, [number as usize, list, count, 0, 0, 0]);
                tell_timer(number, parts, result);
                result
            }
        }
    })
}

/// Of a timer's file the kernel has only told that it went off; how often, we know.
fn tell_timer(number: c_int, parts: &Parts, result: isize) {
    if result == size_of::<u64>() as isize
        && let Some(count) = timers::count_of_file(number)
    {
        let (list, _) = parts.list();
        // SAFETY: the kernel has just written eight bytes there.
        unsafe { (*(list as *const iovec)).iov_base.cast::<u64>().write_unaligned(count) };
    }
}

/// `recvmsg` without a name.
fn receive(number: c_int, parts: &Parts, flags: c_int) -> isize {
    // SAFETY: all zeros are a message without anything.
    let mut message: msghdr = unsafe { core::mem::zeroed() };
    let (list, count) = parts.list();
    message.msg_iov = list as *mut iovec;
    message.msg_iovlen = count;
    let arguments = [number as usize, &raw mut message as usize, flags as usize, 0, 0, 0];
    sys::call(libc::SYS_recvmsg, arguments)
}

interpose! {
    fn read(number: c_int, buffer: *mut c_void, bytes: usize) -> ssize_t {
        if bytes == 0 {
            point();
            return answer(sys::call(libc::SYS_read, [number as usize, buffer as usize, 0, 0, 0, 0]));
        }
        read_parts("read", number, Parts::one(buffer as usize, bytes))
    }
    fn __read(number: c_int, buffer: *mut c_void, bytes: usize) -> ssize_t { read(number, buffer, bytes) }
    fn __read_chk(number: c_int, buffer: *mut c_void, bytes: usize, room: usize) -> ssize_t {
        if bytes > room {
            return next!(__read_chk(number: c_int, buffer: *mut c_void, bytes: usize, room: usize) -> ssize_t);
        }
        read(number, buffer, bytes)
    }
    fn readv(number: c_int, list: *const iovec, count: c_int) -> ssize_t {
        let parts = Parts::listed(list, count.max(0) as usize);
        if parts.bytes() == 0 {
            return next!(readv(number: c_int, list: *const iovec, count: c_int) -> ssize_t);
        }
        read_parts("readv", number, parts)
    }
}
