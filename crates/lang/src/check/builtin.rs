//! The built-in operations: one table with names, arguments and what they stand for.

use ir::{CheckKind, SyncKind, SyncOp, UpdateOp};

/// What a built-in operation does.
#[derive(Clone, Copy)]
pub(super) enum Builtin {
    /// An operation on synchronisation objects; each argument is one of these kinds.
    Sync(SyncOp, &'static [&'static [SyncKind]]),
    /// `join(t)`
    Join,
    /// `assert(e)`, `assume(e)`
    Check(CheckKind),
    /// `free(p)`
    Free,
    /// `fence(order)`
    Fence,
    /// `load(x, order)`
    Load,
    /// `store(x, v, order)`
    Store,
    /// `cas(x, expected, new, order, failure)`; with `into`, `compare_exchange(x, local, new, order, failure)`, and the flag says
    /// whether it is the weak one
    CompareExchange { into: Option<bool> },
    /// `fetch_add(x, v, order)` and its like
    Update(UpdateOp),
}

/// A built-in operation.
pub(super) struct Signature {
    /// Its name.
    pub(super) name: &'static str,
    /// How it is written.
    pub(super) usage: &'static str,
    /// The least and the most arguments.
    pub(super) arguments: (usize, usize),
    /// What it does.
    pub(super) what: Builtin,
}

const MUTEX: &[SyncKind] = &[SyncKind::Mutex, SyncKind::RecursiveMutex];
const LOCK: &[SyncKind] = &[SyncKind::Mutex, SyncKind::RecursiveMutex, SyncKind::RwLock];
const RWLOCK: &[SyncKind] = &[SyncKind::RwLock];
const CONDITION: &[SyncKind] = &[SyncKind::Condition];
const SEMAPHORE: &[SyncKind] = &[SyncKind::Semaphore];
const BARRIER: &[SyncKind] = &[SyncKind::Barrier];

const fn signature(
    name: &'static str,
    usage: &'static str,
    arguments: (usize, usize),
    what: Builtin,
) -> Signature {
    Signature { name, usage, arguments, what }
}

/// All built-in operations except `alloc`, whose first argument is a type.
const TABLE: [Signature; 32] = [
    signature("assert", "assert(condition)", (1, 1), Builtin::Check(CheckKind::Assert)),
    signature("assume", "assume(condition)", (1, 1), Builtin::Check(CheckKind::Assume)),
    signature("lock", "lock(mutex)", (1, 1), Builtin::Sync(SyncOp::MutexLock, &[MUTEX])),
    signature("trylock", "trylock(mutex)", (1, 1), Builtin::Sync(SyncOp::MutexTryLock, &[MUTEX])),
    signature("unlock", "unlock(mutex)", (1, 1), Builtin::Sync(SyncOp::MutexUnlock, &[LOCK])),
    signature("rdlock", "rdlock(rwlock)", (1, 1), Builtin::Sync(SyncOp::ReadLock, &[RWLOCK])),
    signature("wrlock", "wrlock(rwlock)", (1, 1), Builtin::Sync(SyncOp::WriteLock, &[RWLOCK])),
    signature("tryrdlock", "tryrdlock(rwlock)", (1, 1), Builtin::Sync(SyncOp::TryReadLock, &[RWLOCK])),
    signature("trywrlock", "trywrlock(rwlock)", (1, 1), Builtin::Sync(SyncOp::TryWriteLock, &[RWLOCK])),
    signature("wait", "wait(cond, mutex)", (1, 2), Builtin::Sync(SyncOp::Wait, &[CONDITION, MUTEX])),
    signature(
        "timedwait",
        "timedwait(cond, mutex)",
        (1, 2),
        Builtin::Sync(SyncOp::TimedWait, &[CONDITION, MUTEX]),
    ),
    signature("signal", "signal(cond)", (1, 1), Builtin::Sync(SyncOp::Signal, &[CONDITION])),
    signature("broadcast", "broadcast(cond)", (1, 1), Builtin::Sync(SyncOp::Broadcast, &[CONDITION])),
    signature("acquire", "acquire(semaphore)", (1, 1), Builtin::Sync(SyncOp::Acquire, &[SEMAPHORE])),
    signature("tryacquire", "tryacquire(semaphore)", (1, 1), Builtin::Sync(SyncOp::TryAcquire, &[SEMAPHORE])),
    signature("release", "release(semaphore)", (1, 1), Builtin::Sync(SyncOp::Release, &[SEMAPHORE])),
    signature("value", "value(semaphore)", (1, 1), Builtin::Sync(SyncOp::TokenCount, &[SEMAPHORE])),
    signature("arrive", "arrive(barrier)", (1, 1), Builtin::Sync(SyncOp::BarrierWait, &[BARRIER])),
    signature("join", "join(handle)", (1, 1), Builtin::Join),
    signature("free", "free(pointer)", (1, 1), Builtin::Free),
    signature("fence", "fence(order)", (0, 1), Builtin::Fence),
    signature("load", "load(variable, order)", (1, 2), Builtin::Load),
    signature("store", "store(variable, value, order)", (2, 3), Builtin::Store),
    signature(
        "cas",
        "cas(variable, expected, new, order, failure)",
        (3, 5),
        Builtin::CompareExchange { into: None },
    ),
    signature(
        "compare_exchange",
        "compare_exchange(variable, local, new, order, failure)",
        (3, 5),
        Builtin::CompareExchange { into: Some(false) },
    ),
    signature(
        "compare_exchange_weak",
        "compare_exchange_weak(variable, local, new, order, failure)",
        (3, 5),
        Builtin::CompareExchange { into: Some(true) },
    ),
    signature("exchange", "exchange(variable, value, order)", (2, 3), Builtin::Update(UpdateOp::Exchange)),
    signature("fetch_add", "fetch_add(variable, value, order)", (2, 3), Builtin::Update(UpdateOp::Add)),
    signature("fetch_sub", "fetch_sub(variable, value, order)", (2, 3), Builtin::Update(UpdateOp::Sub)),
    signature("fetch_and", "fetch_and(variable, value, order)", (2, 3), Builtin::Update(UpdateOp::And)),
    signature("fetch_or", "fetch_or(variable, value, order)", (2, 3), Builtin::Update(UpdateOp::Or)),
    signature("fetch_xor", "fetch_xor(variable, value, order)", (2, 3), Builtin::Update(UpdateOp::Xor)),
];

/// The built-in operation with this name.
pub(super) fn find(name: &str) -> Option<&'static Signature> {
    TABLE.iter().find(|signature| signature.name == name)
}

/// All names.
pub(super) fn names<'a>() -> impl Iterator<Item = &'a str> {
    TABLE.iter().map(|signature| signature.name).chain(["alloc"])
}
