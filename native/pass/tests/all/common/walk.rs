//! Following a log: a walk through the program's instructions.
//!
//! Whatever logs must have its units next, with the address and the value that the walk computes where it can; a branch that is not
//! logged must be computable. So a unit too many, too few, at a wrong site or of a wrong value is noticed.

use super::units::{Entry, LOW, Log};
use ir::{
    BlockId, Callee, CastKind, Function, FunctionId, Instruction, Op, Operand, SitePlace, Terminator, Type,
    ValueId, eval,
};
use std::collections::HashMap;

/// An activation of a function.
struct Frame {
    function: FunctionId,
    from: BlockId,
    block: BlockId,
    next: usize,
    values: HashMap<ValueId, u128>,
    /// Called by code that is not instrumented.
    outside: bool,
}

struct Walk<'l> {
    log: &'l Log,
    at: usize,
    frames: Vec<Frame>,
    /// Branches that were computed, and values that were compared.
    computed: usize,
    compared: usize,
}

impl<'l> Walk<'l> {
    fn peek(&self) -> Option<&'l Entry> {
        self.log.entries.get(self.at)
    }

    /// The frame that runs.
    fn top(&self) -> &Frame {
        self.frames.last().expect("something runs")
    }

    fn function(&self) -> &'l Function {
        self.log.linked.program.function(self.top().function)
    }

    fn fail(&self, what: &str) -> ! {
        let frames: Vec<&str> =
            self.frames.iter().map(|f| &*self.log.linked.program.function(f.function).name).collect();
        let near = self.at.saturating_sub(4)..self.log.entries.len().min(self.at + 3);
        let near: Vec<String> = near
            .map(|n| {
                let entry = &self.log.entries[n];
                format!("{n}: site {} {}", entry.site().0, self.log.describe(entry))
            })
            .collect();
        let here = self.frames.last().map(|frame| {
            let function = self.log.linked.program.function(frame.function);
            let block = function.block(frame.block);
            format!("{:?} {} {:?}", frame.block, frame.next, block.instructions.get(frame.next))
        });
        panic!("{what}\nat entry {} in {frames:?} {here:?}\n{}", self.at, near.join("\n"))
    }

    /// The site where the top frame stands.
    fn site(&self) -> ir::SiteId {
        let top = self.top();
        let instruction = top.next as u32;
        self.log.index.site(SitePlace { function: top.function, block: top.block, instruction })
    }

    /// The next entry if it is a unit of this site.
    fn unit(&mut self, site: ir::SiteId) -> Option<(u64, u64)> {
        match self.peek() {
            Some(&Entry::Unit(of, address, value)) if of == site => {
                self.at += 1;
                Some((address, value))
            }
            _ => None,
        }
    }

    /// Bytes of this site, if they are next.
    fn bytes(&mut self, site: ir::SiteId) -> Option<(u64, &'l [u8])> {
        match self.peek() {
            Some(Entry::Bytes(of, address, bytes)) if *of == site => {
                self.at += 1;
                Some((*address, bytes))
            }
            _ => None,
        }
    }

    fn value(&self, operand: &Operand) -> Option<u128> {
        match operand {
            Operand::Value(value) => self.top().values.get(value).copied(),
            Operand::Const { bits, .. } => Some(*bits),
            Operand::Null => Some(0),
            Operand::Global(_) | Operand::Function(_) | Operand::Unknown(_) => None,
        }
    }

    fn ty(&self, operand: &Operand) -> Type {
        match operand {
            Operand::Value(value) => self.function().value(*value).ty,
            Operand::Const { width, .. } => Type::Int(*width),
            Operand::Null | Operand::Global(_) | Operand::Function(_) => Type::Ptr,
            Operand::Unknown(ty) => *ty,
        }
    }

    fn define(&mut self, value: ValueId, known: Option<u128>) {
        let values = &mut self.frames.last_mut().expect("something runs").values;
        match known {
            Some(known) => values.insert(value, known),
            None => values.remove(&value),
        };
    }

    /// Defines what a unit says, if that is all of the value.
    fn define_logged(&mut self, value: ValueId, word: u64) {
        let whole = match self.function().value(value).ty {
            Type::Ptr => true,
            Type::Int(width) => width.bits() <= 64,
            Type::Opaque(_) => false,
        };
        self.define(value, whole.then_some(word.into()));
    }

    fn check_address(&mut self, pointer: &Operand, logged: u64) {
        if let Some(known) = self.value(pointer) {
            self.compared += 1;
            if known as u64 & LOW != logged {
                self.fail(&format!("computed address {known:x}, logged {logged:x}"));
            }
        }
    }

    fn check_value(&mut self, operand: &Operand, logged: u64) {
        if let Some(known) = self.value(operand) {
            self.compared += 1;
            if known as u64 != logged {
                self.fail(&format!("computed {known:x}, logged {logged:x}"));
            }
        }
    }

    fn enter(&mut self, function: FunctionId, arguments: &[Option<u128>], outside: bool) {
        let callee = self.log.linked.program.function(function);
        let mut values = HashMap::new();
        for (parameter, argument) in callee.parameters.iter().zip(arguments) {
            if let Some(argument) = argument {
                values.insert(parameter.value, *argument);
            }
        }
        self.frames.push(Frame { function, from: BlockId(0), block: BlockId(0), next: 0, values, outside });
        let first = self.site();
        for parameter in &callee.parameters {
            if let Some(&Entry::Unit(site, abi::unit::ENTRY, word)) = self.peek()
                && site == first
            {
                self.at += 1;
                if callee.value(parameter.value).ty.width().is_some() {
                    self.check_value(&Operand::Value(parameter.value), word);
                    self.define_logged(parameter.value, word);
                }
            }
        }
        if callee.parameters.is_empty()
            && let Some(&Entry::Unit(site, abi::unit::ENTRY, _)) = self.peek()
            && site == first
        {
            self.at += 1;
        }
    }

    /// Whether the next unit starts a function that other code calls; if so it is entered.
    fn called_back(&mut self) -> bool {
        let Some(&Entry::Unit(site, abi::unit::ENTRY, _)) = self.peek() else { return false };
        let place = self.log.index.place(site).expect("a site");
        let count = self.log.linked.program.function(place.function).parameters.len();
        self.enter(place.function, &vec![None; count], true);
        true
    }

    /// Control is somewhere else: in a landing pad, or where `setjmp` was called. False if it is not.
    fn jumped(&mut self) -> bool {
        let Some(&Entry::Unit(site, mark, word)) = self.peek() else { return false };
        let place = self.log.index.place(site).expect("a site");
        let landing = mark == abi::unit::LANDING;
        let stands = |frame: &Frame| {
            let block = self.log.linked.program.function(frame.function).block(frame.block);
            let waits = matches!(&block.terminator, Terminator::Invoke { unwind, .. } if *unwind == place.block)
                && frame.next == block.instructions.len();
            frame.function == place.function && (!landing || waits)
        };
        let Some(at) = self.frames.iter().rposition(stands) else { return false };
        let callee = |op: &Op| matches!(op, Op::Call { callee: Callee::External(name), .. } if name.contains("setjmp"));
        let op = self.log.index.op(&self.log.linked.program, site);
        if !landing && (mark != 0 || !op.is_some_and(callee)) {
            return false;
        }
        self.frames.truncate(at + 1);
        self.at += 1;
        let frame = self.frames.last_mut().expect("found");
        if landing {
            frame.from = frame.block;
            (frame.block, frame.next) = (place.block, 0);
            self.phis();
        } else {
            (frame.block, frame.next) = (place.block, place.instruction as usize + 1);
            let instruction = &self.function().block(place.block).instructions[place.instruction as usize];
            for &result in &instruction.results {
                self.define_logged(result, word);
            }
        }
        true
    }

    fn go(&mut self, to: BlockId) {
        let frame = self.frames.last_mut().expect("something runs");
        frame.from = frame.block;
        (frame.block, frame.next) = (to, 0);
        self.phis();
    }

    fn phis(&mut self) {
        let (function, from) = (self.function(), self.top().from);
        let mut values = vec![];
        for instruction in &function.block(self.top().block).instructions {
            let Op::Phi { incoming } = &instruction.op else { break };
            let (_, operand) = incoming.iter().find(|(block, _)| *block == from).expect("a way");
            values.push((instruction.results[0], self.value(operand)));
        }
        self.frames.last_mut().expect("something runs").next = values.len();
        values.into_iter().for_each(|(value, known)| self.define(value, known));
    }

    /// A computation, if its operands are known.
    fn compute(&self, op: &Op, result: ValueId) -> Option<u128> {
        let width = |ty: Type| ty.width();
        match op {
            Op::Binary { op, lhs, rhs } => {
                eval::binary(*op, width(self.ty(lhs))?, self.value(lhs)?, self.value(rhs)?)
            }
            Op::Compare { predicate, lhs, rhs } => {
                let (l, r) = (self.value(lhs)?, self.value(rhs)?);
                Some(eval::compare(*predicate, width(self.ty(lhs))?, l, r).into())
            }
            Op::Cast { kind, value } if *kind != CastKind::Reinterpret => {
                let to = width(self.function().value(result).ty)?;
                eval::cast(*kind, width(self.ty(value))?, to, self.value(value)?)
            }
            Op::Select { condition, then, otherwise } => {
                self.value(if self.value(condition)? == 1 { then } else { otherwise })
            }
            Op::Address { base, offset, terms } => {
                let mut address = (self.value(base)? as u64).wrapping_add_signed(*offset);
                for (index, stride) in terms {
                    let index = eval::signed(width(self.ty(index))?, self.value(index)?) as i64;
                    address = address.wrapping_add_signed(index.wrapping_mul(*stride));
                }
                Some(address.into())
            }
            _ => None,
        }
    }

    /// One step; false at the end.
    fn step(&mut self) -> bool {
        let function = self.function();
        let block = function.block(self.top().block);
        let site = self.site();
        match block.instructions.get(self.top().next) {
            Some(instruction) => {
                if !self.instruction(site, instruction) {
                    return false;
                }
            }
            None => return self.terminator(site, &block.terminator),
        }
        true
    }

    fn advance(&mut self) {
        self.frames.last_mut().expect("something runs").next += 1;
    }

    fn instruction(&mut self, site: ir::SiteId, instruction: &'l Instruction) -> bool {
        let results = &instruction.results;
        match &instruction.op {
            Op::Load { pointer, .. } => {
                let known = match (self.unit(site), results.first()) {
                    (Some((address, value)), Some(&result)) => {
                        self.check_address(pointer, address);
                        self.define_logged(result, value);
                        true
                    }
                    _ => false,
                };
                if !known {
                    if let Some((address, bytes)) = self.bytes(site) {
                        self.check_address(pointer, address);
                        assert!(bytes.len() > 8);
                    }
                    self.define(results[0], None);
                }
            }
            Op::Store { pointer, value, .. } => {
                if let Some((address, logged)) = self.unit(site) {
                    self.check_address(pointer, address);
                    self.check_value(value, logged);
                } else if let Some((address, _)) = self.bytes(site) {
                    self.check_address(pointer, address);
                }
            }
            Op::Update { op, pointer, value, .. } => {
                self.define(results[0], None);
                if let Some((address, old)) = self.unit(site) {
                    let (_, new) = self.unit(site).unwrap_or_else(|| self.fail("no new value"));
                    self.check_address(pointer, address);
                    if let (Type::Int(width), Some(operand)) = (self.ty(value), self.value(value)) {
                        let expected = eval::update(*op, width, old.into(), operand);
                        assert_eq!(expected, u128::from(new), "{op:?}");
                        self.compared += 1;
                    }
                    self.define_logged(results[0], old);
                } else if self.bytes(site).is_some() {
                    self.bytes(site).unwrap_or_else(|| self.fail("no new value"));
                }
            }
            Op::CompareExchange { pointer, expected, new, .. } => {
                results.iter().for_each(|&result| self.define(result, None));
                if let Some((address, old)) = self.unit(site) {
                    let (_, second) = self.unit(site).unwrap_or_else(|| self.fail("no expected value"));
                    let (_, third) = self.unit(site).unwrap_or_else(|| self.fail("no new value"));
                    self.check_address(pointer, address);
                    self.check_value(expected, second);
                    self.check_value(new, third);
                    self.define_logged(results[0], old);
                    self.define(results[1], Some((old == second).into()));
                } else if self.bytes(site).is_some() {
                    self.bytes(site).unwrap_or_else(|| self.fail("no new value"));
                }
            }
            Op::Fence { .. } => {
                self.unit(site).unwrap_or_else(|| self.fail("no unit of a fence"));
            }
            Op::MemoryCopy { from, to, bytes, .. } => {
                if let Some((address, content)) = self.bytes(site) {
                    self.check_address(from, address);
                    let second = self.bytes(site);
                    if let Some((address, again)) = second {
                        self.check_address(to, address);
                        assert_eq!(content, again);
                    }
                    assert!(self.value(bytes).is_none_or(|bytes| bytes == content.len() as u128));
                }
            }
            Op::MemorySet { to, byte, .. } => {
                if let Some((address, content)) = self.bytes(site) {
                    self.check_address(to, address);
                    if let Some(byte) = self.value(byte) {
                        assert!(content.iter().all(|&found| u128::from(found) == byte));
                    }
                }
            }
            Op::StackAlloc { .. } => {
                let logged = match self.peek() {
                    Some(&Entry::Unit(of, abi::unit::STACK, address)) if of == site => Some(address),
                    _ => None,
                };
                self.at += usize::from(logged.is_some());
                self.define(results[0], logged.map(u128::from));
            }
            Op::Call { callee, arguments } => return self.call(site, callee, arguments),
            Op::Opaque { .. } => {
                results.iter().for_each(|&result| self.define(result, None));
                if let Some((_, value)) = self.unit(site) {
                    results.iter().for_each(|&result| self.define_logged(result, value));
                }
            }
            op => {
                let known = results.first().and_then(|&result| self.compute(op, result));
                results.iter().for_each(|&result| self.define(result, known));
            }
        }
        self.advance();
        true
    }

    /// A call: the callee is entered; or its result is next; or something comes before that.
    fn call(&mut self, site: ir::SiteId, callee: &Callee, arguments: &[Operand]) -> bool {
        match callee {
            Callee::Function(function) => {
                let arguments: Vec<_> = arguments.iter().map(|argument| self.value(argument)).collect();
                self.enter(*function, &arguments, false);
                true
            }
            _ => self.outside(site),
        }
    }

    /// Code that is not instrumented runs at a call.
    fn outside(&mut self, site: ir::SiteId) -> bool {
        if let Some(&Entry::Unit(of, 0, _)) = self.peek()
            && of == site
        {
            self.returned(site, &[]);
            return true;
        }
        if self.called_back() || self.jumped() {
            return true;
        }
        if self.peek().is_some() {
            // Only a call that hands its result on has none.
            let block = self.function().block(self.top().block);
            let behind = (self.top().next + 1 == block.instructions.len()).then_some(&block.terminator);
            match behind {
                Some(Terminator::Return(_)) => self.advance(),
                _ => self.fail("neither a result nor a call back"),
            }
            return true;
        }
        false
    }

    /// The call where the top frame stands is over.
    fn returned(&mut self, site: ir::SiteId, values: &[Option<u128>]) {
        let block = self.function().block(self.top().block);
        let logged = match self.peek() {
            Some(&Entry::Unit(of, 0, value)) if of == site => Some(value),
            _ => None,
        };
        self.at += usize::from(logged.is_some());
        let instruction = block.instructions.get(self.top().next);
        let results = instruction.map_or(block.terminator.results(), |instruction| &instruction.results);
        for (n, &result) in results.iter().enumerate() {
            let computed = values.get(n).copied().flatten();
            match logged {
                Some(word) => {
                    let narrow = self.function().value(result).ty.width().is_some_and(|w| w.bits() <= 64);
                    if let Some(computed) = computed.filter(|_| narrow) {
                        assert_eq!(computed, u128::from(word), "a result");
                    }
                    self.define_logged(result, word);
                }
                None => self.define(result, computed),
            }
        }
        match (instruction, &block.terminator) {
            (Some(_), _) => self.advance(),
            (None, Terminator::Invoke { normal, .. }) => self.go(*normal),
            _ => self.fail("a return to no call"),
        }
    }

    fn terminator(&mut self, site: ir::SiteId, terminator: &'l Terminator) -> bool {
        let computed = match terminator {
            Terminator::Branch { condition, .. } => self.value(condition).map(|bit| usize::from(bit == 0)),
            Terminator::Switch { value, cases, .. } => self
                .value(value)
                .map(|value| cases.iter().position(|(case, _)| *case == value).unwrap_or(cases.len())),
            _ => None,
        };
        match terminator {
            Terminator::Jump(to) => self.go(*to),
            Terminator::Branch { .. } | Terminator::Switch { .. } | Terminator::IndirectJump { .. } => {
                let successors = terminator.successors();
                let logged = self.unit(site).map(|(_, index)| index as usize);
                let to = match (logged, computed) {
                    (Some(logged), Some(computed)) if successors[logged] != successors[computed] => {
                        self.fail("another branch was taken")
                    }
                    (Some(index), _) | (None, Some(index)) => successors[index],
                    (None, None) if successors.iter().all(|to| *to == successors[0]) => successors[0],
                    (None, None) => self.fail("a branch that is neither logged nor known"),
                };
                self.computed += usize::from(logged.is_none());
                self.go(to);
            }
            Terminator::Invoke { callee, arguments, .. } => return self.call(site, callee, arguments),
            Terminator::Return(values) => {
                let values: Vec<_> = values.iter().map(|value| self.value(value)).collect();
                let frame = self.frames.pop().expect("it runs");
                match self.frames.is_empty() {
                    true => {}
                    // Back in code that is not instrumented, which goes on at the call that it was called by.
                    false if frame.outside => return self.outside(self.site()),
                    false => self.returned(self.site(), &values),
                }
            }
            Terminator::Resume => {
                if !self.jumped() {
                    self.fail("an exception that goes nowhere");
                }
            }
            Terminator::Unreachable => self.fail("control comes where it cannot"),
        }
        true
    }
}

/// Follows a whole log; how many branches were computed, and how many values compared.
pub fn walk(log: &Log) -> (usize, usize) {
    let mut walk = Walk { log, at: 0, frames: vec![], computed: 0, compared: 0 };
    loop {
        if walk.frames.is_empty() {
            if walk.peek().is_none() {
                break;
            }
            if !walk.called_back() {
                walk.fail("something runs that was not entered");
            }
            continue;
        }
        if !walk.step() {
            break;
        }
    }
    assert_eq!(walk.at, log.entries.len(), "units are left");
    (walk.computed, walk.compared)
}
