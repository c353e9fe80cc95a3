//! Shapes: how a piece of memory is laid out and what its parts are called.
//!
//! Shapes carry no meaning for execution; they turn (allocation, offset) back into the words of the
//! source, `acct[3].balance`.

use crate::ShapeId;
use serde::{Deserialize, Serialize};

/// The kinds of synchronisation objects that memory can hold.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum SyncKind {
    /// A mutex; locking it twice from one thread blocks for ever.
    Mutex,
    /// A mutex that its owner may lock again.
    RecursiveMutex,
    /// A lock with shared readers and one writer.
    RwLock,
    /// A condition variable.
    Condition,
    /// A counting semaphore.
    Semaphore,
    /// A barrier for a fixed number of threads.
    Barrier,
}

impl SyncKind {
    /// The bytes that an object takes in the machine's memory: one per object is enough to name it, eight
    /// keep arrays of them apart from arrays of small integers.
    pub const BYTES: u64 = 8;

    /// The word for it in messages and in the text form.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            SyncKind::Mutex => "mutex",
            SyncKind::RecursiveMutex => "recursive_mutex",
            SyncKind::RwLock => "rwlock",
            SyncKind::Condition => "cond",
            SyncKind::Semaphore => "semaphore",
            SyncKind::Barrier => "barrier",
        }
    }
}

/// The layout of a piece of memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Shape {
    /// An integer of `bytes` bytes.
    Int {
        /// 1, 2, 4, 8 or 16.
        bytes: u8,
        /// How values are shown.
        signed: bool,
    },
    /// An address of something of shape `to`, if known.
    Pointer {
        /// What it points to.
        to: Option<ShapeId>,
    },
    /// A float of `bytes` bytes.
    Float {
        /// 2, 4, 8, 10 or 16.
        bytes: u8,
    },
    /// `count` elements, one after the other.
    Array {
        /// The shape of one element.
        element: ShapeId,
        /// How many.
        count: u64,
    },
    /// A struct, class or union; fields of a union overlap.
    Record {
        /// Its name, empty if it has none.
        name: String,
        /// Its size in bytes, padding included.
        bytes: u64,
        /// Its fields, by offset.
        fields: Vec<Field>,
    },
    /// A synchronisation object.
    Sync(SyncKind),
    /// Anything else.
    Opaque {
        /// Its size.
        bytes: u64,
    },
}

/// One field of a [`Shape::Record`].
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Field {
    /// Its name in the source; empty for an anonymous member.
    pub name: String,
    /// Where it starts.
    pub offset: u64,
    /// What it is.
    pub shape: ShapeId,
}
