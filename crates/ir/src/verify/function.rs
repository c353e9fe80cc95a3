//! One function: its values, blocks and the form of each instruction.

use super::flow::{Definition, Flow};
use super::{Place, Verifier, fail};
use crate::{Block, BlockId, Function, FunctionId, Op, Operand, Terminator, Type, ValueId};
use std::collections::HashSet;

/// A function that is being checked.
pub(super) struct Checked<'f> {
    pub(super) id: FunctionId,
    pub(super) function: &'f Function,
}

impl Checked<'_> {
    /// The type of an operand; `None` if it is a value that does not exist, which is reported once elsewhere.
    pub(super) fn type_of(&self, operand: &Operand) -> Option<Type> {
        match operand {
            Operand::Value(value) => self.value_type(*value),
            Operand::Const { width, .. } => Some(Type::Int(*width)),
            Operand::Null | Operand::Global(_) | Operand::Function(_) => Some(Type::Ptr),
            Operand::Unknown(ty) => Some(*ty),
        }
    }

    /// The type of a value, if it exists.
    pub(super) fn value_type(&self, value: ValueId) -> Option<Type> {
        self.function.values.get(value.index()).map(|info| info.ty)
    }
}

impl Verifier<'_> {
    /// Everything about one function.
    pub(super) fn function(&mut self, id: FunctionId, function: &Function) {
        self.place = Place::Function(id);
        self.position(function.position);
        if function.blocks.is_empty() {
            fail!(self, "it has no blocks");
            return;
        }
        let checked = Checked { id, function };
        let definitions = self.definitions(&checked);
        let blocks_exist = self.blocks(&checked);
        if blocks_exist {
            let flow = Flow::new(function, definitions);
            self.flow(&checked, &flow);
        }
    }

    /// Where each value is defined: exactly once.
    fn definitions(&mut self, checked: &Checked<'_>) -> Vec<Option<Definition>> {
        let Checked { id, function } = *checked;
        let mut definitions = vec![None; function.values.len()];
        let mut define = |verifier: &mut Self, value: ValueId, at: Definition| match definitions
            .get_mut(value.index())
        {
            None => {
                fail!(verifier, "defines %{}, but the function has {} values", value.0, function.values.len())
            }
            Some(Some(_)) => fail!(verifier, "defines %{} again", value.0),
            Some(slot) => *slot = Some(at),
        };
        for parameter in &function.parameters {
            define(self, parameter.value, Definition::Parameter);
        }
        for (b, block) in function.blocks.iter().enumerate() {
            for (i, instruction) in block.instructions.iter().enumerate() {
                self.place = Place::Instruction(id, BlockId::new(b), i);
                for &value in &instruction.results {
                    define(self, value, Definition::Instruction { block: b, index: i });
                }
            }
            self.place = Place::Terminator(id, BlockId::new(b));
            for &value in block.terminator.results() {
                define(self, value, Definition::Invoke { block: b });
            }
        }
        self.place = Place::Function(id);
        for shape in function.values.iter().filter_map(|value| value.pointee) {
            self.shape_exists(shape);
        }
        for value in (0..definitions.len()).filter(|&v| definitions[v].is_none()) {
            fail!(self, "nothing defines %{value}");
        }
        definitions
    }

    /// The form of all instructions; whether all blocks that are named exist.
    fn blocks(&mut self, checked: &Checked<'_>) -> bool {
        let Checked { id, function } = *checked;
        let mut blocks_exist = true;
        for (b, block) in function.blocks.iter().enumerate() {
            let mut head = true;
            for (i, instruction) in block.instructions.iter().enumerate() {
                self.place = Place::Instruction(id, BlockId::new(b), i);
                self.position(instruction.position);
                instruction.op.for_each_operand(|operand| self.operand(checked, operand));
                let is_phi = matches!(instruction.op, Op::Phi { .. });
                if is_phi && !head {
                    fail!(self, "a phi after other instructions; phis stand at the head of their block");
                }
                head &= is_phi;
                self.op(checked, instruction);
            }
            self.place = Place::Terminator(id, BlockId::new(b));
            self.position(block.position);
            block.terminator.for_each_operand(|operand| self.operand(checked, operand));
            self.terminator(checked, block);
            for to in block.terminator.successors() {
                if to.index() >= function.blocks.len() {
                    fail!(self, "there is no block b{}", to.0);
                    blocks_exist = false;
                }
            }
        }
        blocks_exist
    }

    /// Whether what an operand names exists, and constants fit.
    fn operand(&mut self, checked: &Checked<'_>, operand: &Operand) {
        match operand {
            Operand::Value(value) if value.index() >= checked.function.values.len() => {
                fail!(self, "uses %{}, which does not exist", value.0);
            }
            Operand::Const { width, bits } if *bits > width.mask() => {
                fail!(self, "the constant {bits:#x} does not fit into i{}", width.bits());
            }
            Operand::Global(global) => self.global_exists(*global),
            Operand::Function(function) => {
                self.function_exists(*function);
            }
            _ => {}
        }
    }

    fn terminator(&mut self, checked: &Checked<'_>, block: &Block) {
        match &block.terminator {
            Terminator::Branch { condition, .. } => {
                self.expect(checked, "condition", condition, Type::BOOL);
            }
            Terminator::Switch { value, cases, .. } => {
                let mut seen = HashSet::new();
                for (case, _) in cases {
                    if !seen.insert(case) {
                        fail!(self, "the case {case} stands there twice");
                    }
                }
                match checked.type_of(value) {
                    Some(Type::Int(width)) => {
                        for (case, _) in cases.iter().filter(|(case, _)| *case > width.mask()) {
                            fail!(self, "the case {case} does not fit into i{}", width.bits());
                        }
                    }
                    Some(other) => fail!(self, "switches on {other}, expected an integer"),
                    None => {}
                }
            }
            Terminator::IndirectJump { address, .. } => {
                self.expect(checked, "address", address, Type::Ptr);
            }
            Terminator::Invoke { callee, arguments, results, .. } => {
                self.call(checked, callee, arguments, Some(results));
            }
            Terminator::Return(values) => {
                let results = &checked.function.results;
                if values.len() != results.len() {
                    fail!(
                        self,
                        "returns {} values, but the function has {} results",
                        values.len(),
                        results.len()
                    );
                }
                for (number, (value, result)) in values.iter().zip(results).enumerate() {
                    self.expect(checked, &format!("result {number}"), value, result.ty);
                }
            }
            Terminator::Jump(_) | Terminator::Resume | Terminator::Unreachable => {}
        }
    }
}
