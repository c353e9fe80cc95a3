//! What a file is, as far as blocking goes.

use crate::runtime::runtime;
use crate::sys;
use crate::want::Deadline;
use core::mem::{MaybeUninit, size_of};
use libc::{c_int, timeval};

/// What kind of file it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// One that never blocks: on a disk, or a device that always answers.
    Plain,
    /// `/dev/random` or `/dev/urandom`.
    Random,
    /// A pipe or a FIFO.
    Pipe,
    /// A socket with a stream of bytes.
    Stream,
    /// A socket with messages.
    Messages,
    /// A terminal, an event counter, a timer, or anything else that can be polled.
    Other,
}

/// An open file.
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// Its number.
    pub number: c_int,
    /// What it is.
    pub kind: Kind,
    /// Calls on it block.
    pub blocks: bool,
    /// Other processes can have it, or its other end.
    pub outside: bool,
    /// What comes from it does not come from this process.
    pub foreign: bool,
}

/// Files that the process was started with, by device and number of the inode.
pub struct Inherited(Vec<(u64, u64)>);

/// Of so many files it is found out whether the process was started with them.
const LOOKED_AT: c_int = 64;

impl Inherited {
    /// To be called before the program opens files.
    pub fn find() -> Inherited {
        let identity = |number| status(number).map(|status| (status.st_dev, status.st_ino));
        Inherited((0..LOOKED_AT).filter_map(identity).collect())
    }
}

fn status(number: c_int) -> Option<libc::stat> {
    let mut status = MaybeUninit::<libc::stat>::uninit();
    let arguments = [number as usize, status.as_mut_ptr() as usize, 0, 0, 0, 0];
    // SAFETY: the kernel fills it in if it does not answer with an error.
    (sys::call(libc::SYS_fstat, arguments) == 0).then(|| unsafe { status.assume_init() })
}

/// The devices of random numbers, and `/dev/null`, `/dev/zero`, `/dev/full`: major 1.
const MEMORY_DEVICES: u32 = 1;

fn device(status: &libc::stat) -> Kind {
    match (libc::major(status.st_rdev), libc::minor(status.st_rdev)) {
        (MEMORY_DEVICES, 8 | 9) => Kind::Random,
        (MEMORY_DEVICES, _) => Kind::Plain,
        _ => Kind::Other,
    }
}

/// The file of a number; `None` if there is none.
pub fn file(number: c_int) -> Option<File> {
    let status = status(number)?;
    let kind = match status.st_mode & libc::S_IFMT {
        libc::S_IFREG | libc::S_IFDIR | libc::S_IFBLK => Kind::Plain,
        libc::S_IFIFO => Kind::Pipe,
        libc::S_IFCHR => device(&status),
        libc::S_IFSOCK => match option(number, libc::SO_TYPE) {
            Some(libc::SOCK_STREAM) => Kind::Stream,
            _ => Kind::Messages,
        },
        _ => Kind::Other,
    };
    let blocks =
        !matches!(kind, Kind::Plain | Kind::Random) && flags(number) & libc::O_NONBLOCK as isize == 0;
    let runtime = runtime();
    let inherited = runtime.inherited.0.contains(&(status.st_dev, status.st_ino));
    let outside = runtime.is_child || runtime.pids.has_children() || inherited;
    let network = status.st_mode & libc::S_IFMT == libc::S_IFSOCK
        && matches!(option(number, libc::SO_DOMAIN), Some(libc::AF_INET | libc::AF_INET6));
    let foreign = outside || network || kind == Kind::Plain;
    Some(File { number, kind, blocks, outside, foreign })
}

/// The file of a queue of messages. It looks like one on a disk, and blocks.
pub fn queue(number: c_int) -> Option<File> {
    let blocks = flags(number) & libc::O_NONBLOCK as isize == 0;
    file(number).filter(|_| blocks).map(|file| File { kind: Kind::Other, blocks, ..file })
}

fn flags(number: c_int) -> isize {
    sys::call(libc::SYS_fcntl, [number as usize, libc::F_GETFL as usize, 0, 0, 0, 0])
}

/// A file on which calls block.
pub fn blocking(number: c_int) -> Option<File> {
    file(number).filter(|file| file.blocks)
}

/// An option of a socket that is a number.
pub fn option(number: c_int, name: c_int) -> Option<c_int> {
    let (mut value, mut bytes) = (0 as c_int, size_of::<c_int>() as u32);
    let arguments = [
        number as usize,
        libc::SOL_SOCKET as usize,
        name as usize,
        &raw mut value as usize,
        &raw mut bytes as usize,
        0,
    ];
    (sys::call(libc::SYS_getsockopt, arguments) == 0).then_some(value)
}

/// When calls on a socket give up: `SO_RCVTIMEO` or `SO_SNDTIMEO`.
pub fn time_out(file: &File, name: c_int) -> Deadline {
    if !matches!(file.kind, Kind::Stream | Kind::Messages) {
        return None;
    }
    let mut time = timeval { tv_sec: 0, tv_usec: 0 };
    let mut bytes = size_of::<timeval>() as u32;
    let arguments = [
        file.number as usize,
        libc::SOL_SOCKET as usize,
        name as usize,
        &raw mut time as usize,
        &raw mut bytes as usize,
        0,
    ];
    if sys::call(libc::SYS_getsockopt, arguments) != 0 || (time.tv_sec == 0 && time.tv_usec == 0) {
        return None;
    }
    super::after(time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000)
}

/// Makes a call with the file in non-blocking mode.
pub fn without_blocking(number: c_int, call: impl FnOnce() -> isize) -> isize {
    let set = |flags: isize| {
        sys::call(libc::SYS_fcntl, [number as usize, libc::F_SETFL as usize, flags as usize, 0, 0, 0])
    };
    let before = flags(number);
    set(before | libc::O_NONBLOCK as isize);
    let result = call();
    set(before);
    result
}
