//! What instructions and constant expressions consist of.

use super::{Block, Kind, Opcode, Type, Value, call};
use ir::{Order, Predicate, UpdateOp};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMIntPredicate};
use std::ffi::c_uint;

unsafe extern "C" {
    fn threadbare_memory_effects(function: LLVMValueRef) -> c_uint;
}

fn order(ordering: LLVMAtomicOrdering) -> Option<Order> {
    Some(match ordering {
        LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic => return None,
        // Java's; between plain and relaxed. C and C++ do not have it.
        LLVMAtomicOrdering::LLVMAtomicOrderingUnordered | LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic => {
            Order::Relaxed
        }
        LLVMAtomicOrdering::LLVMAtomicOrderingAcquire => Order::Acquire,
        LLVMAtomicOrdering::LLVMAtomicOrderingRelease => Order::Release,
        LLVMAtomicOrdering::LLVMAtomicOrderingAcquireRelease => Order::AcqRel,
        LLVMAtomicOrdering::LLVMAtomicOrderingSequentiallyConsistent => Order::SeqCst,
    })
}

impl Value {
    /// What an instruction or constant expression does.
    pub fn opcode(self) -> Opcode {
        match self.kind() {
            Kind::Expression => call!(LLVMGetConstOpcode(self.0)),
            _ => call!(LLVMGetInstructionOpcode(self.0)),
        }
    }

    /// How many operands.
    pub fn operand_count(self) -> u32 {
        call!(LLVMGetNumOperands(self.0)) as u32
    }

    /// An operand; the index is in range.
    pub fn operand(self, index: u32) -> Value {
        Value(call!(LLVMGetOperand(self.0, index)))
    }

    /// All operands.
    pub fn operands(self) -> impl Iterator<Item = Value> {
        (0..self.operand_count()).map(move |index| self.operand(index))
    }

    /// The instructions that use the value.
    pub fn users(self) -> impl Iterator<Item = Value> {
        let some = |use_: LLVMUseRef| (!use_.is_null()).then_some(use_);
        std::iter::successors(some(call!(LLVMGetFirstUse(self.0))), move |&u| some(call!(LLVMGetNextUse(u))))
            .map(|u| Value(call!(LLVMGetUser(u))))
    }

    /// Of a terminator: the blocks that may follow, as often as there are edges.
    pub fn successors(self) -> Vec<Block> {
        let count = call!(LLVMGetNumSuccessors(self.0));
        (0..count).map(|index| Block(call!(LLVMGetSuccessor(self.0, index)))).collect()
    }

    /// Of a branch: its condition, if it has one.
    pub fn condition(self) -> Option<Value> {
        let conditional = call!(LLVMIsConditional(self.0)) != 0;
        conditional.then(|| Value(call!(LLVMGetCondition(self.0))))
    }

    /// Of a switch: the constant that leads to the `index`-th successor; the 0th is the default.
    pub fn case(self, index: u32) -> Value {
        Value(call!(LLVMGetSwitchCaseValue(self.0, index)))
    }

    /// Of a phi: where control comes from, and the value that belongs to it.
    pub fn incoming(self) -> impl Iterator<Item = (Block, Value)> {
        (0..call!(LLVMCountIncoming(self.0))).map(move |index| {
            let from = Block(call!(LLVMGetIncomingBlock(self.0, index)));
            (from, Value(call!(LLVMGetIncomingValue(self.0, index))))
        })
    }

    /// Of an integer comparison.
    pub fn predicate(self) -> Predicate {
        match call!(LLVMGetICmpPredicate(self.0)) {
            LLVMIntPredicate::LLVMIntEQ => Predicate::Eq,
            LLVMIntPredicate::LLVMIntNE => Predicate::Ne,
            LLVMIntPredicate::LLVMIntUGT => Predicate::Ugt,
            LLVMIntPredicate::LLVMIntUGE => Predicate::Uge,
            LLVMIntPredicate::LLVMIntULT => Predicate::Ult,
            LLVMIntPredicate::LLVMIntULE => Predicate::Ule,
            LLVMIntPredicate::LLVMIntSGT => Predicate::Sgt,
            LLVMIntPredicate::LLVMIntSGE => Predicate::Sge,
            LLVMIntPredicate::LLVMIntSLT => Predicate::Slt,
            LLVMIntPredicate::LLVMIntSLE => Predicate::Sle,
        }
    }

    /// Of an alloca: what it makes room for.
    pub fn allocated_type(self) -> Type {
        Type::new(call!(LLVMGetAllocatedType(self.0)))
    }

    /// Of an address computation: the type that its first index counts.
    pub fn source_element_type(self) -> Type {
        Type::new(call!(LLVMGetGEPSourceElementType(self.0)))
    }

    /// Of `extractvalue` and `insertvalue`: the way to the part.
    pub fn indices(self) -> Vec<u32> {
        let count = call!(LLVMGetNumIndices(self.0)) as usize;
        let start = call!(LLVMGetIndices(self.0));
        if count == 0 || start.is_null() {
            return vec![];
        }
        // SAFETY: LLVM gives so many numbers behind the pointer.
        unsafe { std::slice::from_raw_parts(start, count) }.to_vec()
    }

    /// Of a load, store, fence or atomic update: its order, if it is atomic.
    pub fn order(self) -> Option<Order> {
        order(call!(LLVMGetOrdering(self.0)))
    }

    /// Of a compare-and-exchange: the orders on success and on failure.
    pub fn exchange_orders(self) -> (Order, Order) {
        let success = order(call!(LLVMGetCmpXchgSuccessOrdering(self.0)));
        let failure = order(call!(LLVMGetCmpXchgFailureOrdering(self.0)));
        (success.unwrap_or(Order::SeqCst), failure.unwrap_or(Order::SeqCst)) // always atomic
    }

    /// Of a compare-and-exchange: may fail though the values are equal.
    pub fn is_weak(self) -> bool {
        call!(LLVMGetWeak(self.0)) != 0
    }

    /// Of an atomic instruction: orders only within its own thread (a signal fence).
    pub fn is_single_thread(self) -> bool {
        call!(LLVMIsAtomicSingleThread(self.0)) != 0
    }

    /// Of an atomic update: what it does, if the IR has it.
    pub fn update(self) -> Option<UpdateOp> {
        Some(match call!(LLVMGetAtomicRMWBinOp(self.0)) {
            LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpXchg => UpdateOp::Exchange,
            LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpAdd => UpdateOp::Add,
            LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpSub => UpdateOp::Sub,
            LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpAnd => UpdateOp::And,
            LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpNand => UpdateOp::Nand,
            LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpOr => UpdateOp::Or,
            LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpXor => UpdateOp::Xor,
            LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpMax => UpdateOp::SMax,
            LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpMin => UpdateOp::SMin,
            LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpUMax => UpdateOp::UMax,
            LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpUMin => UpdateOp::UMin,
            _ => return None,
        })
    }

    /// Of a call: who is called.
    pub fn callee(self) -> Value {
        Value(call!(LLVMGetCalledValue(self.0)))
    }

    /// Of a call: the type that the caller takes the callee to have.
    pub fn called_type(self) -> Type {
        Type::new(call!(LLVMGetCalledFunctionType(self.0)))
    }

    /// Of a call: its arguments.
    pub fn arguments(self) -> impl Iterator<Item = Value> {
        (0..call!(LLVMGetNumArgOperands(self.0))).map(move |index| self.operand(index))
    }

    /// Of a call: the type of the object that the `index`-th argument is the address of and that the callee gets a
    /// copy of, if so.
    pub fn copied_argument(self, index: u32) -> Option<Type> {
        let kind = call!(LLVMGetEnumAttributeKindForName(c"byval".as_ptr(), 5));
        let attribute = call!(LLVMGetCallSiteEnumAttribute(self.0, index + 1, kind));
        (!attribute.is_null()).then(|| Type::new(call!(LLVMGetTypeAttributeValue(attribute))))
    }

    /// Of a function: whether it touches memory that the program can see.
    pub fn touches_memory(self) -> bool {
        // Bits 2 and 3 are memory that no address reaches.
        call!(threadbare_memory_effects(self.0)) & !0b1100 != 0
    }
}
