//! Address arithmetic (`getelementptr`).

use super::{Body, Result};
use crate::global::constant_index;
use crate::llvm::{Kind, Layout, TypeKind, Value};
use crate::module::Unsupported;
use ir::{CastKind, Op, Operand, Type, Width};

/// An address computation as distances in bytes.
pub struct Walk {
    /// What the fields of structs add.
    pub offset: i64,
    /// Indices and their strides.
    pub indices: Vec<(Value, i64)>,
}

impl Walk {
    /// The distances of a `getelementptr`; `None` if a type on the way has no fixed size.
    pub fn new(layout: Layout, value: Value) -> Option<Walk> {
        let mut walk = Walk { offset: 0, indices: vec![] };
        let mut ty = value.source_element_type();
        for (number, index) in value.operands().skip(1).enumerate() {
            if number > 0 {
                match ty.kind() {
                    TypeKind::LLVMStructTypeKind => {
                        let field = u32::try_from(constant_index(index)?).ok()?;
                        walk.offset = walk.offset.wrapping_add(layout.field_offset(ty, field) as i64);
                        ty = ty.field(field);
                        continue;
                    }
                    TypeKind::LLVMArrayTypeKind | TypeKind::LLVMVectorTypeKind => ty = ty.element(),
                    _ => return None,
                }
            }
            if !ty.is_sized() || ty.kind() == TypeKind::LLVMScalableVectorTypeKind {
                return None;
            }
            walk.indices.push((index, layout.stride(ty) as i64));
        }
        Some(walk)
    }
}

impl Body<'_> {
    /// The address that a `getelementptr` gives; its result is one address.
    pub(super) fn address(&mut self, value: Value) -> Result<Operand> {
        let Some(walk) = Walk::new(self.translator.layout, value) else {
            return Err(Unsupported("address arithmetic on a type without a fixed size".to_owned()));
        };
        let base = self.operand(value.operand(0))?;
        let (mut offset, mut terms) = (walk.offset, vec![]);
        for (index, stride) in walk.indices {
            if index.kind() == Kind::Int
                && let Some(constant) = constant_index(index)
            {
                offset = offset.wrapping_add(constant.wrapping_mul(stride));
                continue;
            }
            let mut index = self.operand(index)?;
            match self.type_of(&index) {
                Type::Int(width) if width > Width::W64 => {
                    let kind = CastKind::Trunc;
                    index = self.emit(Type::Int(Width::W64), Op::Cast { kind, value: index });
                }
                Type::Int(_) => {}
                _ => return Err(Unsupported("an index that is not an integer".to_owned())),
            }
            if stride != 0 {
                terms.push((index, stride));
            }
        }
        if offset == 0 && terms.is_empty() {
            return Ok(base);
        }
        Ok(self.emit(Type::Ptr, Op::Address { base, offset, terms }))
    }
}
