//! The content of globals at the start.

use crate::llvm::{Kind, Opcode, TypeKind, Value};
use crate::module::Translator;
use ir::{Initial, Relocation, RelocationTarget};

/// Contents that are larger are not followed: the module would carry them twice.
const MOST_BYTES: u64 = 1 << 24;

/// A content that is being written.
struct Content<'t> {
    translator: &'t mut Translator,
    bytes: Vec<u8>,
    relocations: Vec<Relocation>,
}

/// Something that cannot be written as bytes and addresses.
struct NotFollowed;

/// The content of a defined global; [`Initial::External`] if it holds what the IR cannot say.
pub fn initial(translator: &mut Translator, global: Value) -> Initial {
    let Some(value) = global.initializer() else { return Initial::External };
    let ty = global.value_type();
    if matches!(value.kind(), Kind::Zeros | Kind::Undefined) {
        return Initial::Zero;
    }
    if !ty.is_sized() || translator.ty(ty).is_err() || translator.layout.stride(ty) > MOST_BYTES {
        return Initial::External;
    }
    let size = translator.layout.stride(ty) as usize;
    let mut content = Content { translator, bytes: vec![0; size], relocations: vec![] };
    if content.write(0, value).is_err() {
        return Initial::External;
    }
    let Content { mut bytes, relocations, .. } = content;
    let addresses = relocations.iter().map(|relocation| relocation.offset as usize + 8).max().unwrap_or(0);
    let used = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1).max(addresses);
    if used == 0 {
        return Initial::Zero;
    }
    bytes.truncate(used);
    Initial::Bytes { bytes, relocations }
}

impl Content<'_> {
    /// Writes a constant at `offset`.
    fn write(&mut self, offset: usize, value: Value) -> Result<(), NotFollowed> {
        let ty = value.ty();
        match value.kind() {
            // The object file has zeros where the program leaves it open.
            Kind::Zeros | Kind::Null | Kind::Undefined => Ok(()),
            Kind::Int | Kind::Float => {
                let bits = value.constant_bits().ok_or(NotFollowed)?;
                let size = (self.translator.layout.store_bytes(ty) as usize).min(16);
                self.put(offset, &bits.to_le_bytes()[..size])
            }
            Kind::Data => self.put(offset, &value.data()),
            Kind::Aggregate => {
                let layout = self.translator.layout;
                for (index, part) in (0..).zip(value.operands()) {
                    let at = match ty.kind() {
                        TypeKind::LLVMStructTypeKind => layout.field_offset(ty, index),
                        TypeKind::LLVMArrayTypeKind => u64::from(index) * layout.stride(ty.element()),
                        _ => return Err(NotFollowed),
                    };
                    self.write(offset + at as usize, part)?;
                }
                Ok(())
            }
            _ => {
                if self.translator.layout.store_bytes(ty) != 8 {
                    return Err(NotFollowed);
                }
                let (target, addend) = self.address(value, 0)?;
                let offset = offset as u64;
                self.relocations.push(Relocation { offset, target, addend });
                Ok(())
            }
        }
    }

    fn put(&mut self, offset: usize, bytes: &[u8]) -> Result<(), NotFollowed> {
        let room = self.bytes.get_mut(offset..offset + bytes.len()).ok_or(NotFollowed)?;
        room.copy_from_slice(bytes);
        Ok(())
    }

    /// What a constant is the address of, and what is added to that.
    fn address(&mut self, value: Value, addend: i64) -> Result<(RelocationTarget, i64), NotFollowed> {
        match value.kind() {
            Kind::Global | Kind::Function if value.may_be_missing() => Err(NotFollowed),
            Kind::Function if let Some(&function) = self.translator.functions.get(&value) => {
                Ok((RelocationTarget::Function(function), addend))
            }
            Kind::Global | Kind::Function | Kind::Alias | Kind::Label => {
                let global = match value.kind() {
                    Kind::Global => self.translator.global(value).ok_or(NotFollowed)?,
                    Kind::Label => self.translator.nameless("<label>"),
                    _ => self.translator.symbol(&value.symbol()),
                };
                Ok((RelocationTarget::Global(global), addend))
            }
            Kind::Expression => match value.opcode() {
                Opcode::LLVMPtrToInt | Opcode::LLVMPtrToAddr | Opcode::LLVMIntToPtr | Opcode::LLVMBitCast => {
                    let inner = value.operand(0);
                    match self.translator.layout.store_bytes(inner.ty()) {
                        8 => self.address(inner, addend),
                        _ => Err(NotFollowed),
                    }
                }
                Opcode::LLVMGetElementPtr => {
                    let offset = constant_offset(self.translator, value).ok_or(NotFollowed)?;
                    self.address(value.operand(0), addend.wrapping_add(offset))
                }
                _ => Err(NotFollowed),
            },
            _ => Err(NotFollowed),
        }
    }
}

/// The distance of an address computation whose indices are all constant.
fn constant_offset(translator: &Translator, value: Value) -> Option<i64> {
    let walk = crate::function::Walk::new(translator.layout, value)?;
    let mut offset = walk.offset;
    for (index, stride) in walk.indices {
        if index.kind() != Kind::Int {
            return None;
        }
        offset = offset.wrapping_add(constant_index(index)?.wrapping_mul(stride));
    }
    Some(offset)
}

/// A constant index as LLVM takes it: sign-extended or cut to 64 bits.
pub fn constant_index(index: Value) -> Option<i64> {
    let width = u8::try_from(index.ty().bits()).ok().and_then(ir::Width::new)?;
    Some(ir::eval::signed(width, index.constant_bits()?) as i64)
}
