//! What programs say about themselves: `threadbare.h`, and the names of the software verification competition (SV-COMP).

use crate::baton::wait_for;
use crate::runtime::{active, runtime};
use crate::sys;
use crate::want::Want;
use abi::note::{End, Step};
use core::ffi::{CStr, c_char, c_int, c_uint};

/// A block begins that is meant to be atomic.
#[unsafe(no_mangle)]
pub extern "C" fn __tb_transaction_begin() {
    if active() {
        runtime().step(Step::TransactionBegin);
    }
}

/// It ends.
#[unsafe(no_mangle)]
pub extern "C" fn __tb_transaction_end() {
    if active() {
        runtime().step(Step::TransactionEnd);
    }
}

/// A condition of `TB_ASSERT` does not hold.
///
/// # Safety
/// Both texts end with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tb_assert_failed(text: *const c_char, file: *const c_char, line: c_int) -> ! {
    // SAFETY: the caller's promise.
    let (text, file) = unsafe { (CStr::from_ptr(text), CStr::from_ptr(file)) };
    fail(&format!("{}:{line}: TB_ASSERT({}) does not hold", file.to_string_lossy(), text.to_string_lossy()))
}

/// An assertion failed: ends the process as `abort` would.
pub fn fail(text: &str) -> ! {
    sys::say(text);
    sys::say("\n");
    if active() {
        wait_for(Want::Nothing);
        runtime().step(Step::AssertFailed { text: text.into() });
        runtime().end(End::Signal(libc::SIGABRT));
    }
    // SAFETY: the function has no preconditions.
    unsafe { libc::abort() }
}

/// The C library's `assert` comes here.
///
/// # Safety
/// The texts end with zero bytes; the last may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __assert_fail(
    text: *const c_char,
    file: *const c_char,
    line: c_uint,
    function: *const c_char,
) -> ! {
    let words = |text: *const c_char| {
        if text.is_null() {
            return String::new();
        }
        // SAFETY: the caller's promise.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    };
    let (text, file, function) = (words(text), words(file), words(function));
    fail(&format!("{file}:{line}: {function}: Assertion `{text}' failed."))
}

/// Nobody else runs from here on. Blocks may be nested.
#[unsafe(no_mangle)]
pub extern "C" fn __VERIFIER_atomic_begin() {
    if !active() {
        return;
    }
    wait_for(Want::Nothing);
    let runtime = runtime();
    let depth = runtime.exclusive.map_or(0, |(_, depth)| depth);
    runtime.exclusive = Some((runtime.current, depth + 1));
    if depth == 0 {
        runtime.step(Step::ExclusiveBegin);
    }
}

/// Others may run again.
#[unsafe(no_mangle)]
pub extern "C" fn __VERIFIER_atomic_end() {
    if !active() {
        return;
    }
    let runtime = runtime();
    match runtime.exclusive {
        Some((holder, depth)) if depth > 1 => runtime.exclusive = Some((holder, depth - 1)),
        _ => {
            runtime.exclusive = None;
            runtime.step(Step::ExclusiveEnd);
        }
    }
}

/// The next value that the plan gives, or 0.
fn input() -> u64 {
    if !active() {
        return 0;
    }
    let runtime = runtime();
    if runtime.plan.inputs.is_empty() { 0 } else { runtime.plan.inputs.remove(0) }
}

macro_rules! inputs {
    ($($name:ident: $type:ty,)*) => { $(
        /// A value that the environment gives.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> $type { input() as $type }
    )* };
}

inputs! {
    __VERIFIER_nondet_char: i8,
    __VERIFIER_nondet_uchar: u8,
    __VERIFIER_nondet_short: i16,
    __VERIFIER_nondet_ushort: u16,
    __VERIFIER_nondet_int: i32,
    __VERIFIER_nondet_uint: u32,
    __VERIFIER_nondet_unsigned: u32,
    __VERIFIER_nondet_long: i64,
    __VERIFIER_nondet_ulong: u64,
    __VERIFIER_nondet_longlong: i64,
    __VERIFIER_nondet_ulonglong: u64,
    __VERIFIER_nondet_size_t: usize,
    __VERIFIER_nondet_pointer: usize,
    __VERIFIER_nondet_double: f64,
    __VERIFIER_nondet_float: f32,
}

/// A boolean that the environment gives.
#[unsafe(no_mangle)]
pub extern "C" fn __VERIFIER_nondet_bool() -> bool {
    input() != 0
}

/// The run is not looked at unless the condition holds.
#[unsafe(no_mangle)]
pub extern "C" fn __VERIFIER_assume(condition: c_int) {
    if condition == 0 {
        if active() {
            runtime().end(End::Unsupported("an assumption does not hold".into()));
        }
        sys::exit_group(0);
    }
}

/// The condition must hold.
#[unsafe(no_mangle)]
pub extern "C" fn __VERIFIER_assert(condition: c_int) {
    if condition == 0 {
        fail("__VERIFIER_assert: the condition does not hold");
    }
}

/// This must not be reached.
#[unsafe(no_mangle)]
pub extern "C" fn reach_error() {
    fail("reach_error was reached");
}

/// This must not be reached.
#[unsafe(no_mangle)]
pub extern "C" fn __VERIFIER_error() {
    fail("__VERIFIER_error was reached");
}
