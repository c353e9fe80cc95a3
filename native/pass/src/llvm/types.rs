//! LLVM's types and how big they are.

use super::{call, text};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::*;
use std::ffi::CStr;

pub use llvm_sys::LLVMTypeKind as TypeKind;

/// A type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Type(pub(super) LLVMTypeRef);

/// The layout of data in a module's target.
#[derive(Clone, Copy)]
pub struct Layout(LLVMTargetDataRef);

impl Type {
    pub(super) fn new(ty: LLVMTypeRef) -> Type {
        Type(ty)
    }

    /// What kind of type it is.
    pub fn kind(self) -> TypeKind {
        call!(LLVMGetTypeKind(self.0))
    }

    /// Of an integer: its bits.
    pub fn bits(self) -> u32 {
        call!(LLVMGetIntTypeWidth(self.0))
    }

    /// Of an address: the number of its space; 0 is the usual one.
    pub fn address_space(self) -> u32 {
        call!(LLVMGetPointerAddressSpace(self.0))
    }

    /// Whether values of the type can stand in memory.
    pub fn is_sized(self) -> bool {
        call!(LLVMTypeIsSized(self.0)) != 0
    }

    /// Of an array or vector: the type of an element.
    pub fn element(self) -> Type {
        Type(call!(LLVMGetElementType(self.0)))
    }

    /// Of an array: how many elements.
    pub fn array_length(self) -> u64 {
        call!(LLVMGetArrayLength2(self.0))
    }

    /// Of a struct: how many fields.
    pub fn field_count(self) -> u32 {
        call!(LLVMCountStructElementTypes(self.0))
    }

    /// Of a struct: the type of a field.
    pub fn field(self, index: u32) -> Type {
        Type(call!(LLVMStructGetTypeAtIndex(self.0, index)))
    }

    /// Of a struct: its name, empty if it has none.
    pub fn struct_name(self) -> String {
        let start = call!(LLVMGetStructName(self.0));
        if start.is_null() {
            return String::new();
        }
        // SAFETY: LLVM gives a text that ends with 0 and lives as long as the type.
        let length = unsafe { CStr::from_ptr(start) }.count_bytes();
        text(start, length)
    }

    /// Of a function type: what it returns.
    pub fn returned(self) -> Type {
        Type(call!(LLVMGetReturnType(self.0)))
    }

    /// Of a function type: whether it takes further arguments.
    pub fn is_variadic(self) -> bool {
        call!(LLVMIsFunctionVarArg(self.0)) != 0
    }
}

impl Layout {
    pub(super) fn new(module: LLVMModuleRef) -> Layout {
        Layout(call!(LLVMGetModuleDataLayout(module)))
    }

    /// Whether addresses have 64 bits, and the low byte of a number comes first.
    pub fn is_supported(self) -> bool {
        call!(LLVMPointerSize(self.0)) == 8
            && matches!(call!(LLVMByteOrder(self.0)), LLVMByteOrdering::LLVMLittleEndian)
    }

    /// The bytes that a load or store of a sized, not scalable type touches.
    pub fn store_bytes(self, ty: Type) -> u64 {
        call!(LLVMStoreSizeOfType(self.0, ty.0))
    }

    /// The bytes from one element of an array of a sized, not scalable type to the next.
    pub fn stride(self, ty: Type) -> u64 {
        call!(LLVMABISizeOfType(self.0, ty.0))
    }

    /// Where a field of a struct starts.
    pub fn field_offset(self, ty: Type, index: u32) -> u64 {
        call!(LLVMOffsetOfElement(self.0, ty.0, index))
    }
}
