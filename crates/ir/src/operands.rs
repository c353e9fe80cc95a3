//! Going through what instructions and terminators use and define.

use crate::{Callee, Op, Operand, Terminator, ValueId};

impl Op {
    /// Calls `visit` with each operand, in the order of the text form; those of a phi too.
    pub fn for_each_operand(&self, mut visit: impl FnMut(&Operand)) {
        match self {
            Op::Binary { lhs, rhs, .. } | Op::Compare { lhs, rhs, .. } => {
                visit(lhs);
                visit(rhs);
            }
            Op::Cast { value, .. } => visit(value),
            Op::Select { condition, then, otherwise } => {
                [condition, then, otherwise].into_iter().for_each(visit)
            }
            Op::Phi { incoming } => incoming.iter().for_each(|(_, value)| visit(value)),
            Op::Address { base, terms, .. } => {
                visit(base);
                terms.iter().for_each(|(index, _)| visit(index));
            }
            Op::Load { pointer, .. } | Op::Free { pointer } => visit(pointer),
            Op::Store { pointer, value, .. } => {
                visit(value);
                visit(pointer);
            }
            Op::Update { pointer, value, .. } => {
                visit(pointer);
                visit(value);
            }
            Op::CompareExchange { pointer, expected, new, .. } => {
                [pointer, expected, new].into_iter().for_each(visit);
            }
            Op::Fence { .. } => {}
            Op::StackAlloc { count, .. } | Op::HeapAlloc { count, .. } => visit(count),
            Op::MemoryCopy { to, from, bytes, .. } => [to, from, bytes].into_iter().for_each(visit),
            Op::MemorySet { to, byte, bytes } => [to, byte, bytes].into_iter().for_each(visit),
            Op::Call { callee, arguments } | Op::Fork { callee, arguments } => {
                callee.operand().into_iter().chain(arguments).for_each(visit);
            }
            Op::Sync { operands, .. } | Op::Opaque { operands, .. } => operands.iter().for_each(visit),
            Op::Check { condition, .. } => visit(condition),
        }
    }
}

impl Callee {
    /// The address that is called through, if it is one.
    #[must_use]
    pub fn operand(&self) -> Option<&Operand> {
        match self {
            Callee::Indirect(operand) => Some(operand),
            Callee::Function(_) | Callee::External(_) => None,
        }
    }
}

impl Terminator {
    /// Calls `visit` with each operand, in the order of the text form.
    pub fn for_each_operand(&self, mut visit: impl FnMut(&Operand)) {
        match self {
            Terminator::Branch { condition: operand, .. }
            | Terminator::Switch { value: operand, .. }
            | Terminator::IndirectJump { address: operand, .. } => visit(operand),
            Terminator::Invoke { callee, arguments, .. } => {
                callee.operand().into_iter().chain(arguments).for_each(visit);
            }
            Terminator::Return(values) => values.iter().for_each(visit),
            Terminator::Jump(_) | Terminator::Resume | Terminator::Unreachable => {}
        }
    }

    /// The values that it defines: those of an invoke, on its normal way only.
    #[must_use]
    pub fn results(&self) -> &[ValueId] {
        match self {
            Terminator::Invoke { results, .. } => results,
            _ => &[],
        }
    }
}
