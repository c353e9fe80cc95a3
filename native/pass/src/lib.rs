//! The LLVM plugin: writes the program IR of each module into its object file, and instruments its code.
//!
//! Clang loads it with `-fpass-plugin=`, `opt` with `-load-pass-plugin=` (pipeline name `threadbare`). The way of a
//! module through this crate: `module` goes over what it defines; `shape` and `debug` turn its types and debug
//! information into layouts, names and positions; `global` its variables; `function` and the files below it its code;
//! `embed` packs the result into the section that `native::read_program` reads; `instrument` then adds the code that logs what
//! the program does.
//!
//! Compilation must not fail because of us: what cannot be translated becomes a warning and a function without a body.
//! Wherever the IR cannot hold what LLVM means, the translation says `Opaque` or `Unknown`, never something near it;
//! `docs/coverage.md` lists where.

mod debug;
mod embed;
mod function;
mod global;
mod instrument;
mod llvm;
mod module;
mod shape;

use llvm_sys::prelude::LLVMModuleRef;
use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// `llvm::PassPluginLibraryInfo` of LLVM 22.
#[repr(C)]
pub struct PluginInfo {
    version: u32,
    name: *const c_char,
    plugin_version: *const c_char,
    register: *const u8,
    before_code_generation: *const u8,
}

unsafe extern "C" {
    fn threadbare_plugin_info(info: *mut PluginInfo);
}

/// Where LLVM enters the plugin. Here, and not in the shim, because only Rust's symbols are exported.
#[unsafe(no_mangle)]
pub extern "C" fn llvmGetPassPluginInfo() -> PluginInfo {
    let null = std::ptr::null();
    let mut info = PluginInfo {
        version: 0,
        name: null,
        plugin_version: null,
        register: null.cast(),
        before_code_generation: null.cast(),
    };
    // SAFETY: the shim fills the struct that it is given, and has the same layout of it.
    unsafe { threadbare_plugin_info(&mut info) };
    info
}

/// The pass, called by the shim.
///
/// # Safety
/// `module` is a module that nobody else uses during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn threadbare_run(module: LLVMModuleRef) {
    // SAFETY: the caller's promise is that of `Module::new`.
    let module = unsafe { llvm::Module::new(module) };
    let warn = |text: &str| module.warn(text);
    // The panic's own message would stand in the middle of the compiler's output.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let result = catch_unwind(AssertUnwindSafe(|| embed::run(&module)));
    std::panic::set_hook(hook);
    match result {
        Ok(Ok(())) => {}
        Ok(Err(reason)) => warn(&format!("threadbare: the program IR of this module is left out: {reason}")),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
            warn(&format!(
                "threadbare: the program IR of this module is left out, by a fault of Threadbare: {text}"
            ));
        }
    }
}
