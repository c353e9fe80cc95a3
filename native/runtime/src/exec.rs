//! Replacing the program by another: `execve` and its relatives. The run ends there, for the other one is not this subject any more.

use crate::baton::wait_for;
use crate::next::{interpose, next};
use crate::runtime::runtime;
use crate::want::Want;
use abi::note::{End, Step};
use core::arch::naked_asm;
use core::ffi::{CStr, c_char};
use libc::c_int;

type Words = *const *const c_char;

/// Tries to become another program. The end of the run is written before, and taken back if that fails.
fn become_other(path: *const c_char, become_it: impl FnOnce() -> c_int) -> c_int {
    wait_for(Want::Nothing);
    let path = match path.is_null() {
        true => "a file".into(),
        // SAFETY: the caller gives a path that ends with a zero byte.
        false => unsafe { CStr::from_ptr(path) }.to_string_lossy(),
    };
    runtime().step(Step::System { what: format!("execute {path}") });
    let end = runtime().end_for_now(End::Exit { status: 0 });
    let result = become_it();
    runtime().take_back_end(end);
    result
}

interpose! {
    fn execve(path: *const c_char, words: Words, environment: Words) -> c_int {
        become_other(path, || next!(execve(path: *const c_char, words: Words, environment: Words) -> c_int))
    }
    fn execv(path: *const c_char, words: Words) -> c_int {
        become_other(path, || next!(execv(path: *const c_char, words: Words) -> c_int))
    }
    fn execvp(path: *const c_char, words: Words) -> c_int {
        become_other(path, || next!(execvp(path: *const c_char, words: Words) -> c_int))
    }
    fn execvpe(path: *const c_char, words: Words, environment: Words) -> c_int {
        become_other(path, || next!(execvpe(path: *const c_char, words: Words, environment: Words) -> c_int))
    }
    fn fexecve(file: c_int, words: Words, environment: Words) -> c_int {
        become_other(core::ptr::null(), || {
            next!(fexecve(file: c_int, words: Words, environment: Words) -> c_int)
        })
    }
    fn execveat(directory: c_int, path: *const c_char, words: Words, environment: Words, flags: c_int) -> c_int {
        become_other(path, || {
            next!(execveat(
                directory: c_int, path: *const c_char, words: Words, environment: Words, flags: c_int
            ) -> c_int)
        })
    }
}

/// The words of a call with any number of arguments, up to the null behind them, and what stands behind that.
struct Listed {
    words: Vec<*const c_char>,
    behind: *const c_char,
}

/// Those after the first are in five registers and then on the stack.
fn listed(registers: Words, stack: Words) -> Listed {
    // SAFETY: the arguments end with a null, by the contract of the C functions.
    let at = |index: usize| unsafe { if index < 5 { *registers.add(index) } else { *stack.add(index - 5) } };
    let mut words = vec![];
    while words.last().is_none_or(|last: &*const c_char| !last.is_null()) {
        words.push(at(words.len()));
    }
    let behind = at(words.len());
    Listed { words, behind }
}

/// Gives a function with any number of arguments to one that is told where they are.
macro_rules! with_list {
    ($($name:ident => $function:ident)*) => { $(
        /// As in C.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() {
            naked_asm!(
                "push r9", "push r8", "push rcx", "push rdx", "push rsi",
                "mov rsi, rsp",
                "lea rdx, [rsp + 48]",
                "call {function}",
                "add rsp, 40",
                "ret",
                function = sym $function,
            )
        }
    )* };
}

with_list! {
    execl => execute_list
    execlp => execute_found_list
    execle => execute_list_with_environment
}

extern "C" fn execute_list(path: *const c_char, registers: Words, stack: Words) -> c_int {
    execv(path, listed(registers, stack).words.as_ptr())
}

extern "C" fn execute_found_list(path: *const c_char, registers: Words, stack: Words) -> c_int {
    execvp(path, listed(registers, stack).words.as_ptr())
}

extern "C" fn execute_list_with_environment(path: *const c_char, registers: Words, stack: Words) -> c_int {
    let Listed { words, behind } = listed(registers, stack);
    execve(path, words.as_ptr(), behind.cast())
}
