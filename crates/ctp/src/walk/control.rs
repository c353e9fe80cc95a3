//! Ends of blocks, calls and forks.

use super::step::{Step, wrong};
use super::{Doing, Frame, Walk};
use crate::{CtpError, ExprId, Kind, Otherwise};
use ir::{BlockId, Callee, FunctionId, Op, Operand, SiteId, Terminator, ValueId, Width};
use trace::{EventKind, ThreadId};

impl Walk<'_> {
    pub(super) fn terminator(
        &mut self,
        t: usize,
        event: &trace::Event,
        frame: Frame,
        terminator: &Terminator,
    ) -> Result<Step, CtpError> {
        let site = self.site_of(frame);
        match terminator {
            Terminator::Jump(to) => {
                self.follow(t, frame, *to)?;
                Ok(Step::Silent)
            }
            Terminator::Branch { condition, then, otherwise } => {
                let condition = self.operand(t, frame, *condition)?;
                let decided = self.expressions.recorded(condition).map(|bit| u32::from(bit & 1 == 0));
                let same = then == otherwise;
                let (taken, step) = self.way(event, site, decided, same)?;
                let as_recorded = match taken {
                    _ if same => self.expressions.bit(true),
                    0 => condition,
                    _ => self.expressions.not(condition),
                };
                self.branch(t, event, site, step, (as_recorded, condition, taken));
                self.follow(t, frame, if taken == 0 { *then } else { *otherwise })?;
                Ok(step)
            }
            Terminator::Switch { value, cases, default } => {
                let value = self.operand(t, frame, *value)?;
                let number = self.expressions.recorded(value);
                let case = |number| cases.iter().position(|&(case, _)| case == number);
                let way = |number| case(number).unwrap_or(cases.len());
                // Compiled code does not tell ways apart that lead to the same block.
                let compiled = self.space.compiled;
                let known = |way| if compiled { terminator.first_to_the_same(way) } else { way };
                let decided = number.map(|number| known(way(number)) as u32);
                let (taken, step) = self.way(event, site, decided, false)?;
                let target = cases.get(taken as usize).map_or(*default, |&(_, to)| to);
                let width = self.expressions.width(value);
                let same = |n: usize, to: BlockId| match compiled {
                    true => to == target,
                    false => n == taken as usize,
                };
                let by_default = same(cases.len(), *default);
                let ways: Vec<(bool, u128)> =
                    cases.iter().enumerate().map(|(n, &(case, to))| (same(n, to), case)).collect();
                let mut as_recorded = self.expressions.bit(by_default);
                for (leads_there, case) in ways {
                    let case = self.expressions.int(width, case);
                    if leads_there && !by_default {
                        let here = self.expressions.equal(value, case);
                        as_recorded = self.expressions.or(as_recorded, here);
                    } else if !leads_there && by_default {
                        let other = self.expressions.compare(ir::Predicate::Ne, value, case);
                        as_recorded = self.expressions.and(as_recorded, other);
                    }
                }
                self.branch(t, event, site, step, (as_recorded, value, taken));
                self.follow(t, frame, target)?;
                Ok(step)
            }
            Terminator::IndirectJump { address, targets } => {
                let address = self.operand(t, frame, *address)?;
                let (taken, step) = self.way(event, site, None, false)?;
                self.require_as_recorded(t, event, site, address);
                let Some(&to) = targets.get(taken as usize) else { return wrong(event) };
                self.follow(t, frame, to)?;
                Ok(step)
            }
            Terminator::Invoke { callee, arguments, .. } => self.call(t, event, frame, callee, arguments),
            Terminator::Return(values) => self.give_back(t, event, site, frame, values),
            Terminator::Resume => {
                // The exception goes on to a landing pad further out, or ends the thread.
                match event.kind {
                    EventKind::Landing => self.land(t, event),
                    _ => self.leave_by_exception(t),
                }
            }
            Terminator::Unreachable => {
                Err(CtpError::OffPath { event: event.id, expected: site, found: event.site })
            }
        }
    }

    /// Which way a thread goes at a branch: what the event says, or what the values say if the trace leaves it to them.
    fn way(
        &mut self,
        event: &trace::Event,
        site: SiteId,
        decided: Option<u32>,
        same: bool,
    ) -> Result<(u32, Step), CtpError> {
        if let EventKind::Branch { taken } = event.kind
            && event.site == site
        {
            self.rebuild.accesses += 1;
            match decided {
                Some(decided) if decided == taken => self.rebuild.rebuilt += 1,
                Some(_) if !self.space.compiled => {
                    self.rebuild.mismatches += 1;
                    self.rebuild.first_mismatch.get_or_insert(event.id);
                }
                _ => self.rebuild.taken += 1,
            }
            return Ok((taken, Step::Took));
        }
        if !self.space.compiled {
            return Err(CtpError::OffPath { event: event.id, expected: site, found: event.site });
        }
        match decided {
            Some(decided) => Ok((decided, Step::Silent)),
            None if same => Ok((0, Step::Silent)),
            None => Err(CtpError::NoOutcome { event: event.id, site }),
        }
    }

    fn branch(
        &mut self,
        t: usize,
        event: &trace::Event,
        site: SiteId,
        step: Step,
        (as_recorded, condition, taken): (ExprId, ExprId, u32),
    ) {
        if !self.expressions.is_symbolic(as_recorded) {
            self.settle(t, event.id, site, u64::from(taken));
            return;
        }
        if self.open_phantom(t, (event.id, site), as_recorded, taken) {
            return;
        }
        let as_recorded = self.unless_skipped(as_recorded);
        let kind = Kind::Branch { as_recorded, condition, taken };
        match step {
            Step::Took => {
                self.emit(t, event, kind);
            }
            Step::Silent => self.emit_silent(t, event.id, site, kind),
        }
    }

    /// Goes to another block of the function; its phis get their values at once.
    pub(super) fn follow(&mut self, t: usize, frame: Frame, to: BlockId) -> Result<(), CtpError> {
        let program = self.program;
        let mut values: Vec<(ValueId, ExprId)> = vec![];
        let instructions = &program.function(frame.function).block(to).instructions;
        let closed = self.close_phantoms(t, to);
        for instruction in instructions {
            let Op::Phi { incoming } = &instruction.op else { break };
            let value = incoming.iter().find(|(from, _)| *from == frame.block);
            if let (Some(&(_, value)), Some(&result)) = (value, instruction.results.first()) {
                let mut value = self.operand(t, frame, value)?;
                for region in &closed {
                    value = self.phi(t, frame, region, incoming, value);
                }
                values.push((result, value));
            }
        }
        for (result, value) in values {
            self.set(t, frame, result, value);
        }
        self.leave_regions(t, frame, &closed);
        if let Some(top) = self.top_mut(t) {
            (top.block, top.at, top.doing) = (to, 0, Doing::Running);
        }
        Ok(())
    }

    /// Calls: a function of the program gets a frame, for any other the trace says what it does.
    pub(super) fn call(
        &mut self,
        t: usize,
        event: &trace::Event,
        frame: Frame,
        callee: &Callee,
        arguments: &[Operand],
    ) -> Result<Step, CtpError> {
        let arguments = self.operands(t, frame, arguments)?;
        let site = self.site_of(frame);
        let function = match callee {
            Callee::Function(function) => Some(*function),
            Callee::Indirect(pointer) => {
                let pointer = self.operand(t, frame, *pointer)?;
                self.require_as_recorded(t, event, site, pointer);
                self.expressions.recorded(pointer).and_then(|address| self.space.function_at(address as u64))
            }
            Callee::External(_) => None,
        };
        match function {
            Some(function) if !self.program.function(function).blocks.is_empty() => {
                self.push_frame(t, function, &arguments, false);
            }
            _ if self.space.compiled => self.call_foreign(t, event, site, callee, &arguments),
            _ => return wrong(event),
        }
        Ok(Step::Silent)
    }

    /// An address that control goes to must be the recorded one.
    fn require_as_recorded(&mut self, t: usize, event: &trace::Event, site: SiteId, address: ExprId) {
        if let Some(recorded) = self.expressions.recorded(address) {
            let there = self.expressions.int(Width::W64, recorded);
            let condition = self.expressions.equal(address, there);
            if !self.expressions.is_symbolic(condition) {
                self.settle(t, event.id, site, recorded as u64);
            }
            self.require(t, event.id, site, condition, Otherwise::OtherPath { address });
        }
    }

    /// Return: to the caller, out of the program's code, or to the thread's end.
    fn give_back(
        &mut self,
        t: usize,
        event: &trace::Event,
        site: SiteId,
        frame: Frame,
        values: &[Operand],
    ) -> Result<Step, CtpError> {
        if self.runners[t].frames.len() == 1 && !self.space.compiled {
            self.expect(event, site)?;
            let EventKind::End = event.kind else { return wrong(event) };
            self.emit_other(t, event);
            self.pop_frame(t, event.id.n);
            return Ok(Step::Took);
        }
        let values = self.operands(t, frame, values)?;
        self.pop_frame(t, self.runners[t].done);
        if frame.bottom {
            return Ok(Step::Silent); // to code that is not in the program
        }
        let Some(caller) = self.top(t) else { return Ok(Step::Silent) };
        let results: Vec<ValueId> = self.results(caller).to_vec();
        for (result, value) in results.into_iter().zip(values) {
            self.set(t, caller, result, value);
        }
        if let Some(top) = self.top_mut(t) {
            top.doing = Doing::Returned;
        }
        Ok(Step::Silent)
    }

    /// What the call that a frame stands at defines.
    pub(super) fn results(&self, frame: Frame) -> &[ValueId] {
        let block = self.program.function(frame.function).block(frame.block);
        match block.instructions.get(frame.at as usize) {
            Some(instruction) => &instruction.results,
            None => block.terminator.results(),
        }
    }

    /// Goes on behind a call.
    pub(super) fn behind_call(&mut self, t: usize, frame: Frame) -> Result<(), CtpError> {
        let program = self.program;
        let block = program.function(frame.function).block(frame.block);
        match (block.instructions.get(frame.at as usize), &block.terminator) {
            (None, Terminator::Invoke { normal, .. }) => self.follow(t, frame, *normal),
            _ => {
                self.step_over(t);
                Ok(())
            }
        }
    }

    /// A thread of a model program is started: its parameters are what the parent gives it.
    pub(super) fn fork(
        &mut self,
        t: usize,
        event: &trace::Event,
        frame: Frame,
        child: ThreadId,
        callee: &Callee,
        arguments: &[Operand],
    ) -> Result<(), CtpError> {
        let arguments = self.operands(t, frame, arguments)?;
        let function: Option<FunctionId> = match callee {
            Callee::Function(function) => Some(*function),
            Callee::Indirect(pointer) => {
                let pointer = self.operand(t, frame, *pointer)?;
                self.require_as_recorded(t, event, event.site, pointer);
                self.expressions.recorded(pointer).and_then(|address| self.space.function_at(address as u64))
            }
            Callee::External(_) => None,
        };
        let (Some(function), Some(&of)) = (function, self.numbers.get(&child)) else {
            return Err(CtpError::Dangling { event: event.id });
        };
        if !self.runners[of].frames.is_empty() {
            return Err(CtpError::Dangling { event: event.id });
        }
        self.push_frame(of, function, &arguments, true);
        Ok(())
    }
}
