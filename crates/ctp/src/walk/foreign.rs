//! What only compiled code has: calls of functions that are not in the program, callbacks from them, exceptions, opaque
//! instructions.
//!
//! Between a call that leaves the program and its result, the trace has what was done there: synchronisation,
//! memory that was written, entries of functions that were called back. An unlisted function pins what it is
//! given (docs/design/concurrent-trace-programs.md, "Outside functions").

use super::step::{Step, wrong};
use super::{Doing, Frame, Walk, width_of};
use crate::models::{Telling, telling};
use crate::{CtpError, ExprId, PinReason};
use ir::{BlockId, Callee, Instruction, Op, Operand, SiteId, Terminator, Width};
use trace::EventKind;

impl<'w> Walk<'w> {
    /// A thread that is in no function of the program: not begun yet, or called back no more.
    pub(super) fn outside(&mut self, t: usize, at: usize, event: &trace::Event) -> Result<Step, CtpError> {
        if !self.space.compiled {
            return Err(CtpError::NoCode { event: event.id });
        }
        self.outside_event(t, at, event)
    }

    /// An event that comes while the thread is in code that is not in the program.
    fn outside_event(&mut self, t: usize, at: usize, event: &trace::Event) -> Result<Step, CtpError> {
        match &event.kind {
            EventKind::Entry { parameters } => {
                let Some(place) = self.sites.place(event.site) else { return wrong(event) };
                let code = self.program.function(place.function);
                let types: Vec<_> = code.parameters.iter().map(|p| code.value(p.value).ty).collect();
                let values = types.iter().zip(parameters).map(|(&ty, &value)| match ty.bytes() {
                    0..=8 => self.expressions.int(width_of(ty), u128::from(value)),
                    _ => self.expressions.unknown(width_of(ty)),
                });
                let values: Vec<ExprId> = values.collect();
                self.push_frame(t, place.function, &values, true);
                self.emit_other(t, event);
                Ok(Step::Took)
            }
            EventKind::WriteBytes { content, .. } => {
                let content = self.constants(content);
                let unknown = self.expressions.unknown(Width::W64);
                self.write(t, (at, event), unknown, content)?;
                Ok(Step::Took)
            }
            EventKind::Write { bytes, value, .. } => {
                let value = self.expressions.int(crate::bytes_width(u32::from(*bytes)), u128::from(*value));
                let unknown = self.expressions.unknown(Width::W64);
                self.write(t, (at, event), unknown, vec![value])?;
                Ok(Step::Took)
            }
            EventKind::ReadBytes { .. } => {
                // What the function gives depends on these bytes and on nothing else that others can change.
                let content = self.read_outside(t, (at, event))?;
                let callee = self.top(t).and_then(|frame| self.callee(frame));
                let only_tells = callee.is_some_and(|callee| self.only_tells(t, callee));
                if !only_tells {
                    let why = callee.map_or(PinReason::External("a function".to_owned()), why);
                    self.pin(t, event.id, event.site, &content, why);
                }
                if let Some(top) = self.top_mut(t) {
                    top.told = true;
                }
                Ok(Step::Took)
            }
            EventKind::Landing => self.land(t, event),
            EventKind::External { .. } => {
                self.emit_other(t, event);
                Ok(Step::Took)
            }
            kind if kind.is_synchronisation() => {
                self.emit_other(t, event);
                if let Some(top) = self.top_mut(t) {
                    top.told = true;
                }
                Ok(Step::Took)
            }
            // A function whose entry is not logged was called.
            _ => {
                let Some(place) = self.sites.place(event.site) else { return wrong(event) };
                let known = self.top(t).is_some_and(|frame| frame.function == place.function);
                if known {
                    let expected = self.top(t).map_or(event.site, |frame| self.site_of(frame));
                    return Err(CtpError::OffPath { event: event.id, expected, found: event.site });
                }
                self.push_frame(t, place.function, &[], true);
                Ok(Step::Silent)
            }
        }
    }

    /// A function that the program itself has just called tells of its entry, because others may call it too: takes the event,
    /// and from it the parameters that are not known.
    pub(super) fn enter(&mut self, t: usize, event: &trace::Event, frame: Frame, site: SiteId) -> bool {
        let EventKind::Entry { parameters } = &event.kind else { return false };
        if frame.entered || frame.doing != Doing::Running || event.site != site {
            return false;
        }
        let code = self.program.function(frame.function);
        for (parameter, &recorded) in code.parameters.iter().zip(parameters) {
            let ty = code.value(parameter.value).ty;
            let known = self.runners[t].values[frame.base + parameter.value.index()];
            if let Some(known) = self.expressions.recorded(known) {
                self.learn(known as u64, recorded);
            }
            if ty.bytes() <= 8 && self.expressions.is_unknown(known) {
                let recorded = self.expressions.int(width_of(ty), u128::from(recorded));
                self.set(t, frame, parameter.value, recorded);
            }
        }
        if let Some(top) = self.top_mut(t) {
            top.entered = true;
        }
        true
    }

    /// A call that leaves the program.
    pub(super) fn call_foreign(
        &mut self,
        t: usize,
        event: &trace::Event,
        site: SiteId,
        callee: &Callee,
        arguments: &[ExprId],
    ) {
        let why = why(callee);
        let only_tells = self.only_tells(t, callee);
        if !only_tells {
            self.pin(t, event.id, site, arguments, why);
        }
        if let Some(top) = self.top_mut(t) {
            (top.doing, top.told) = (Doing::Foreign, only_tells);
        }
    }

    /// Whom the call goes to that an activation is in.
    fn callee(&self, frame: Frame) -> Option<&'w Callee> {
        let block = self.program.function(frame.function).block(frame.block);
        match (
            block.instructions.get(frame.at as usize).map(|instruction| &instruction.op),
            &block.terminator,
        ) {
            (Some(Op::Call { callee, .. }), _) | (None, Terminator::Invoke { callee, .. }) => Some(callee),
            _ => None,
        }
    }

    /// Whether what a called function is given comes back to no thread.
    fn only_tells(&mut self, t: usize, callee: &Callee) -> bool {
        let (Callee::External(name), Some(frame)) = (callee, self.top(t)) else { return false };
        match telling(name) {
            Some(Telling::Settled) => true,
            Some(Telling::Counts) => !self.is_needed_behind(frame, self.results(frame)),
            None => false,
        }
    }

    /// An event while a call that left the program is under way.
    pub(super) fn foreign(
        &mut self,
        t: usize,
        at: usize,
        event: &trace::Event,
        frame: Frame,
    ) -> Result<Step, CtpError> {
        let site = self.site_of(frame);
        if let EventKind::External { result } = event.kind
            && event.site == site
        {
            self.take_result(t, frame, result, true);
            // What a function did that the trace has no word for keeps its place among its like; others have said it all.
            if !frame.told {
                self.emit_other(t, event);
            }
            self.behind_call(t, frame)?;
            return Ok(Step::Took);
        }
        self.outside_event(t, at, event)
    }

    /// A call of the program's own function has come back; where the module could not know that it is, its result was logged.
    pub(super) fn returned(
        &mut self,
        t: usize,
        event: &trace::Event,
        frame: Frame,
    ) -> Result<Step, CtpError> {
        let site = self.site_of(frame);
        let logged = match event.kind {
            EventKind::External { result } if event.site == site && self.space.compiled => Some(result),
            _ => None,
        };
        if let Some(result) = logged {
            self.take_result(t, frame, result, false);
        }
        self.behind_call(t, frame)?;
        Ok(if logged.is_some() { Step::Took } else { Step::Silent })
    }

    /// The results of a call as the trace has them; those that are known stay.
    fn take_result(&mut self, t: usize, frame: Frame, result: u64, all: bool) {
        for value in self.results(frame).to_vec() {
            let ty = self.program.function(frame.function).value(value).ty;
            let known = self.runners[t].values[frame.base + value.index()];
            if !all && known != super::NOTHING && !self.expressions.is_unknown(known) {
                continue;
            }
            let taken = match ty.bytes() {
                0..=8 => self.expressions.int(width_of(ty), u128::from(result)),
                _ => self.expressions.unknown(width_of(ty)),
            };
            self.set(t, frame, value, taken);
        }
    }

    /// An exception has come to a landing pad: all frames above its function are gone.
    pub(super) fn land(&mut self, t: usize, event: &trace::Event) -> Result<Step, CtpError> {
        let Some(place) = self.sites.place(event.site) else { return wrong(event) };
        while let Some(frame) = self.top(t) {
            let block = self.program.function(frame.function).block(frame.block);
            let lands = match &block.terminator {
                Terminator::Invoke { unwind, .. } => *unwind == place.block,
                _ => false,
            };
            if frame.function == place.function && lands {
                self.follow(t, frame, BlockId(place.block.0))?;
                return Ok(Step::Took);
            }
            self.pop_frame(t, event.id.n);
        }
        wrong(event)
    }

    /// An exception leaves a function, and no landing pad of the program comes next.
    pub(super) fn leave_by_exception(&mut self, t: usize) -> Result<Step, CtpError> {
        let bottom = self.top(t).is_some_and(|frame| frame.bottom);
        self.pop_frame(t, self.runners[t].done);
        if !bottom && let Some(top) = self.top_mut(t) {
            // Whatever comes next happens while the exception is on its way.
            top.doing = Doing::Foreign;
        }
        Ok(Step::Silent)
    }

    /// An instruction whose result is not followed.
    pub(super) fn opaque(
        &mut self,
        t: usize,
        (at, event): (usize, &trace::Event),
        frame: Frame,
        instruction: &Instruction,
        what: &str,
        operands: &[Operand],
    ) -> Result<Step, CtpError> {
        let site = self.site_of(frame);
        let values = self.operands(t, frame, operands)?;
        let here = event.site == site;
        if here && let EventKind::Update { .. } = event.kind {
            self.pin(t, event.id, site, &values[1.min(values.len())..], PinReason::Opaque(what.to_owned()));
            self.update(t, (at, event), frame, instruction)?;
            return Ok(Step::Took);
        }
        self.pin(t, event.id, site, &values, PinReason::Opaque(what.to_owned()));
        for n in 0..instruction.results.len() {
            let ty = self.program.function(frame.function).value(instruction.results[n]).ty;
            let unknown = self.expressions.unknown(width_of(ty));
            self.set(t, frame, instruction.results[n], unknown);
        }
        match event.kind {
            EventKind::External { result } if here => {
                self.take_result(t, frame, result, true);
                self.emit_other(t, event);
                self.step_over(t);
                Ok(Step::Took)
            }
            _ => {
                self.step_over(t);
                Ok(Step::Silent)
            }
        }
    }
}

fn why(callee: &Callee) -> PinReason {
    match callee {
        Callee::External(name) => reason(name),
        _ => PinReason::External("a function".to_owned()),
    }
}

/// Why the arguments of a function are pinned: of those that the trace has words for, which object or memory it is about.
fn reason(name: &str) -> PinReason {
    match name {
        "free" => PinReason::Freed,
        "malloc" | "calloc" | "realloc" | "aligned_alloc" | "posix_memalign" => PinReason::Size,
        "pthread_join" => PinReason::Joined,
        _ if name.starts_with("pthread_") || name.starts_with("sem_") => PinReason::Object,
        _ => PinReason::External(name.to_owned()),
    }
}
