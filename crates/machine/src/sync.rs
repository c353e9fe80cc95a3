//! What the synchronisation operations do: docs/design/feasibility.md as a machine.

use crate::Machine;
use crate::object::Object;
use crate::state::{Phase, State};
use ir::SyncOp;
use trace::{Choice, EventId, EventKind, FaultKind, Location, LockMode, ThreadId, WakeReason};

/// Most tokens of a semaphore: what its value, an `int`, can say.
const MAX_TOKENS: u64 = 0x7fff_ffff;

/// What a synchronisation operation did.
pub struct Done {
    pub event: EventKind,
    pub result: Option<u64>,
}

fn did(event: EventKind) -> Result<Done, FaultKind> {
    Ok(Done { event, result: None })
}

fn tried(event: EventKind, success: bool) -> Result<Done, FaultKind> {
    Ok(Done { event, result: Some(u64::from(success)) })
}

impl Machine {
    /// Does a synchronisation operation of thread `t` that is enabled. Sets the phase of the thread to `Ready`, or to what
    /// the second event of the operation waits for.
    pub(crate) fn synchronise(
        &self,
        state: &mut State,
        t: usize,
        op: SyncOp,
        operands: &[u64],
        choice: Option<Choice>,
    ) -> Result<Done, FaultKind> {
        let me = state.threads[t].id;
        match op {
            SyncOp::MutexLock | SyncOp::MutexTryLock => {
                let (index, object) = self.object(operands[0])?;
                let Object::Mutex { .. } = state.objects[index] else { return Err(FaultKind::WrongObject) };
                let acquired = lock_mutex(&mut state.objects[index], me);
                lock_event(op == SyncOp::MutexTryLock, object, LockMode::Mutex, acquired)
            }
            SyncOp::MutexUnlock => {
                let (index, object) = self.object(operands[0])?;
                let depth = unlock_mutex(&mut state.objects[index], me)?;
                did(EventKind::Unlock { object, mode: LockMode::Mutex, depth })
            }
            SyncOp::ReadLock | SyncOp::TryReadLock => {
                let (index, object) = self.object(operands[0])?;
                let acquired = lock_read(&mut state.objects[index], me)?;
                lock_event(op == SyncOp::TryReadLock, object, LockMode::Read, acquired)
            }
            SyncOp::WriteLock | SyncOp::TryWriteLock => {
                let (index, object) = self.object(operands[0])?;
                let acquired = lock_write(&mut state.objects[index], me)?;
                lock_event(op == SyncOp::TryWriteLock, object, LockMode::Write, acquired)
            }
            SyncOp::RwUnlock => {
                let (index, object) = self.object(operands[0])?;
                let (mode, depth) = unlock_rw(&mut state.objects[index], me)?;
                did(EventKind::Unlock { object, mode, depth })
            }
            SyncOp::Wait | SyncOp::TimedWait => {
                self.wait(state, t, op == SyncOp::TimedWait, operands, choice)
            }
            SyncOp::Signal => {
                let (condition, object) = self.condition(state, operands[0])?;
                let waiters = waiters(state, condition);
                let woken = match choice {
                    Some(Choice::Wake(chosen)) => {
                        waiters.iter().copied().find(|&w| state.threads[w].id == chosen)
                    }
                    _ => waiters.first().copied(),
                };
                let by = state.threads[t].next_event();
                woken.into_iter().for_each(|waiter| wake(state, waiter, by));
                did(EventKind::Signal { condition: object, woken: woken.map(|w| state.threads[w].id) })
            }
            SyncOp::Broadcast => {
                let (condition, object) = self.condition(state, operands[0])?;
                let waiters = waiters(state, condition);
                let by = state.threads[t].next_event();
                let woken = waiters.len() as u32;
                waiters.into_iter().for_each(|waiter| wake(state, waiter, by));
                did(EventKind::Broadcast { condition: object, woken })
            }
            SyncOp::Acquire | SyncOp::TryAcquire | SyncOp::Release | SyncOp::TokenCount => {
                let (index, semaphore) = self.object(operands[0])?;
                let Object::Semaphore { tokens } = &mut state.objects[index] else {
                    return Err(FaultKind::WrongObject);
                };
                semaphore_operation(op, tokens, semaphore)
            }
            SyncOp::BarrierWait => self.barrier(state, t, operands[0]),
            SyncOp::Join => {
                let child = self.joined(state, operands[0]).ok_or(FaultKind::NotAThread)?;
                did(EventKind::Join { child: state.threads[child].id })
            }
            SyncOp::TransactionBegin => did(EventKind::TransactionBegin),
            SyncOp::TransactionEnd => did(EventKind::TransactionEnd),
            SyncOp::ExclusiveBegin => {
                state.exclusive = Some(me);
                did(EventKind::ExclusiveBegin)
            }
            SyncOp::ExclusiveEnd => {
                state.exclusive = None;
                did(EventKind::ExclusiveEnd)
            }
        }
    }

    fn object(&self, address: u64) -> Result<(usize, Location), FaultKind> {
        let index = self.layout().locate_object(address)?;
        Ok((index, self.layout().objects[index]))
    }

    fn condition(&self, state: &State, address: u64) -> Result<(usize, Location), FaultKind> {
        let (index, location) = self.object(address)?;
        match state.objects[index] {
            Object::Condition => Ok((index, location)),
            _ => Err(FaultKind::WrongObject),
        }
    }

    /// The thread that has this handle.
    pub(crate) fn joined(&self, state: &State, handle: u64) -> Option<usize> {
        state.thread_index(ThreadId::from_code(handle)?)
    }

    /// Begin: the mutex is released and the thread waits. Stop waiting, if nobody signals: signals no longer reach it. End:
    /// the mutex is acquired again.
    fn wait(
        &self,
        state: &mut State,
        t: usize,
        timed: bool,
        operands: &[u64],
        choice: Option<Choice>,
    ) -> Result<Done, FaultKind> {
        let me = state.threads[t].id;
        let (condition, condition_at) = self.condition(state, operands[0])?;
        let mutex = operands.get(1).map(|&address| self.object(address)).transpose()?;
        let (mutex, mutex_at) = (mutex.map(|(index, _)| index), mutex.map(|(_, at)| at));
        if let Phase::Waiting { woken: woken @ None, .. } = &mut state.threads[t].phase {
            let reason =
                if choice == Some(Choice::Spurious) { WakeReason::Spurious } else { WakeReason::Expired };
            *woken = Some(reason);
            return did(EventKind::StopWaiting { condition: condition_at, reason });
        }
        if let Phase::Waiting { woken: Some(reason), .. } = state.threads[t].phase {
            if let Some(mutex) = mutex {
                lock_mutex(&mut state.objects[mutex], me);
            }
            state.threads[t].phase = Phase::Ready;
            let event = EventKind::WaitEnd { condition: condition_at, mutex: mutex_at, reason };
            return match timed {
                true => tried(event, reason != WakeReason::Expired),
                false => did(event),
            };
        }
        if let Some(mutex) = mutex {
            match state.objects[mutex] {
                Object::Mutex { owner, .. } if owner == Some(me) => {
                    unlock_mutex(&mut state.objects[mutex], me)?;
                }
                Object::Mutex { .. } => return Err(FaultKind::WaitWithoutMutex),
                _ => return Err(FaultKind::WrongObject),
            }
        }
        state.threads[t].phase = Phase::Waiting { condition, mutex, timed, woken: None };
        did(EventKind::WaitBegin { condition: condition_at, mutex: mutex_at })
    }

    /// Arrive: the last of a round ends it. Leave: possible when the round has ended.
    fn barrier(&self, state: &mut State, t: usize, address: u64) -> Result<Done, FaultKind> {
        let (index, location) = self.object(address)?;
        if let Phase::AtBarrier { round, .. } = state.threads[t].phase {
            state.threads[t].phase = Phase::Ready;
            return did(EventKind::BarrierLeave { barrier: location, round });
        }
        let Object::Barrier { parties, arrived, round } = &mut state.objects[index] else {
            return Err(FaultKind::WrongObject);
        };
        let mine = *round;
        *arrived += 1;
        if *arrived >= *parties {
            *arrived = 0;
            *round += 1;
        }
        state.threads[t].phase = Phase::AtBarrier { barrier: index, round: mine };
        did(EventKind::BarrierArrive { barrier: location, round: mine })
    }
}

/// The threads that wait for a condition variable and have not been woken, ordered by thread.
pub(crate) fn waiters(state: &State, wanted: usize) -> Vec<usize> {
    let mut waiters: Vec<usize> = (0..state.threads.len())
        .filter(|&t| {
            matches!(state.threads[t].phase,
                Phase::Waiting { condition, woken: None, .. } if condition == wanted)
        })
        .collect();
    waiters.sort_unstable_by_key(|&t| state.threads[t].id);
    waiters
}

fn wake(state: &mut State, waiter: usize, by: EventId) {
    if let Phase::Waiting { woken, .. } = &mut state.threads[waiter].phase {
        *woken = Some(WakeReason::Signal(by));
    }
}

fn lock_event(
    only_tried: bool,
    object: Location,
    mode: LockMode,
    acquired: Option<u32>,
) -> Result<Done, FaultKind> {
    match acquired {
        _ if only_tried => tried(EventKind::TryLock { object, mode, acquired }, acquired.is_some()),
        Some(depth) => did(EventKind::Lock { object, mode, depth }),
        // A lock that is not free is not enabled.
        None => Err(FaultKind::Unreachable),
    }
}

/// Acquires a mutex if it is free for `me`; gives the new depth.
fn lock_mutex(object: &mut Object, me: ThreadId) -> Option<u32> {
    match object {
        Object::Mutex { recursive, owner, depth }
            if owner.is_none() || (*recursive && *owner == Some(me)) =>
        {
            *owner = Some(me);
            *depth += 1;
            Some(*depth)
        }
        _ => None,
    }
}

fn unlock_mutex(object: &mut Object, me: ThreadId) -> Result<u32, FaultKind> {
    let Object::Mutex { owner, depth, .. } = object else { return Err(FaultKind::WrongObject) };
    match owner {
        None => Err(FaultKind::UnlockOfUnlocked),
        Some(owner) if *owner != me => Err(FaultKind::UnlockByNonOwner),
        Some(_) => {
            *depth -= 1;
            if *depth == 0 {
                *owner = None;
            }
            Ok(*depth)
        }
    }
}

fn lock_read(object: &mut Object, me: ThreadId) -> Result<Option<u32>, FaultKind> {
    let Object::RwLock { writer, readers } = object else { return Err(FaultKind::WrongObject) };
    if writer.is_some() {
        return Ok(None);
    }
    let at = readers.partition_point(|&(reader, _)| reader < me);
    match readers.get_mut(at) {
        Some((reader, depth)) if *reader == me => {
            *depth += 1;
            Ok(Some(*depth))
        }
        _ => {
            readers.insert(at, (me, 1));
            Ok(Some(1))
        }
    }
}

fn lock_write(object: &mut Object, me: ThreadId) -> Result<Option<u32>, FaultKind> {
    let Object::RwLock { writer, readers } = object else { return Err(FaultKind::WrongObject) };
    if writer.is_some() || !readers.is_empty() {
        return Ok(None);
    }
    *writer = Some(me);
    Ok(Some(1))
}

fn unlock_rw(object: &mut Object, me: ThreadId) -> Result<(LockMode, u32), FaultKind> {
    let Object::RwLock { writer, readers } = object else { return Err(FaultKind::WrongObject) };
    if *writer == Some(me) {
        *writer = None;
        return Ok((LockMode::Write, 0));
    }
    if let Some(at) = readers.iter().position(|&(reader, _)| reader == me) {
        readers[at].1 -= 1;
        let depth = readers[at].1;
        if depth == 0 {
            readers.remove(at);
        }
        return Ok((LockMode::Read, depth));
    }
    match writer.is_some() || !readers.is_empty() {
        true => Err(FaultKind::UnlockByNonOwner),
        false => Err(FaultKind::UnlockOfUnlocked),
    }
}

fn semaphore_operation(op: SyncOp, tokens: &mut u64, semaphore: Location) -> Result<Done, FaultKind> {
    match op {
        SyncOp::Release => {
            *tokens = tokens.checked_add(1).filter(|&n| n <= MAX_TOKENS).ok_or(FaultKind::MachineLimit)?;
            did(EventKind::Release { semaphore })
        }
        SyncOp::TokenCount => {
            let value = *tokens;
            Ok(Done { event: EventKind::TokenCount { semaphore, value }, result: Some(value & 0xffff_ffff) })
        }
        SyncOp::TryAcquire if *tokens == 0 => {
            tried(EventKind::TryAcquire { semaphore, acquired: false }, false)
        }
        _ => {
            // A plain acquire without a token is not enabled.
            *tokens = tokens.checked_sub(1).ok_or(FaultKind::Unreachable)?;
            match op {
                SyncOp::TryAcquire => tried(EventKind::TryAcquire { semaphore, acquired: true }, true),
                _ => did(EventKind::Acquire { semaphore }),
            }
        }
    }
}
