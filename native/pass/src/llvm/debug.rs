//! Debug information.

use super::{Value, call, list, text};
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;
use std::ffi::{c_char, c_uint};
use std::path::Path;

unsafe extern "C" {
    fn threadbare_di_base(ty: LLVMMetadataRef) -> LLVMMetadataRef;
    fn threadbare_di_element(ty: LLVMMetadataRef, index: c_uint) -> LLVMMetadataRef;
    fn threadbare_di_encoding(ty: LLVMMetadataRef) -> c_uint;
    fn threadbare_di_count(range: LLVMMetadataRef) -> i64;
    fn threadbare_di_bit_field(member: LLVMMetadataRef, unit: *mut u64) -> bool;
    fn threadbare_di_is_field(member: LLVMMetadataRef) -> bool;
    fn threadbare_di_variable_name(variable: LLVMMetadataRef, length: *mut usize) -> *const c_char;
    fn threadbare_di_variable_type(variable: LLVMMetadataRef) -> LLVMMetadataRef;
    fn threadbare_di_global(global: LLVMValueRef) -> LLVMMetadataRef;
    fn threadbare_di_record(
        record: LLVMDbgRecordRef,
        value: *mut LLVMValueRef,
        declares: *mut bool,
    ) -> LLVMMetadataRef;
    fn threadbare_di_assigned(record: LLVMDbgRecordRef, address: *mut LLVMValueRef) -> LLVMMetadataRef;
}

/// A node of debug information.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Meta(pub(super) LLVMMetadataRef);

/// What a debug record says.
#[derive(Clone, Copy)]
pub struct Record {
    /// The variable of the source.
    pub variable: Meta,
    /// Its value or, if `declares`, its address.
    pub value: Value,
    /// Which of the two.
    pub declares: bool,
}

impl Value {
    /// Of an instruction: its place in the source (a location).
    pub fn location(self) -> Option<Meta> {
        Meta::new(call!(LLVMInstructionGetDebugLoc(self.0)))
    }

    /// Of a function: its description.
    pub fn subprogram(self) -> Option<Meta> {
        Meta::new(call!(LLVMGetSubprogram(self.0)))
    }

    /// Of a global: the variable of the source that it is.
    pub fn global_variable(self) -> Option<Meta> {
        Meta::new(call!(threadbare_di_global(self.0)))
    }

    /// Of an instruction: the records that stand before it.
    pub fn records(self) -> impl Iterator<Item = Record> {
        let some = |record: LLVMDbgRecordRef| (!record.is_null()).then_some(record);
        list(some(call!(LLVMGetFirstDbgRecord(self.0))), move |r| some(call!(LLVMGetNextDbgRecord(r))))
            .flat_map(|record| [in_memory(record), of_value(record)])
            .flatten()
    }
}

fn of_value(record: LLVMDbgRecordRef) -> Option<Record> {
    let (mut value, mut declares) = (std::ptr::null_mut(), false);
    let variable = call!(threadbare_di_record(record, &mut value, &mut declares));
    Some(Record { variable: Meta::new(variable)?, value: Value::new(value)?, declares })
}

fn in_memory(record: LLVMDbgRecordRef) -> Option<Record> {
    let mut address = std::ptr::null_mut();
    let variable = call!(threadbare_di_assigned(record, &mut address));
    Some(Record { variable: Meta::new(variable)?, value: Value::new(address)?, declares: true })
}

impl Meta {
    fn new(node: LLVMMetadataRef) -> Option<Meta> {
        (!node.is_null()).then_some(Meta(node))
    }

    /// Of a location: line and column, counted from 1, 0 where unknown.
    pub fn line_and_column(self) -> (u32, u32) {
        (call!(LLVMDILocationGetLine(self.0)), call!(LLVMDILocationGetColumn(self.0)))
    }

    /// Of a location: what it is in.
    pub fn scope(self) -> Option<Meta> {
        Meta::new(call!(LLVMDILocationGetScope(self.0)))
    }

    /// Of a scope, for example a function.
    pub fn scope_file(self) -> Option<Meta> {
        Meta::new(call!(LLVMDIScopeGetFile(self.0)))
    }

    /// Of a file: its path as the compiler was given it. Of a path from the root on clang puts what it shares with the working
    /// directory aside; a name without that would not be found.
    pub fn path(self) -> String {
        let mut length = 0;
        let start = call!(LLVMDIFileGetFilename(self.0, &mut length));
        let name = text(start, length as usize);
        let start = call!(LLVMDIFileGetDirectory(self.0, &mut length));
        let directory = text(start, length as usize);
        let is_here = std::env::current_dir().is_ok_and(|here| here == Path::new(&directory));
        if directory.is_empty() || is_here {
            return name;
        }
        Path::new(&directory).join(&name).to_string_lossy().into_owned()
    }

    /// Of a function's description.
    pub fn subprogram_line(self) -> u32 {
        call!(LLVMDISubprogramGetLine(self.0))
    }

    /// Of a variable.
    pub fn variable_name(self) -> String {
        let mut length = 0;
        let start = call!(threadbare_di_variable_name(self.0, &mut length));
        text(start, length)
    }

    /// Of a variable.
    pub fn variable_type(self) -> Option<Meta> {
        Meta::new(call!(threadbare_di_variable_type(self.0)))
    }

    /// Of a variable: its file and line.
    pub fn variable_place(self) -> (Option<Meta>, u32) {
        (Meta::new(call!(LLVMDIVariableGetFile(self.0))), call!(LLVMDIVariableGetLine(self.0)))
    }

    /// The DWARF tag of any node.
    pub fn tag(self) -> u16 {
        call!(LLVMGetDINodeTag(self.0))
    }

    /// Of a type or member.
    pub fn type_name(self) -> String {
        let mut length = 0;
        let start = call!(LLVMDITypeGetName(self.0, &mut length));
        text(start, length)
    }

    /// Of a type or member: its size in bits.
    pub fn type_bits(self) -> u64 {
        call!(LLVMDITypeGetSizeInBits(self.0))
    }

    /// Of a member: where it starts, in bits.
    pub fn offset_bits(self) -> u64 {
        call!(LLVMDITypeGetOffsetInBits(self.0))
    }

    /// Of a type: what it is a pointer to, a name for, an array of.
    pub fn base(self) -> Option<Meta> {
        Meta::new(call!(threadbare_di_base(self.0)))
    }

    /// Of a struct, class, union or array: its parts.
    pub fn elements(self) -> impl Iterator<Item = Meta> {
        (0..).map_while(move |index| Meta::new(call!(threadbare_di_element(self.0, index))))
    }

    /// Of a basic type: its DWARF encoding.
    pub fn encoding(self) -> u32 {
        call!(threadbare_di_encoding(self.0))
    }

    /// Of a dimension of an array: how many elements, if constant.
    pub fn count(self) -> Option<u64> {
        u64::try_from(call!(threadbare_di_count(self.0))).ok()
    }

    /// Of a member: where the unit of a bit-field starts, in bits, if it is one.
    pub fn bit_field(self) -> Option<u64> {
        let mut unit = 0;
        call!(threadbare_di_bit_field(self.0, &mut unit)).then_some(unit)
    }

    /// Whether a part of a class is a member with a place in each object, or a base class.
    pub fn is_field(self) -> bool {
        call!(threadbare_di_is_field(self.0))
    }
}
