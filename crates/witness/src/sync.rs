//! Synchronisation: what blocks, and what each operation does (docs/design/feasibility.md).

use crate::clocks::Carrier;
use crate::objects::Object;
use crate::path::Outcome;
use crate::run::{Run, State};
use crate::{Refusal, Waits};
use ir::SyncOp;
use trace::{Choice, EventId, FaultKind, ThreadId, WakeReason};

/// What an operation did.
pub struct Synchronised {
    pub outcome: Outcome,
    pub result: Option<u64>,
}

fn plain() -> Result<Synchronised, FaultKind> {
    Ok(Synchronised { outcome: Outcome::Plain, result: None })
}

fn tried(success: bool) -> Result<Synchronised, FaultKind> {
    Ok(Synchronised { outcome: Outcome::Success(success), result: Some(u64::from(success)) })
}

impl Run<'_> {
    /// What a thread's next event waits for, other threads' exclusive blocks aside.
    pub fn waits_for_object(&self, t: usize) -> Option<Waits> {
        let me = self.threads[t].id;
        match self.threads[t].state {
            State::Waiting { mutex, timed, woken, .. } => match (woken, mutex) {
                (Some(_), Some(mutex)) => self.lock_waits(SyncOp::MutexLock, me, mutex),
                (Some(_), None) => None,
                (None, _) => (!timed && !self.rules.spurious).then_some(Waits::Signal),
            },
            State::AtBarrier { barrier, round } => match self.objects.get(&barrier) {
                Some(Object::Barrier { round: now, .. }) if *now <= round => Some(Waits::Barrier),
                _ => None,
            },
            State::Ready => {
                let (op, object) = self.next_operation(t)?;
                match op {
                    SyncOp::Join => {
                        let child = ThreadId::from_code(object).and_then(|child| self.index(child))?;
                        let ended = self.threads[child].state == State::Ended;
                        (!ended).then_some(Waits::Join(self.threads[child].id))
                    }
                    SyncOp::Acquire => {
                        let empty =
                            matches!(self.objects.get(&object), Some(Object::Semaphore { tokens: 0 }));
                        empty.then_some(Waits::Token)
                    }
                    op => self.lock_waits(op, me, object),
                }
            }
            _ => None,
        }
    }

    /// Whether a blocking acquire must wait. One of a wrong object does not: it is a fault.
    fn lock_waits(&self, op: SyncOp, me: ThreadId, at: u64) -> Option<Waits> {
        let object = self.objects.get(&at)?;
        let free = match (op, object) {
            (SyncOp::MutexLock, Object::Mutex { recursive, owner, .. }) => {
                owner.is_none_or(|owner| *recursive && owner == me)
            }
            (SyncOp::ReadLock, Object::RwLock { writer, .. }) => writer.is_none(),
            (SyncOp::WriteLock, Object::RwLock { writer, readers }) => writer.is_none() && readers.is_empty(),
            _ => true,
        };
        (!free).then(|| Waits::Lock(object.holders()))
    }

    /// The operation that a thread stands at, with its first operand (0 if it has none).
    fn next_operation(&self, t: usize) -> Option<(SyncOp, u64)> {
        if self.compiled {
            let (op, objects) = self.recorded_operation(self.expected(t)?)?;
            return Some((op, objects.first().copied().unwrap_or(0)));
        }
        let frame = self.top(t)?;
        let block = self.program.function(frame.function).block(frame.block);
        match &block.instructions.get(frame.at as usize)?.op {
            ir::Op::Sync { op, operands } => {
                let first = operands.first().and_then(|&operand| self.operand(t, frame, operand).0);
                Some((*op, first.unwrap_or(0) as u64))
            }
            _ => None,
        }
    }

    /// Does an operation that is enabled.
    pub fn synchronise(
        &mut self,
        t: usize,
        op: SyncOp,
        operands: &[u64],
    ) -> Result<Result<Synchronised, FaultKind>, Refusal> {
        let me = self.threads[t].id;
        let at = operands.first().copied().unwrap_or(0);
        Ok(match op {
            SyncOp::MutexLock | SyncOp::MutexTryLock => self.lock_mutex(me, at, op == SyncOp::MutexTryLock),
            SyncOp::MutexUnlock => self.unlock_mutex(me, at),
            SyncOp::ReadLock | SyncOp::TryReadLock => self.lock_read(me, at, op == SyncOp::TryReadLock),
            SyncOp::WriteLock | SyncOp::TryWriteLock => self.lock_write(me, at, op == SyncOp::TryWriteLock),
            SyncOp::RwUnlock => self.unlock_rw(me, at),
            SyncOp::Wait | SyncOp::TimedWait => return self.wait(t, op == SyncOp::TimedWait, operands),
            SyncOp::Signal | SyncOp::Broadcast => return self.signal(t, at, op == SyncOp::Broadcast),
            SyncOp::Acquire | SyncOp::TryAcquire | SyncOp::Release | SyncOp::TokenCount => {
                self.semaphore(me, op, at)
            }
            SyncOp::BarrierWait => self.barrier(t, at),
            SyncOp::Join => match ThreadId::from_code(at).filter(|&child| self.index(child).is_some()) {
                Some(child) => {
                    self.clocks.join(me, child);
                    plain()
                }
                None => Err(FaultKind::NotAThread),
            },
            SyncOp::TransactionBegin => {
                let thread = &mut self.threads[t];
                thread.transactions += u64::from(thread.depth == 0);
                thread.depth += 1;
                plain()
            }
            SyncOp::TransactionEnd => {
                self.threads[t].depth = self.threads[t].depth.saturating_sub(1);
                plain()
            }
            SyncOp::ExclusiveBegin => {
                self.exclusive = Some(me);
                plain()
            }
            SyncOp::ExclusiveEnd => {
                self.exclusive = None;
                plain()
            }
        })
    }

    fn wrong(&self, at: u64) -> FaultKind {
        match at >> crate::address::OFFSET_BITS {
            0 => FaultKind::NullAccess,
            _ => FaultKind::WrongObject,
        }
    }

    fn lock_mutex(&mut self, me: ThreadId, at: u64, tries: bool) -> Result<Synchronised, FaultKind> {
        let wrong = self.wrong(at);
        let Some(Object::Mutex { recursive, owner, depth }) = self.objects.get_mut(&at) else {
            return Err(wrong);
        };
        let free = owner.is_none_or(|owner| *recursive && owner == me);
        if free {
            *owner = Some(me);
            *depth += 1;
            self.clocks.take(me, Carrier::Object(at));
        }
        if tries { tried(free) } else { plain() }
    }

    fn unlock_mutex(&mut self, me: ThreadId, at: u64) -> Result<Synchronised, FaultKind> {
        let wrong = self.wrong(at);
        let Some(Object::Mutex { owner, depth, .. }) = self.objects.get_mut(&at) else { return Err(wrong) };
        match owner {
            None => return Err(FaultKind::UnlockOfUnlocked),
            Some(owner) if *owner != me => return Err(FaultKind::UnlockByNonOwner),
            Some(_) => {}
        }
        *depth -= 1;
        if *depth == 0 {
            *owner = None;
        }
        self.clocks.leave(me, Carrier::Object(at));
        plain()
    }

    fn lock_read(&mut self, me: ThreadId, at: u64, tries: bool) -> Result<Synchronised, FaultKind> {
        let wrong = self.wrong(at);
        let Some(Object::RwLock { writer, readers }) = self.objects.get_mut(&at) else { return Err(wrong) };
        let free = writer.is_none();
        if free {
            match readers.iter_mut().find(|(reader, _)| *reader == me) {
                Some((_, depth)) => *depth += 1,
                None => readers.push((me, 1)),
            }
            self.clocks.take(me, Carrier::Object(at));
        }
        if tries { tried(free) } else { plain() }
    }

    fn lock_write(&mut self, me: ThreadId, at: u64, tries: bool) -> Result<Synchronised, FaultKind> {
        let wrong = self.wrong(at);
        let Some(Object::RwLock { writer, readers }) = self.objects.get_mut(&at) else { return Err(wrong) };
        let free = writer.is_none() && readers.is_empty();
        if free {
            *writer = Some(me);
            self.clocks.take(me, Carrier::Object(at));
            self.clocks.take(me, Carrier::Readers(at));
        }
        if tries { tried(free) } else { plain() }
    }

    fn unlock_rw(&mut self, me: ThreadId, at: u64) -> Result<Synchronised, FaultKind> {
        let wrong = self.wrong(at);
        let Some(Object::RwLock { writer, readers }) = self.objects.get_mut(&at) else { return Err(wrong) };
        if *writer == Some(me) {
            *writer = None;
            self.clocks.leave(me, Carrier::Object(at));
            return plain();
        }
        if let Some(n) = readers.iter().position(|&(reader, _)| reader == me) {
            readers[n].1 -= 1;
            if readers[n].1 == 0 {
                readers.remove(n);
            }
            self.clocks.leave(me, Carrier::Readers(at));
            return plain();
        }
        match writer.is_some() || !readers.is_empty() {
            true => Err(FaultKind::UnlockByNonOwner),
            false => Err(FaultKind::UnlockOfUnlocked),
        }
    }

    /// Begin releases the mutex. Then it is signalled, or stops waiting by a choice; end acquires the mutex again.
    fn wait(
        &mut self,
        t: usize,
        timed: bool,
        operands: &[u64],
    ) -> Result<Result<Synchronised, FaultKind>, Refusal> {
        let me = self.threads[t].id;
        let condition = operands.first().copied().unwrap_or(0);
        let mutex = operands.get(1).copied();
        if let State::Waiting { woken, .. } = self.threads[t].state {
            let Some(reason) = woken else {
                let ends = |choice: &Choice| !matches!(choice, Choice::Wake(_));
                // The runtime asks for no choice where only time can go on.
                let recorded = match self.expected(t).map(|event| &event.kind) {
                    Some(trace::EventKind::StopWaiting { reason, .. }) if self.compiled => Some(*reason),
                    _ => None,
                };
                let reason = match self.choice(ends) {
                    None if recorded.is_some() => recorded.unwrap_or(WakeReason::Expired),
                    Some(Choice::Expire) if timed => WakeReason::Expired,
                    Some(Choice::Spurious) if self.rules.spurious => WakeReason::Spurious,
                    _ => return Err(Refusal::Choice { step: self.step, event: self.next_id(t) }),
                };
                if let State::Waiting { woken, .. } = &mut self.threads[t].state {
                    *woken = Some(reason);
                }
                return Ok(Ok(Synchronised { outcome: Outcome::Stopped, result: None }));
            };
            if let Some(mutex) = mutex
                && let Err(fault) = self.lock_mutex(me, mutex, false)
            {
                return Ok(Err(fault));
            }
            if let WakeReason::Signal(by) = reason {
                self.clocks.take(me, Carrier::Signal(by));
            }
            self.threads[t].state = State::Ready;
            let signalled = reason != WakeReason::Expired;
            let result = timed.then_some(u64::from(signalled));
            return Ok(Ok(Synchronised { outcome: Outcome::Signalled(signalled), result }));
        }
        if !matches!(self.objects.get(&condition), Some(Object::Condition)) {
            return Ok(Err(self.wrong(condition)));
        }
        if let Some(mutex) = mutex {
            match self.objects.get(&mutex) {
                Some(Object::Mutex { owner, .. }) if *owner == Some(me) => {}
                Some(Object::Mutex { .. }) => return Ok(Err(FaultKind::WaitWithoutMutex)),
                _ => return Ok(Err(self.wrong(mutex))),
            }
            if let Err(fault) = self.unlock_mutex(me, mutex) {
                return Ok(Err(fault));
            }
        }
        self.threads[t].state = State::Waiting { condition, mutex, timed, woken: None };
        Ok(plain())
    }

    /// A signal wakes one of those who wait, if somebody does, a broadcast all of them.
    fn signal(&mut self, t: usize, at: u64, all: bool) -> Result<Result<Synchronised, FaultKind>, Refusal> {
        if !matches!(self.objects.get(&at), Some(Object::Condition)) {
            return Ok(Err(self.wrong(at)));
        }
        let waiting: Vec<usize> = (0..self.threads.len())
            .filter(|&w| {
                matches!(self.threads[w].state, State::Waiting { condition, woken: None, .. } if condition == at)
            })
            .collect();
        let by: EventId = self.next_id(t);
        let woken = match waiting.len() {
            0 => vec![],
            _ if all => waiting,
            1 => waiting,
            _ => match self.choice(|choice| matches!(choice, Choice::Wake(_))) {
                Some(Choice::Wake(chosen)) => {
                    waiting.into_iter().filter(|&w| self.threads[w].id == chosen).collect()
                }
                _ => vec![],
            },
        };
        let some_wait = self
            .threads
            .iter()
            .any(|w| matches!(w.state, State::Waiting { condition, woken: None, .. } if condition == at));
        if woken.is_empty() && some_wait {
            return Err(Refusal::Choice { step: self.step, event: by });
        }
        if !woken.is_empty() {
            self.clocks.leave(by.thread, Carrier::Signal(by));
        }
        for w in woken {
            if let State::Waiting { woken, .. } = &mut self.threads[w].state {
                *woken = Some(WakeReason::Signal(by));
            }
        }
        Ok(plain())
    }

    fn semaphore(&mut self, me: ThreadId, op: SyncOp, at: u64) -> Result<Synchronised, FaultKind> {
        let wrong = self.wrong(at);
        let Some(Object::Semaphore { tokens }) = self.objects.get_mut(&at) else { return Err(wrong) };
        match op {
            SyncOp::TokenCount => {
                let value = *tokens;
                return Ok(Synchronised {
                    outcome: Outcome::Tokens(value),
                    result: Some(value & 0xffff_ffff),
                });
            }
            SyncOp::Release => {
                if *tokens >= 0x7fff_ffff {
                    return Err(FaultKind::MachineLimit);
                }
                *tokens += 1;
                self.clocks.leave(me, Carrier::Object(at));
                return plain();
            }
            _ => {}
        }
        let there = *tokens > 0;
        if there {
            *tokens -= 1;
            self.clocks.take(me, Carrier::Object(at));
        }
        if op == SyncOp::TryAcquire { tried(there) } else { plain() }
    }

    /// Arrive and leave: the last arrival of a round opens it.
    fn barrier(&mut self, t: usize, at: u64) -> Result<Synchronised, FaultKind> {
        let me = self.threads[t].id;
        if let State::AtBarrier { barrier, round } = self.threads[t].state {
            self.threads[t].state = State::Ready;
            self.clocks.take(me, Carrier::Round(barrier, round));
            return plain();
        }
        let wrong = self.wrong(at);
        let Some(Object::Barrier { parties, arrived, round }) = self.objects.get_mut(&at) else {
            return Err(wrong);
        };
        let mine = *round;
        *arrived += 1;
        if *arrived >= *parties {
            *arrived = 0;
            *round += 1;
        }
        self.threads[t].state = State::AtBarrier { barrier: at, round: mine };
        self.clocks.leave(me, Carrier::Round(at, mine));
        plain()
    }
}
