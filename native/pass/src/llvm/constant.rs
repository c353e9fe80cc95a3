//! What constants are and hold.

use super::{Value, call};
use llvm_sys::prelude::*;
use std::ffi::{c_char, c_uint};

unsafe extern "C" {
    fn threadbare_kind(value: LLVMValueRef) -> c_uint;
    fn threadbare_data(value: LLVMValueRef, length: *mut usize) -> *const c_char;
    fn threadbare_constant_bits(value: LLVMValueRef, low: *mut u64, high: *mut u64) -> bool;
}

/// Kinds of values, as far as we tell them apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An instruction or argument.
    Local,
    /// An integer.
    Int,
    /// The null address.
    Null,
    /// A function.
    Function,
    /// A global variable.
    Global,
    /// A second name, or a function that is chosen when the program starts.
    Alias,
    /// An expression of constants.
    Expression,
    /// Undefined, or poison.
    Undefined,
    /// A float.
    Float,
    /// An aggregate or vector of zeros.
    Zeros,
    /// An array or vector of numbers.
    Data,
    /// An array, struct or vector.
    Aggregate,
    /// The address of a block.
    Label,
    /// Inline assembly.
    Assembly,
    /// Something else.
    Other,
}

impl Value {
    /// What the value is.
    pub fn kind(self) -> Kind {
        match call!(threadbare_kind(self.0)) {
            1 => Kind::Local,
            2 => Kind::Int,
            3 => Kind::Null,
            4 => Kind::Function,
            5 => Kind::Global,
            6 => Kind::Alias,
            7 => Kind::Expression,
            8 => Kind::Undefined,
            9 => Kind::Float,
            10 => Kind::Zeros,
            11 => Kind::Data,
            12 => Kind::Aggregate,
            13 => Kind::Label,
            14 => Kind::Assembly,
            _ => Kind::Other,
        }
    }

    /// The bits of an integer or float of at most 128 bits.
    pub fn constant_bits(self) -> Option<u128> {
        let (mut low, mut high) = (0, 0);
        let known = call!(threadbare_constant_bits(self.0, &mut low, &mut high));
        known.then_some(u128::from(high) << 64 | u128::from(low))
    }

    /// Of [`Kind::Data`]: its bytes.
    pub fn data(self) -> Vec<u8> {
        let mut length = 0;
        let start = call!(threadbare_data(self.0, &mut length));
        if start.is_null() {
            return vec![];
        }
        // SAFETY: LLVM gives so many bytes behind the pointer.
        unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length) }.to_vec()
    }
}
