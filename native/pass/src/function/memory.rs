//! Loads, stores, atomics and the stack.

use super::compute::name;
use super::{Body, Result};
use crate::llvm::{Kind, Opcode, Value};
use crate::module::Unsupported;
use ir::{Op, Operand, Order, Type, UpdateOp};

impl Body<'_> {
    pub(super) fn memory(&mut self, instruction: Value) -> Result<()> {
        let opcode = instruction.opcode();
        match opcode {
            Opcode::LLVMAlloca => return self.alloca(instruction),
            // A fence within the thread only keeps the compiler from moving accesses.
            Opcode::LLVMFence if instruction.is_single_thread() => return Ok(()),
            Opcode::LLVMFence => {
                let order = instruction.order().unwrap_or(Order::SeqCst); // always atomic
                self.push(vec![], Op::Fence { order });
                return Ok(());
            }
            _ => {}
        }
        let operands = self.operands(instruction.operands())?;
        let pointer = operands[if opcode == Opcode::LLVMStore { 1 } else { 0 }];
        if self.type_of(&pointer) != Type::Ptr {
            // An address relative to a segment register, for example: not one that the IR has.
            return self.opaque(instruction, &name(opcode), operands, true);
        }
        match opcode {
            Opcode::LLVMLoad => {
                let Some(ty) = self.translator.ty(instruction.ty())? else {
                    return Err(Unsupported("a load without a value".to_owned()));
                };
                let operand = self.emit(ty, Op::Load { pointer, order: instruction.order() });
                self.known.insert(instruction, operand);
            }
            Opcode::LLVMStore => {
                let value = operands[0];
                self.push(vec![], Op::Store { pointer, value, order: instruction.order() });
            }
            Opcode::LLVMAtomicRMW => return self.update(instruction, pointer, operands[1]),
            _ => {
                let (success, failure) = instruction.exchange_orders();
                let (expected, new, weak) = (operands[1], operands[2], instruction.is_weak());
                if self.type_of(&expected).width().is_none() {
                    return self.opaque(instruction, "cmpxchg", operands, true);
                }
                let (old, done) = (self.define(self.type_of(&expected)), self.define(Type::BOOL));
                let op = Op::CompareExchange { pointer, expected, new, success, failure, weak };
                self.push(vec![old, done], op);
                return self.pair(instruction, Operand::Value(old), Operand::Value(done));
            }
        }
        Ok(())
    }

    fn update(&mut self, instruction: Value, pointer: Operand, value: Operand) -> Result<()> {
        let ty = self.type_of(&value);
        let order = instruction.order().unwrap_or(Order::SeqCst); // always atomic
        match instruction.update() {
            Some(op) if op == UpdateOp::Exchange || matches!(ty, Type::Int(_)) => {
                let operand = self.emit(ty, Op::Update { op, pointer, value, order });
                self.known.insert(instruction, operand);
                Ok(())
            }
            _ => self.opaque(instruction, "atomicrmw", vec![pointer, value], true),
        }
    }

    fn alloca(&mut self, instruction: Value) -> Result<()> {
        let ty = instruction.allocated_type();
        self.translator.ty(ty)?; // no size that is known only at run time
        let size = instruction.operand(0);
        let one = size.kind() == Kind::Int && size.constant_bits() == Some(1);
        let variable = self.declared.get(&instruction).filter(|_| one);
        let shape = self.translator.shapes.of(ty, variable.and_then(|variable| variable.variable_type()));
        let count = self.operand(size)?;
        if self.translator.ty(instruction.ty())? != Some(Type::Ptr) {
            return Err(Unsupported("a stack in another address space".to_owned()));
        }
        let operand = self.emit(Type::Ptr, Op::StackAlloc { shape, count });
        self.known.insert(instruction, operand);
        Ok(())
    }
}
