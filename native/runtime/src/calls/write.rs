//! Writing: `write`, `writev`, and the sending half of sockets.

use super::file::{self, File, Kind, time_out, without_blocking};
use super::parts::Parts;
use super::{Restart, Waited, done, point, wait, wait_for_file};
use crate::io::{Wait, What};
use crate::next::interpose;
use crate::sys;
use core::ffi::c_void;
use libc::{POLLOUT, c_int, iovec, msghdr, ssize_t};

/// A pipe that says that it has room takes so many bytes at once, without blocking.
const PIPE: usize = 4096;

/// How a call hands what it writes to the kernel.
pub struct Writer<'call> {
    /// Its name.
    pub what: &'call str,
    /// The file.
    pub number: c_int,
    /// Flags of `send`.
    pub flags: c_int,
}

impl Writer<'_> {
    /// Writes the parts by a call that is given the list and the flags, and whether it is the first one.
    pub fn write(&self, parts: Parts, call: impl Fn(&Parts, c_int, bool) -> isize) -> ssize_t {
        let result = match file::file(self.number) {
            // What everybody writes to is written by everybody in turn, whoever reads it.
            Some(file) if file.blocks && self.flags & libc::MSG_DONTWAIT == 0 && !self.is_output(&file) => {
                self.wait_and_write(&file, &parts, call)
            }
            _ => {
                point();
                call(&parts, self.flags, true)
            }
        };
        done(self.what, self.number, result)
    }

    /// Whether this is the output that the process was started with: who reads it is no matter of the schedule.
    fn is_output(&self, file: &File) -> bool {
        file.outside && matches!(self.number, 1 | 2)
    }

    fn wait_and_write(
        &self,
        file: &File,
        parts: &Parts,
        call: impl Fn(&Parts, c_int, bool) -> isize,
    ) -> isize {
        let until = time_out(file, libc::SO_SNDTIMEO);
        let all = parts.bytes();
        let mut so_far = 0;
        loop {
            let error = match wait_for_file(file, POLLOUT, until) {
                Waited::Ready => match self.write_some(file, parts, so_far, &call) {
                    result if result == -(libc::EAGAIN as isize) => match self.wait_for_change(file) {
                        Waited::Interrupted => -(libc::EINTR as isize),
                        _ => continue,
                    },
                    result if result < 0 => result,
                    result => {
                        so_far += result;
                        if so_far as usize >= all || !matches!(file.kind, Kind::Pipe | Kind::Stream) {
                            return so_far;
                        }
                        continue;
                    }
                },
                Waited::Expired => -(libc::EAGAIN as isize),
                Waited::Interrupted => -(libc::EINTR as isize),
            };
            return if so_far > 0 { so_far } else { error };
        }
    }

    /// One call that does not block.
    fn write_some(
        &self,
        file: &File,
        parts: &Parts,
        so_far: isize,
        call: &impl Fn(&Parts, c_int, bool) -> isize,
    ) -> isize {
        let mut rest = parts.first(parts.bytes());
        rest.advance(so_far as usize);
        let first = so_far == 0;
        match file.kind {
            Kind::Pipe => call(&rest.first(PIPE), self.flags, first),
            Kind::Stream | Kind::Messages => call(&rest, self.flags | libc::MSG_DONTWAIT, first),
            // An event counter that is nearly full says that it has room, and blocks all the same.
            _ => without_blocking(self.number, || call(&rest, self.flags, first)),
        }
    }

    /// The file said that it was ready, and was not.
    fn wait_for_change(&self, file: &File) -> Waited {
        wait(&Wait { what: What::Change, outside: file.outside }, None, Restart::Yes)
    }
}

fn write_parts(what: &str, number: c_int, parts: Parts) -> ssize_t {
    let socket = file::file(number).is_some_and(|file| matches!(file.kind, Kind::Stream | Kind::Messages));
    let writer = Writer { what, number, flags: 0 };
    writer.write(parts, |parts, flags, _| match socket {
        true => send(number, parts, flags),
        false => {
            let (list, count) = parts.list();
            sys::call(libc::SYS_writev, [number as usize, list, count, 0, 0, 0])
        }
    })
}

/// `sendmsg` without a name.
fn send(number: c_int, parts: &Parts, flags: c_int) -> isize {
    // SAFETY: all zeros are a message without anything.
    let mut message: msghdr = unsafe { core::mem::zeroed() };
    let (list, count) = parts.list();
    message.msg_iov = list as *mut iovec;
    message.msg_iovlen = count;
    let arguments = [number as usize, &raw const message as usize, flags as usize, 0, 0, 0];
    sys::call(libc::SYS_sendmsg, arguments)
}

interpose! {
    fn write(number: c_int, buffer: *const c_void, bytes: usize) -> ssize_t {
        write_parts("write", number, Parts::one(buffer as usize, bytes))
    }
    fn __write(number: c_int, buffer: *const c_void, bytes: usize) -> ssize_t { write(number, buffer, bytes) }
    fn writev(number: c_int, list: *const iovec, count: c_int) -> ssize_t {
        write_parts("writev", number, Parts::listed(list, count.max(0) as usize))
    }
    fn eventfd_read(number: c_int, into: *mut u64) -> c_int {
        let read = super::read::read(number, into.cast(), size_of::<u64>());
        if read == size_of::<u64>() as isize { 0 } else { -1 }
    }
    fn eventfd_write(number: c_int, value: u64) -> c_int {
        let written = write(number, (&raw const value).cast(), size_of::<u64>());
        if written == size_of::<u64>() as isize { 0 } else { -1 }
    }
}
