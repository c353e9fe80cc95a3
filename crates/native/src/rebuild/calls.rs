//! Entering and leaving functions: by calls, from outside, by exceptions and long jumps.

use super::frame::{Frame, State, Thread};
use super::models;
use super::value::{Reason, Value, mask};
use super::walk::{Frames, Step, callee_name};
use super::{Item, Walker, What};
use ir::{BlockId, Callee, FunctionId, Op, Operand, SitePlace, Terminator, ValueId};

/// Why parameters are not known that the log does not have either.
const FROM_OUTSIDE: &str = "parameters from code that is not instrumented";

impl Walker<'_> {
    /// An activation that has not begun.
    pub fn frame(&self, function: FunctionId, unknown: Reason) -> Frame {
        let first = self.index.site(SitePlace { function, block: BlockId(0), instruction: 0 });
        Frame::new(&self.linked.program, function, first.0, unknown)
    }

    /// A thread without an activation enters a function from outside.
    pub fn start(&mut self, me: &mut Thread, item: &Item) -> Step {
        match self.entered(item) {
            Some(frame) => {
                me.frames.push(frame);
                Step::Silent
            }
            None => Step::Lost("code that was entered without the log telling so"),
        }
    }

    /// The activation that an item begins, if it does.
    fn entered(&mut self, item: &Item) -> Option<Frame> {
        let What::Entry(_) = item.what else { return None };
        let place = self.index.place(item.site)?;
        if (place.block, place.instruction) != (BlockId(0), 0) {
            return None; // no function begins there
        }
        let unknown = self.reasons.get(FROM_OUTSIDE);
        Some(self.frame(place.function, unknown))
    }

    /// Before the first instruction: parameters and stack memory may come.
    pub fn fresh(&mut self, frame: &mut Frame, item: &Item) -> Step {
        match item.what {
            What::Entry(_) if item.site == frame.site() => self.entering(frame, item, 0),
            What::Stack(address) if self.is_in(item, frame.function) => {
                frame.stack.push((item.site, address));
                Step::Taken
            }
            _ => {
                frame.state = State::Before;
                Step::Silent
            }
        }
    }

    fn is_in(&self, item: &Item, function: FunctionId) -> bool {
        self.index.place(item.site).is_some_and(|place| place.function == function)
    }

    /// A parameter comes.
    pub fn entering(&mut self, frame: &mut Frame, item: &Item, got: usize) -> Step {
        let What::Entry(bits) = item.what else { return Step::Lost("an entry that was not complete") };
        let linked = self.linked;
        let function = linked.program.function(frame.function);
        if let Some(parameter) = function.parameters.get(got) {
            let ty = function.value(parameter.value).ty;
            if ty.bytes() <= 8 {
                let recorded = u128::from(bits) & mask(ty);
                let value = &mut frame.values[parameter.value.index()];
                match value.known {
                    true => {
                        let value = *value;
                        let _ = self.compare(value, recorded, mask(ty), "a parameter");
                        frame.values[parameter.value.index()].bits = recorded;
                    }
                    // From outside: an input of the run, as good as any other.
                    false if value.pin == self.reasons.get(FROM_OUTSIDE) => *value = Value::plain(recorded),
                    // Computed in a way that is not followed: as the run had it.
                    false => *value = Value { bits: recorded, known: true, ..*value },
                }
            }
        }
        frame.state = match got + 1 >= function.parameters.len() {
            // Stack memory may still come.
            true => State::Fresh,
            false => State::Entering(got + 1),
        };
        Step::Taken
    }

    /// A call: of a function of the program, or of what only the log knows.
    pub fn call(
        &mut self,
        me: &mut Thread,
        frame: &mut Frame,
        callee: &Callee,
        arguments: &[Operand],
    ) -> Frames {
        if let Callee::Function(function) = callee {
            let above = self.callee(me, frame, *function, arguments);
            frame.state = State::InCall;
            return Frames::Push(Box::new(above), Step::Silent);
        }
        frame.target = match callee {
            Callee::Indirect(address) => {
                let address = self.operand(me, frame, address);
                address.address().and_then(|address| self.function_at.get(&address).copied())
            }
            _ => None,
        };
        frame.state = State::Waiting(None);
        Frames::Keep(Step::Silent)
    }

    /// The activation of a function that is called with these arguments.
    fn callee(&mut self, me: &Thread, frame: &Frame, function: FunctionId, arguments: &[Operand]) -> Frame {
        let unknown = self.reasons.get("arguments that a call does not have");
        let mut above = self.frame(function, unknown);
        let parameters = &self.linked.program.function(function).parameters;
        for (parameter, argument) in parameters.iter().zip(arguments) {
            above.values[parameter.value.index()] = self.operand(me, frame, argument);
        }
        above
    }

    /// The running activation has made a call: the log says how that goes on.
    pub fn in_call(&mut self, me: &mut Thread, frame: &mut Frame, item: &Item) -> Frames {
        let here = item.site == frame.site();
        match (&frame.state, &item.what) {
            (State::Waiting(returned), &What::Unit(0, result)) if here => {
                let returned = *returned;
                self.image.called(self.event, item.site);
                self.result(me, frame, result, returned);
                Frames::Keep(Step::Taken)
            }
            // What a function of the C library has read.
            (State::Waiting(None), What::Bytes(at, content)) if here => {
                self.image.read(self.event, item.site, *at, content);
                Frames::Keep(Step::Taken)
            }
            (State::Returned, &What::Unit(0, result)) if here => {
                let results = self.results(frame);
                if let Some(&value) = results.first() {
                    let ty = self.linked.program.function(frame.function).value(value).ty;
                    if ty.bytes() <= 8 {
                        let known = frame.values[value.index()];
                        if self.compare(known, result.into(), mask(ty), "the result of a call").is_err() {
                            let bits = u128::from(result) & mask(ty);
                            frame.values[value.index()] = Value { bits, known: true, ..known };
                        }
                    }
                }
                self.go_on(me, frame);
                Frames::Keep(Step::Taken)
            }
            (State::Returned, _) => {
                self.go_on(me, frame);
                Frames::Keep(Step::Silent)
            }
            (State::Waiting(_), What::Entry(_)) => match self.entered(item) {
                Some(mut above) => {
                    self.pass_arguments(me, frame, &mut above);
                    Frames::Push(Box::new(above), Step::Silent)
                }
                None => Frames::Unwind,
            },
            (State::Waiting(None), _) => match frame.target {
                // A function that nobody outside its module was thought to call, and that has no entry in the log.
                Some(target) if self.is_in(item, target) => {
                    let arguments = self.arguments(frame).to_vec();
                    let above = self.callee(me, frame, target, &arguments);
                    Frames::Push(Box::new(above), Step::Silent)
                }
                _ => self.tail(frame, item),
            },
            _ => Frames::Unwind,
        }
    }

    /// A call in place of a return has no result in the log: what it calls returns to our caller.
    fn tail(&mut self, frame: &Frame, item: &Item) -> Frames {
        let linked = self.linked;
        let block = linked.program.function(frame.function).block(frame.block);
        let is_last = frame.instruction + 1 == block.instructions.len();
        let returns = matches!(block.terminator, Terminator::Return(_));
        match item.what {
            What::Unit(..) | What::Bytes(..) if is_last && returns && !self.is_in(item, frame.function) => {
                let pin = self.reasons.get("results of calls in place of a return");
                Frames::Return(Some(Value::unknown(pin)))
            }
            _ => Frames::Unwind,
        }
    }

    /// The arguments of the call that an activation is in.
    fn arguments(&self, frame: &Frame) -> &[Operand] {
        let block = self.linked.program.function(frame.function).block(frame.block);
        match block.instructions.get(frame.instruction).map(|instruction| &instruction.op) {
            Some(Op::Call { arguments, .. }) => arguments,
            Some(_) => &[],
            None => match &block.terminator {
                Terminator::Invoke { arguments, .. } => arguments,
                _ => &[],
            },
        }
    }

    fn results(&self, frame: &Frame) -> Vec<ValueId> {
        let block = self.linked.program.function(frame.function).block(frame.block);
        match block.instructions.get(frame.instruction) {
            Some(instruction) => instruction.results.clone(),
            None => block.terminator.results().to_vec(),
        }
    }

    /// If the function that is entered is the one that was called, its parameters are our arguments.
    fn pass_arguments(&mut self, me: &Thread, frame: &Frame, above: &mut Frame) {
        let linked = self.linked;
        let parameters = &linked.program.function(above.function).parameters;
        let arguments = self.arguments(frame).to_vec();
        if frame.target == Some(above.function) && parameters.len() == arguments.len() {
            for (parameter, argument) in parameters.iter().zip(&arguments) {
                above.values[parameter.value.index()] = self.operand(me, frame, argument);
            }
        }
    }

    /// The result of a call that the log has.
    fn result(&mut self, me: &mut Thread, frame: &mut Frame, result: u64, returned: Option<Value>) {
        let linked = self.linked;
        let function = linked.program.function(frame.function);
        let block = function.block(frame.block);
        let callee = match (block.instructions.get(frame.instruction).map(|i| &i.op), &block.terminator) {
            (Some(Op::Call { callee, .. }), _) | (None, Terminator::Invoke { callee, .. }) => callee,
            _ => return self.go_on(me, frame),
        };
        if let Some(&to) = self.results(frame).first() {
            let ty = function.value(to).ty;
            let value = match ty.bytes() {
                ..=8 => Value::plain(u128::from(result) & mask(ty)),
                _ => Value::unknown(self.reasons.get("results of more than 8 bytes")),
            };
            frame.values[to.index()] = match returned.filter(|_| frame.target.is_some()) {
                Some(returned) => {
                    let _ = self.compare(returned, result.into(), mask(ty), "the result of a call");
                    value.depending(returned)
                }
                None => self.given_by_outside(me, frame, callee, value),
            };
        }
        self.go_on(me, frame);
    }

    /// What the result of uninstrumented code depends on.
    fn given_by_outside(&mut self, me: &Thread, frame: &Frame, callee: &Callee, value: Value) -> Value {
        if let Callee::External(symbol) = callee
            && models::is_independent(symbol)
        {
            return value;
        }
        let arguments = self.arguments(frame).to_vec();
        let mut shared = false;
        for argument in &arguments {
            let argument = self.operand(me, frame, argument);
            shared |=
                argument.shared || argument.address().is_some_and(|address| self.image.is_shared(address));
        }
        if !shared {
            return value;
        }
        let pin = self.reasons.get(&format!("call of {}", callee_name(callee)));
        Value { shared, pin, ..value }
    }

    /// The call is over: on to the next instruction, or to the block behind an invoke.
    fn go_on(&mut self, me: &Thread, frame: &mut Frame) {
        let linked = self.linked;
        let block = linked.program.function(frame.function).block(frame.block);
        frame.state = State::Before;
        frame.target = None;
        match (block.instructions.get(frame.instruction), &block.terminator) {
            (None, Terminator::Invoke { normal, .. }) => self.enter_block(me, frame, *normal),
            _ => frame.instruction += 1,
        }
    }

    /// An activation has returned to the one below, if there is one.
    pub fn returned(&mut self, me: &mut Thread, value: Option<Value>) {
        let Some(mut frame) = me.frames.pop() else { return };
        match frame.state {
            State::Waiting(_) => frame.state = State::Waiting(value),
            _ => {
                if let (Some(value), Some(&to)) = (value, self.results(&frame).first()) {
                    frame.values[to.index()] = value;
                }
                frame.state = State::Returned;
            }
        }
        me.frames.push(frame);
    }

    /// Control does not go on in the running activation: an exception has reached a landing pad, or a long jump a `setjmp`.
    pub fn unwind(&mut self, me: &mut Thread, item: &Item) -> Step {
        let Some(place) = self.index.place(item.site) else { return Step::Lost("a site that is none") };
        let linked = self.linked;
        let function = linked.program.function(place.function);
        match item.what {
            What::Landing => {
                let lands = |frame: &Frame| {
                    let block = function.block(frame.block);
                    frame.function == place.function
                        && frame.instruction == block.instructions.len()
                        && matches!(block.terminator, Terminator::Invoke { unwind, .. } if unwind == place.block)
                };
                let Some(at) = me.frames.iter().rposition(lands) else {
                    return Step::Lost("an exception that was caught where nobody is known to wait");
                };
                me.frames.truncate(at + 1);
                if let Some(mut frame) = me.frames.pop() {
                    self.enter_block(me, &mut frame, place.block);
                    me.frames.push(frame);
                }
                Step::Taken
            }
            What::Unit(0, result) => {
                let op = function.block(place.block).instructions.get(place.instruction as usize);
                let twice = op.is_some_and(|instruction| {
                    matches!(&instruction.op, Op::Call { callee: Callee::External(symbol), .. }
                        if models::returns_twice(symbol))
                });
                let at = me.frames.iter().rposition(|frame| frame.function == place.function);
                let (true, Some(at)) = (twice, at) else {
                    return Step::Lost("a call that did not return where it was expected");
                };
                me.frames.truncate(at + 1);
                if let Some(mut frame) = me.frames.pop() {
                    self.go_to(&mut frame, place.block);
                    frame.instruction = place.instruction as usize;
                    self.result(me, &mut frame, result, None);
                    me.frames.push(frame);
                }
                Step::Taken
            }
            _ => Step::Lost("a call that did not return where it was expected"),
        }
    }
}
