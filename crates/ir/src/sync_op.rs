//! The synchronisation operations: their operands, results and words.

use serde::{Deserialize, Serialize};

/// Operations on synchronisation objects. Operands are the objects' addresses; the result, where there is
/// one, is an integer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum SyncOp {
    /// `(mutex)`: acquire, blocking.
    MutexLock,
    /// `(mutex) -> i32`: 1 if acquired.
    MutexTryLock,
    /// `(mutex)`: release.
    MutexUnlock,
    /// `(rwlock)`: acquire shared, blocking.
    ReadLock,
    /// `(rwlock) -> i32`: 1 if acquired shared.
    TryReadLock,
    /// `(rwlock)`: acquire exclusively, blocking.
    WriteLock,
    /// `(rwlock) -> i32`: 1 if acquired exclusively.
    TryWriteLock,
    /// `(rwlock)`: release what this thread holds of it.
    RwUnlock,
    /// `(cond, mutex)` or `(cond)`: two events, begin (releases the mutex) and end (acquires it again).
    Wait,
    /// Like `Wait`, and may expire; `-> i32`: 1 if signalled, 0 if expired.
    TimedWait,
    /// `(cond)`: wake exactly one of the threads that wait un-woken, if there is one.
    Signal,
    /// `(cond)`: wake all of them.
    Broadcast,
    /// `(semaphore)`: take a token, blocking.
    Acquire,
    /// `(semaphore) -> i32`: 1 if a token was there and was taken.
    TryAcquire,
    /// `(semaphore)`: put a token.
    Release,
    /// `(semaphore) -> i32`: the number of tokens now.
    TokenCount,
    /// `(barrier)`: two events, arrive and leave.
    BarrierWait,
    /// `(thread)`: wait for the thread to end.
    Join,
    /// `()`: start of a block that is meant to be atomic; excludes nobody.
    TransactionBegin,
    /// `()`: its end.
    TransactionEnd,
    /// `()`: start of a block during which no other thread runs (SV-COMP's `__VERIFIER_atomic_begin`).
    ExclusiveBegin,
    /// `()`: its end.
    ExclusiveEnd,
}

impl SyncOp {
    /// Every operation with its word in the text form.
    pub const ALL: [(SyncOp, &'static str); 22] = [
        (SyncOp::MutexLock, "mutex_lock"),
        (SyncOp::MutexTryLock, "mutex_trylock"),
        (SyncOp::MutexUnlock, "mutex_unlock"),
        (SyncOp::ReadLock, "read_lock"),
        (SyncOp::TryReadLock, "try_read_lock"),
        (SyncOp::WriteLock, "write_lock"),
        (SyncOp::TryWriteLock, "try_write_lock"),
        (SyncOp::RwUnlock, "rw_unlock"),
        (SyncOp::Wait, "wait"),
        (SyncOp::TimedWait, "timed_wait"),
        (SyncOp::Signal, "signal"),
        (SyncOp::Broadcast, "broadcast"),
        (SyncOp::Acquire, "acquire"),
        (SyncOp::TryAcquire, "try_acquire"),
        (SyncOp::Release, "release"),
        (SyncOp::TokenCount, "token_count"),
        (SyncOp::BarrierWait, "barrier_wait"),
        (SyncOp::Join, "join"),
        (SyncOp::TransactionBegin, "transaction_begin"),
        (SyncOp::TransactionEnd, "transaction_end"),
        (SyncOp::ExclusiveBegin, "exclusive_begin"),
        (SyncOp::ExclusiveEnd, "exclusive_end"),
    ];

    /// How many operands it may take: least and most.
    #[must_use]
    pub fn arity(self) -> (usize, usize) {
        match self {
            SyncOp::Wait | SyncOp::TimedWait => (1, 2),
            SyncOp::TransactionBegin
            | SyncOp::TransactionEnd
            | SyncOp::ExclusiveBegin
            | SyncOp::ExclusiveEnd => (0, 0),
            _ => (1, 1),
        }
    }

    /// Whether it gives a result (an `i32`).
    #[must_use]
    pub fn has_result(self) -> bool {
        matches!(
            self,
            SyncOp::MutexTryLock
                | SyncOp::TryReadLock
                | SyncOp::TryWriteLock
                | SyncOp::TimedWait
                | SyncOp::TryAcquire
                | SyncOp::TokenCount
        )
    }
}
