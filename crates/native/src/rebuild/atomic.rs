//! Atomic updates and exchanges: several units of the log make one of them.

use super::frame::{Frame, State, Thread};
use super::value::{Value, mask};
use super::walk::{Frames, Step, next, number, set};
use super::{Item, Walker, What};
use ir::{Instruction, Op, Type, eval};

impl Walker<'_> {
    pub fn atomic(
        &mut self,
        me: &mut Thread,
        frame: &mut Frame,
        instruction: &Instruction,
        item: &Item,
        here: bool,
    ) -> Frames {
        let linked = self.linked;
        let function = linked.program.function(frame.function);
        let Some(&result) = instruction.results.first() else {
            return Frames::Keep(Step::Lost("an atomic without a result"));
        };
        let ty = function.value(result).ty;
        let (pointer, needed) = match &instruction.op {
            Op::Update { pointer, .. } => (pointer, 2),
            Op::CompareExchange { pointer, .. } => (pointer, 3),
            _ => return Frames::Keep(Step::Lost("no atomic")),
        };
        let address = self.operand(me, frame, pointer);
        let (at, units) = match (here, &item.what) {
            (true, What::Unit(at, value)) => {
                let mut units = match std::mem::replace(&mut frame.state, State::Before) {
                    State::Units(units) => units,
                    _ => vec![],
                };
                units.push(*value);
                if units.len() < needed {
                    frame.state = State::Units(units);
                    return Frames::Keep(Step::Taken);
                }
                (*at, units)
            }
            // Wider than a unit: the bytes before, and the bytes after.
            (true, What::Bytes(at, content)) => {
                if !matches!(frame.state, State::Units(_)) {
                    frame.state = State::Units(vec![]);
                    let old = Value { shared: self.image.is_shared(*at), ..Value::plain(number(content)) };
                    set(frame, &instruction.results, old);
                    return Frames::Keep(Step::Taken);
                }
                frame.state = State::Before;
                let pin = self.reasons.get("atomics of 16 bytes");
                if let Some(&done) = instruction.results.get(1) {
                    frame.values[done.index()] = Value::unknown(pin);
                }
                self.count(self.checked(address), Some(Err(pin)));
                return next(frame, Step::Taken);
            }
            _ => return self.hidden_atomic(me, frame, instruction, ty),
        };
        let bytes = ty.bytes().min(8) as usize;
        let old_bits = u128::from(units[0]) & mask(ty);
        self.image.read(self.event, item.site, at, &units[0].to_le_bytes()[..bytes]);
        let old = Value { shared: self.image.is_shared(at), ..Value::plain(old_bits) }.depending(address);
        let address_known = self.address(me, pointer, address, at);
        match &instruction.op {
            Op::Update { op, value, .. } => {
                let operand = self.operand(me, frame, value);
                let new = match (operand.known, ty.width()) {
                    (true, Some(width)) => Value {
                        bits: eval::update(*op, width, old_bits, operand.bits),
                        ..old.depending(operand)
                    },
                    (true, None) => operand,
                    (false, _) => operand,
                };
                let new_known =
                    self.compare(new, units[1].into(), mask(ty), "the new value of an atomic update");
                self.count(address_known, Some(new_known));
                self.image.written(at, &units[1].to_le_bytes()[..bytes]);
                set(frame, &instruction.results, old);
            }
            Op::CompareExchange { expected, new, .. } => {
                let (expected, new) = (self.operand(me, frame, expected), self.operand(me, frame, new));
                let known =
                    self.compare(expected, units[1].into(), mask(ty), "the expected value of an exchange");
                let new_known = self.compare(new, units[2].into(), mask(ty), "the new value of an exchange");
                self.count(address_known, Some(known.and(new_known)));
                let done = units[0] == units[1];
                if done {
                    self.image.written(at, &units[2].to_le_bytes()[..bytes]);
                }
                set(frame, &instruction.results, old);
                if let Some(&success) = instruction.results.get(1) {
                    frame.values[success.index()] = Value { bits: done.into(), ..old.depending(expected) };
                }
            }
            _ => {}
        }
        next(frame, Step::Taken)
    }

    /// An atomic on memory that only its function sees.
    fn hidden_atomic(
        &mut self,
        me: &mut Thread,
        frame: &mut Frame,
        instruction: &Instruction,
        ty: Type,
    ) -> Frames {
        match &instruction.op {
            Op::Update { op, pointer, value, .. } => {
                let (address, operand) = (self.operand(me, frame, pointer), self.operand(me, frame, value));
                let old = self.hidden_load(frame, address, ty.bytes());
                let new = match (old.known && operand.known, ty.width()) {
                    (true, Some(width)) => Value {
                        bits: eval::update(*op, width, old.bits, operand.bits),
                        ..old.depending(operand)
                    },
                    (true, None) => operand,
                    (false, _) => Value { bits: 0, known: false, ..old.depending(operand) },
                };
                self.hidden_store(frame, address, new, ty.bytes());
                set(frame, &instruction.results, old);
            }
            Op::CompareExchange { pointer, expected, new, .. } => {
                let (address, expected) =
                    (self.operand(me, frame, pointer), self.operand(me, frame, expected));
                let new = self.operand(me, frame, new);
                let old = self.hidden_load(frame, address, ty.bytes());
                let known = old.known && expected.known;
                let done = known && old.bits == expected.bits;
                if done {
                    self.hidden_store(frame, address, new, ty.bytes());
                }
                set(frame, &instruction.results, old);
                if let Some(&success) = instruction.results.get(1) {
                    frame.values[success.index()] =
                        Value { bits: done.into(), known, ..old.depending(expected) };
                }
            }
            _ => {}
        }
        next(frame, Step::Silent)
    }
}
