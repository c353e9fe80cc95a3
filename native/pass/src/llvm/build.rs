//! Adding code.

use super::{Block, Meta, Module, Type, Value, call};
use llvm_sys::comdat::LLVMGetComdat;
use llvm_sys::core::*;
use llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMIntPredicate, LLVMLinkage, LLVMTailCallKind, LLVMUnnamedAddr};
use std::ffi::c_uint;

unsafe extern "C" {
    fn threadbare_rarely(condition: LLVMValueRef, before: LLVMValueRef) -> LLVMValueRef;
    fn threadbare_on_edge(terminator: LLVMValueRef, index: c_uint) -> LLVMValueRef;
    fn threadbare_stack_first(function: LLVMValueRef) -> LLVMValueRef;
    fn threadbare_scopes(
        module: LLVMModuleRef,
        words: *mut LLVMMetadataRef,
        units: *mut LLVMMetadataRef,
        both: *mut LLVMMetadataRef,
    );
    fn threadbare_scoped(access: LLVMValueRef, scope: LLVMMetadataRef, not_in: LLVMMetadataRef);
    fn threadbare_drop_promises(module: LLVMModuleRef);
    fn threadbare_drop_copies(module: LLVMModuleRef);
    fn threadbare_hide_inlines(module: LLVMModuleRef);
    fn threadbare_exact(values: *mut LLVMValueRef, count: usize);
    fn threadbare_constructor(module: LLVMModuleRef, function: LLVMValueRef);
    fn threadbare_replaceable(function: LLVMValueRef) -> bool;
    fn threadbare_empty_assembly(assembly: LLVMValueRef) -> bool;
}

/// Which registers a function leaves as they are, as LLVM numbers the calling convention.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Preserves {
    /// As any function of C.
    Few = 0,
    /// All but those of vectors.
    Most = 14,
    /// All.
    All = 15,
}

/// Sets of memory that accesses belong to.
#[derive(Clone, Copy)]
pub struct Scopes {
    /// The words that are shared with the runtime.
    pub words: Meta,
    /// The log.
    pub units: Meta,
    /// Both.
    pub both: Meta,
}

/// Adds instructions at a place.
pub struct Builder {
    builder: LLVMBuilderRef,
    context: LLVMContextRef,
    at: std::cell::Cell<LLVMValueRef>,
}

impl Drop for Builder {
    fn drop(&mut self) {
        call!(LLVMDisposeBuilder(self.builder));
    }
}

impl Builder {
    /// A builder that stands nowhere yet.
    pub fn new(module: &Module) -> Builder {
        let context = call!(LLVMGetModuleContext(module.0));
        let builder = call!(LLVMCreateBuilderInContext(context));
        Builder { builder, context, at: std::cell::Cell::new(std::ptr::null_mut()) }
    }

    /// From now on before `place`, for code that belongs to the instruction `for_`.
    pub fn go_before(&self, place: Value, for_: Value) {
        self.at.set(place.0);
        call!(LLVMPositionBuilderBefore(self.builder, place.0));
        call!(LLVMSetCurrentDebugLocation2(self.builder, LLVMInstructionGetDebugLoc(for_.0)));
    }

    /// From now on behind `instruction`, which is no terminator.
    pub fn go_behind(&self, instruction: Value) {
        self.go_before(Value(call!(LLVMGetNextInstruction(instruction.0))), instruction);
    }

    /// The instruction that the builder stands before.
    pub fn place(&self) -> Value {
        Value(self.at.get())
    }

    /// The block that the builder stands in.
    pub fn block(&self) -> Block {
        Block(call!(LLVMGetInstructionParent(self.at.get())))
    }

    /// The type of integers of so many bits.
    pub fn int(&self, bits: u32) -> Type {
        Type::new(call!(LLVMIntTypeInContext(self.context, bits)))
    }

    /// The type of addresses.
    pub fn pointer(&self) -> Type {
        Type::new(call!(LLVMPointerTypeInContext(self.context, 0)))
    }

    /// The type of nothing.
    pub fn void(&self) -> Type {
        Type::new(call!(LLVMVoidTypeInContext(self.context)))
    }

    /// A number of 64 bits.
    pub fn number(&self, number: u64) -> Value {
        Value(call!(LLVMConstInt(self.int(64).0, number, 0)))
    }

    /// A number of 32 bits.
    pub fn short(&self, number: u32) -> Value {
        Value(call!(LLVMConstInt(self.int(32).0, number.into(), 0)))
    }

    /// A fixed address.
    pub fn address(&self, address: u64) -> Value {
        Value(call!(LLVMConstIntToPtr(self.number(address).0, self.pointer().0)))
    }

    /// The null address.
    pub fn null(&self) -> Value {
        Value(call!(LLVMConstPointerNull(self.pointer().0)))
    }

    pub fn load(&self, ty: Type, from: Value, align: u32) -> Value {
        let load = call!(LLVMBuildLoad2(self.builder, ty.0, from.0, c"".as_ptr()));
        call!(LLVMSetAlignment(load, align));
        Value(load)
    }

    pub fn store(&self, value: Value, to: Value, align: u32) -> Value {
        let store = call!(LLVMBuildStore(self.builder, value.0, to.0));
        call!(LLVMSetAlignment(store, align));
        Value(store)
    }

    pub fn add(&self, a: Value, b: Value) -> Value {
        Value(call!(LLVMBuildAdd(self.builder, a.0, b.0, c"".as_ptr())))
    }

    pub fn shift_left(&self, a: Value, by: u64) -> Value {
        Value(call!(LLVMBuildShl(self.builder, a.0, self.number(by).0, c"".as_ptr())))
    }

    /// One bit: whether `a`, unsigned, is not below `b`.
    pub fn not_below(&self, a: Value, b: Value) -> Value {
        Value(call!(LLVMBuildICmp(self.builder, LLVMIntPredicate::LLVMIntUGE, a.0, b.0, c"".as_ptr())))
    }

    /// One bit: whether the two are equal.
    pub fn equal(&self, a: Value, b: Value) -> Value {
        Value(call!(LLVMBuildICmp(self.builder, LLVMIntPredicate::LLVMIntEQ, a.0, b.0, c"".as_ptr())))
    }

    pub fn select(&self, condition: Value, then: Value, otherwise: Value) -> Value {
        Value(call!(LLVMBuildSelect(self.builder, condition.0, then.0, otherwise.0, c"".as_ptr())))
    }

    /// `base` and so many bytes.
    pub fn offset(&self, base: Value, bytes: u64) -> Value {
        let mut index = [self.number(bytes).0];
        let byte = self.int(8).0;
        let (start, name) = (index.as_mut_ptr(), c"".as_ptr());
        Value(call!(LLVMBuildInBoundsGEP2(self.builder, byte, base.0, start, 1, name)))
    }

    /// An address as a number.
    pub fn pointer_number(&self, pointer: Value) -> Value {
        Value(call!(LLVMBuildPtrToInt(self.builder, pointer.0, self.int(64).0, c"".as_ptr())))
    }

    /// An integer, widened with zeros or cut.
    pub fn resize(&self, value: Value, to: Type) -> Value {
        match value.ty().bits().cmp(&to.bits()) {
            std::cmp::Ordering::Less => {
                Value(call!(LLVMBuildZExt(self.builder, value.0, to.0, c"".as_ptr())))
            }
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Greater => {
                Value(call!(LLVMBuildTrunc(self.builder, value.0, to.0, c"".as_ptr())))
            }
        }
    }

    /// The same bits as a type of the same size.
    pub fn bits(&self, value: Value, to: Type) -> Value {
        Value(call!(LLVMBuildBitCast(self.builder, value.0, to.0, c"".as_ptr())))
    }

    /// A part of an aggregate.
    pub fn part(&self, aggregate: Value, index: u32) -> Value {
        Value(call!(LLVMBuildExtractValue(self.builder, aggregate.0, index, c"".as_ptr())))
    }

    /// The value that belongs to the block from which control came.
    pub fn phi(&self, ty: Type, incoming: [(Block, Value); 2]) -> Value {
        let phi = call!(LLVMBuildPhi(self.builder, ty.0, c"".as_ptr()));
        let mut values = incoming.map(|(_, value)| value.0);
        let mut blocks = incoming.map(|(block, _)| block.0);
        call!(LLVMAddIncoming(phi, values.as_mut_ptr(), blocks.as_mut_ptr(), 2));
        Value(phi)
    }

    /// Calls a function of the runtime.
    pub fn call(&self, function: Value, arguments: &[Value]) -> Value {
        let mut list: Vec<LLVMValueRef> = arguments.iter().map(|argument| argument.0).collect();
        let (ty, start, count) = (function.value_type().0, list.as_mut_ptr(), list.len() as c_uint);
        let call = call!(LLVMBuildCall2(self.builder, ty, function.0, start, count, c"".as_ptr()));
        call!(LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(function.0)));
        Value(call)
    }

    /// Returns nothing; the last instruction of a function made by `Module::function`.
    pub fn return_nothing(&self) {
        call!(LLVMBuildRetVoid(self.builder));
    }

    /// At the end of the only block of `function`.
    pub fn go_into(&self, function: Value) {
        let block = call!(LLVMAppendBasicBlockInContext(self.context, function.0, c"".as_ptr()));
        call!(LLVMPositionBuilderAtEnd(self.builder, block));
        call!(LLVMSetCurrentDebugLocation2(self.builder, std::ptr::null_mut()));
    }

    /// Splits the block here and goes into a block that is entered, rarely, if the condition holds; `inside` fills it. Goes on
    /// behind it, and gives the blocks from which control comes there: without and with the rare one.
    pub fn rarely<T>(&self, condition: Value, for_: Value, inside: impl FnOnce() -> T) -> (Block, Block, T) {
        let (place, head) = (self.place(), self.block());
        let end = Value(call!(threadbare_rarely(condition.0, place.0)));
        self.go_before(end, for_);
        let (rare, result) = (self.block(), inside());
        self.go_before(place, for_);
        (head, rare, result)
    }
}

impl Module {
    /// A function that another object defines.
    pub fn declare(&self, name: &str, returned: Type, parameters: &[Type], preserves: Preserves) -> Value {
        let name = std::ffi::CString::new(name).expect("names of the runtime have no zeros");
        let mut list: Vec<LLVMTypeRef> = parameters.iter().map(|ty| ty.0).collect();
        let ty = call!(LLVMFunctionType(returned.0, list.as_mut_ptr(), list.len() as c_uint, 0));
        let mut function = call!(LLVMGetNamedFunction(self.0, name.as_ptr()));
        if function.is_null() {
            function = call!(LLVMAddFunction(self.0, name.as_ptr(), ty));
        }
        if preserves != Preserves::Few {
            call!(LLVMSetFunctionCallConv(function, preserves as c_uint));
            for attribute in [c"nounwind", c"nonlazybind"] {
                add_attribute(self.context(), function, attribute);
            }
        }
        Value(function)
    }

    /// A function without parameters and result that only this module knows, without a body yet.
    pub fn function(&self, name: &str) -> Value {
        let name = std::ffi::CString::new(name).expect("our own names have no zeros");
        let ty = call!(LLVMFunctionType(LLVMVoidTypeInContext(self.context()), std::ptr::null_mut(), 0, 0));
        let function = call!(LLVMAddFunction(self.0, name.as_ptr(), ty));
        call!(LLVMSetLinkage(function, LLVMLinkage::LLVMInternalLinkage));
        add_attribute(self.context(), function, c"nounwind");
        Value(function)
    }

    /// A variable that only this module knows.
    pub fn variable(&self, name: &str, content: Value, constant: bool) -> Value {
        let name = std::ffi::CString::new(name).expect("our own names have no zeros");
        let global = call!(LLVMAddGlobal(self.0, LLVMTypeOf(content.0), name.as_ptr()));
        call!(LLVMSetInitializer(global, content.0));
        call!(LLVMSetLinkage(global, LLVMLinkage::LLVMInternalLinkage));
        call!(LLVMSetGlobalConstant(global, constant.into()));
        if constant {
            call!(LLVMSetUnnamedAddress(global, LLVMUnnamedAddr::LLVMGlobalUnnamedAddr));
        }
        Value(global)
    }

    /// A constant array of addresses.
    pub fn addresses(&self, builder: &Builder, addresses: &[Value]) -> Value {
        let mut list: Vec<LLVMValueRef> = addresses.iter().map(|address| address.0).collect();
        Value(call!(LLVMConstArray2(builder.pointer().0, list.as_mut_ptr(), list.len() as u64)))
    }

    /// A constant struct.
    pub fn record(&self, fields: &[Value]) -> Value {
        let mut list: Vec<LLVMValueRef> = fields.iter().map(|field| field.0).collect();
        Value(call!(LLVMConstStructInContext(self.context(), list.as_mut_ptr(), list.len() as c_uint, 0)))
    }

    /// Makes the program call a function before all others of its object.
    pub fn constructor(&self, function: Value) {
        call!(threadbare_constructor(self.0, function.0));
    }

    /// Takes back what the source promises of functions and what instrumentation breaks: that they touch no memory.
    pub fn drop_promises(&self) {
        call!(threadbare_drop_promises(self.0));
    }

    /// Drops the bodies of functions that another object defines. To be called before any other handle exists.
    pub fn drop_copies(&self) {
        call!(threadbare_drop_copies(self.0));
    }

    /// Keeps other objects from calling inline functions of this one.
    pub fn hide_inlines(&self) {
        call!(threadbare_hide_inlines(self.0));
    }

    /// New sets of memory.
    pub fn scopes(&self) -> Scopes {
        let null = std::ptr::null_mut();
        let (mut words, mut units, mut both) = (null, null, null);
        call!(threadbare_scopes(self.0, &mut words, &mut units, &mut both));
        Scopes { words: Meta(words), units: Meta(units), both: Meta(both) }
    }

    /// Whether the code is for x86-64 Linux.
    pub fn is_for_linux_x86_64(&self) -> bool {
        let start = call!(LLVMGetTarget(self.0));
        // SAFETY: LLVM gives a text that ends with 0.
        let triple = unsafe { std::ffi::CStr::from_ptr(start) }.to_string_lossy();
        triple.starts_with("x86_64-") && triple.contains("-linux")
    }

    /// Functions that choose another one when the program is loaded.
    pub fn resolvers(&self) -> impl Iterator<Item = Value> {
        super::list(Value::new(call!(LLVMGetFirstGlobalIFunc(self.0))), |i| {
            Value::new(call!(LLVMGetNextGlobalIFunc(i.0)))
        })
        .filter_map(|ifunc| Value::new(call!(LLVMGetGlobalIFuncResolver(ifunc.0))))
    }

    fn context(&self) -> LLVMContextRef {
        call!(LLVMGetModuleContext(self.0))
    }
}

fn kind_of(name: &std::ffi::CStr) -> c_uint {
    call!(LLVMGetEnumAttributeKindForName(name.as_ptr(), name.count_bytes()))
}

fn add_attribute(context: LLVMContextRef, function: LLVMValueRef, name: &std::ffi::CStr) {
    let attribute = call!(LLVMCreateEnumAttribute(context, kind_of(name), 0));
    call!(LLVMAddAttributeAtIndex(function, llvm_sys::LLVMAttributeFunctionIndex, attribute));
}

/// Takes back promises about the arithmetic that these values come from: that nothing overflows, for example.
pub fn make_exact(values: &[Value]) {
    let mut list: Vec<LLVMValueRef> = values.iter().map(|value| value.0).collect();
    call!(threadbare_exact(list.as_mut_ptr(), list.len()));
}

impl Value {
    /// Says of an access which memory it belongs to and which not; nothing if it is no instruction.
    pub fn scoped(self, scope: Option<Meta>, not_in: Meta) {
        let scope = scope.map_or(std::ptr::null_mut(), |scope| scope.0);
        call!(threadbare_scoped(self.0, scope, not_in.0));
    }

    /// Of an access: it stays where it is, and is done.
    pub fn make_volatile(self) {
        call!(LLVMSetVolatile(self.0, 1));
    }

    /// Of a terminator: the instruction before which code stands that runs only on the way to the `index`-th successor.
    pub fn on_edge(self, index: u32) -> Option<Value> {
        Value::new(call!(threadbare_on_edge(self.0, index)))
    }

    /// Of a function with a body: puts its stack memory first, and gives the first instruction behind that.
    pub fn stack_first(self) -> Value {
        Value(call!(threadbare_stack_first(self.0)))
    }

    /// Of a function: whether another definition may take its place.
    pub fn is_replaceable(self) -> bool {
        call!(threadbare_replaceable(self.0))
    }

    /// Of inline assembly: there is nothing in it.
    pub fn is_empty_assembly(self) -> bool {
        call!(threadbare_empty_assembly(self.0))
    }

    /// Of a function: whether it has an attribute.
    pub fn has_attribute(self, name: &std::ffi::CStr) -> bool {
        let index = llvm_sys::LLVMAttributeFunctionIndex;
        !call!(LLVMGetEnumAttributeAtIndex(self.0, index, kind_of(name))).is_null()
    }

    /// Of a function or global: it goes, together with others, if another object has the same.
    pub fn is_in_comdat(self) -> bool {
        !call!(LLVMGetComdat(self.0)).is_null()
    }

    /// Of a call: its result is that of the caller, and nothing may come behind it.
    pub fn is_must_tail(self) -> bool {
        self.opcode() == super::Opcode::LLVMCall
            && call!(LLVMGetTailCallKind(self.0)) == LLVMTailCallKind::LLVMTailCallKindMustTail
    }

    /// Whether it is an instruction.
    pub fn is_instruction(self) -> bool {
        !call!(LLVMIsAInstruction(self.0)).is_null()
    }

    /// Of an instruction: the one behind it.
    pub fn next(self) -> Option<Value> {
        Value::new(call!(LLVMGetNextInstruction(self.0)))
    }

    /// Of an instruction: the function that it is in.
    pub fn function(self) -> Value {
        Value(call!(LLVMGetBasicBlockParent(LLVMGetInstructionParent(self.0))))
    }

    /// Of a function: the address of one of its blocks.
    pub fn block_address(self, block: Block) -> Value {
        Value(call!(LLVMBlockAddress(self.0, block.0)))
    }
}
