//! Instructions and constant expressions that only compute.

use super::{Body, Parts, Result};
use crate::llvm::{Opcode, Value};
use crate::module::Unsupported;
use ir::{BinaryOp, CastKind, Op, Operand, Type};

/// Aggregates with more parts are not looked into.
const MOST_PARTS: usize = 16;

fn binary(opcode: Opcode) -> Option<BinaryOp> {
    Some(match opcode {
        Opcode::LLVMAdd => BinaryOp::Add,
        Opcode::LLVMSub => BinaryOp::Sub,
        Opcode::LLVMMul => BinaryOp::Mul,
        Opcode::LLVMUDiv => BinaryOp::UDiv,
        Opcode::LLVMSDiv => BinaryOp::SDiv,
        Opcode::LLVMURem => BinaryOp::URem,
        Opcode::LLVMSRem => BinaryOp::SRem,
        Opcode::LLVMShl => BinaryOp::Shl,
        Opcode::LLVMLShr => BinaryOp::Lshr,
        Opcode::LLVMAShr => BinaryOp::Ashr,
        Opcode::LLVMAnd => BinaryOp::And,
        Opcode::LLVMOr => BinaryOp::Or,
        Opcode::LLVMXor => BinaryOp::Xor,
        _ => return None,
    })
}

impl Body<'_> {
    /// The result of a computation.
    pub(super) fn compute(&mut self, value: Value) -> Result<Operand> {
        let Some(ty) = self.translator.ty(value.ty())? else {
            return Err(Unsupported(format!("{} without a value", name(value.opcode()))));
        };
        let opcode = value.opcode();
        if let Some(op) = binary(opcode)
            && let Type::Int(_) = ty
        {
            let (lhs, rhs) = (self.operand(value.operand(0))?, self.operand(value.operand(1))?);
            return Ok(self.emit(ty, Op::Binary { op, lhs, rhs }));
        }
        match opcode {
            Opcode::LLVMICmp if ty == Type::BOOL => {
                let (lhs, rhs) = (self.operand(value.operand(0))?, self.operand(value.operand(1))?);
                if self.type_of(&lhs).width().is_some() {
                    return Ok(self.emit(ty, Op::Compare { predicate: value.predicate(), lhs, rhs }));
                }
            }
            Opcode::LLVMSelect => {
                let condition = self.operand(value.operand(0))?;
                if self.type_of(&condition) == Type::BOOL {
                    let (then, otherwise) =
                        (self.operand(value.operand(1))?, self.operand(value.operand(2))?);
                    return Ok(self.emit(ty, Op::Select { condition, then, otherwise }));
                }
            }
            Opcode::LLVMFreeze => return self.operand(value.operand(0)),
            Opcode::LLVMGetElementPtr if ty == Type::Ptr => return self.address(value),
            _ => {
                let from = self.operand(value.operand(0))?;
                if let Some(operand) = self.cast(opcode, from, ty) {
                    return Ok(operand);
                }
            }
        }
        let operands = self.valued_operands(value.operands())?;
        Ok(self.emit(ty, Op::Opaque { what: name(opcode).into(), operands, memory: false }))
    }

    /// A cast that the IR has.
    fn cast(&mut self, opcode: Opcode, value: Operand, to: Type) -> Option<Operand> {
        let from = self.type_of(&value);
        let kind = match (opcode, from, to) {
            (Opcode::LLVMTrunc, Type::Int(_), Type::Int(_)) => CastKind::Trunc,
            (Opcode::LLVMZExt, Type::Int(_), Type::Int(_)) => CastKind::Zext,
            (Opcode::LLVMSExt, Type::Int(_), Type::Int(_)) => CastKind::Sext,
            (Opcode::LLVMPtrToInt | Opcode::LLVMPtrToAddr, Type::Ptr, Type::Int(_)) => CastKind::PtrToInt,
            (Opcode::LLVMIntToPtr, Type::Int(_), Type::Ptr) => CastKind::IntToPtr,
            (Opcode::LLVMBitCast, ..) if from == to => return Some(value),
            (Opcode::LLVMBitCast, ..) if from.bytes() == to.bytes() => CastKind::Reinterpret,
            _ => return None,
        };
        Some(self.emit(to, Op::Cast { kind, value }))
    }

    /// `extractvalue`: exact where the part is known.
    pub(super) fn extract(&mut self, instruction: Value) -> Result<()> {
        let aggregate = instruction.operand(0);
        let path = instruction.indices();
        let part = self.parts.get(&aggregate).and_then(|parts| parts.iter().find(|(way, _)| *way == path));
        if let Some(&(_, part)) = part {
            self.known.insert(instruction, part);
            return Ok(());
        }
        let operands = vec![self.operand(aggregate)?];
        self.opaque(instruction, "extractvalue", operands, false)
    }

    /// `insertvalue`: the aggregate is opaque, its new part is known.
    pub(super) fn insert(&mut self, instruction: Value) -> Result<()> {
        let (aggregate, path) = (instruction.operand(0), instruction.indices());
        let operands = self.operands([aggregate, instruction.operand(1)])?;
        let part = operands[1];
        let mut parts: Parts = self.parts.get(&aggregate).cloned().unwrap_or_default();
        parts.retain(|(way, _)| !way.starts_with(&path) && !path.starts_with(way));
        if parts.len() < MOST_PARTS {
            parts.push((path, part));
        }
        self.parts.insert(instruction, parts);
        self.opaque(instruction, "insertvalue", operands, false)
    }

    /// The result of an instruction that gives two values at once; each is known by itself. The pair as a whole is made
    /// only if something uses it so.
    pub(super) fn pair(&mut self, instruction: Value, first: Operand, second: Operand) -> Result<()> {
        let parts = vec![(vec![0], first), (vec![1], second)];
        self.parts.insert(instruction, parts);
        if instruction.users().any(|user| user.opcode() != Opcode::LLVMExtractValue) {
            self.opaque(instruction, "pair", vec![first, second], false)?;
        }
        Ok(())
    }
}

/// LLVM's word for an instruction.
pub(super) fn name(opcode: Opcode) -> String {
    format!("{opcode:?}").trim_start_matches("LLVM").to_ascii_lowercase()
}
