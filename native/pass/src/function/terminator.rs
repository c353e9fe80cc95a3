//! How blocks end.

use super::{Body, Result};
use crate::llvm::{Block, Opcode, Value};
use crate::module::Unsupported;
use ir::{BlockId, Op, Operand, Terminator, Type};

impl Body<'_> {
    pub(super) fn terminator(&mut self, instruction: Value) -> Result<Terminator> {
        let to = self.numbers_of(&instruction.successors());
        Ok(match instruction.opcode() {
            Opcode::LLVMRet => Terminator::Return(self.operands(instruction.operands())?),
            Opcode::LLVMBr => match instruction.condition() {
                Some(condition) => {
                    let condition = self.operand(condition)?;
                    Terminator::Branch { condition, then: to[0], otherwise: to[1] }
                }
                None => Terminator::Jump(to[0]),
            },
            Opcode::LLVMSwitch => self.switch(instruction, &to)?,
            Opcode::LLVMIndirectBr => {
                let address = self.operand(instruction.operand(0))?;
                Terminator::IndirectJump { address, targets: to }
            }
            Opcode::LLVMInvoke => self.invoke(instruction, to[0], to[1])?,
            Opcode::LLVMCallBr => {
                // Assembly that may jump: where it goes is known only at run time.
                let operands = self.valued_operands(instruction.arguments())?;
                let op = Op::Opaque { what: "asm goto".into(), operands, memory: true };
                match self.translator.ty(instruction.ty())? {
                    Some(ty) => {
                        let operand = self.emit(ty, op);
                        self.known.insert(instruction, operand);
                    }
                    None => self.push(vec![], op),
                }
                Terminator::IndirectJump { address: Operand::Unknown(Type::Ptr), targets: to }
            }
            Opcode::LLVMResume => Terminator::Resume,
            Opcode::LLVMUnreachable => Terminator::Unreachable,
            _ => return Err(Unsupported("an unknown end of a block".to_owned())),
        })
    }

    fn switch(&mut self, instruction: Value, to: &[BlockId]) -> Result<Terminator> {
        let value = self.operand(instruction.operand(0))?;
        let targets = to.to_vec();
        if !matches!(self.type_of(&value), Type::Int(_)) {
            return Ok(Terminator::IndirectJump { address: Operand::Unknown(Type::Ptr), targets });
        }
        let mut cases = vec![];
        for (index, &to) in (0..).zip(to).skip(1) {
            match instruction.case(index).constant_bits() {
                Some(bits) => cases.push((bits, to)),
                None => return Err(Unsupported("a case of a switch that is no number".to_owned())),
            }
        }
        Ok(Terminator::Switch { value, cases, default: to[0] })
    }

    /// The numbers of blocks that control reaches.
    fn numbers_of(&self, blocks: &[Block]) -> Vec<BlockId> {
        blocks.iter().map(|block| self.numbers[block]).collect()
    }
}
