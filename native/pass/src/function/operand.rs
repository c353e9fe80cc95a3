//! Operands: values of the function, constants, addresses of globals and functions.

use super::{Body, Result};
use crate::llvm::{Kind, Value};
use crate::module::Unsupported;
use ir::{Operand, Type};

impl Body<'_> {
    /// What a value has become. A constant expression is computed in the current block.
    pub(super) fn operand(&mut self, value: Value) -> Result<Operand> {
        let kind = value.kind();
        if kind == Kind::Local {
            // Definitions are translated before their uses, see `reverse_postorder`.
            let known = self.known.get(&value);
            return known.copied().ok_or_else(|| Unsupported("a value before its definition".to_owned()));
        }
        let Some(ty) = self.translator.ty(value.ty())? else {
            return Err(Unsupported("an operand without a value".to_owned()));
        };
        Ok(match (kind, ty) {
            (Kind::Int, Type::Int(width)) => match value.constant_bits() {
                Some(bits) => Operand::Const { width, bits: bits & width.mask() },
                None => Operand::Unknown(ty),
            },
            (Kind::Null, Type::Ptr) => Operand::Null,
            // Null if nobody defines it, which only the run tells.
            (Kind::Function | Kind::Global, Type::Ptr) if value.may_be_missing() => Operand::Unknown(ty),
            (Kind::Function, Type::Ptr) => match self.translator.functions.get(&value) {
                Some(&function) => Operand::Function(function),
                None => Operand::Global(self.translator.symbol(&value.symbol())),
            },
            (Kind::Global, Type::Ptr) => match self.translator.global(value) {
                Some(global) => Operand::Global(global),
                None => Operand::Unknown(ty), // `llvm.used` and the like
            },
            (Kind::Alias, Type::Ptr) => Operand::Global(self.translator.symbol(&value.symbol())),
            (Kind::Expression, _) => self.compute(value)?,
            _ => Operand::Unknown(ty),
        })
    }

    /// Several operands.
    pub(super) fn operands(&mut self, values: impl IntoIterator<Item = Value>) -> Result<Vec<Operand>> {
        values.into_iter().map(|value| self.operand(value)).collect()
    }

    /// The operands that have a value; tokens and metadata do not.
    pub(super) fn valued_operands(
        &mut self,
        values: impl IntoIterator<Item = Value>,
    ) -> Result<Vec<Operand>> {
        let mut operands = vec![];
        for value in values {
            if self.translator.ty(value.ty())?.is_some() {
                operands.push(self.operand(value)?);
            }
        }
        Ok(operands)
    }
}
