//! Synchronisation objects.

use ir::SyncKind;
use trace::ThreadId;

/// The state of one synchronisation object. Who waits for a condition variable is the threads' own state.
#[derive(Clone, Debug)]
pub enum Object {
    /// A mutex: who holds it, how often.
    Mutex { recursive: bool, owner: Option<ThreadId>, depth: u32 },
    /// A rwlock: who holds it alone, who holds it shared and how often (ordered by thread).
    RwLock { writer: Option<ThreadId>, readers: Vec<(ThreadId, u32)> },
    /// A condition variable.
    Condition,
    /// A semaphore.
    Semaphore { tokens: u64 },
    /// A barrier: arrivals of the current round, and the number of that round.
    Barrier { parties: u64, arrived: u64, round: u64 },
}

impl Object {
    /// The object before the first step.
    pub fn new(kind: SyncKind, count: u64) -> Object {
        match kind {
            SyncKind::Mutex => Object::Mutex { recursive: false, owner: None, depth: 0 },
            SyncKind::RecursiveMutex => Object::Mutex { recursive: true, owner: None, depth: 0 },
            SyncKind::RwLock => Object::RwLock { writer: None, readers: vec![] },
            SyncKind::Condition => Object::Condition,
            SyncKind::Semaphore => Object::Semaphore { tokens: count },
            SyncKind::Barrier => Object::Barrier { parties: count, arrived: 0, round: 0 },
        }
    }

    /// Whether `thread` can acquire this mutex now.
    pub fn mutex_free_for(&self, thread: ThreadId) -> bool {
        match self {
            Object::Mutex { recursive, owner, .. } => owner.is_none_or(|owner| *recursive && owner == thread),
            _ => true, // not a mutex: the operation goes on, into its fault
        }
    }

    /// Who holds this lock.
    pub fn holders(&self) -> Vec<ThreadId> {
        match self {
            Object::Mutex { owner, .. } => owner.iter().copied().collect(),
            Object::RwLock { writer, readers } => {
                writer.iter().copied().chain(readers.iter().map(|&(reader, _)| reader)).collect()
            }
            _ => vec![],
        }
    }
}
