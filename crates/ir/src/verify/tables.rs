//! Shapes, globals and threads.

use super::{Place, Verifier, fail};
use crate::{Global, GlobalId, Initial, RelocationTarget, Shape, ShapeId, SyncKind};
use std::collections::HashSet;

/// How deep arrays and records may nest: enough for any source, and no danger for the stack of a walk.
const MOST_NESTING: u32 = 200;

/// What is known of a shape after its check.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// How deep arrays and records are nested in it.
    nesting: u32,
    /// Its size.
    bytes: u64,
    /// What it is an array (of arrays…) of, else itself.
    innermost: ShapeId,
}

impl Verifier<'_> {
    /// Shapes and globals.
    pub(super) fn tables(&mut self) {
        let program = self.program;
        self.shapes();
        for (number, global) in program.globals.iter().enumerate() {
            self.place = Place::Global(number);
            self.global(global);
        }
    }

    fn shapes(&mut self) {
        let program = self.program;
        for (number, shape) in program.shapes.iter().enumerate() {
            self.place = Place::Shape(number);
            let mut layout = Layout { nesting: 0, bytes: 0, innermost: ShapeId::new(number) };
            match shape {
                Shape::Int { bytes, .. } => {
                    if !matches!(bytes, 1 | 2 | 4 | 8 | 16) {
                        fail!(self, "an integer of {bytes} bytes; there are 1, 2, 4, 8 and 16");
                    }
                    layout.bytes = u64::from(*bytes);
                }
                Shape::Float { bytes } => {
                    if !matches!(bytes, 2 | 4 | 8 | 10 | 16) {
                        fail!(self, "a float of {bytes} bytes; there are 2, 4, 8, 10 and 16");
                    }
                    layout.bytes = u64::from(*bytes);
                }
                Shape::Pointer { to } => {
                    to.map(|to| self.shape_exists(to));
                    layout.bytes = 8;
                }
                Shape::Array { element, count } => {
                    self.part(&mut layout, *element);
                    if let Some(element) = self.layout.get(element.index()) {
                        layout.bytes = element.bytes.saturating_mul(*count);
                        layout.innermost = element.innermost;
                    }
                }
                Shape::Record { fields, bytes, .. } => {
                    fields.iter().for_each(|field| self.part(&mut layout, field.shape));
                    layout.bytes = *bytes;
                }
                Shape::Sync(_) => layout.bytes = SyncKind::BYTES,
                Shape::Opaque { bytes } => layout.bytes = *bytes,
            }
            if layout.nesting == MOST_NESTING + 1 {
                fail!(self, "arrays and records are nested more than {MOST_NESTING} deep");
            }
            self.layout.push(layout);
        }
    }

    fn part(&mut self, layout: &mut Layout, part: ShapeId) {
        match self.layout.get(part.index()) {
            Some(inner) => layout.nesting = layout.nesting.max(inner.nesting + 1),
            None => fail!(self, "its part #{} is not a shape before it", part.0),
        }
    }

    fn global(&mut self, global: &Global) {
        self.position(global.position);
        if !self.shape_exists(global.shape) {
            return;
        }
        let Layout { bytes: room, innermost, .. } = self.layout[global.shape.index()];
        match &global.initial {
            Initial::Zero | Initial::External => {}
            Initial::Bytes { bytes, relocations } => {
                if bytes.len() as u64 > room {
                    fail!(self, "{} bytes of initial content, but its shape has {room}", bytes.len());
                }
                for relocation in relocations {
                    if relocation.offset.checked_add(8).is_none_or(|end| end > bytes.len() as u64) {
                        fail!(
                            self,
                            "the address at offset {} is not inside its {} bytes",
                            relocation.offset,
                            bytes.len()
                        );
                    }
                    match relocation.target {
                        RelocationTarget::Global(global) => self.global_exists(global),
                        RelocationTarget::Function(function) => {
                            self.function_exists(function);
                        }
                    }
                }
            }
            Initial::Sync { kind, count } => {
                if *self.program.shape(innermost) != Shape::Sync(*kind) {
                    let word = kind.word();
                    fail!(self, "holds a {word}, but its shape is neither that nor an array of it");
                }
                match (kind, count) {
                    (SyncKind::Barrier, 0) => {
                        fail!(self, "a barrier for 0 threads; there must be at least 1")
                    }
                    (SyncKind::Barrier | SyncKind::Semaphore, _) | (_, 0) => {}
                    _ => fail!(self, "a {} has no count, but it is given {count}", kind.word()),
                }
            }
        }
    }

    pub(super) fn global_exists(&mut self, global: GlobalId) {
        if global.index() >= self.program.globals.len() {
            fail!(self, "there is no global number {}", global.0);
        }
    }

    /// The threads that exist from the start.
    pub(super) fn threads(&mut self) {
        let program = self.program;
        let mut names = HashSet::new();
        let mut main = None;
        for (number, thread) in program.threads.iter().enumerate() {
            self.place = Place::Thread(number);
            if self.function_exists(thread.function) {
                let function = program.function(thread.function);
                if !function.parameters.is_empty() {
                    let (name, count) = (&function.name, function.parameters.len());
                    fail!(self, "runs ${name}, which has {count} parameters; nothing gives them values");
                }
            }
            if !names.insert(&thread.name) {
                fail!(self, "another thread has this name");
            }
            if thread.main
                && let Some(other) = main.replace(&thread.name)
            {
                fail!(self, "is a main thread, and so is {other}; there can be one");
            }
        }
    }
}
