//! Synchronisation, failures and the end of a run.

use super::convert::Converter;
use abi::note::{End, Mode, Step, Waits, Wake};
use trace::{
    AllocationOrigin, BlockedThread, EventId, EventKind, FaultKind, LockMode, Outcome, WaitsFor, WakeReason,
};

/// An access below this address is one through the null address.
const NULL_PAGE: u64 = 4096;

/// Adds the event of a step.
pub fn step(to: &mut Converter<'_>, n: u64, number: u32, step: Step) {
    let site = to.site(number);
    let kind = match step {
        Step::Fork { child } => {
            let child = to.named(child);
            to.threads.forked(child, EventId { thread: to.thread, n }, Some(site));
            EventKind::Fork { child }
        }
        Step::Join { child } => EventKind::Join { child: to.named(child) },
        Step::End => EventKind::End,
        Step::Lock { object, mode, depth } => {
            EventKind::Lock { object: to.memory.location(object), mode: lock_mode(mode), depth }
        }
        Step::TryLock { object, mode, acquired } => {
            EventKind::TryLock { object: to.memory.location(object), mode: lock_mode(mode), acquired }
        }
        Step::Unlock { object, mode, depth } => {
            EventKind::Unlock { object: to.memory.location(object), mode: lock_mode(mode), depth }
        }
        Step::WaitBegin { condition, mutex } => EventKind::WaitBegin {
            condition: to.memory.location(condition),
            mutex: mutex.map(|mutex| to.memory.location(mutex)),
        },
        Step::StopWaiting { condition, reason } => {
            EventKind::StopWaiting { condition: to.memory.location(condition), reason: wake(to, reason) }
        }
        Step::WaitEnd { condition, mutex, reason } => EventKind::WaitEnd {
            condition: to.memory.location(condition),
            mutex: mutex.map(|mutex| to.memory.location(mutex)),
            reason: wake(to, reason),
        },
        Step::Signal { condition, woken } => EventKind::Signal {
            condition: to.memory.location(condition),
            woken: woken.map(|thread| to.named(thread)),
        },
        Step::Broadcast { condition, woken } => {
            EventKind::Broadcast { condition: to.memory.location(condition), woken }
        }
        Step::Acquire { semaphore } => EventKind::Acquire { semaphore: to.memory.location(semaphore) },
        Step::TryAcquire { semaphore, acquired } => {
            EventKind::TryAcquire { semaphore: to.memory.location(semaphore), acquired }
        }
        Step::Release { semaphore } => EventKind::Release { semaphore: to.memory.location(semaphore) },
        Step::TokenCount { semaphore, value } => {
            EventKind::TokenCount { semaphore: to.memory.location(semaphore), value }
        }
        Step::BarrierArrive { barrier, round } => {
            EventKind::BarrierArrive { barrier: to.memory.location(barrier), round }
        }
        Step::BarrierLeave { barrier, round } => {
            EventKind::BarrierLeave { barrier: to.memory.location(barrier), round }
        }
        Step::Alloc { address, bytes } => {
            let by = EventId { thread: to.thread, n };
            let piece = to.memory.add(AllocationOrigin::Heap { by, site }, None, address, bytes);
            let allocation = to.memory.allocation(piece);
            to.states[to.state].allocated = Some((piece, to.reading.trace.events.len()));
            EventKind::Alloc { allocation }
        }
        Step::Free { address: 0 } => EventKind::Free { allocation: None },
        Step::Free { address } => {
            let piece = to.memory.piece(address);
            EventKind::Free { allocation: Some(to.memory.allocation(piece)) }
        }
        Step::TransactionBegin => EventKind::TransactionBegin,
        Step::TransactionEnd => EventKind::TransactionEnd,
        Step::ExclusiveBegin => EventKind::ExclusiveBegin,
        Step::ExclusiveEnd => EventKind::ExclusiveEnd,
        Step::System { what } => EventKind::System { what: what.into() },
        Step::AssertFailed { .. } => {
            let event = EventId { thread: to.thread, n };
            to.failure.get_or_insert(Outcome::AssertionFailed { event, site });
            EventKind::Assert { held: false }
        }
        Step::Fault { signal, address } => {
            let kind = fault(signal, address);
            let event = EventId { thread: to.thread, n };
            // The signal that follows a failed assertion is its consequence.
            to.failure.get_or_insert(Outcome::Fault { event, site, kind });
            EventKind::Fault { kind }
        }
    };
    to.event(n, site, kind);
}

/// How the run ended.
pub fn outcome(to: &mut Converter<'_>, n: u64, end: End) -> Outcome {
    match (end, to.failure.take()) {
        (End::Exit { .. } | End::Signal(_), Some(failure)) => failure,
        (End::Exit { status }, None) => Outcome::Exited { status },
        (End::Signal(signal), None) => {
            let event = EventId { thread: to.thread, n };
            Outcome::Fault { event, site: to.site(0), kind: fault(signal, u64::MAX) }
        }
        (End::Deadlock(blocked), _) => {
            let blocked = blocked.into_iter().map(|(thread, site, waits)| {
                let thread = to.named(thread);
                BlockedThread { thread, site: to.site(site), waits_for: waits_for(to, waits) }
            });
            Outcome::Deadlock { blocked: blocked.collect() }
        }
        (End::EventLimit, _) => Outcome::LimitReached { events: to.reading.events },
        (End::Unsupported(what), _) => {
            to.reading.unsupported = Some(what);
            Outcome::Truncated
        }
    }
}

fn lock_mode(mode: Mode) -> LockMode {
    match mode {
        Mode::Mutex => LockMode::Mutex,
        Mode::Read => LockMode::Read,
        Mode::Write => LockMode::Write,
    }
}

fn wake(to: &mut Converter<'_>, reason: Wake) -> WakeReason {
    match reason {
        Wake::Signal(thread, n) => WakeReason::Signal(EventId { thread: to.named(thread), n }),
        Wake::Expired => WakeReason::Expired,
        Wake::Spurious => WakeReason::Spurious,
    }
}

fn waits_for(to: &mut Converter<'_>, waits: Waits) -> WaitsFor {
    match waits {
        Waits::Lock { object, held_by } => WaitsFor::Lock {
            object: to.memory.location(object),
            held_by: held_by.into_iter().map(|thread| to.named(thread)).collect(),
        },
        Waits::Condition { object } => WaitsFor::Condition { object: to.memory.location(object) },
        Waits::Semaphore { object } => WaitsFor::Semaphore { object: to.memory.location(object) },
        Waits::Barrier { object, arrived, parties } => {
            WaitsFor::Barrier { object: to.memory.location(object), arrived, parties }
        }
        Waits::Join { thread } => WaitsFor::Join { thread: to.named(thread) },
        Waits::Exclusive { thread } => WaitsFor::Exclusive { thread: to.named(thread) },
        Waits::Word { address } => WaitsFor::Word { object: to.memory.location(address) },
    }
}

fn fault(signal: i32, address: u64) -> FaultKind {
    match signal {
        4 => FaultKind::IllegalInstruction,
        5 => FaultKind::Trap,
        6 => FaultKind::Abort,
        7 => FaultKind::BusError,
        8 => FaultKind::ArithmeticError,
        11 if address < NULL_PAGE => FaultKind::NullAccess,
        11 => FaultKind::SegmentationFault,
        _ => FaultKind::OtherSignal,
    }
}
