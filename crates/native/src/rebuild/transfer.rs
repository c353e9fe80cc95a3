//! Instructions beside plain accesses that take something from the log: memory on the stack, copies of bytes, and what is opaque.

use super::address::Stand;
use super::frame::{Frame, State, Thread};
use super::memory::MOST_COPIED;
use super::value::{Value, mask};
use super::walk::{Frames, Step, next, set};
use super::{Item, Walker, What};
use ir::{Instruction, Op, Operand};

impl Walker<'_> {
    /// Stack memory: its address came at the start, comes now, or does not come at all because nobody else can see it.
    pub fn stack_memory(&mut self, frame: &mut Frame, instruction: &Instruction, item: &Item) -> Frames {
        let site = frame.site();
        let (address, step) = match (&item.what, frame.stack.iter().find(|(of, _)| *of == site)) {
            (_, Some(&(_, address))) => (address, Step::Silent),
            (What::Stack(address), None) if item.site == site => (*address, Step::Taken),
            _ => {
                self.locals += 1;
                (super::address::of_local(self.locals), Step::Silent)
            }
        };
        if let Op::StackAlloc { shape, .. } = instruction.op {
            self.image.forget(address, self.linked.program.shape_bytes(shape).min(MOST_COPIED));
        }
        set(frame, &instruction.results, Value::plain(address.into()));
        next(frame, step)
    }

    /// A copy: two notes, one if it copies an argument that is passed by value, none if nobody else sees either side.
    pub fn copy(
        &mut self,
        me: &mut Thread,
        frame: &mut Frame,
        [to, from, bytes]: [&Operand; 3],
        item: &Item,
        here: bool,
    ) -> Frames {
        let (to_value, from_value) = (self.operand(me, frame, to), self.operand(me, frame, from));
        let note = match &item.what {
            What::Bytes(at, content) if here => Some((*at, content)),
            _ => None,
        };
        match (std::mem::replace(&mut frame.state, State::Before), note) {
            (State::Copying(content, shared), Some((at, written))) if content == *written => {
                let known = self.address(me, to, to_value, at);
                self.count(known, None);
                self.image.written(at, written);
                if to_value.known && matches!(self.stand(to_value.bits as u64), Some(Stand::Local(_))) {
                    self.hidden_write(frame, to_value, &content, shared);
                }
                next(frame, Step::Taken)
            }
            (State::Copying(content, shared), _) => {
                // Only the bytes read were told: the copy is one of ours.
                self.hidden_write(frame, to_value, &content, shared);
                next(frame, Step::Silent)
            }
            (_, Some((at, content))) => {
                let known = self.address(me, from, from_value, at);
                self.count(known, None);
                self.image.read(self.event, item.site, at, content);
                let shared = self.image.is_shared(at) || from_value.shared;
                frame.state = State::Copying(content.clone(), shared);
                Frames::Keep(Step::Taken)
            }
            (_, None) => {
                let bytes = self.operand(me, frame, bytes);
                self.hidden_copy(frame, to_value, from_value, bytes);
                next(frame, Step::Silent)
            }
        }
    }

    pub fn opaque(
        &mut self,
        me: &mut Thread,
        frame: &mut Frame,
        instruction: &Instruction,
        (what, operands): (&str, &[Operand]),
        item: &Item,
        here: bool,
    ) -> Frames {
        let linked = self.linked;
        let function = linked.program.function(frame.function);
        let pin = self.reasons.get(what);
        let mut value = Value::unknown(pin);
        for operand in operands {
            let operand = self.operand(me, frame, operand);
            value.shared |= operand.shared;
        }
        let step = match (here, &item.what) {
            // An atomic that is not followed: the old value, then the new one.
            (true, What::Unit(at @ 1.., bits)) => match std::mem::replace(&mut frame.state, State::Before) {
                State::Units(units) => {
                    self.statistics.accesses += 1;
                    *self.statistics.counts.pinned.entry(pin).or_default() += 1;
                    value = Value { bits: units.first().copied().unwrap_or(0).into(), known: true, ..value };
                    value.shared |= self.image.is_shared(*at);
                    Step::Taken
                }
                _ => {
                    frame.state = State::Units(vec![*bits]);
                    return Frames::Keep(Step::Taken);
                }
            },
            (true, What::Unit(0, bits)) => {
                let ty = instruction.results.first().map(|&value| function.value(value).ty);
                if ty.is_some_and(|ty| ty.bytes() <= 8) {
                    value = Value { bits: u128::from(*bits) & ty.map_or(0, mask), known: true, ..value };
                }
                self.image.called(self.event, item.site);
                Step::Taken
            }
            _ => Step::Silent,
        };
        set(frame, &instruction.results, value);
        next(frame, step)
    }
}
