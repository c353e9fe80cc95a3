//! What instrumented code calls: with all registers preserved, so that its fast path need not spill any.

use crate::baton::preempt;
use crate::page;
use crate::runtime::{active, has_plan, runtime};
use crate::sys;
use core::arch::naked_asm;

/// Wraps a function so that it preserves all registers, vectors of any width included. `rbx` and `r12` to `r15` the callee
/// preserves by itself. `xsave` needs its header cleared, and 64-byte alignment; it takes at most 2,696 bytes with AVX-512, and
/// 11 KB with the tile registers, which are left out of the mask.
macro_rules! preserving {
    ($(#[$attribute:meta])* $name:ident => $function:ident) => {
        $(#[$attribute])*
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() {
            naked_asm!(
                "push rbp",
                "mov rbp, rsp",
                "push rax", "push rcx", "push rdx", "push rsi", "push rdi", "push r8", "push r9", "push r10", "push r11",
                "sub rsp, 2752",
                "and rsp, -64",
                "mov r10, rdx",
                "xor eax, eax",
                "mov [rsp + 512], rax", "mov [rsp + 520], rax", "mov [rsp + 528], rax", "mov [rsp + 536], rax",
                "mov [rsp + 544], rax", "mov [rsp + 552], rax", "mov [rsp + 560], rax", "mov [rsp + 568], rax",
                "mov eax, 0xe7",
                "xor edx, edx",
                "xsave64 [rsp]",
                "mov rdx, r10",
                "call {function}",
                "mov eax, 0xe7",
                "xor edx, edx",
                "xrstor64 [rsp]",
                "lea rsp, [rbp - 72]",
                "pop r11", "pop r10", "pop r9", "pop r8", "pop rdi", "pop rsi", "pop rdx", "pop rcx", "pop rax",
                "pop rbp",
                "ret",
                function = sym $function,
            )
        }
    };
}

preserving! {
    /// Asks who runs next, before an event of instrumented code.
    __tb_slow => slow
}

preserving! {
    /// Makes room in the buffer, behind an event of instrumented code.
    __tb_full => full
}

/// Logs bytes that were written or will be read. Preserves all registers but those of vectors, which a copy of bytes uses
/// anyway.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub extern "C" fn __tb_bytes() {
    naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "push rax", "push rcx", "push rdx", "push rsi", "push rdi", "push r8", "push r9", "push r10",
        "and rsp, -16",
        "call {function}",
        "lea rsp, [rbp - 64]",
        "pop r10", "pop r9", "pop r8", "pop rdi", "pop rsi", "pop rdx", "pop rcx", "pop rax",
        "pop rbp",
        "ret",
        function = sym bytes,
    )
}

extern "C" fn slow() {
    if active() {
        preempt();
    } else {
        discard();
    }
}

extern "C" fn full() {
    if active() {
        let runtime = runtime();
        runtime.settle();
        runtime.ask();
    } else {
        discard();
    }
}

extern "C" fn bytes(site: u64, address: *const u8, count: u64) {
    if !active() {
        return;
    }
    let content = match count {
        // Of no bytes the address may be anything.
        0 => &[][..],
        // SAFETY: instrumented code has just written these bytes, or will read them next.
        _ => unsafe { core::slice::from_raw_parts(address, count as usize) },
    };
    runtime().bytes(site as u32, address as u64, content);
}

fn discard() {
    if has_plan() {
        sys::die(
            "instrumented code runs in a thread that the program did not make by the functions for threads",
        );
    }
    page::rewind_discarded();
}
