//! Instructions that access memory, each with the event that the trace has of it.

use super::memory::{Aimed, content};
use super::{Doing, Frame, Walk, is_narrow, width_of};
use crate::{Access, CtpError, ExprId, Kind, PinReason, Target, bytes_width};
use ir::{Instruction, Op, Operand, Order, Type, UpdateOp};
use trace::{EventKind, Location};

/// What an event that is an access does, in the words of this module.
struct Parts {
    place: Location,
    bytes: u64,
    order: Option<Order>,
}

fn parts(event: &trace::Event) -> Result<Parts, CtpError> {
    match event.kind.access() {
        Some((_, place, bytes, order)) => Ok(Parts { place, bytes, order }),
        None => Err(CtpError::WrongKind { event: event.id, site: event.site }),
    }
}

impl Walk<'_> {
    pub(super) fn type_of(&self, frame: Frame, operand: Operand) -> Type {
        match operand {
            Operand::Value(value) => self.program.function(frame.function).value(value).ty,
            Operand::Const { width, .. } => Type::Int(width),
            Operand::Unknown(ty) => ty,
            Operand::Null | Operand::Global(_) | Operand::Function(_) => Type::Ptr,
        }
    }

    /// An access that the trace does not have: to memory that only its function can reach.
    pub(super) fn hidden_access(
        &mut self,
        t: usize,
        frame: Frame,
        instruction: &Instruction,
    ) -> Result<(), CtpError> {
        match &instruction.op {
            Op::Load { pointer, .. } => {
                let Some(&result) = instruction.results.first() else { return Ok(()) };
                let ty = self.program.function(frame.function).value(result).ty;
                let address = self.operand(t, frame, *pointer)?;
                let loaded = match is_narrow(ty) {
                    true => self.hidden_load(address, ty.bytes()),
                    false => None,
                };
                let value = match loaded {
                    Some(loaded) => self.expressions.resize(loaded, width_of(ty)),
                    None => self.expressions.unknown(width_of(ty)),
                };
                self.set(t, frame, result, value);
            }
            Op::Store { pointer, value, .. } => {
                let ty = self.type_of(frame, *value);
                let (address, value) = (self.operand(t, frame, *pointer)?, self.operand(t, frame, *value)?);
                self.hidden_store(address, value, ty.bytes());
            }
            _ => {
                for &result in &instruction.results {
                    let ty = self.program.function(frame.function).value(result).ty;
                    let unknown = self.expressions.unknown(width_of(ty));
                    self.set(t, frame, result, unknown);
                }
            }
        }
        Ok(())
    }

    /// `Load`: a read of at most eight bytes, or of wide bytes.
    pub(super) fn load(
        &mut self,
        t: usize,
        (at, event): (usize, &trace::Event),
        frame: Frame,
        instruction: &Instruction,
        pointer: Operand,
    ) -> Result<(), CtpError> {
        let Parts { place, bytes, order } = parts(event)?;
        let pointer = self.operand(t, frame, pointer)?;
        let program = self.program;
        let result = instruction.results.first().copied();
        let info = result.map(|result| program.function(frame.function).value(result));
        let local = info.and_then(|info| info.name.as_deref());
        let aimed = self.aim(t, at, event, pointer, (place, bytes), false)?;
        let recorded = content(&event.kind);
        let (targets, content) = self.read_all(t, event, &aimed, bytes, place, &recorded, local);
        let old = self.join(&content);
        if let (Some(result), Some(info)) = (result, info) {
            let width = width_of(info.ty);
            let value = match old {
                Some(old) if is_narrow(info.ty) => self.expressions.resize(old, width),
                _ => {
                    self.pin(t, event.id, event.site, &content, PinReason::Opaque(format!("{bytes} bytes")));
                    self.expressions.unknown(width)
                }
            };
            self.set(t, frame, result, value);
        }
        self.step_over(t);
        let decision = match event.kind {
            EventKind::Read { .. } => self.decision(t, event.site, bytes)?,
            _ => None,
        };
        let access = Access { decision, ..made(aimed, place, bytes, order, targets, old, None) };
        self.emit_access(t, event, Kind::Read(access));
        Ok(())
    }

    /// `Store`.
    pub(super) fn store(
        &mut self,
        t: usize,
        (at, event): (usize, &trace::Event),
        frame: Frame,
        pointer: Operand,
        value: Operand,
    ) -> Result<(), CtpError> {
        let pointer = self.operand(t, frame, pointer)?;
        let wide = !is_narrow(self.type_of(frame, value));
        let value = self.operand(t, frame, value)?;
        let recorded = content(&event.kind);
        let content = match wide {
            true => self.constants(&recorded),
            false => vec![self.as_recorded(t, event, value, &recorded)],
        };
        self.write(t, (at, event), pointer, content)?;
        self.step_over(t);
        Ok(())
    }

    /// A value as it is stored, if it was rebuilt; else the bytes that were recorded.
    fn as_recorded(&mut self, t: usize, event: &trace::Event, value: ExprId, recorded: &[u8]) -> ExprId {
        let width = bytes_width(recorded.len() as u32);
        let value = self.expressions.resize(value, width);
        let number = super::memory::number(recorded, 0, 16);
        if self.compare(event, value, number) {
            return value;
        }
        self.pin(t, event.id, event.site, &[value], PinReason::Mismatch);
        self.expressions.int(width, number)
    }

    /// Some content goes where an event says.
    pub(super) fn write(
        &mut self,
        t: usize,
        (at, event): (usize, &trace::Event),
        pointer: ExprId,
        content: Vec<ExprId>,
    ) -> Result<(), CtpError> {
        let Parts { place, bytes, order } = parts(event)?;
        let aimed = self.aim(t, at, event, pointer, (place, bytes), true)?;
        let mut targets = vec![];
        for &(address, there, when) in &aimed.targets {
            let writes = self.write_target((there, bytes), &content, when, there == place);
            targets.push(Target { address, place: there, when, reads: vec![], writes });
        }
        let new = self.join(&content);
        self.emit_access(t, event, Kind::Write(made(aimed, place, bytes, order, targets, None, new)));
        Ok(())
    }

    /// Reads all targets; the content is that of the one that is hit.
    #[allow(clippy::too_many_arguments, reason = "the parts of one access")]
    fn read_all(
        &mut self,
        t: usize,
        event: &trace::Event,
        aimed: &Aimed,
        bytes: u64,
        recorded_place: Location,
        recorded: &[u8],
        local: Option<&str>,
    ) -> (Vec<Target>, Vec<ExprId>) {
        let (mut targets, mut contents) = (vec![], vec![]);
        self.written_unseen(t, event, (recorded_place, bytes), recorded);
        for &(address, place, when) in &aimed.targets {
            let seen = (place == recorded_place).then_some(recorded);
            let (content, reads) = self.read_target(event, (place, bytes), when, seen, local);
            targets.push(Target { address, place, when, reads, writes: vec![] });
            contents.push((when, content));
        }
        let Some((_, mut whole)) = contents.pop() else { return (targets, vec![]) };
        for (when, content) in contents.into_iter().rev() {
            let Some(when) = when else { continue };
            // Targets may be cut differently: compare them as one value, or byte by byte if that is too wide.
            let (one, other) = (self.join(&content), self.join(&whole));
            whole = match (one, other) {
                (Some(one), Some(other)) => vec![self.expressions.select(when, one, other)],
                _ => (0..bytes as u32)
                    .map(|n| {
                        let (one, other) = (self.slice(&content, n, 1), self.slice(&whole, n, 1));
                        self.expressions.select(when, one, other)
                    })
                    .collect(),
            };
        }
        (targets, whole)
    }

    /// A function that is not in the program has read bytes; what they were.
    pub(super) fn read_outside(
        &mut self,
        t: usize,
        (at, event): (usize, &trace::Event),
    ) -> Result<Vec<ExprId>, CtpError> {
        let Parts { place, bytes, order } = parts(event)?;
        let pointer = self.expressions.unknown(ir::Width::W64);
        let aimed = self.aim(t, at, event, pointer, (place, bytes), false)?;
        let recorded = content(&event.kind);
        let (targets, content) = self.read_all(t, event, &aimed, bytes, place, &recorded, None);
        let old = self.join(&content);
        self.emit_access(t, event, Kind::Read(made(aimed, place, bytes, order, targets, old, None)));
        Ok(content)
    }

    /// `Update`: the old value is read and a new one written, at once.
    pub(super) fn update(
        &mut self,
        t: usize,
        (at, event): (usize, &trace::Event),
        frame: Frame,
        instruction: &Instruction,
    ) -> Result<(), CtpError> {
        let EventKind::Update { new: recorded_new, .. } = event.kind else {
            return Err(CtpError::WrongKind { event: event.id, site: event.site });
        };
        let Parts { place, bytes, order } = parts(event)?;
        let (op, pointer, operand): (Option<UpdateOp>, _, _) = match &instruction.op {
            Op::Update { op, pointer, value, .. } => (Some(*op), *pointer, Some(*value)),
            // An update of floats.
            Op::Opaque { operands, .. } => {
                let Some(&pointer) = operands.first() else {
                    return Err(CtpError::WrongKind { event: event.id, site: event.site });
                };
                (None, pointer, None)
            }
            _ => return Err(CtpError::WrongKind { event: event.id, site: event.site }),
        };
        let pointer = self.operand(t, frame, pointer)?;
        let aimed = self.aim(t, at, event, pointer, (place, bytes), true)?;
        let operand = operand.map(|operand| self.operand(t, frame, operand)).transpose()?;
        let recorded = content(&event.kind);
        let (mut targets, content) = self.read_all(t, event, &aimed, bytes, place, &recorded, None);
        let old = self.join(&content).unwrap_or_else(|| self.expressions.unknown(bytes_width(bytes as u32)));
        let new = match (op, operand) {
            (Some(op), Some(operand)) => {
                let operand = self.expressions.resize(operand, bytes_width(bytes as u32));
                self.expressions.update(op, old, operand)
            }
            _ => self.expressions.unknown(bytes_width(bytes as u32)),
        };
        let new_bytes = recorded_new.to_le_bytes();
        let rebuilt = self.expressions.recorded(new) == Some(u128::from(recorded_new));
        self.compare(event, new, u128::from(recorded_new));
        let new = match rebuilt {
            true => new,
            false => self.expressions.int(bytes_width(bytes as u32), super::memory::number(&new_bytes, 0, 8)),
        };
        self.note_update(at, old, new);
        for target in &mut targets {
            let (place_, when) = (target.place, target.when);
            target.writes = self.write_target((place_, bytes), &[new], when, place_ == place);
        }
        self.set_result(t, frame, instruction, 0, old);
        self.step_over(t);
        let access = made(aimed, place, bytes, order, targets, Some(old), Some(new));
        self.emit_access(t, event, Kind::Update(access));
        if !rebuilt {
            // What is written then depends on what was read in a way that is not followed.
            self.pin(t, event.id, event.site, &[old], PinReason::Opaque("an atomic update".to_owned()));
        }
        Ok(())
    }

    /// `CompareExchange`.
    pub(super) fn compare_exchange(
        &mut self,
        t: usize,
        (at, event): (usize, &trace::Event),
        frame: Frame,
        instruction: &Instruction,
    ) -> Result<(), CtpError> {
        let (
            EventKind::CompareExchange { success, expected: wanted, new: given, .. },
            Op::CompareExchange { pointer, expected, new, .. },
        ) = (&event.kind, &instruction.op)
        else {
            return Err(CtpError::WrongKind { event: event.id, site: event.site });
        };
        let Parts { place, bytes, order } = parts(event)?;
        let width = bytes_width(bytes as u32);
        let pointer = self.operand(t, frame, *pointer)?;
        let (expected, new) = (self.operand(t, frame, *expected)?, self.operand(t, frame, *new)?);
        let given_bytes = &given.to_le_bytes()[..(bytes as usize).min(8)];
        let wanted_bytes = &wanted.to_le_bytes()[..(bytes as usize).min(8)];
        let expected = self.as_recorded(t, event, expected, wanted_bytes);
        let new = self.as_recorded(t, event, new, given_bytes);
        let aimed = self.aim(t, at, event, pointer, (place, bytes), true)?;
        let recorded = content(&event.kind);
        let (mut targets, content) = self.read_all(t, event, &aimed, bytes, place, &recorded, None);
        let old = self.join(&content).unwrap_or_else(|| self.expressions.unknown(width));
        let equal = self.expressions.equal(old, expected);
        self.compare(event, equal, u128::from(*success));
        let writes_at_all = self.expressions.is_symbolic(equal) || *success;
        for target in &mut targets {
            let when = match target.when {
                Some(hit) => Some(self.expressions.and(hit, equal)),
                None => self.expressions.is_symbolic(equal).then_some(equal),
            };
            if writes_at_all {
                let (there, certain) = (target.place, target.place == place && *success);
                target.writes = self.write_target((there, bytes), &[new], when, certain);
            }
        }
        self.set_result(t, frame, instruction, 0, old);
        let outcome = self.expressions.bit(*success);
        self.set_result(t, frame, instruction, 1, outcome);
        self.step_over(t);
        let access = made(aimed, place, bytes, order, targets, Some(old), Some(new));
        let emitted = self.emit_access(t, event, Kind::CompareExchange { access, equal, success: *success });
        // Nobody else notices it, but its outcome decides the way on, as a branch does.
        if !emitted && self.expressions.is_symbolic(equal) {
            let as_recorded = if *success { equal } else { self.expressions.not(equal) };
            let taken = u32::from(*success);
            self.emit(t, event, Kind::Branch { as_recorded, condition: equal, taken });
        } else if !emitted {
            self.settle(t, event.id, event.site, u64::from(*success));
        }
        Ok(())
    }

    /// `MemoryCopy`: two events, the bytes read and the bytes written.
    pub(super) fn copy(
        &mut self,
        t: usize,
        (at, event): (usize, &trace::Event),
        frame: Frame,
        (to, from, bytes): (Operand, Operand, Operand),
    ) -> Result<(), CtpError> {
        let size = self.operand(t, frame, bytes)?;
        self.pin(t, event.id, event.site, &[size], PinReason::Size);
        match self.runners[t].copied.take() {
            None => {
                let Parts { place, bytes, order } = parts(event)?;
                let pointer = self.operand(t, frame, from)?;
                let aimed = self.aim(t, at, event, pointer, (place, bytes), false)?;
                let recorded = content(&event.kind);
                let (targets, content) = self.read_all(t, event, &aimed, bytes, place, &recorded, None);
                let old = self.join(&content);
                let access = made(aimed, place, bytes, order, targets, old, None);
                self.emit_access(t, event, Kind::Read(access));
                self.runners[t].copied = Some(content);
            }
            Some(content) => {
                let pointer = self.operand(t, frame, to)?;
                self.write(t, (at, event), pointer, content)?;
                self.step_over(t);
            }
        }
        Ok(())
    }

    /// `MemorySet`.
    pub(super) fn fill(
        &mut self,
        t: usize,
        (at, event): (usize, &trace::Event),
        frame: Frame,
        (to, byte, bytes): (Operand, Operand, Operand),
    ) -> Result<(), CtpError> {
        let pointer = self.operand(t, frame, to)?;
        let (byte, size) = (self.operand(t, frame, byte)?, self.operand(t, frame, bytes)?);
        self.pin(t, event.id, event.site, &[size], PinReason::Size);
        let recorded = content(&event.kind);
        let byte = self.expressions.resize(byte, ir::Width::W8);
        let content = match self.expressions.is_symbolic(byte) {
            true => vec![byte; recorded.len()],
            false => self.constants(&recorded),
        };
        self.write(t, (at, event), pointer, content)?;
        self.step_over(t);
        Ok(())
    }

    pub(super) fn set_result(
        &mut self,
        t: usize,
        frame: Frame,
        instruction: &Instruction,
        n: usize,
        value: ExprId,
    ) {
        if let Some(&result) = instruction.results.get(n) {
            let ty = self.program.function(frame.function).value(result).ty;
            let value = self.expressions.resize(value, width_of(ty));
            self.set(t, frame, result, value);
        }
    }

    /// Adds an access, unless it is to memory that nobody else can touch; whether it was added.
    fn emit_access(&mut self, t: usize, event: &trace::Event, kind: Kind) -> bool {
        let shared = kind.access().is_some_and(|access| {
            access.hits.is_some()
                || access.targets.iter().any(|t| !t.reads.is_empty() || !t.writes.is_empty())
        });
        if shared {
            self.emit(t, event, kind);
        }
        shared
    }

    /// Goes to the next instruction of the top frame.
    pub(super) fn step_over(&mut self, t: usize) {
        if let Some(frame) = self.top_mut(t) {
            frame.at += 1;
            frame.doing = Doing::Running;
        }
    }
}

fn made(
    aimed: Aimed,
    recorded: Location,
    bytes: u64,
    order: Option<Order>,
    targets: Vec<Target>,
    old: Option<ExprId>,
    new: Option<ExprId>,
) -> Access {
    let Aimed { address, hits, faults, .. } = aimed;
    Access { address, recorded, bytes, order, targets, hits, faults, old, new, decision: None }
}
