//! Instructions that make an event: accesses, forks, checks, branches; synchronisation is in `sync`.

use crate::access::{Access, number};
use crate::decision::Decision;
use crate::path::Outcome;
use crate::run::{Frame, Happened, Run, State, width_of};
use crate::step::target;
use crate::{Refusal, address};
use ir::{Callee, CheckKind, Instruction, Op, Operand, Order, Terminator, eval};
use trace::{AccessKind, Event, EventKind, FaultKind};

/// An event, or the fault that it is instead; the outer error is what the checker cannot follow.
pub type Performed = Result<Result<Happened, FaultKind>, Refusal>;

impl Run<'_> {
    /// Does the event that a thread stands before; it is enabled and the recorded one is at this instruction.
    pub fn perform(&mut self, t: usize, expected: &Event) -> Performed {
        let Some(frame) = self.top(t) else { return self.outside_event(t, expected) };
        if self.compiled && !self.is_own_event(t, frame, expected) {
            return self.outside_event(t, expected);
        }
        if let EventKind::Entry { parameters } = &expected.kind {
            return self.enter(t, frame, parameters);
        }
        let program = self.program;
        let block = program.function(frame.function).block(frame.block);
        let Some(instruction) = block.instructions.get(frame.at as usize) else {
            return self.perform_end(t, frame, expected, &block.terminator);
        };
        let value = |run: &Self, operand: Operand| run.operand(t, frame, operand).0;
        match &instruction.op {
            Op::Load { pointer, order } => {
                let Some(result) = instruction.results.first().copied() else { return self.nothing(t) };
                let bytes = u64::from(program.function(frame.function).value(result).ty.bytes());
                let at = self.pointer(t, frame, *pointer, expected)?;
                if let Err(fault) = self.memory.find(at, bytes, false) {
                    return Ok(Err(fault));
                }
                let content = self.content(at, bytes, expected);
                self.set(t, frame, result, Some(number(&content)));
                self.next(t);
                let mut access = self.access(t, (AccessKind::Read, *order), (at, bytes), &content, None);
                access.decides = self.decision(t, bytes);
                self.accessed(access, *order)
            }
            Op::Store { pointer, value: stored, order } => {
                let ty = self.operand_bytes(frame, *stored);
                let at = self.pointer(t, frame, *pointer, expected)?;
                if let Err(fault) = self.memory.find(at, ty, true) {
                    return Ok(Err(fault));
                }
                let new = match value(self, *stored) {
                    Some(value) if ty <= 16 => value.to_le_bytes()[..ty as usize].to_vec(),
                    _ => crate::access::content(&expected.kind),
                };
                let old = self.memory.load(at, ty).unwrap_or_else(|| vec![0; ty as usize]);
                self.memory.store(at, &new);
                self.next(t);
                let access = self.access(t, (AccessKind::Write, *order), (at, ty), &old, Some(&new));
                self.accessed(access, *order)
            }
            Op::Update { op, pointer, value: operand, order } => {
                let width = self.operand(t, frame, *operand).1;
                let bytes = u64::from(width.bytes());
                let at = self.pointer(t, frame, *pointer, expected)?;
                if let Err(fault) = self.memory.find(at, bytes, true) {
                    return Ok(Err(fault));
                }
                let old = self.content(at, bytes, expected);
                let Some(operand) = value(self, *operand) else {
                    return Err(self.not_followed(t, "an update"));
                };
                let new = eval::update(*op, width, number(&old), operand);
                let new = new.to_le_bytes()[..bytes as usize].to_vec();
                self.memory.store(at, &new);
                self.set_results(t, frame, instruction, &[number(&old)]);
                self.next(t);
                let access =
                    self.access(t, (AccessKind::Update, Some(*order)), (at, bytes), &old, Some(&new));
                self.accessed(access, Some(*order))
            }
            Op::CompareExchange { pointer, expected: wanted, new, success, failure, .. } => {
                let width = self.operand(t, frame, *wanted).1;
                let bytes = u64::from(width.bytes());
                let at = self.pointer(t, frame, *pointer, expected)?;
                if let Err(fault) = self.memory.find(at, bytes, true) {
                    return Ok(Err(fault));
                }
                let old = self.content(at, bytes, expected);
                let (Some(wanted), Some(new)) = (value(self, *wanted), value(self, *new)) else {
                    return Err(self.not_followed(t, "a compare-and-exchange"));
                };
                let equal = number(&old) == wanted;
                let (kind, order) = match equal {
                    true => (AccessKind::Update, *success),
                    false => (AccessKind::Read, *failure),
                };
                let new = new.to_le_bytes()[..bytes as usize].to_vec();
                if equal {
                    self.memory.store(at, &new);
                }
                self.set_results(t, frame, instruction, &[number(&old), u128::from(equal)]);
                self.next(t);
                let after = equal.then_some(&new[..]);
                let access = self.access(t, (kind, Some(order)), (at, bytes), &old, after);
                let done = self.accessed(access, Some(order))?;
                Ok(done.map(|done| Happened { outcome: Outcome::Success(equal), ..done }))
            }
            Op::MemoryCopy { to, from, bytes, .. } => self.copy(t, frame, expected, (*to, *from, *bytes)),
            Op::MemorySet { to, byte, bytes } => {
                let bytes = value(self, *bytes).unwrap_or(0) as u64;
                let at = self.pointer(t, frame, *to, expected)?;
                if let Err(fault) = self.memory.find(at, bytes, true) {
                    return Ok(Err(fault));
                }
                let content = vec![value(self, *byte).unwrap_or(0) as u8; bytes as usize];
                self.memory.store(at, &content);
                self.next(t);
                Ok(Ok(self.wide(t, AccessKind::Write, at, bytes)))
            }
            Op::Fence { order } => {
                self.clocks.fence(self.threads[t].id, *order);
                self.next(t);
                Ok(Ok(Happened::plain()))
            }
            Op::HeapAlloc { shape, count } => {
                let count = value(self, *count).unwrap_or(0) as u64;
                let bytes = program.shape_bytes(*shape).checked_mul(count).filter(|&bytes| bytes <= 1 << 24);
                let Some(bytes) = bytes else { return Ok(Err(FaultKind::AllocationTooLarge)) };
                let base = self.new_base(t);
                self.memory.allocate(base, bytes, true);
                self.set_results(t, frame, instruction, &[u128::from(base)]);
                self.next(t);
                Ok(Ok(Happened::plain()))
            }
            Op::Free { pointer } => {
                let at = self.pointer(t, frame, *pointer, expected)?;
                let happened = self.free(t, at);
                if happened.is_ok() {
                    self.next(t);
                }
                Ok(happened)
            }
            Op::Fork { callee, arguments } => {
                let arguments: Vec<_> = arguments.iter().map(|&argument| value(self, argument)).collect();
                let function = match callee {
                    Callee::Function(function) => Some(*function),
                    Callee::Indirect(pointer) => {
                        value(self, *pointer).and_then(|at| address::function_at(at as u64))
                    }
                    Callee::External(_) => None,
                };
                let there = function.filter(|function| function.index() < program.functions.len());
                let Some(function) = there else { return Ok(Err(FaultKind::NotAFunction)) };
                let parent = self.threads[t].id;
                let number = self.first_fork(parent) + self.threads[t].forks;
                let Some(child) = parent.child(number) else { return Ok(Err(FaultKind::MachineLimit)) };
                self.threads[t].forks += 1;
                self.clocks.fork(parent, child);
                let new = self.start(child);
                self.push(new, function, &arguments, true);
                self.settle(new)?;
                self.set_results(t, frame, instruction, &[u128::from(child.code())]);
                self.next(t);
                Ok(Ok(Happened::plain()))
            }
            Op::Sync { op, operands } => {
                let operands: Option<Vec<u64>> =
                    operands.iter().map(|&operand| value(self, operand).map(|bits| bits as u64)).collect();
                let Some(operands) = operands else { return Err(self.not_followed(t, "an operand")) };
                let done = self.synchronise(t, *op, &operands)?;
                Ok(done.map(|done| {
                    if let Some(result) = done.result {
                        self.set_results(t, frame, instruction, &[u128::from(result)]);
                    }
                    if self.threads[t].state == State::Ready {
                        self.next(t);
                    }
                    Happened { outcome: done.outcome, ..Happened::plain() }
                }))
            }
            Op::Check { condition, kind } => {
                let held = value(self, *condition).is_some_and(|bit| bit & 1 == 1);
                self.next(t);
                let assertion = (*kind == CheckKind::Assert).then_some(held);
                Ok(Ok(Happened { assertion, ..Happened::plain() }))
            }
            _ => self.perform_foreign(t, frame, expected, instruction),
        }
    }

    fn perform_end(&mut self, t: usize, frame: Frame, expected: &Event, end: &Terminator) -> Performed {
        match end {
            Terminator::Branch { .. } | Terminator::Switch { .. } => {
                let recorded = match expected.kind {
                    EventKind::Branch { taken } if self.compiled => Some(taken),
                    _ => None,
                };
                let taken = self.way(t, frame, end).or(recorded);
                let Some(mut taken) = taken else { return Err(self.not_followed(t, "a branch")) };
                self.go(t, frame, target(end, taken));
                // Compiled code logs the first of the ways that lead to a block.
                if let Some(recorded) =
                    recorded.filter(|&recorded| target(end, recorded) == target(end, taken))
                {
                    taken = recorded;
                }
                Ok(Ok(Happened { outcome: Outcome::Branch(taken), ..Happened::plain() }))
            }
            Terminator::IndirectJump { targets, .. } => {
                let EventKind::Branch { taken } = expected.kind else { return self.nothing(t) };
                let Some(&to) = targets.get(taken as usize) else { return self.nothing(t) };
                self.go(t, frame, to);
                Ok(Ok(Happened { outcome: Outcome::Branch(taken), ..Happened::plain() }))
            }
            Terminator::Return(_) => {
                self.pop(t);
                self.threads[t].state = State::Ended;
                Ok(Ok(Happened::plain()))
            }
            _ => self.outside_event(t, expected),
        }
    }

    fn nothing(&self, t: usize) -> Performed {
        Err(self.not_followed(t, "an instruction"))
    }

    pub fn set_results(&mut self, t: usize, frame: Frame, instruction: &Instruction, values: &[u128]) {
        for (&result, &value) in instruction.results.iter().zip(values) {
            self.set(t, frame, result, Some(value));
        }
    }

    /// An address; one that is not known is taken as recorded.
    fn pointer(&self, t: usize, frame: Frame, pointer: Operand, expected: &Event) -> Result<u64, Refusal> {
        if let Some(address) = self.operand(t, frame, pointer).0 {
            return Ok(address as u64);
        }
        self.recorded_address(expected).ok_or_else(|| self.not_followed(t, "an address"))
    }

    /// What is read; bytes that nobody has told of are taken as recorded.
    fn content(&mut self, at: u64, bytes: u64, expected: &Event) -> Vec<u8> {
        if let Some(content) = self.memory.load(at, bytes) {
            return content;
        }
        let mut content = crate::access::content(&expected.kind);
        content.resize(bytes as usize, 0);
        self.memory.store(at, &content);
        content
    }

    fn operand_bytes(&self, frame: Frame, operand: Operand) -> u64 {
        u64::from(match operand {
            Operand::Value(value) => self.program.function(frame.function).value(value).ty.bytes(),
            Operand::Const { width, .. } => width.bytes(),
            Operand::Unknown(ty) => ty.bytes(),
            Operand::Null | Operand::Global(_) | Operand::Function(_) => 8,
        })
    }

    pub fn access(
        &self,
        t: usize,
        (kind, order): (AccessKind, Option<Order>),
        (address, bytes): (u64, u64),
        before: &[u8],
        after: Option<&[u8]>,
    ) -> Access {
        let thread = &self.threads[t];
        let narrow = |content: &[u8]| (bytes <= 8).then(|| number(content) as u64);
        Access {
            event: self.next_id(t),
            kind,
            atomic: order.is_some(),
            frees: false,
            address,
            bytes,
            before: narrow(before),
            after: narrow(after.unwrap_or(before)),
            decides: None,
            transaction: (thread.depth > 0).then_some(thread.transactions),
        }
    }

    /// A wide access, of whose values nothing is said.
    pub fn wide(&self, t: usize, kind: AccessKind, address: u64, bytes: u64) -> Happened {
        let access = self.access(t, (kind, None), (address, bytes), &[], None);
        Happened { access: Some(Access { before: None, after: None, ..access }), ..Happened::plain() }
    }

    /// An access has happened, with this order if it is atomic.
    pub fn accessed(&mut self, access: Access, order: Option<Order>) -> Performed {
        if let Some(order) = order {
            self.clocks.atomic(&access, order);
        }
        Ok(Ok(Happened { access: Some(access), ..Happened::plain() }))
    }

    fn decision(&self, t: usize, bytes: u64) -> Option<Decision> {
        let frame = self.top(t).filter(|_| bytes <= 8)?;
        let known = |operand| match operand {
            Operand::Value(value) => {
                let width = width_of(self.program.function(frame.function).value(value).ty);
                (self.threads[t].values.get(frame.base + value.index()).copied().flatten(), width)
            }
            operand => self.operand(t, frame, operand),
        };
        Decision::of(self.program.function(frame.function), (frame.block, frame.at), self.compiled, known)
    }

    fn copy(
        &mut self,
        t: usize,
        frame: Frame,
        expected: &Event,
        (to, from, bytes): (Operand, Operand, Operand),
    ) -> Performed {
        let bytes = self.operand(t, frame, bytes).0.unwrap_or(0) as u64;
        if let State::Copying(content) = std::mem::replace(&mut self.threads[t].state, State::Ready) {
            let at = self.pointer(t, frame, to, expected)?;
            if let Err(fault) = self.memory.find(at, content.len() as u64, true) {
                return Ok(Err(fault));
            }
            self.memory.store(at, &content);
            self.next(t);
            return Ok(Ok(self.wide(t, AccessKind::Write, at, bytes)));
        }
        let at = self.pointer(t, frame, from, expected)?;
        if let Err(fault) = self.memory.find(at, bytes, false) {
            return Ok(Err(fault));
        }
        let content = self.content(at, bytes, expected);
        self.threads[t].state = State::Copying(content);
        Ok(Ok(self.wide(t, AccessKind::Read, at, bytes)))
    }

    /// Memory is given back: that writes all of it, as far as races go.
    pub fn free(&mut self, t: usize, at: u64) -> Result<Happened, FaultKind> {
        self.memory.free(at)?;
        match self.memory.blocks.get(&at).map(|block| block.bytes) {
            Some(bytes) if at != 0 => {
                let mut happened = self.wide(t, AccessKind::Write, at, bytes);
                happened.access.iter_mut().for_each(|access| access.frees = true);
                Ok(happened)
            }
            _ => Ok(Happened::plain()),
        }
    }
}
