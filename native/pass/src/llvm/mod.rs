//! LLVM's C API as small safe functions on typed handles.
//!
//! Why they are safe: a handle can only be made from [`Module::new`] or from another handle, LLVM keeps everything that
//! belongs to a module alive as long as the module, the pass adds to it and removes nothing from it, and each function says which
//! kind of value it is for where LLVM does not check. Handles must not outlive the pass's run, which has the module for
//! itself; nothing stores them.

mod build;
mod constant;
mod debug;
mod instruction;
mod types;

pub use build::{Builder, Preserves, Scopes, make_exact};
pub use constant::Kind;
pub use debug::Meta;
pub use llvm_sys::LLVMOpcode as Opcode;
pub use types::{Layout, Type, TypeKind};

use llvm_sys::LLVMLinkage;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use std::ffi::c_char;

/// Calls a function of LLVM.
macro_rules! call {
    ($function:ident($($argument:expr),*)) => {
        // SAFETY: the handles are valid, see the head of the module `llvm`.
        unsafe { $function($($argument),*) }
    };
}
use call;

unsafe extern "C" {
    fn threadbare_warn(module: LLVMModuleRef, text: *const c_char, length: usize);
}

/// A module.
pub struct Module(LLVMModuleRef);

/// A value: constant, global, function, argument or instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Value(LLVMValueRef);

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Block(LLVMBasicBlockRef);

/// How a definition is seen from other modules.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Definition {
    /// Not defined here, or defined here as a copy of what another module defines.
    Elsewhere,
    /// Defined here.
    Here(abi::Linkage),
}

/// A text that LLVM holds as pointer and length.
fn text(start: *const c_char, length: usize) -> String {
    if start.is_null() || length == 0 {
        return String::new();
    }
    // SAFETY: LLVM gives so many bytes behind the pointer, and they live as long as the module.
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// The items of one of LLVM's linked lists.
fn list<T: Copy>(first: Option<T>, next: impl Fn(T) -> Option<T>) -> impl Iterator<Item = T> {
    std::iter::successors(first, move |&item| next(item))
}

impl Module {
    /// The module.
    ///
    /// # Safety
    /// `module` is valid, and nobody else uses it while this and any handle that comes from it exists.
    pub unsafe fn new(module: LLVMModuleRef) -> Module {
        Module(module)
    }

    /// Makes clang print a warning.
    pub fn warn(&self, text: &str) {
        call!(threadbare_warn(self.0, text.as_ptr().cast(), text.len()));
    }

    /// The path of the source file.
    pub fn source(&self) -> String {
        let mut length = 0;
        let start = call!(LLVMGetSourceFileName(self.0, &mut length));
        text(start, length)
    }

    /// How big types are.
    pub fn layout(&self) -> Layout {
        Layout::new(self.0)
    }

    /// The assembly that belongs to no function.
    pub fn assembly(&self) -> String {
        let mut length = 0;
        let start = call!(LLVMGetModuleInlineAsm(self.0, &mut length));
        text(start, length)
    }

    /// Adds to the assembly that belongs to no function.
    pub fn append_assembly(&self, text: &str) {
        call!(LLVMAppendModuleInlineAsm(self.0, text.as_ptr().cast(), text.len()));
    }

    /// All functions, declared and defined.
    pub fn functions(&self) -> impl Iterator<Item = Value> {
        list(Value::new(call!(LLVMGetFirstFunction(self.0))), |f| Value::new(call!(LLVMGetNextFunction(f.0))))
    }

    /// All global variables, declared and defined.
    pub fn globals(&self) -> impl Iterator<Item = Value> {
        list(Value::new(call!(LLVMGetFirstGlobal(self.0))), |g| Value::new(call!(LLVMGetNextGlobal(g.0))))
    }

    /// All aliases.
    pub fn aliases(&self) -> impl Iterator<Item = Value> {
        list(Value::new(call!(LLVMGetFirstGlobalAlias(self.0))), |a| {
            Value::new(call!(LLVMGetNextGlobalAlias(a.0)))
        })
    }
}

impl Block {
    fn new(block: LLVMBasicBlockRef) -> Option<Block> {
        (!block.is_null()).then_some(Block(block))
    }

    /// Its instructions, the terminator last.
    pub fn instructions(self) -> impl Iterator<Item = Value> {
        list(Value::new(call!(LLVMGetFirstInstruction(self.0))), |i| {
            Value::new(call!(LLVMGetNextInstruction(i.0)))
        })
    }

    /// The blocks that may follow, as often as there are edges.
    pub fn successors(self) -> Vec<Block> {
        match Value::new(call!(LLVMGetBasicBlockTerminator(self.0))) {
            Some(terminator) => terminator.successors(),
            None => vec![],
        }
    }
}

// Names, globals and functions.
impl Value {
    fn new(value: LLVMValueRef) -> Option<Value> {
        (!value.is_null()).then_some(Value(value))
    }

    /// The type of the value; an address for globals and functions.
    pub fn ty(self) -> Type {
        Type::new(call!(LLVMTypeOf(self.0)))
    }

    /// The symbol of a global, function or alias, as the linker sees it.
    pub fn symbol(self) -> String {
        let mut length = 0;
        let start = call!(LLVMGetValueName2(self.0, &mut length));
        let name = text(start, length);
        // LLVM's mark for names that the source gives by `asm("name")`.
        name.strip_prefix('\u{1}').map(str::to_owned).unwrap_or(name)
    }

    /// Of a global, function or alias: whether and how it is defined here.
    pub fn definition(self) -> Definition {
        if call!(LLVMIsDeclaration(self.0)) != 0 {
            return Definition::Elsewhere;
        }
        Definition::Here(match call!(LLVMGetLinkage(self.0)) {
            LLVMLinkage::LLVMAvailableExternallyLinkage => return Definition::Elsewhere,
            LLVMLinkage::LLVMInternalLinkage
            | LLVMLinkage::LLVMPrivateLinkage
            | LLVMLinkage::LLVMLinkerPrivateLinkage
            | LLVMLinkage::LLVMLinkerPrivateWeakLinkage => abi::Linkage::Local,
            LLVMLinkage::LLVMExternalLinkage
            | LLVMLinkage::LLVMDLLImportLinkage
            | LLVMLinkage::LLVMDLLExportLinkage
            | LLVMLinkage::LLVMAppendingLinkage => abi::Linkage::Strong,
            _ => abi::Linkage::Weak,
        })
    }

    /// Of a global or function: declared as one that may be missing, and then has the null address.
    pub fn may_be_missing(self) -> bool {
        call!(LLVMGetLinkage(self.0)) == LLVMLinkage::LLVMExternalWeakLinkage
    }

    /// Of a global or function: the type of what stands at the address.
    pub fn value_type(self) -> Type {
        Type::new(call!(LLVMGlobalGetValueType(self.0)))
    }

    /// Of a global: its content at the start.
    pub fn initializer(self) -> Option<Value> {
        Value::new(call!(LLVMGetInitializer(self.0)))
    }

    /// Of a global.
    pub fn is_thread_local(self) -> bool {
        call!(LLVMIsThreadLocal(self.0)) != 0
    }

    /// Of a global: never written.
    pub fn is_constant(self) -> bool {
        call!(LLVMIsGlobalConstant(self.0)) != 0
    }

    /// Of an alias: what it stands for.
    pub fn aliasee(self) -> Option<Value> {
        Value::new(call!(LLVMAliasGetAliasee(self.0)))
    }

    /// Of a function: its parameters.
    pub fn parameters(self) -> impl Iterator<Item = Value> {
        list(Value::new(call!(LLVMGetFirstParam(self.0))), |p| Value::new(call!(LLVMGetNextParam(p.0))))
    }

    /// Of a function: its blocks, the entry first.
    pub fn blocks(self) -> impl Iterator<Item = Block> {
        list(Block::new(call!(LLVMGetFirstBasicBlock(self.0))), |b| {
            Block::new(call!(LLVMGetNextBasicBlock(b.0)))
        })
    }

    /// Of a function: whether LLVM knows it by itself (`llvm.memcpy…`).
    pub fn is_intrinsic(self) -> bool {
        call!(LLVMGetIntrinsicID(self.0)) != 0
    }
}
