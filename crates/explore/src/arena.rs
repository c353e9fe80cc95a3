//! Things that stay where they are put, so that others can refer to them while more are added.

use std::cell::OnceCell;

/// A list that only grows.
pub struct Arena<T> {
    first: OnceCell<Box<Node<T>>>,
}

struct Node<T> {
    value: T,
    next: OnceCell<Box<Node<T>>>,
}

impl<T> Arena<T> {
    pub fn new() -> Arena<T> {
        Arena { first: OnceCell::new() }
    }

    /// Keeps a value for as long as the arena lives.
    pub fn keep(&self, value: T) -> &T {
        let mut place = &self.first;
        while let Some(node) = place.get() {
            place = &node.next;
        }
        &place.get_or_init(|| Box::new(Node { value, next: OnceCell::new() })).value
    }
}
