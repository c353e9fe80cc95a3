//! Going through what instructions and terminators use and define.

use crate::{Callee, Op, Operand, Terminator, ValueId};

/// Visits the operands of a call.
macro_rules! visit_call {
    ($callee:ident, $arguments:ident, $visit:ident) => {{
        if let Callee::Indirect(address) = $callee {
            $visit(address);
        }
        $arguments.into_iter().for_each($visit);
    }};
}

/// Visits the operands of an instruction, by reference or mutably, as the instruction is given.
macro_rules! visit_op {
    ($op:expr, $visit:ident) => {
        match $op {
            Op::Binary { lhs, rhs, .. } | Op::Compare { lhs, rhs, .. } => {
                $visit(lhs);
                $visit(rhs);
            }
            Op::Cast { value, .. } => $visit(value),
            Op::Select { condition, then, otherwise } => {
                [condition, then, otherwise].into_iter().for_each($visit)
            }
            Op::Phi { incoming } => incoming.into_iter().for_each(|(_, value)| $visit(value)),
            Op::Address { base, terms, .. } => {
                $visit(base);
                terms.into_iter().for_each(|(index, _)| $visit(index));
            }
            Op::Load { pointer, .. } | Op::Free { pointer } => $visit(pointer),
            Op::Store { pointer, value, .. } => {
                $visit(value);
                $visit(pointer);
            }
            Op::Update { pointer, value, .. } => {
                $visit(pointer);
                $visit(value);
            }
            Op::CompareExchange { pointer, expected, new, .. } => {
                [pointer, expected, new].into_iter().for_each($visit);
            }
            Op::Fence { .. } => {}
            Op::StackAlloc { count, .. } | Op::HeapAlloc { count, .. } => $visit(count),
            Op::MemoryCopy { to, from, bytes, .. } => [to, from, bytes].into_iter().for_each($visit),
            Op::MemorySet { to, byte, bytes } => [to, byte, bytes].into_iter().for_each($visit),
            Op::Call { callee, arguments } | Op::Fork { callee, arguments } => {
                visit_call!(callee, arguments, $visit)
            }
            Op::Sync { operands, .. } | Op::Opaque { operands, .. } => operands.into_iter().for_each($visit),
            Op::Check { condition, .. } => $visit(condition),
        }
    };
}

/// The same for a terminator.
macro_rules! visit_terminator {
    ($terminator:expr, $visit:ident) => {
        match $terminator {
            Terminator::Branch { condition: operand, .. }
            | Terminator::Switch { value: operand, .. }
            | Terminator::IndirectJump { address: operand, .. } => $visit(operand),
            Terminator::Invoke { callee, arguments, .. } => visit_call!(callee, arguments, $visit),
            Terminator::Return(values) => values.into_iter().for_each($visit),
            Terminator::Jump(_) | Terminator::Resume | Terminator::Unreachable => {}
        }
    };
}

impl Op {
    /// Calls `visit` with each operand, in the order of the text form; those of a phi too.
    pub fn for_each_operand(&self, mut visit: impl FnMut(&Operand)) {
        visit_op!(self, visit);
    }

    /// The same, to change them.
    pub fn for_each_operand_mut(&mut self, mut visit: impl FnMut(&mut Operand)) {
        visit_op!(self, visit);
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
        visit_terminator!(self, visit);
    }

    /// The same, to change them.
    pub fn for_each_operand_mut(&mut self, mut visit: impl FnMut(&mut Operand)) {
        visit_terminator!(self, visit);
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
