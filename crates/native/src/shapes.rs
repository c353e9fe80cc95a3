//! Joining the shapes of modules.
//!
//! Every module that includes a header has the shapes of its types. Two shapes are taken as one if they look the same
//! down to a depth of eight pointers: types that differ only deeper than that do not occur, and a shape carries no
//! meaning for execution. (Exact equality of cyclic types would be partition refinement; this is eight rounds of it.)

use ir::{Field, Shape, ShapeId};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

const ROUNDS: usize = 8;

/// The shapes of all modules so far.
#[derive(Default)]
pub struct Shapes {
    pub all: Vec<Shape>,
    known: HashMap<u64, ShapeId>,
}

impl Shapes {
    /// Adds a module's shapes; gives the new number of each. The module is well formed.
    pub fn add(&mut self, shapes: &[Shape]) -> Vec<ShapeId> {
        let mut hashes = vec![0; shapes.len()];
        for _ in 0..ROUNDS {
            // Parts come before what they are parts of, so only pointers look at the round before.
            let before = hashes.clone();
            for (number, shape) in shapes.iter().enumerate() {
                let mut hasher = DefaultHasher::new();
                match shape {
                    Shape::Pointer { to } => {
                        (0, to.map(|to| before[to.index()])).hash(&mut hasher);
                    }
                    Shape::Array { element, count } => (1, hashes[element.index()], count).hash(&mut hasher),
                    Shape::Record { name, bytes, fields } => {
                        (2, name, bytes).hash(&mut hasher);
                        for Field { name, offset, shape } in fields {
                            (name, offset, hashes[shape.index()]).hash(&mut hasher);
                        }
                    }
                    Shape::Int { .. } | Shape::Float { .. } | Shape::Sync(_) | Shape::Opaque { .. } => {
                        (3, shape).hash(&mut hasher);
                    }
                }
                hashes[number] = hasher.finish();
            }
        }
        let mut numbers: Vec<ShapeId> = vec![];
        let mut new = vec![];
        for (hash, old) in hashes.into_iter().zip(shapes) {
            let next = ShapeId::new(self.all.len());
            let number = *self.known.entry(hash).or_insert(next);
            if number == next {
                self.all.push(old.clone());
                new.push(number);
            }
            numbers.push(number);
        }
        for number in new {
            match &mut self.all[number.index()] {
                Shape::Pointer { to } => *to = to.map(|to| numbers[to.index()]),
                Shape::Array { element, .. } => *element = numbers[element.index()],
                Shape::Record { fields, .. } => {
                    fields.iter_mut().for_each(|field| field.shape = numbers[field.shape.index()]);
                }
                Shape::Int { .. } | Shape::Float { .. } | Shape::Sync(_) | Shape::Opaque { .. } => {}
            }
        }
        numbers
    }
}
