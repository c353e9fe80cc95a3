//! Sockets: `recv`, `send`, `accept`, `connect` and their relatives.

use super::file::{self, option, time_out, without_blocking};
use super::parts::Parts;
use super::read::Reader;
use super::write::Writer;
use super::{Waited, done, point, retry, wait_for_file};
use crate::next::{interpose, next};
use crate::{ports, sys};
use core::ffi::c_void;
use libc::{POLLIN, POLLOUT, c_int, c_uint, iovec, mmsghdr, msghdr, sockaddr, socklen_t, ssize_t, timespec};

/// A message with a name and one piece.
fn message(name: *mut sockaddr, name_bytes: socklen_t) -> msghdr {
    // SAFETY: all zeros are a message without anything.
    let mut message: msghdr = unsafe { core::mem::zeroed() };
    message.msg_name = name.cast();
    message.msg_namelen = if name.is_null() { 0 } else { name_bytes };
    message
}

fn receive_from(
    number: c_int,
    parts: Parts,
    flags: c_int,
    name: *mut sockaddr,
    name_bytes: *mut socklen_t,
) -> ssize_t {
    // SAFETY: the caller gives the length with the name.
    let room = if name.is_null() || name_bytes.is_null() { 0 } else { unsafe { *name_bytes } };
    Reader { what: "recv", number, flags }.read(parts, |parts, flags| {
        let mut message = message(name, room);
        (message.msg_iov, message.msg_iovlen) = (parts.list().0 as *mut iovec, parts.list().1);
        let arguments = [number as usize, &raw mut message as usize, flags as usize, 0, 0, 0];
        let result = sys::call(libc::SYS_recvmsg, arguments);
        if result >= 0 && room > 0 {
            // SAFETY: as above.
            unsafe { *name_bytes = message.msg_namelen };
        }
        result
    })
}

fn send_to(
    number: c_int,
    parts: Parts,
    flags: c_int,
    name: *const sockaddr,
    name_bytes: socklen_t,
) -> ssize_t {
    Writer { what: "send", number, flags }.write(parts, |parts, flags, _| {
        let mut message = message(name.cast_mut(), name_bytes);
        (message.msg_iov, message.msg_iovlen) = (parts.list().0 as *mut iovec, parts.list().1);
        let arguments = [number as usize, &raw const message as usize, flags as usize, 0, 0, 0];
        sys::call(libc::SYS_sendmsg, arguments)
    })
}

fn receive_message(number: c_int, given: *mut msghdr, flags: c_int) -> ssize_t {
    // SAFETY: the caller gives a message.
    let parts = unsafe { Parts::listed((*given).msg_iov, (*given).msg_iovlen) };
    Reader { what: "recvmsg", number, flags }.read(parts, |parts, flags| {
        // SAFETY: as above. The kernel fills in what is not the list.
        unsafe {
            let mut message = *given;
            (message.msg_iov, message.msg_iovlen) = (parts.list().0 as *mut iovec, parts.list().1);
            let arguments = [number as usize, &raw mut message as usize, flags as usize, 0, 0, 0];
            let result = sys::call(libc::SYS_recvmsg, arguments);
            if result >= 0 {
                (message.msg_iov, message.msg_iovlen) = ((*given).msg_iov, (*given).msg_iovlen);
                *given = message;
            }
            result
        }
    })
}

fn send_message(number: c_int, given: *const msghdr, flags: c_int) -> ssize_t {
    // SAFETY: the caller gives a message.
    let parts = unsafe { Parts::listed((*given).msg_iov, (*given).msg_iovlen) };
    Writer { what: "sendmsg", number, flags }.write(parts, |parts, flags, first| {
        // SAFETY: as above.
        let mut message = unsafe { *given };
        (message.msg_iov, message.msg_iovlen) = (parts.list().0 as *mut iovec, parts.list().1);
        if !first {
            // What goes with the message went with its first bytes.
            (message.msg_control, message.msg_controllen) = (core::ptr::null_mut(), 0);
        }
        let arguments = [number as usize, &raw const message as usize, flags as usize, 0, 0, 0];
        sys::call(libc::SYS_sendmsg, arguments)
    })
}

fn accepted(number: c_int, name: *mut sockaddr, name_bytes: *mut socklen_t, flags: c_int) -> c_int {
    let arguments = [number as usize, name as usize, name_bytes as usize, flags as usize, 0, 0];
    let result = match file::blocking(number) {
        Some(file) => match wait_for_file(&file, POLLIN, time_out(&file, libc::SO_RCVTIMEO)) {
            Waited::Ready => sys::call(libc::SYS_accept4, arguments),
            Waited::Expired => -(libc::EAGAIN as isize),
            Waited::Interrupted => -(libc::EINTR as isize),
        },
        None => {
            point();
            sys::call(libc::SYS_accept4, arguments)
        }
    };
    done("accept", number, result) as c_int
}

fn connected(number: c_int, name: *const sockaddr, bytes: socklen_t) -> c_int {
    let connect = || sys::call(libc::SYS_connect, [number as usize, name as usize, bytes as usize, 0, 0, 0]);
    let Some(file) = file::blocking(number) else {
        point();
        return done("connect", number, connect()) as c_int;
    };
    let until = time_out(&file, libc::SO_SNDTIMEO);
    // A socket of this machine whose queue is full says so, and cannot be polled.
    let is_full = |result| result == -(libc::EAGAIN as isize);
    let mut result = retry(until, is_full, || without_blocking(number, connect));
    if result == -(libc::EINPROGRESS as isize) {
        result = match wait_for_file(&file, POLLOUT, until) {
            Waited::Ready => -(option(number, libc::SO_ERROR).unwrap_or(0) as isize),
            Waited::Expired => -(libc::EINPROGRESS as isize),
            Waited::Interrupted => -(libc::EINTR as isize),
        };
    }
    done("connect", number, result) as c_int
}

interpose! {
    fn recv(number: c_int, buffer: *mut c_void, bytes: usize, flags: c_int) -> ssize_t {
        let nobody = core::ptr::null_mut();
        receive_from(number, Parts::one(buffer as usize, bytes), flags, nobody, core::ptr::null_mut())
    }
    fn __recv_chk(number: c_int, buffer: *mut c_void, bytes: usize, room: usize, flags: c_int) -> ssize_t {
        if bytes > room {
            return next!(__recv_chk(
                number: c_int, buffer: *mut c_void, bytes: usize, room: usize, flags: c_int
            ) -> ssize_t);
        }
        recv(number, buffer, bytes, flags)
    }
    fn recvfrom(
        number: c_int,
        buffer: *mut c_void,
        bytes: usize,
        flags: c_int,
        name: *mut sockaddr,
        name_bytes: *mut socklen_t,
    ) -> ssize_t {
        receive_from(number, Parts::one(buffer as usize, bytes), flags, name, name_bytes)
    }
    fn __recvfrom_chk(
        number: c_int,
        buffer: *mut c_void,
        bytes: usize,
        room: usize,
        flags: c_int,
        name: *mut sockaddr,
        name_bytes: *mut socklen_t,
    ) -> ssize_t {
        if bytes > room {
            return next!(__recvfrom_chk(
                number: c_int,
                buffer: *mut c_void,
                bytes: usize,
                room: usize,
                flags: c_int,
                name: *mut sockaddr,
                name_bytes: *mut socklen_t
            ) -> ssize_t);
        }
        recvfrom(number, buffer, bytes, flags, name, name_bytes)
    }
    fn recvmsg(number: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
        receive_message(number, message, flags)
    }
    // At least one message, as if `MSG_WAITFORONE` were asked for: a caller must expect fewer than it has room for.
    fn recvmmsg(number: c_int, list: *mut mmsghdr, count: c_uint, flags: c_int, time: *mut timespec) -> c_int {
        let _ = time;
        let message = |at: usize| list.wrapping_add(at);
        for at in 0..count as usize {
            let more = if at == 0 { flags } else { flags | libc::MSG_DONTWAIT };
            // SAFETY: the caller gives so many messages.
            let bytes = receive_message(number, unsafe { &raw mut (*message(at)).msg_hdr }, more & !libc::MSG_WAITFORONE);
            if bytes < 0 {
                return if at == 0 { -1 } else { at as c_int };
            }
            // SAFETY: as above.
            unsafe { (*message(at)).msg_len = bytes as c_uint };
        }
        count as c_int
    }
    fn send(number: c_int, buffer: *const c_void, bytes: usize, flags: c_int) -> ssize_t {
        send_to(number, Parts::one(buffer as usize, bytes), flags, core::ptr::null(), 0)
    }
    fn __send(number: c_int, buffer: *const c_void, bytes: usize, flags: c_int) -> ssize_t {
        send(number, buffer, bytes, flags)
    }
    fn sendto(
        number: c_int,
        buffer: *const c_void,
        bytes: usize,
        flags: c_int,
        name: *const sockaddr,
        name_bytes: socklen_t,
    ) -> ssize_t {
        send_to(number, Parts::one(buffer as usize, bytes), flags, name, name_bytes)
    }
    fn sendmsg(number: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
        send_message(number, message, flags)
    }
    fn sendmmsg(number: c_int, list: *mut mmsghdr, count: c_uint, flags: c_int) -> c_int {
        for at in 0..count as usize {
            let message = list.wrapping_add(at);
            // SAFETY: the caller gives so many messages.
            let bytes = send_message(number, unsafe { &raw const (*message).msg_hdr }, flags);
            if bytes < 0 {
                return if at == 0 { -1 } else { at as c_int };
            }
            // SAFETY: as above.
            unsafe { (*message).msg_len = bytes as c_uint };
        }
        count as c_int
    }
    fn accept(number: c_int, name: *mut sockaddr, name_bytes: *mut socklen_t) -> c_int {
        accepted(number, name, name_bytes, 0)
    }
    fn accept4(number: c_int, name: *mut sockaddr, name_bytes: *mut socklen_t, flags: c_int) -> c_int {
        accepted(number, name, name_bytes, flags)
    }
    fn connect(number: c_int, name: *const sockaddr, bytes: socklen_t) -> c_int { connected(number, name, bytes) }
    fn __connect(number: c_int, name: *const sockaddr, bytes: socklen_t) -> c_int { connected(number, name, bytes) }
    fn shutdown(number: c_int, how: c_int) -> c_int {
        point();
        done("shutdown", number, sys::call(libc::SYS_shutdown, [number as usize, how as usize, 0, 0, 0, 0])) as c_int
    }
    fn bind(number: c_int, name: *const sockaddr, bytes: socklen_t) -> c_int {
        point();
        done("bind", number, ports::bind(number, name, bytes)) as c_int
    }
    fn listen(number: c_int, most: c_int) -> c_int {
        point();
        done("listen", number, sys::call(libc::SYS_listen, [number as usize, most as usize, 0, 0, 0, 0])) as c_int
    }
}
