//! From a thread's last event to its next one.

use super::{Doing, Frame, MOST_SILENT, Walk, width_of};
use crate::pure::{compute, is_pure};
use crate::{CtpError, ExprId, Kind, Otherwise, PinReason};
use ir::{CheckKind, Instruction, Op, Operand, Predicate, SiteId, SyncOp, Width};
use trace::{EventId, EventKind, FaultKind, WakeReason};

/// Whether an instruction took the event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// It made none; the thread goes on.
    Silent,
    /// It made this one.
    Took,
}

impl Walk<'_> {
    /// Runs a thread up to and with its next event.
    pub(super) fn advance(&mut self, t: usize, at: usize, event: &trace::Event) -> Result<(), CtpError> {
        if self.runners[t].ended {
            return Err(CtpError::NoCode { event: event.id });
        }
        if self.interrupts.contains(&at) && self.outside(t, at, event)? == Step::Took {
            return Ok(());
        }
        for _ in 0..MOST_SILENT {
            let Some(frame) = self.top(t) else {
                if self.outside(t, at, event)? == Step::Took {
                    return Ok(());
                }
                continue;
            };
            let site = self.site_of(frame);
            if self.is_last(event, site) {
                if at >= self.happened {
                    self.stand_before_fault(t, event, frame)?;
                }
                self.emit_other(t, event);
                self.runners[t].ended = true;
                return Ok(());
            }
            if self.enter(t, event, frame, site) {
                return Ok(());
            }
            if site == event.site && frame.doing == Doing::Running {
                self.note_state(t, at);
            }
            let program = self.program;
            let block = program.function(frame.function).block(frame.block);
            let step = match (frame.doing, block.instructions.get(frame.at as usize)) {
                (Doing::Foreign, _) => self.foreign(t, at, event, frame)?,
                (Doing::Returned, _) => self.returned(t, event, frame)?,
                (Doing::Running, Some(instruction)) => {
                    self.instruction(t, (at, event), frame, instruction)?
                }
                (Doing::Running, None) => self.terminator(t, event, frame, &block.terminator)?,
            };
            if step == Step::Took {
                return Ok(());
            }
        }
        let site = self.top(t).map_or(event.site, |frame| self.site_of(frame));
        Err(CtpError::Endless { thread: self.runners[t].id, site })
    }

    /// Whether an event ends the process here. In compiled code a signal may come anywhere.
    fn is_last(&self, event: &trace::Event, site: SiteId) -> bool {
        match event.kind {
            EventKind::Fault { .. } => event.site == site || self.space.compiled,
            EventKind::Assert { held: false } => self.space.compiled,
            _ => false,
        }
    }

    /// Whether the event is that of the instruction at `site`. In compiled code not every instruction has its events in the trace.
    pub(super) fn is_here(&self, event: &trace::Event, site: SiteId) -> Result<bool, CtpError> {
        if event.site == site {
            return Ok(true);
        }
        match self.space.compiled {
            true => Ok(false),
            false => Err(CtpError::OffPath { event: event.id, expected: site, found: event.site }),
        }
    }

    fn instruction(
        &mut self,
        t: usize,
        (at, event): (usize, &trace::Event),
        frame: Frame,
        instruction: &Instruction,
    ) -> Result<Step, CtpError> {
        let site = self.site_of(frame);
        if is_pure(&instruction.op) {
            self.pure(t, event, site, frame, instruction)?;
            return Ok(Step::Silent);
        }
        let taken = (at, event);
        match &instruction.op {
            // Phis were done on the way here.
            Op::Phi { .. } => {}
            Op::Load { pointer, .. } if self.is_here(event, site)? => {
                self.load(t, taken, frame, instruction, *pointer)?;
                return Ok(Step::Took);
            }
            Op::Store { pointer, value, .. } if self.is_here(event, site)? => {
                self.store(t, taken, frame, *pointer, *value)?;
                return Ok(Step::Took);
            }
            Op::Update { .. } if self.is_here(event, site)? => {
                self.update(t, taken, frame, instruction)?;
                return Ok(Step::Took);
            }
            Op::CompareExchange { .. } if self.is_here(event, site)? => {
                self.compare_exchange(t, taken, frame, instruction)?;
                return Ok(Step::Took);
            }
            Op::MemoryCopy { to, from, bytes, .. } if self.is_here(event, site)? => {
                self.copy(t, taken, frame, (*to, *from, *bytes))?;
                return Ok(Step::Took);
            }
            Op::MemorySet { to, byte, bytes } if self.is_here(event, site)? => {
                self.fill(t, taken, frame, (*to, *byte, *bytes))?;
                return Ok(Step::Took);
            }
            Op::Load { .. } | Op::Store { .. } | Op::Update { .. } | Op::CompareExchange { .. } => {
                self.runners[t].hidden_writes += u64::from(!matches!(instruction.op, Op::Load { .. }));
                self.hidden_access(t, frame, instruction)?;
            }
            Op::MemoryCopy { to, from, bytes, .. } => {
                let [to, from, bytes] = [*to, *from, *bytes].map(|operand| self.operand(t, frame, operand));
                self.runners[t].hidden_writes += 1;
                self.hidden_copy(to?, from?, bytes?);
            }
            Op::MemorySet { to, byte, bytes } => {
                let [to, byte, bytes] = [*to, *byte, *bytes].map(|operand| self.operand(t, frame, operand));
                self.runners[t].hidden_writes += 1;
                self.hidden_fill(to?, byte?, bytes?);
            }
            Op::Fence { order } => {
                if self.is_here(event, site)? {
                    self.emit(t, event, Kind::Fence(*order));
                    self.step_over(t);
                    return Ok(Step::Took);
                }
            }
            Op::StackAlloc { count, .. } => {
                return self.stack_memory(t, event, site, frame, instruction, *count);
            }
            Op::HeapAlloc { count, .. } => {
                self.expect(event, site)?;
                let EventKind::Alloc { allocation } = event.kind else { return wrong(event) };
                let count = self.operand(t, frame, *count)?;
                self.pin(t, event.id, site, &[count], PinReason::Size);
                let place = trace::Location { allocation, offset: 0 };
                let address = self.address_of(event.id, place)?;
                let address = self.expressions.int(Width::W64, u128::from(address));
                self.set_result(t, frame, instruction, 0, address);
                self.runners[t].allocations += 1;
                return self.took_other(t, event);
            }
            Op::Free { pointer } => {
                self.expect(event, site)?;
                let EventKind::Free { .. } = event.kind else { return wrong(event) };
                let pointer = self.operand(t, frame, *pointer)?;
                self.pin(t, event.id, site, &[pointer], PinReason::Freed);
                return self.took_other(t, event);
            }
            Op::Call { callee, arguments } => return self.call(t, event, frame, callee, arguments),
            Op::Fork { callee, arguments } => {
                self.expect(event, site)?;
                let EventKind::Fork { child } = event.kind else { return wrong(event) };
                self.fork(t, event, frame, child, callee, arguments)?;
                let handle = self.expressions.int(Width::W64, u128::from(child.code()));
                self.set_result(t, frame, instruction, 0, handle);
                return self.took_other(t, event);
            }
            Op::Sync { op, operands } => {
                return self.synchronise(t, event, site, frame, instruction, *op, operands);
            }
            Op::Check { kind, condition } => return self.check(t, event, site, frame, *kind, *condition),
            Op::Opaque { what, operands, .. } => {
                return self.opaque(t, taken, frame, instruction, what, operands);
            }
            _ => return wrong(event),
        }
        self.step_over(t);
        Ok(Step::Silent)
    }

    pub(super) fn expect(&self, event: &trace::Event, site: SiteId) -> Result<(), CtpError> {
        match event.site == site {
            true => Ok(()),
            false => Err(CtpError::OffPath { event: event.id, expected: site, found: event.site }),
        }
    }

    fn took_other(&mut self, t: usize, event: &trace::Event) -> Result<Step, CtpError> {
        self.emit_other(t, event);
        self.step_over(t);
        Ok(Step::Took)
    }

    fn pure(
        &mut self,
        t: usize,
        event: &trace::Event,
        site: SiteId,
        frame: Frame,
        instruction: &Instruction,
    ) -> Result<(), CtpError> {
        let Some(&result) = instruction.results.first() else {
            self.step_over(t);
            return Ok(());
        };
        let mut operands = vec![];
        instruction.op.for_each_operand(|operand| operands.push(*operand));
        let operands = self.operands(t, frame, &operands)?;
        if operands.iter().any(|&operand| self.expressions.is_unknown(operand)) {
            self.pin(t, event.id, site, &operands, PinReason::Opaque("an unknown value".to_owned()));
        }
        let width = width_of(self.program.function(frame.function).value(result).ty);
        let compiled = self.space.compiled;
        let value = match compute(&mut self.expressions, compiled, &instruction.op, &operands, width) {
            Some(computed) => {
                if let Some(divisor) = computed.divisor {
                    self.require_divisor(t, event, site, divisor)?;
                }
                for (index, bound) in computed.far {
                    self.require_near(t, event, site, index, bound);
                }
                computed.value
            }
            None => {
                self.pin(t, event.id, site, &operands, PinReason::Opaque("a cast".to_owned()));
                self.expressions.unknown(width)
            }
        };
        self.set(t, frame, result, value);
        self.step_over(t);
        Ok(())
    }

    fn require_divisor(
        &mut self,
        t: usize,
        event: &trace::Event,
        site: SiteId,
        divisor: ExprId,
    ) -> Result<(), CtpError> {
        if self.expressions.recorded(divisor) == Some(0) {
            // The thread's next event would be a fault here.
            return Err(CtpError::OffPath { event: event.id, expected: site, found: event.site });
        }
        let zero = self.expressions.int(self.expressions.width(divisor), 0);
        let condition = self.expressions.compare(Predicate::Ne, divisor, zero);
        self.require(t, event.id, site, condition, Otherwise::Fault(FaultKind::DivisionByZero));
        Ok(())
    }

    /// A condition without which the thread does not come to its next event.
    pub(super) fn require(
        &mut self,
        t: usize,
        before: EventId,
        site: SiteId,
        condition: ExprId,
        otherwise: Otherwise,
    ) {
        if self.expressions.is_symbolic(condition) {
            let condition = self.unless_skipped(condition);
            self.emit_silent(t, before, site, Kind::Require { condition, otherwise });
        }
    }

    /// Stack memory. In a model program its address follows from the thread's allocations; of compiled code the trace has it if
    /// its address leaves the function.
    fn stack_memory(
        &mut self,
        t: usize,
        event: &trace::Event,
        site: SiteId,
        frame: Frame,
        instruction: &Instruction,
        count: Operand,
    ) -> Result<Step, CtpError> {
        let count = self.operand(t, frame, count)?;
        self.pin(t, event.id, site, &[count], PinReason::Size);
        let (address, step) = match event.kind {
            EventKind::Alloc { allocation } if self.space.compiled && event.site == site => {
                self.emit_other(t, event);
                let place = trace::Location { allocation, offset: 0 };
                (self.address_of(event.id, place)?, Step::Took)
            }
            _ => {
                let (id, earlier) = (self.runners[t].id, self.runners[t].allocations);
                let known = if self.space.compiled { None } else { self.space.stack(id, earlier) };
                self.runners[t].allocations += 1;
                (known.unwrap_or_else(|| self.space.own_address()), Step::Silent)
            }
        };
        let address = self.expressions.int(Width::W64, u128::from(address));
        self.set_result(t, frame, instruction, 0, address);
        self.step_over(t);
        Ok(step)
    }

    fn check(
        &mut self,
        t: usize,
        event: &trace::Event,
        site: SiteId,
        frame: Frame,
        kind: CheckKind,
        condition: Operand,
    ) -> Result<Step, CtpError> {
        let condition = self.operand(t, frame, condition)?;
        let recorded = match (kind, &event.kind) {
            (CheckKind::Bound, _) => {
                self.require(t, event.id, site, condition, Otherwise::Bound);
                self.step_over(t);
                return Ok(Step::Silent);
            }
            _ if !self.is_here(event, site)? => {
                self.step_over(t);
                return Ok(Step::Silent);
            }
            (CheckKind::Assert, EventKind::Assert { held }) => *held,
            (CheckKind::Assume, EventKind::Assume) => true,
            _ => return wrong(event),
        };
        self.compare(event, condition, u128::from(recorded));
        let symbolic = self.expressions.is_symbolic(condition);
        match kind {
            CheckKind::Assume if symbolic => {
                self.emit(t, event, Kind::Assume { condition });
            }
            CheckKind::Assert if symbolic || !recorded => {
                self.emit(t, event, Kind::Assert { condition, held: recorded });
            }
            _ => {}
        }
        self.step_over(t);
        self.runners[t].ended = !recorded;
        Ok(Step::Took)
    }

    /// Synchronisation of a model program. Outcomes are as recorded: they are part of the path.
    #[allow(clippy::too_many_arguments, reason = "the place of one instruction")]
    fn synchronise(
        &mut self,
        t: usize,
        event: &trace::Event,
        site: SiteId,
        frame: Frame,
        instruction: &Instruction,
        op: SyncOp,
        operands: &[Operand],
    ) -> Result<Step, CtpError> {
        self.expect(event, site)?;
        let operands = self.operands(t, frame, operands)?;
        let why = if op == SyncOp::Join { PinReason::Joined } else { PinReason::Object };
        self.pin(t, event.id, site, &operands, why);
        let (result, more) = match event.kind {
            EventKind::TryLock { acquired, .. } => (u128::from(acquired.is_some()), false),
            EventKind::TryAcquire { acquired, .. } => (u128::from(acquired), false),
            EventKind::TokenCount { value, .. } => (u128::from(value), false),
            EventKind::WaitEnd { reason, .. } => (u128::from(reason != WakeReason::Expired), false),
            EventKind::WaitBegin { .. } | EventKind::StopWaiting { .. } | EventKind::BarrierArrive { .. } => {
                (0, true)
            }
            _ => (0, false),
        };
        self.emit_other(t, event);
        if !more {
            let result = self.expressions.int(Width::W32, result);
            self.set_result(t, frame, instruction, 0, result);
            self.step_over(t);
        }
        Ok(Step::Took)
    }
}

pub(super) fn wrong<T>(event: &trace::Event) -> Result<T, CtpError> {
    Err(CtpError::WrongKind { event: event.id, site: event.site })
}
