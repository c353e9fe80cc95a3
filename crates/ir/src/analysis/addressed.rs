//! Variables whose addresses go round in a program: what a pointer leads to may be one of them, though no access names it.

use crate::{Callee, GlobalId, Initial, Op, Operand, Program, RelocationTarget, Terminator};
use std::collections::BTreeSet;

/// The globals of which some value may be the address. What is given to code outside the program does not count: that does not come back.
#[must_use]
pub fn addressed(program: &Program) -> BTreeSet<GlobalId> {
    let mut all = BTreeSet::new();
    for global in &program.globals {
        if let Initial::Bytes { relocations, .. } = &global.initial {
            all.extend(relocations.iter().filter_map(|relocation| match relocation.target {
                RelocationTarget::Global(target) => Some(target),
                RelocationTarget::Function(_) => None,
            }));
        }
    }
    let mut add = |operand: &Operand| {
        if let Operand::Global(global) = operand {
            all.insert(*global);
        }
    };
    for block in program.functions.iter().flat_map(|function| &function.blocks) {
        for instruction in &block.instructions {
            match &instruction.op {
                Op::Load { .. } => {}
                Op::Store { value, .. } | Op::Update { value, .. } => add(value),
                Op::CompareExchange { new, .. } => add(new),
                Op::Call { callee: Callee::External(_), .. } => {}
                op => op.for_each_operand(&mut add),
            }
        }
        match &block.terminator {
            Terminator::Invoke { callee: Callee::External(_), .. } => {}
            terminator => terminator.for_each_operand(&mut add),
        }
    }
    all
}
