//! What only compiled code has: instructions whose events the trace leaves out, calls of code that is not in the program,
//! callbacks from it, exceptions. What is done out there is as recorded.

use crate::Refusal;
use crate::access::{Access, content};
use crate::path::Outcome;
use crate::perform::Performed;
use crate::run::{Call, Frame, Happened, Run, State, width_of};
use ir::{Instruction, Op, SyncOp, Terminator};
use trace::{AccessKind, Event, EventKind, Location, LockMode};

/// Copies and fills that the trace leaves out are followed for so many bytes.
const MOST_HIDDEN: u64 = 1 << 16;

/// Functions that give memory and write nothing into it, beside `operator new`.
const GIVE_MEMORY: [&str; 4] = ["malloc", "calloc", "aligned_alloc", "posix_memalign"];

impl Run<'_> {
    pub fn recorded_address(&self, event: &Event) -> Option<u64> {
        let (_, place, ..) = event.kind.access()?;
        self.address(place)
    }

    fn address(&self, place: Location) -> Option<u64> {
        let allocation = self.trace.allocations.get(place.allocation.0 as usize)?;
        Some(allocation.address.wrapping_add(place.offset))
    }

    /// Whether a thread of compiled code stands before the event that the trace has next.
    pub fn stands_before_recorded(&self, t: usize, frame: Frame) -> bool {
        let Some(expected) = self.expected(t) else { return !self.goes_to_the_end(t) };
        match frame.call {
            Call::Foreign => true,
            Call::Returned => {
                matches!(expected.kind, EventKind::External { .. }) && self.site(t) == Some(expected.site)
            }
            Call::None => {
                self.is_own_event(t, frame, expected) || matches!(expected.kind, EventKind::Fault { .. })
            }
        }
    }

    /// Whether all that a thread still does up to the end of the process is silent: main has had its last event.
    pub fn goes_to_the_end(&self, t: usize) -> bool {
        let exited = matches!(self.trace.outcome, trace::Outcome::Exited { .. });
        let last = self.trace.events.last().map(|event| event.id);
        let thread = &self.threads[t];
        exited
            && thread.id == trace::ThreadId::MAIN
            && last.is_some_and(|last| last.thread == thread.id && last.n == thread.done)
            && self.top(t).is_some_and(|frame| frame.call != Call::Foreign)
    }

    /// Whether an event is that of the instruction that a thread stands at, not of code that it calls.
    pub fn is_own_event(&self, t: usize, frame: Frame, expected: &Event) -> bool {
        let block = self.program.function(frame.function).block(frame.block);
        let op = block.instructions.get(frame.at as usize).map(|instruction| &instruction.op);
        if let EventKind::Entry { .. } = expected.kind {
            return !frame.entered && frame.call == Call::None && self.site(t) == Some(expected.site);
        }
        let calls = match op {
            Some(op) => matches!(op, Op::Call { .. }),
            None => matches!(block.terminator, Terminator::Invoke { .. }),
        };
        frame.call == Call::None && !calls && self.site(t) == Some(expected.site)
    }

    /// An instruction whose event the trace leaves out: private memory, constants, what is not followed.
    pub fn unlogged(&mut self, t: usize, frame: Frame, instruction: &Instruction) -> Result<(), Refusal> {
        let function = self.program.function(frame.function);
        match &instruction.op {
            Op::Load { pointer, .. } => {
                let at = self.operand(t, frame, *pointer).0;
                if let Some(&result) = instruction.results.first() {
                    let bytes = u64::from(function.value(result).ty.bytes());
                    let loaded = at.and_then(|at| self.memory.load(at as u64, bytes));
                    self.set(t, frame, result, loaded.map(|content| crate::access::number(&content)));
                }
            }
            Op::Store { pointer, value, .. } => {
                let (value, width) = self.operand(t, frame, *value);
                let bytes = width.bytes() as usize;
                match (self.operand(t, frame, *pointer).0, value) {
                    (Some(at), Some(value)) => {
                        self.memory.store(at as u64, &value.to_le_bytes()[..bytes]);
                    }
                    (Some(at), None) => self.memory.forget(at as u64, bytes as u64),
                    (None, _) => {}
                }
            }
            Op::MemorySet { to, byte, bytes } => {
                let [to, byte, bytes] = [*to, *byte, *bytes].map(|operand| self.operand(t, frame, operand).0);
                if let (Some(to), Some(bytes)) = (to, bytes) {
                    let bytes = (bytes as u64).min(MOST_HIDDEN);
                    match byte {
                        Some(byte) => self.memory.store(to as u64, &vec![byte as u8; bytes as usize]),
                        None => self.memory.forget(to as u64, bytes),
                    }
                }
            }
            Op::MemoryCopy { to, from, bytes, .. } => {
                let [to, from, bytes] = [*to, *from, *bytes].map(|operand| self.operand(t, frame, operand).0);
                if let (Some(to), Some(bytes)) = (to, bytes) {
                    let bytes = (bytes as u64).min(MOST_HIDDEN);
                    match from {
                        Some(from) => self.memory.copy(to as u64, from as u64, bytes),
                        None => self.memory.forget(to as u64, bytes),
                    }
                }
            }
            Op::StackAlloc { .. } => {
                let thread = &mut self.threads[t];
                thread.allocations += 1;
                // An address that no processor has.
                let own =
                    0xfffe_0000_0000_0000 | (thread.id.code() & 0xffff) << 32 | thread.allocations << 16;
                if let Some(&result) = instruction.results.first() {
                    self.set(t, frame, result, Some(u128::from(own)));
                }
            }
            _ => {
                for &result in &instruction.results {
                    self.set(t, frame, result, None);
                }
            }
        }
        self.next(t);
        Ok(())
    }

    /// A function that the program itself has just called tells of its entry: parameters that are not known are as recorded.
    pub fn enter(&mut self, t: usize, frame: Frame, recorded: &[u64]) -> Performed {
        let code = self.program.function(frame.function);
        for (parameter, &recorded) in code.parameters.iter().zip(recorded) {
            let known = self.threads[t].values[frame.base + parameter.value.index()];
            self.set(t, frame, parameter.value, known.or(Some(u128::from(recorded))));
        }
        if let Some(top) = self.threads[t].frames.last_mut() {
            top.entered = true;
        }
        Ok(Ok(Happened::plain()))
    }

    /// The event of an instruction that only compiled code has.
    pub fn perform_foreign(
        &mut self,
        t: usize,
        frame: Frame,
        expected: &Event,
        instruction: &Instruction,
    ) -> Performed {
        match (&instruction.op, &expected.kind) {
            (Op::StackAlloc { .. }, EventKind::Alloc { allocation }) => {
                let base = self.address(Location { allocation: *allocation, offset: 0 });
                if let Some(&result) = instruction.results.first() {
                    self.set(t, frame, result, base.map(u128::from));
                }
                self.next(t);
                Ok(Ok(Happened::plain()))
            }
            (Op::Opaque { .. }, EventKind::External { result }) => {
                self.set_results(t, frame, instruction, &[u128::from(*result)]);
                self.next(t);
                Ok(Ok(Happened::plain()))
            }
            (Op::Opaque { .. }, EventKind::Landing) => self.outside_event(t, expected),
            _ => Err(self.not_followed(t, "an instruction")),
        }
    }

    /// An event that comes while a thread is in code that is not in the program.
    pub fn outside_event(&mut self, t: usize, expected: &Event) -> Performed {
        if let Some((op, objects)) = self.recorded_operation(expected) {
            let done = self.synchronise(t, op, &objects)?;
            return Ok(done.map(|done| Happened { outcome: done.outcome, ..Happened::plain() }));
        }
        let me = self.threads[t].id;
        match &expected.kind {
            EventKind::Entry { parameters } => {
                let Some(place) = self.sites.place(expected.site) else {
                    return Err(self.not_followed(t, "an entry"));
                };
                let parameters: Vec<_> = parameters.iter().map(|&value| Some(u128::from(value))).collect();
                self.push(t, place.function, &parameters, true);
            }
            EventKind::External { result } => {
                if let Some(frame) = self.top(t)
                    && self.site(t) == Some(expected.site)
                {
                    for value in self.results(frame) {
                        let narrow =
                            width_of(self.program.function(frame.function).value(value).ty).bits() <= 64;
                        let known = self.threads[t].values[frame.base + value.index()];
                        let taken = if frame.call == Call::Returned { known } else { None };
                        self.set(t, frame, value, taken.or(narrow.then_some(u128::from(*result))));
                    }
                    self.behind_call(t, frame);
                }
            }
            EventKind::Landing => {
                let Some(place) = self.sites.place(expected.site) else {
                    return Err(self.not_followed(t, "a landing"));
                };
                while let Some(frame) = self.top(t) {
                    let block = self.program.function(frame.function).block(frame.block);
                    let lands = matches!(block.terminator, Terminator::Invoke { unwind, .. } if unwind == place.block);
                    if frame.function == place.function && lands {
                        self.go(t, frame, place.block);
                        return Ok(Ok(Happened::plain()));
                    }
                    self.pop(t);
                }
                return Err(self.not_followed(t, "an exception"));
            }
            EventKind::ReadBytes { .. } => {
                let Some(at) = self.recorded_address(expected) else {
                    return Err(self.not_followed(t, "a read"));
                };
                let bytes = content(&expected.kind).len() as u64;
                return Ok(Ok(self.wide(t, AccessKind::Read, at, bytes)));
            }
            EventKind::Write { order, .. } => {
                let Some(at) = self.recorded_address(expected) else {
                    return Err(self.not_followed(t, "a write"));
                };
                let content = content(&expected.kind);
                self.memory.store(at, &content);
                let written = (at, content.len() as u64);
                let access = self.access(t, (AccessKind::Write, *order), written, &[], None);
                return self.accessed(Access { before: None, after: None, ..access }, *order);
            }
            EventKind::WriteBytes { .. } => {
                let Some(at) = self.recorded_address(expected) else {
                    return Err(self.not_followed(t, "a write"));
                };
                let content = content(&expected.kind);
                self.memory.store(at, &content);
                return Ok(Ok(self.wide(t, AccessKind::Write, at, content.len() as u64)));
            }
            EventKind::Alloc { allocation } => {
                if let Some(info) = self.trace.allocations.get(allocation.0 as usize) {
                    self.memory.allocate(info.address, info.bytes, true);
                    let called = self.sites.called(self.program, expected.site);
                    if called.is_some_and(|name| GIVE_MEMORY.contains(&name) || name.starts_with("_Zn")) {
                        self.memory.zero(info.address, info.bytes);
                    }
                }
            }
            EventKind::Free { allocation } => {
                let at = allocation.and_then(|allocation| self.address(Location { allocation, offset: 0 }));
                return Ok(self.free(t, at.unwrap_or(0)));
            }
            EventKind::Fork { child } => {
                self.clocks.fork(me, *child);
                self.start(*child);
            }
            EventKind::End => self.threads[t].state = State::Ended,
            EventKind::Assert { held } => {
                return Ok(Ok(Happened { assertion: Some(*held), ..Happened::plain() }));
            }
            EventKind::Fault { kind } => return Ok(Err(*kind)),
            EventKind::Fence { order } => self.clocks.fence(me, *order),
            EventKind::System { .. } => {}
            // A function whose entry is not logged was called.
            _ => {
                let Some(place) = self.sites.place(expected.site) else {
                    return Err(self.not_followed(t, "a call"));
                };
                self.push(t, place.function, &[], true);
                self.settle(t)?;
                return match self.top(t) {
                    Some(frame) if self.is_own_event(t, frame, expected) => self.perform(t, expected),
                    _ => Err(self.not_followed(t, "a call of a function that is not logged")),
                };
            }
        }
        Ok(Ok(Happened { outcome: Outcome::Plain, ..Happened::plain() }))
    }

    /// A recorded event as the operation that makes it, with the addresses of its objects.
    pub fn recorded_operation(&self, event: &Event) -> Option<(SyncOp, Vec<u64>)> {
        let at = |place: Location| self.address(place).unwrap_or(0);
        let one = |op, place| Some((op, vec![at(place)]));
        match event.kind {
            EventKind::Lock { object, mode, .. } => match mode {
                LockMode::Mutex => one(SyncOp::MutexLock, object),
                LockMode::Read => one(SyncOp::ReadLock, object),
                LockMode::Write => one(SyncOp::WriteLock, object),
            },
            EventKind::TryLock { object, mode, .. } => match mode {
                LockMode::Mutex => one(SyncOp::MutexTryLock, object),
                LockMode::Read => one(SyncOp::TryReadLock, object),
                LockMode::Write => one(SyncOp::TryWriteLock, object),
            },
            EventKind::Unlock { object, mode: LockMode::Mutex, .. } => one(SyncOp::MutexUnlock, object),
            EventKind::Unlock { object, .. } => one(SyncOp::RwUnlock, object),
            EventKind::WaitBegin { condition, mutex } | EventKind::WaitEnd { condition, mutex, .. } => {
                let timed = self.is_timed(event);
                let op = if timed { SyncOp::TimedWait } else { SyncOp::Wait };
                Some((op, [condition].into_iter().chain(mutex).map(at).collect()))
            }
            EventKind::StopWaiting { condition, .. } => Some((SyncOp::TimedWait, vec![at(condition)])),
            EventKind::Signal { condition, .. } => one(SyncOp::Signal, condition),
            EventKind::Broadcast { condition, .. } => one(SyncOp::Broadcast, condition),
            EventKind::Acquire { semaphore } => one(SyncOp::Acquire, semaphore),
            EventKind::TryAcquire { semaphore, .. } => one(SyncOp::TryAcquire, semaphore),
            EventKind::Release { semaphore } => one(SyncOp::Release, semaphore),
            EventKind::TokenCount { semaphore, .. } => one(SyncOp::TokenCount, semaphore),
            EventKind::BarrierArrive { barrier, .. } | EventKind::BarrierLeave { barrier, .. } => {
                one(SyncOp::BarrierWait, barrier)
            }
            EventKind::Join { child } => Some((SyncOp::Join, vec![child.code()])),
            EventKind::TransactionBegin => Some((SyncOp::TransactionBegin, vec![])),
            EventKind::TransactionEnd => Some((SyncOp::TransactionEnd, vec![])),
            EventKind::ExclusiveBegin => Some((SyncOp::ExclusiveBegin, vec![])),
            EventKind::ExclusiveEnd => Some((SyncOp::ExclusiveEnd, vec![])),
            _ => None,
        }
    }

    /// Whether a wait of compiled code may expire: it did so in the recorded run.
    fn is_timed(&self, event: &Event) -> bool {
        let mut later = self.trace.events.iter().filter(|other| other.id.thread == event.id.thread);
        later.any(|other| other.id.n >= event.id.n && matches!(other.kind, EventKind::StopWaiting { .. }))
    }
}
