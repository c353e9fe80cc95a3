//! Shapes: the layouts of memory, from LLVM's types (no names of fields) or from debug information (with names).
//!
//! A shape may refer only to earlier ones except through a pointer. So what a pointer points to is made last of all, and
//! recursive types need no care.

use crate::llvm::{Layout, Meta, Type, TypeKind};
use ir::{Field, Shape, ShapeId};
use rustc_hash::FxHashMap;

/// Types nested deeper than this are shown as bytes; the verifier's limit is 200.
const MOST_NESTING: u32 = 100;

/// DWARF's numbers for the types that we tell apart.
mod tag {
    pub const ARRAY: u16 = 0x01;
    pub const CLASS: u16 = 0x02;
    pub const ENUMERATION: u16 = 0x04;
    pub const POINTER: u16 = 0x0f;
    pub const REFERENCE: u16 = 0x10;
    pub const STRUCTURE: u16 = 0x13;
    pub const TYPEDEF: u16 = 0x16;
    pub const UNION: u16 = 0x17;
    pub const BASIC: u16 = 0x24;
    pub const CONST: u16 = 0x26;
    pub const VOLATILE: u16 = 0x35;
    pub const RESTRICT: u16 = 0x37;
    pub const RVALUE_REFERENCE: u16 = 0x42;
    pub const ATOMIC: u16 = 0x47;
    pub const SUBROUTINE: u16 = 0x15;
}

/// DWARF's numbers for how the bytes of a basic type are read.
mod encoding {
    pub const BOOLEAN: u32 = 0x02;
    pub const FLOAT: u32 = 0x04;
    pub const SIGNED: u32 = 0x05;
    pub const SIGNED_CHAR: u32 = 0x06;
    pub const UNSIGNED: u32 = 0x07;
    pub const UNSIGNED_CHAR: u32 = 0x08;
    pub const UTF: u32 = 0x10;
}

/// The shapes of a module.
pub struct Shapes {
    layout: Layout,
    shapes: Vec<Shape>,
    /// The size of each.
    bytes: Vec<u64>,
    /// Shapes that are equal are made once; pointers from debug information are not among them.
    known: FxHashMap<Shape, ShapeId>,
    of_type: FxHashMap<Type, ShapeId>,
    of_debug: FxHashMap<Meta, ShapeId>,
    /// Pointers, and what they point to.
    unfinished: Vec<(ShapeId, Meta)>,
}

impl Shapes {
    /// No shapes yet.
    pub fn new(layout: Layout) -> Shapes {
        Shapes {
            layout,
            shapes: vec![],
            bytes: vec![],
            known: FxHashMap::default(),
            of_type: FxHashMap::default(),
            of_debug: FxHashMap::default(),
            unfinished: vec![],
        }
    }

    /// All shapes.
    pub fn finish(mut self) -> Vec<Shape> {
        while let Some((pointer, to)) = self.unfinished.pop() {
            let to = self.debug(to, 0);
            self.shapes[pointer.index()] = Shape::Pointer { to: Some(to) };
        }
        self.shapes
    }

    /// Bytes without a layout.
    pub fn opaque(&mut self, bytes: u64) -> ShapeId {
        self.add(Shape::Opaque { bytes }, bytes)
    }

    /// The shape of memory that holds a `ty` and, if known, has the type `debug` in the source. Where the two differ in
    /// size (a flexible array with content, a part of a variable), LLVM's is right.
    pub fn of(&mut self, ty: Type, debug: Option<Meta>) -> ShapeId {
        if let Some(debug) = debug {
            let shape = self.debug(debug, 0);
            if self.bytes[shape.index()] == self.layout.stride(ty) {
                return shape;
            }
        }
        self.ty(ty, 0)
    }

    /// What a type of the source points to, if it is a pointer to something of known size.
    pub fn pointee(&mut self, ty: Meta) -> Option<ShapeId> {
        let mut ty = ty;
        while matches!(ty.tag(), tag::TYPEDEF | tag::CONST | tag::VOLATILE | tag::RESTRICT | tag::ATOMIC) {
            ty = ty.base()?;
        }
        let to = ty.base().filter(|to| ty.tag() == tag::POINTER && to.tag() != tag::SUBROUTINE)?;
        let shape = self.debug(to, 0);
        (self.bytes[shape.index()] > 0).then_some(shape)
    }

    fn add(&mut self, shape: Shape, bytes: u64) -> ShapeId {
        if let Some(&id) = self.known.get(&shape) {
            return id;
        }
        let id = self.push(shape.clone(), bytes);
        self.known.insert(shape, id);
        id
    }

    fn push(&mut self, shape: Shape, bytes: u64) -> ShapeId {
        let id = ShapeId::new(self.shapes.len());
        self.shapes.push(shape);
        self.bytes.push(bytes);
        id
    }

    fn array(&mut self, element: ShapeId, count: u64) -> ShapeId {
        let bytes = self.bytes[element.index()].saturating_mul(count);
        self.add(Shape::Array { element, count }, bytes)
    }

    /// The shape of an LLVM type that is sized and not scalable.
    fn ty(&mut self, ty: Type, nesting: u32) -> ShapeId {
        if let Some(&known) = self.of_type.get(&ty) {
            return known;
        }
        let bytes = self.layout.stride(ty);
        let shape = match ty.kind() {
            _ if nesting > MOST_NESTING => self.opaque(bytes),
            TypeKind::LLVMIntegerTypeKind if matches!(ty.bits(), 8 | 16 | 32 | 64 | 128) => {
                self.add(Shape::Int { bytes: bytes as u8, signed: true }, bytes)
            }
            TypeKind::LLVMPointerTypeKind if bytes == 8 => self.add(Shape::Pointer { to: None }, 8),
            TypeKind::LLVMHalfTypeKind
            | TypeKind::LLVMBFloatTypeKind
            | TypeKind::LLVMFloatTypeKind
            | TypeKind::LLVMDoubleTypeKind
            | TypeKind::LLVMX86_FP80TypeKind
            | TypeKind::LLVMFP128TypeKind => self.add(Shape::Float { bytes: bytes as u8 }, bytes),
            TypeKind::LLVMArrayTypeKind => {
                let element = self.ty(ty.element(), nesting + 1);
                self.array(element, ty.array_length())
            }
            TypeKind::LLVMStructTypeKind => {
                let mut fields = vec![];
                for index in 0..ty.field_count() {
                    let shape = self.ty(ty.field(index), nesting + 1);
                    let offset = self.layout.field_offset(ty, index);
                    fields.push(Field { name: String::new(), offset, shape });
                }
                let name = ty.struct_name();
                let plain = ["struct.", "union.", "class."].iter().find_map(|word| name.strip_prefix(word));
                let name = plain.unwrap_or(&name).to_owned();
                self.add(Shape::Record { name, bytes, fields }, bytes)
            }
            _ => self.opaque(bytes),
        };
        self.of_type.insert(ty, shape);
        shape
    }

    /// The shape of a type of the source.
    fn debug(&mut self, ty: Meta, nesting: u32) -> ShapeId {
        if let Some(&known) = self.of_debug.get(&ty) {
            return known;
        }
        let bytes = ty.type_bits() / 8;
        let shape = match ty.tag() {
            _ if nesting > MOST_NESTING => self.opaque(bytes),
            tag::TYPEDEF | tag::CONST | tag::VOLATILE | tag::RESTRICT | tag::ATOMIC => match ty.base() {
                Some(base) => self.debug(base, nesting + 1),
                None => self.opaque(0),
            },
            tag::BASIC => self.basic(ty, bytes),
            tag::ENUMERATION => match ty.base() {
                Some(base) => self.debug(base, nesting + 1),
                None => self.int(bytes, false),
            },
            tag::POINTER | tag::REFERENCE | tag::RVALUE_REFERENCE if bytes == 8 => match ty.base() {
                Some(base) if base.tag() != tag::SUBROUTINE => {
                    let pointer = self.push(Shape::Pointer { to: None }, 8);
                    self.unfinished.push((pointer, base));
                    pointer
                }
                _ => self.add(Shape::Pointer { to: None }, 8),
            },
            tag::ARRAY => match ty.base() {
                Some(base) => {
                    let element = self.debug(base, nesting + 1);
                    let counts: Vec<u64> = ty.elements().map(|e| e.count().unwrap_or(0)).collect();
                    counts.iter().rev().fold(element, |element, &count| self.array(element, count))
                }
                None => self.opaque(bytes),
            },
            tag::STRUCTURE | tag::CLASS | tag::UNION => {
                let mut fields: Vec<Field> = vec![];
                for member in ty.elements().filter(|element| element.is_field()) {
                    let Some(base) = member.base() else { continue };
                    let bits = member.bit_field().unwrap_or_else(|| member.offset_bits());
                    let shape = self.debug(base, nesting + 1);
                    fields.push(Field { name: member.type_name(), offset: bits / 8, shape });
                }
                fields.sort_by_key(|field| field.offset);
                self.add(Shape::Record { name: ty.type_name(), bytes, fields }, bytes)
            }
            _ => self.opaque(bytes),
        };
        self.of_debug.insert(ty, shape);
        shape
    }

    fn basic(&mut self, ty: Meta, bytes: u64) -> ShapeId {
        match ty.encoding() {
            encoding::SIGNED | encoding::SIGNED_CHAR => self.int(bytes, true),
            encoding::UNSIGNED | encoding::UNSIGNED_CHAR | encoding::BOOLEAN | encoding::UTF => {
                self.int(bytes, false)
            }
            encoding::FLOAT if matches!(bytes, 2 | 4 | 8 | 16) => {
                self.add(Shape::Float { bytes: bytes as u8 }, bytes)
            }
            _ => self.opaque(bytes),
        }
    }

    fn int(&mut self, bytes: u64, signed: bool) -> ShapeId {
        match bytes {
            1 | 2 | 4 | 8 | 16 => self.add(Shape::Int { bytes: bytes as u8, signed }, bytes),
            _ => self.opaque(bytes),
        }
    }
}
