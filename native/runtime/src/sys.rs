//! The system without the C library: its functions are the ones that the runtime takes over.

use core::arch::asm;
use libc::c_long;

/// A system call; negative results are errors.
pub fn call(number: c_long, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    let result: isize;
    // SAFETY: the callers below pass what the kernel expects; the kernel clobbers rcx and r11 only.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
            options(nostack)
        );
    }
    result
}

/// The address that tells the running thread from all others.
#[inline]
pub fn thread_pointer() -> usize {
    let pointer: usize;
    // SAFETY: the word at fs:0 is the thread's own address, by the ABI of thread-local storage.
    unsafe { asm!("mov {}, fs:0", out(reg) pointer, options(nostack, pure, readonly, preserves_flags)) };
    pointer
}

/// The kernel's number of this process.
pub fn process() -> libc::pid_t {
    call(libc::SYS_getpid, [0; 6]) as libc::pid_t
}

/// The kernel's number of its parent.
pub fn parent_process() -> libc::pid_t {
    call(libc::SYS_getppid, [0; 6]) as libc::pid_t
}

/// The kernel's number of the running thread.
pub fn thread() -> libc::pid_t {
    call(libc::SYS_gettid, [0; 6]) as libc::pid_t
}

/// Really sends a signal to the running thread.
pub fn kill_self(signal: i32) {
    call(libc::SYS_tgkill, [process() as usize, thread() as usize, signal as usize, 0, 0, 0]);
}

/// Real time, in nanoseconds since some point.
pub fn now() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    call(libc::SYS_clock_gettime, [libc::CLOCK_MONOTONIC as usize, &raw mut now as usize, 0, 0, 0, 0]);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Writes to the standard error output.
pub fn say(text: &str) {
    write_all(2, text.as_bytes());
}

/// Writes all bytes; false if that fails.
pub fn write_all(file: i32, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        let written = call(libc::SYS_write, [file as usize, bytes.as_ptr() as usize, bytes.len(), 0, 0, 0]);
        if written == -(libc::EINTR as isize) {
            continue;
        }
        let Ok(written) = usize::try_from(written) else { return false };
        bytes = bytes.get(written..).unwrap_or_default();
    }
    true
}

/// Reads until there are so many bytes; false if that fails, or there are no more.
pub fn read_all(file: i32, mut into: &mut [u8]) -> bool {
    while !into.is_empty() {
        let read = call(libc::SYS_read, [file as usize, into.as_mut_ptr() as usize, into.len(), 0, 0, 0]);
        match usize::try_from(read) {
            Ok(0) => return false,
            Ok(read) => into = into.get_mut(read..).unwrap_or_default(),
            Err(_) if read == -(libc::EINTR as isize) => {}
            Err(_) => return false,
        }
    }
    true
}

/// Says what went wrong and ends the process.
pub fn die(text: &str) -> ! {
    say("threadbare: ");
    say(text);
    say("\n");
    exit_group(70)
}

/// Ends the process at once.
pub fn exit_group(status: i32) -> ! {
    loop {
        call(libc::SYS_exit_group, [status as usize, 0, 0, 0, 0, 0]);
    }
}

/// Fresh memory, at `address` if that is not 0; `None` if the system has none there.
pub fn map(address: usize, bytes: usize) -> Option<usize> {
    let fixed = if address == 0 { 0 } else { libc::MAP_FIXED_NOREPLACE };
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | fixed;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let at = call(libc::SYS_mmap, [address, bytes, protection as usize, flags as usize, usize::MAX, 0]);
    usize::try_from(at).ok()
}

/// A file, shared with it, in place of what is at the address.
pub fn map_file(address: usize, file: i32, bytes: usize) -> bool {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_SHARED | libc::MAP_FIXED;
    let arguments = [address, bytes, protection as usize, flags as usize, file as usize, 0];
    call(libc::SYS_mmap, arguments) == address as isize
}

/// Gives memory back.
pub fn unmap(address: usize, bytes: usize) {
    call(libc::SYS_munmap, [address, bytes, 0, 0, 0, 0]);
}

/// Waits until the word is no longer `value`, or somebody wakes; may return early.
pub fn futex_wait(word: &core::sync::atomic::AtomicU32, value: u32) {
    let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    call(libc::SYS_futex, [word.as_ptr() as usize, operation as usize, value as usize, 0, 0, 0]);
}

/// Wakes one thread that waits at the word.
pub fn futex_wake(word: &core::sync::atomic::AtomicU32) {
    let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    call(libc::SYS_futex, [word.as_ptr() as usize, operation as usize, 1, 0, 0, 0]);
}

/// The content of a file whose path ends with a zero byte, unless it cannot be read.
pub fn read_file(path: &core::ffi::CStr) -> Option<Vec<u8>> {
    let file = open(path, libc::O_RDONLY)?;
    let mut content = vec![0; 4096];
    let mut filled = 0;
    loop {
        if filled == content.len() {
            content.resize(2 * filled, 0);
        }
        let rest = &mut content[filled..];
        let read = call(libc::SYS_read, [file as usize, rest.as_mut_ptr() as usize, rest.len(), 0, 0, 0]);
        match usize::try_from(read) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(_) if read == -(libc::EINTR as isize) => {}
            Err(_) => {
                close(file);
                return None;
            }
        }
    }
    close(file);
    content.truncate(filled);
    Some(content)
}

/// Opens a file; what it creates is for its owner only.
pub fn open(path: &core::ffi::CStr, flags: i32) -> Option<i32> {
    let flags = (flags | libc::O_CLOEXEC) as usize;
    let at = libc::AT_FDCWD as usize;
    i32::try_from(call(libc::SYS_openat, [at, path.as_ptr() as usize, flags, 0o600, 0, 0]))
        .ok()
        .filter(|file| *file >= 0)
}

/// What a link leads to; empty if that cannot be read.
pub fn read_link(path: &core::ffi::CStr) -> Vec<u8> {
    let mut target = vec![0u8; libc::PATH_MAX as usize];
    let at = libc::AT_FDCWD as usize;
    let arguments = [at, path.as_ptr() as usize, target.as_mut_ptr() as usize, target.len(), 0, 0];
    let length = usize::try_from(call(libc::SYS_readlinkat, arguments)).unwrap_or(0);
    target.truncate(length);
    target
}

/// Closes a file.
pub fn close(file: i32) {
    call(libc::SYS_close, [file as usize, 0, 0, 0, 0, 0]);
}

/// Sets the length of a file.
pub fn set_length(file: i32, bytes: u64) -> bool {
    call(libc::SYS_ftruncate, [file as usize, bytes as usize, 0, 0, 0, 0]) == 0
}
