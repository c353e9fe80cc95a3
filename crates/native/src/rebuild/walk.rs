//! One step of one thread: the next instruction of its running activation, with or without the next item of the log.

use super::address::Stand;
use super::frame::{Frame, State, Thread};
use super::memory::MOST_COPIED;
use super::statistics::Mismatch;
use super::value::{Reason, Value, mask};
use super::{Item, Walker, What};
use ir::{BlockId, Callee, GlobalId, Instruction, Op, Operand, SitePlace, Terminator, Type, ValueId, eval};

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

    /// Stack memory: its address came at the start, comes now, or does not come at all because nobody else can see it.
    fn stack_memory(&mut self, frame: &mut Frame, instruction: &Instruction, item: &Item) -> Frames {
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

    fn atomic(
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

    /// A copy: two notes, one if it copies an argument that is passed by value, none if nobody else sees either side.
    fn copy(
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

    fn opaque(
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

    fn terminator(
        &mut self,
        me: &mut Thread,
        frame: &mut Frame,
        terminator: &Terminator,
        item: &Item,
    ) -> Frames {
        let here = item.site == frame.site();
        let logged = match item.what {
            What::Unit(0, way) if here => Some(way),
            _ => None,
        };
        let (decided, condition) = match terminator {
            Terminator::Jump(to) => {
                self.enter_block(me, frame, *to);
                return Frames::Keep(Step::Silent);
            }
            Terminator::Branch { condition, .. } => {
                let condition = self.operand(me, frame, condition);
                (condition.known.then_some(if condition.bits & 1 == 1 { 0 } else { 1 }), condition)
            }
            Terminator::Switch { value, cases, .. } => {
                let value = self.operand(me, frame, value);
                let case = cases.iter().position(|&(case, _)| case == value.bits).unwrap_or(cases.len());
                (value.known.then_some(case), value)
            }
            Terminator::IndirectJump { address, .. } => (None, self.operand(me, frame, address)),
            Terminator::Invoke { callee, arguments, .. } => return self.call(me, frame, callee, arguments),
            Terminator::Return(values) => {
                let value = values.first().map(|value| self.operand(me, frame, value));
                return Frames::Return(value);
            }
            Terminator::Resume | Terminator::Unreachable => return Frames::Unwind,
        };
        if condition.shared {
            self.statistics.shared_branches += 1;
            if condition.pin != Reason::NONE {
                *self.statistics.counts.pinned_branches.entry(condition.pin).or_default() += 1;
            }
        }
        let ways = terminator.successors();
        let recorded = logged.and_then(|way| usize::try_from(way).ok()).filter(|&way| way < ways.len());
        if let (Some(decided), Some(recorded)) = (decided, recorded)
            && ways[decided] != ways[recorded]
        {
            self.mismatch("the outcome of a branch", decided as u128, recorded as u128, item);
        }
        let Some(way) = recorded.or(decided) else {
            return Frames::Keep(Step::Lost("a branch whose outcome neither follows nor is logged"));
        };
        self.enter_block(me, frame, ways[way]);
        Frames::Keep(if recorded.is_some() { Step::Taken } else { Step::Silent })
    }

    /// Goes into a block; its phis take their values all at once.
    pub fn enter_block(&mut self, me: &Thread, frame: &mut Frame, to: BlockId) {
        let from = frame.block;
        let linked = self.linked;
        let block = linked.program.function(frame.function).block(to);
        let mut taken: Vec<(ValueId, Value)> = vec![];
        for instruction in &block.instructions {
            let Op::Phi { incoming } = &instruction.op else { break };
            let operand = incoming.iter().find(|(block, _)| *block == from);
            if let (Some((_, operand)), Some(&result)) = (operand, instruction.results.first()) {
                taken.push((result, self.operand(me, frame, operand)));
            }
        }
        for (result, value) in &taken {
            frame.values[result.index()] = *value;
        }
        self.go_to(frame, to);
        frame.instruction = block.instructions.iter().take_while(|i| matches!(i.op, Op::Phi { .. })).count();
        frame.state = State::Before;
    }

    /// Compares an address with the one in the log; gives why it was not computed. What only now turns out to lie there is learnt.
    fn address(
        &mut self,
        me: &mut Thread,
        pointer: &Operand,
        computed: Value,
        at: u64,
    ) -> Result<(), Reason> {
        let Some(address) = computed.address() else { return Err(computed.pin) };
        if address == at {
            return Ok(());
        }
        match self.stand(address) {
            Some(Stand::Global(global, offset)) => {
                self.learn(me, global, at.wrapping_add_signed(-offset));
                Ok(())
            }
            Some(Stand::Local(_)) => Err(self.reasons.get("arguments that are passed by value")),
            _ => {
                // A thread-local that has moved: each coroutine or library may have its own idea.
                if let Operand::Global(global) = *pointer
                    && self.linked.program.global(global).thread_local
                {
                    self.learn(me, global, at);
                    return Ok(());
                }
                let site = self.site_now;
                self.statistics.mismatch(Mismatch {
                    event: self.event,
                    site,
                    what: "an address",
                    rebuilt: address.into(),
                    recorded: at.into(),
                });
                Ok(())
            }
        }
    }

    fn learn(&mut self, me: &mut Thread, global: GlobalId, at: u64) {
        match self.linked.program.global(global).thread_local {
            true => me.own_globals.insert(global, at),
            false => self.globals.insert(global, at),
        };
    }

    fn checked(&self, address: Value) -> Result<(), Reason> {
        if address.known { Ok(()) } else { Err(address.pin) }
    }

    /// Compares a value with the one in the log; gives why it was not computed.
    pub fn compare(
        &mut self,
        value: Value,
        recorded: u128,
        mask: u128,
        what: &'static str,
    ) -> Result<(), Reason> {
        if !value.known {
            return Err(value.pin);
        }
        let (rebuilt, recorded) = (value.bits & mask, recorded & mask);
        if rebuilt == recorded {
            return Ok(());
        }
        // The address of something that the log has not mentioned yet.
        match self.stand(value.bits as u64) {
            Some(Stand::Global(global, offset)) if !self.linked.program.global(global).thread_local => {
                self.globals.insert(global, (recorded as u64).wrapping_add_signed(-offset));
                Ok(())
            }
            Some(Stand::Function(function, 0)) => {
                self.functions.insert(function, recorded as u64);
                self.function_at.insert(recorded as u64, function);
                Ok(())
            }
            Some(_) => Err(self.reasons.get("addresses that the log does not tell")),
            None => {
                let (event, site) = (self.event, self.site_now);
                self.statistics.mismatch(Mismatch { event, site, what, rebuilt, recorded });
                Ok(())
            }
        }
    }

    fn mismatch(&mut self, what: &'static str, rebuilt: u128, recorded: u128, item: &Item) {
        let (event, site) = (self.event, item.site);
        self.statistics.mismatch(Mismatch { event, site, what, rebuilt, recorded });
    }

    /// Counts an access.
    fn count(&mut self, address: Result<(), Reason>, value: Option<Result<(), Reason>>) {
        self.statistics.accesses += 1;
        match address.and(value.unwrap_or(Ok(()))) {
            Ok(()) => self.statistics.rebuilt += 1,
            Err(reason) => *self.statistics.counts.pinned.entry(reason).or_default() += 1,
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
fn number(content: &[u8]) -> u128 {
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
