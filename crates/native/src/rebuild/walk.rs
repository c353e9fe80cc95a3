//! One step of one thread: the next instruction of its running activation, with or without the next item of the log.

use super::frame::{Frame, State, Thread};
use super::memory::MOST_COPIED;
use super::value::{Value, mask};
use super::{Item, Walker, What};
use ir::{BlockId, Callee, Instruction, Op, SitePlace, Type, ValueId};

/// So many instructions may be walked between two items of the log.
const MOST_SILENT: u64 = 100_000_000;

/// So deep may calls be nested.
const MOST_FRAMES: usize = 1 << 20;

/// What came of a step.
pub enum Step {
    /// It needed nothing from the log.
    Silent,
    /// It took the item.
    Taken,
    /// The log does not fit the way that was walked.
    Lost(&'static str),
}

impl Walker<'_> {
    /// Walks a thread up to the next item of the log, and through it.
    pub fn feed(&mut self, me: &mut Thread, item: &Item) {
        let mut begun_anew = false;
        for _ in 0..MOST_SILENT {
            match self.step(me, item) {
                Step::Silent => {}
                Step::Taken => return,
                Step::Lost(why) => {
                    if begun_anew {
                        return; // an item that fits nowhere
                    }
                    begun_anew = true;
                    self.begin_anew(me, item, why);
                }
            }
        }
        self.begin_anew(me, item, "more instructions without an event than are followed");
    }

    /// Puts a thread where the log says that it is, with nothing known.
    fn begin_anew(&mut self, me: &mut Thread, item: &Item, why: &'static str) {
        let reason = self.reasons.get(why);
        *self.statistics.counts.lost.entry(reason).or_default() += 1;
        me.frames.clear();
        if let (What::Unit(..) | What::Bytes(..) | What::Stack(_) | What::Landing, Some(place)) =
            (&item.what, self.index.place(item.site))
        {
            let mut frame = self.frame(place.function, reason);
            frame.state = State::Before;
            self.go_to(&mut frame, place.block);
            frame.instruction = place.instruction as usize;
            me.frames.push(frame);
        }
    }

    /// Sets an activation before the first instruction of a block, phis left out.
    pub fn go_to(&self, frame: &mut Frame, block: BlockId) {
        let place = SitePlace { function: frame.function, block, instruction: 0 };
        (frame.block, frame.instruction) = (block, 0);
        frame.first = self.index.site(place).0;
    }

    fn step(&mut self, me: &mut Thread, item: &Item) -> Step {
        let Some(mut frame) = me.frames.pop() else { return self.start(me, item) };
        let step = self.step_in(me, &mut frame, item);
        match step {
            Frames::Keep(step) => {
                me.frames.push(frame);
                step
            }
            Frames::Push(..) if me.frames.len() >= MOST_FRAMES => {
                me.frames.push(frame);
                Step::Lost("calls nested deeper than is followed")
            }
            Frames::Push(above, step) => {
                me.frames.push(frame);
                me.frames.push(*above);
                step
            }
            Frames::Return(value) => {
                self.returned(me, value);
                Step::Silent
            }
            Frames::Unwind => {
                me.frames.push(frame);
                self.unwind(me, item)
            }
        }
    }

    /// A step of the running activation, which is taken off the thread meanwhile.
    fn step_in(&mut self, me: &mut Thread, frame: &mut Frame, item: &Item) -> Frames {
        match frame.state {
            State::Fresh => return Frames::Keep(self.fresh(frame, item)),
            State::Entering(got) => return Frames::Keep(self.entering(frame, item, got)),
            State::InCall | State::Returned | State::Waiting(_) => return self.in_call(me, frame, item),
            State::Before | State::Units(_) | State::Copying(..) => {}
        }
        let linked = self.linked;
        let block = linked.program.function(frame.function).block(frame.block);
        match block.instructions.get(frame.instruction) {
            Some(instruction) => self.instruction(me, frame, instruction, item),
            None => self.terminator(me, frame, &block.terminator, item),
        }
    }

    fn instruction(
        &mut self,
        me: &mut Thread,
        frame: &mut Frame,
        instruction: &Instruction,
        item: &Item,
    ) -> Frames {
        let linked = self.linked;
        let function = linked.program.function(frame.function);
        let ty = instruction.results.first().map_or(Type::Ptr, |&value| function.value(value).ty);
        if let Some(value) = self.compute(me, frame, &instruction.op, ty) {
            set(frame, &instruction.results, value);
            return next(frame, Step::Silent);
        }
        let here = item.site == frame.site();
        match &instruction.op {
            Op::Phi { .. } => next(frame, Step::Silent), // done on the way into the block
            Op::StackAlloc { .. } => self.stack_memory(frame, instruction, item),
            Op::Load { pointer, .. } => {
                let address = self.operand(me, frame, pointer);
                let Some((at, bits)) = accessed(item, here) else {
                    let value = self.hidden_load(frame, address, ty.bytes());
                    set(frame, &instruction.results, value);
                    return next(frame, Step::Silent);
                };
                let address_known = self.address(me, pointer, address, at);
                self.count(address_known, None);
                let bytes = ty.bytes();
                self.image.read(self.event, item.site, at, &bits.to_le_bytes()[..bytes.min(16) as usize]);
                let value = match bytes {
                    ..=16 => Value::plain(bits & mask(ty)),
                    _ => Value::unknown(self.reasons.get("values of more than 16 bytes")),
                };
                // Where it was read may depend on shared memory too.
                let value = Value { shared: self.image.is_shared(at), ..value }.depending(address);
                set(frame, &instruction.results, value);
                next(frame, Step::Taken)
            }
            Op::Store { pointer, value, .. } => {
                let bytes = Self::type_of(function, value).bytes();
                let ty = Self::type_of(function, value);
                let (address, value) = (self.operand(me, frame, pointer), self.operand(me, frame, value));
                let Some((at, bits)) = accessed(item, here) else {
                    self.hidden_store(frame, address, value, bytes);
                    return next(frame, Step::Silent);
                };
                let address_known = self.address(me, pointer, address, at);
                let value_known = match bytes {
                    ..=16 => self.compare(value, bits, mask(ty), "the value of a store"),
                    _ => Err(self.reasons.get("values of more than 16 bytes")),
                };
                self.count(address_known, Some(value_known));
                self.image.written(at, &bits.to_le_bytes()[..bytes.min(16) as usize]);
                next(frame, Step::Taken)
            }
            Op::Update { .. } | Op::CompareExchange { .. } => self.atomic(me, frame, instruction, item, here),
            Op::Fence { .. } => match here && matches!(item.what, What::Unit(..)) {
                true => next(frame, Step::Taken),
                false => next(frame, Step::Silent),
            },
            Op::MemoryCopy { to, from, bytes, .. } => self.copy(me, frame, [to, from, bytes], item, here),
            Op::MemorySet { to, byte, bytes } => {
                let (address, byte) = (self.operand(me, frame, to), self.operand(me, frame, byte));
                if let (true, What::Bytes(at, content)) = (here, &item.what) {
                    let address_known = self.address(me, to, address, *at);
                    let recorded = content.first().copied().unwrap_or(byte.bits as u8);
                    let value_known = self.compare(byte, recorded.into(), 0xff, "the byte of a fill");
                    self.count(address_known, Some(value_known));
                    self.image.written(*at, content);
                    return next(frame, Step::Taken);
                }
                let bytes = self.operand(me, frame, bytes).address().unwrap_or(0).min(MOST_COPIED);
                for n in 0..bytes {
                    let at = Value { bits: address.bits.wrapping_add(n.into()), ..address };
                    self.hidden_store(frame, at, byte, 1);
                }
                next(frame, Step::Silent)
            }
            Op::Opaque { what, operands, .. } => {
                self.opaque(me, frame, instruction, (what, operands), item, here)
            }
            Op::Call { callee, arguments } => self.call(me, frame, callee, arguments),
            _ => Frames::Keep(Step::Lost("an instruction that compiled programs do not have")),
        }
    }
}

/// What becomes of the activations.
pub enum Frames {
    /// They stay.
    Keep(Step),
    /// Another one comes above.
    Push(Box<Frame>, Step),
    /// The running one returns this.
    Return(Option<Value>),
    /// The running one does not go on here: an exception or a long jump.
    Unwind,
}

/// Sets the first result.
pub fn set(frame: &mut Frame, results: &[ValueId], value: Value) {
    if let Some(&result) = results.first() {
        frame.values[result.index()] = value;
    }
}

/// Goes on to the next instruction.
pub fn next(frame: &mut Frame, step: Step) -> Frames {
    frame.instruction += 1;
    frame.state = State::Before;
    Frames::Keep(step)
}

/// The access that an item tells, if it is one of this instruction: address and bits.
fn accessed(item: &Item, here: bool) -> Option<(u64, u128)> {
    match &item.what {
        What::Unit(address, value) if here => Some((*address, u128::from(*value))),
        What::Bytes(address, content) if here => Some((*address, number(content))),
        _ => None,
    }
}

/// The first sixteen bytes as a number.
pub fn number(content: &[u8]) -> u128 {
    content.iter().take(16).enumerate().fold(0, |all, (n, &byte)| all | u128::from(byte) << (8 * n))
}

/// Whom a call may go to, for messages.
pub fn callee_name(callee: &Callee) -> &str {
    match callee {
        Callee::External(symbol) => symbol,
        Callee::Function(_) => "a function of another module",
        Callee::Indirect(_) => "a function by its address",
    }
}
