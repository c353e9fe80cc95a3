//! The silent instructions between two events, and control.

use crate::pure::compute;
use crate::run::{Call, Frame, Run, State, width_of};
use crate::{Refusal, address};
use ir::{BlockId, Callee, CheckKind, Op, Operand, Terminator, ValueId};
use trace::FaultKind;

/// Most silent instructions between two events.
const MOST_SILENT: u32 = 100_000_000;

impl Run<'_> {
    /// Runs what is no event, up to before the next event.
    pub fn settle(&mut self, t: usize) -> Result<(), Refusal> {
        for _ in 0..MOST_SILENT {
            if self.threads[t].state != State::Ready {
                return Ok(());
            }
            let Some(frame) = self.top(t) else { return Ok(()) };
            if self.compiled && self.stands_before_recorded(t, frame) {
                return Ok(());
            }
            match self.silent(t, frame)? {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(kind) => {
                    self.threads[t].state = State::Fault(kind);
                    return Ok(());
                }
            }
        }
        Err(self.not_followed(t, "a loop without events"))
    }

    /// Runs one instruction if it is no event; says whether it was none.
    fn silent(&mut self, t: usize, frame: Frame) -> Result<Result<bool, FaultKind>, Refusal> {
        let program = self.program;
        let block = program.function(frame.function).block(frame.block);
        if frame.call == Call::Returned {
            self.behind_call(t, frame);
            return Ok(Ok(true));
        }
        let Some(instruction) = block.instructions.get(frame.at as usize) else {
            return self.silent_end(t, frame, &block.terminator);
        };
        let mut operands = vec![];
        instruction.op.for_each_operand(|operand| operands.push(self.operand(t, frame, *operand)));
        let result = instruction.results.first().copied();
        let width = result.map_or(ir::Width::W1, |r| width_of(program.function(frame.function).value(r).ty));
        if let Some(computed) = compute(&instruction.op, self.compiled, &operands, width) {
            match (computed, result) {
                (Ok(value), Some(result)) => self.set(t, frame, result, value),
                (Ok(_), None) => {}
                (Err(fault), _) => return Ok(Err(fault)),
            }
            self.next(t);
            return Ok(Ok(true));
        }
        match &instruction.op {
            Op::Phi { .. } => {}
            Op::Check { kind: kind @ (CheckKind::Bound | CheckKind::Assume), condition } => {
                match self.operand(t, frame, *condition).0 {
                    Some(bit) if bit & 1 == 0 => {
                        self.threads[t].state = State::Stopped;
                        return Ok(Ok(false));
                    }
                    Some(_) if *kind == CheckKind::Assume && !self.compiled => return Ok(Ok(false)),
                    Some(_) => {}
                    None => return Err(self.not_followed(t, "a condition")),
                }
            }
            Op::StackAlloc { shape, count } if !self.compiled => {
                let count = self.operand(t, frame, *count).0.unwrap_or(0) as u64;
                let bytes = program.shape_bytes(*shape).saturating_mul(count);
                let base = self.new_base(t);
                self.memory.allocate(base, bytes, false);
                if let Some(result) = result {
                    self.set(t, frame, result, Some(u128::from(base)));
                }
            }
            Op::Call { callee, arguments } => return self.call(t, frame, callee, arguments),
            _ if self.compiled => return self.unlogged(t, frame, instruction).map(|()| Ok(true)),
            _ => return Ok(Ok(false)),
        }
        self.next(t);
        Ok(Ok(true))
    }

    fn silent_end(
        &mut self,
        t: usize,
        frame: Frame,
        end: &Terminator,
    ) -> Result<Result<bool, FaultKind>, Refusal> {
        match end {
            Terminator::Jump(to) => self.go(t, frame, *to),
            Terminator::Return(values) if self.threads[t].frames.len() > 1 || self.compiled => {
                let values: Vec<_> = values.iter().map(|&value| self.operand(t, frame, value).0).collect();
                self.pop(t);
                if !frame.bottom
                    && let Some(caller) = self.top(t)
                {
                    for (result, value) in self.results(caller).into_iter().zip(values) {
                        self.set(t, caller, result, value);
                    }
                    if let Some(top) = self.threads[t].frames.last_mut() {
                        top.call = Call::Returned;
                    }
                }
                return Ok(Ok(!self.threads[t].frames.is_empty()));
            }
            Terminator::Unreachable => return Ok(Err(FaultKind::Unreachable)),
            Terminator::Branch { .. } | Terminator::Switch { .. } if self.compiled => {
                let Some(taken) = self.way(t, frame, end) else {
                    return Err(self.not_followed(t, "a branch"));
                };
                self.go(t, frame, target(end, taken));
                // The trace leaves such branches out because their outcome follows; elsewhere than recorded they leave the path,
                // which shows at the next event.
            }
            Terminator::Invoke { callee, arguments, .. } => return self.call(t, frame, callee, arguments),
            Terminator::Resume if self.compiled => {
                self.pop(t);
                if let Some(top) = self.threads[t].frames.last_mut() {
                    top.call = Call::Foreign;
                }
            }
            _ => return Ok(Ok(false)),
        }
        Ok(Ok(true))
    }

    fn call(
        &mut self,
        t: usize,
        frame: Frame,
        callee: &Callee,
        arguments: &[Operand],
    ) -> Result<Result<bool, FaultKind>, Refusal> {
        let arguments: Vec<_> =
            arguments.iter().map(|&argument| self.operand(t, frame, argument).0).collect();
        let function = match callee {
            Callee::Function(function) => Some(*function),
            Callee::Indirect(pointer) if !self.compiled => {
                let at = self.operand(t, frame, *pointer).0.unwrap_or(0) as u64;
                let function = address::function_at(at);
                let there = function.and_then(|f| self.program.functions.get(f.index()));
                if there.is_none_or(|function| function.parameters.len() != arguments.len()) {
                    return Ok(Err(FaultKind::NotAFunction));
                }
                function
            }
            _ => None,
        };
        match function {
            Some(function) => {
                if !self.compiled && self.threads[t].frames.len() >= 1000 {
                    return Ok(Err(FaultKind::MachineLimit));
                }
                self.push(t, function, &arguments, false);
            }
            None if self.compiled => {
                if let Callee::External(symbol) = callee
                    && ir::is_assertion_failure(symbol)
                {
                    self.threads[t].state = State::AssertionFails;
                    return Ok(Ok(false));
                }
                if let Some(top) = self.threads[t].frames.last_mut() {
                    top.call = Call::Foreign;
                }
            }
            None => return Err(self.not_followed(t, "a call of an external function")),
        }
        Ok(Ok(true))
    }

    /// What the call that a frame stands at defines.
    pub fn results(&self, frame: Frame) -> Vec<ValueId> {
        let block = self.program.function(frame.function).block(frame.block);
        match block.instructions.get(frame.at as usize) {
            Some(instruction) => instruction.results.clone(),
            None => block.terminator.results().to_vec(),
        }
    }

    /// Goes on behind a call.
    pub fn behind_call(&mut self, t: usize, frame: Frame) {
        let block = self.program.function(frame.function).block(frame.block);
        match (block.instructions.get(frame.at as usize), &block.terminator) {
            (None, Terminator::Invoke { normal, .. }) => self.go(t, frame, *normal),
            _ => self.next(t),
        }
    }

    /// Goes to the next instruction.
    pub fn next(&mut self, t: usize) {
        if let Some(top) = self.threads[t].frames.last_mut() {
            top.at += 1;
            top.call = Call::None;
        }
    }

    /// Goes to another block; its phis get their values at once.
    pub fn go(&mut self, t: usize, frame: Frame, to: BlockId) {
        let program = self.program;
        let mut values = vec![];
        for instruction in &program.function(frame.function).block(to).instructions {
            let Op::Phi { incoming } = &instruction.op else { break };
            let way = incoming.iter().find(|(from, _)| *from == frame.block);
            if let (Some(&(_, value)), Some(&result)) = (way, instruction.results.first()) {
                values.push((result, self.operand(t, frame, value).0));
            }
        }
        for (result, value) in values {
            self.set(t, frame, result, value);
        }
        if let Some(top) = self.threads[t].frames.last_mut() {
            (top.block, top.at, top.call) = (to, 0, Call::None);
        }
    }

    /// Which successor a branch leads to; `None` if that is not known.
    pub fn way(&self, t: usize, frame: Frame, end: &Terminator) -> Option<u32> {
        match end {
            Terminator::Branch { condition, .. } => {
                self.operand(t, frame, *condition).0.map(|bit| u32::from(bit & 1 == 0))
            }
            Terminator::Switch { value, cases, .. } => {
                let value = self.operand(t, frame, *value).0?;
                Some(cases.iter().position(|&(case, _)| case == value).unwrap_or(cases.len()) as u32)
            }
            _ => None,
        }
    }

    pub fn new_base(&mut self, t: usize) -> u64 {
        let thread = &mut self.threads[t];
        thread.allocations += 1;
        address::of_allocation(thread.id, thread.allocations - 1)
    }
}

/// The block that a way of a branch leads to.
pub fn target(end: &Terminator, taken: u32) -> BlockId {
    let successors = end.successors();
    successors.get(taken as usize).or(successors.last()).copied().unwrap_or(BlockId(0))
}
