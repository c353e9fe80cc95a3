//! Functions, blocks, instructions.

use super::super::name::{BlockName, Name, OpWord, Quoted, ShapeName};
use super::super::words::{ORDERS, word};
use super::{Printer, put};
use crate::{Block, Callee, Function, Instruction, Op, Operand, Order, Terminator, ValueId};
use std::fmt::Write;

impl Printer<'_> {
    pub(super) fn function(&mut self, function: &Function) {
        put!(self, "\nfunction ${}", Name(&function.name));
        self.list("(", ")", &function.parameters, |p, parameter| {
            p.definition(function, parameter.value);
            p.out.push(' ');
            p.type_of(function, parameter.value);
        });
        if !function.results.is_empty() {
            self.list(" -> (", ")", &function.results, |p, result| {
                put!(p, "{}", result.ty);
                if let Some(name) = &result.name {
                    put!(p, ":{}", Name(name));
                }
                if result.signed {
                    p.out.push_str(" signed");
                }
            });
        }
        self.out.push_str(" {");
        self.end_of_line(None, function.position);
        self.undefined_values(function);
        for (number, block) in function.blocks.iter().enumerate() {
            put!(self, "b{number}:\n");
            self.block(function, block);
        }
        self.out.push_str("}\n");
    }

    /// Values that nothing defines have a line of their own. Well-formed programs have none.
    fn undefined_values(&mut self, function: &Function) {
        let mut defined = vec![false; function.values.len()];
        let mut define = |value: ValueId| {
            if let Some(slot) = defined.get_mut(value.index()) {
                *slot = true;
            }
        };
        function.parameters.iter().for_each(|p| define(p.value));
        for block in &function.blocks {
            block.instructions.iter().flat_map(|i| &i.results).for_each(|&v| define(v));
            if let Terminator::Invoke { results, .. } = &block.terminator {
                results.iter().for_each(|&v| define(v));
            }
        }
        for value in (0..defined.len()).filter(|&v| !defined[v]) {
            self.out.push_str("  undefined ");
            self.definition(function, ValueId::new(value));
            self.out.push(' ');
            self.type_of(function, ValueId::new(value));
            self.out.push('\n');
        }
    }

    fn block(&mut self, function: &Function, block: &Block) {
        for instruction in &block.instructions {
            self.out.push_str("  ");
            self.instruction(function, instruction);
            self.end_of_line(instruction.label.as_deref(), instruction.position);
        }
        self.out.push_str("  ");
        self.terminator(function, &block.terminator);
        self.end_of_line(block.label.as_deref(), block.position);
    }

    fn instruction(&mut self, function: &Function, instruction: &Instruction) {
        let Instruction { results, op, .. } = instruction;
        self.results(function, results);
        // The word, the types of the results, then the operands.
        let word = OpWord(op);
        put!(self, "{word}");
        self.result_types(function, results);
        self.operands(op);
    }

    fn operands(&mut self, op: &Op) {
        match op {
            Op::Binary { lhs, rhs, .. } | Op::Compare { lhs, rhs, .. } => self.all(&[*lhs, *rhs]),
            Op::Cast { value, .. } => self.all(&[*value]),
            Op::Select { condition, then, otherwise } => self.all(&[*condition, *then, *otherwise]),
            Op::Phi { incoming } => self.list(" [", "]", incoming, |p, (block, value)| {
                put!(p, "{}: ", BlockName(*block));
                p.operand(value);
            }),
            Op::Address { base, offset, terms } => {
                self.all(&[*base]);
                if *offset != 0 {
                    put!(self, " + {offset}");
                }
                for (index, stride) in terms {
                    self.out.push_str(" + ");
                    self.operand(index);
                    put!(self, " * {stride}");
                }
            }
            Op::Load { pointer, order } => {
                self.all(&[*pointer]);
                self.order(*order);
            }
            Op::Store { pointer, value, order } => {
                self.all(&[*value, *pointer]);
                self.order(*order);
            }
            Op::Update { pointer, value, order, .. } => {
                self.all(&[*pointer, *value]);
                self.order(Some(*order));
            }
            Op::CompareExchange { pointer, expected, new, success, failure, .. } => {
                self.all(&[*pointer, *expected, *new]);
                self.order(Some(*success));
                self.order(Some(*failure));
            }
            Op::Fence { order } => self.order(Some(*order)),
            Op::StackAlloc { shape, count } | Op::HeapAlloc { shape, count } => {
                put!(self, " {},", ShapeName(*shape));
                self.all(&[*count]);
            }
            Op::Free { pointer } => self.all(&[*pointer]),
            Op::MemoryCopy { to, from, bytes, .. } => self.all(&[*to, *from, *bytes]),
            Op::MemorySet { to, byte, bytes } => self.all(&[*to, *byte, *bytes]),
            Op::Call { callee, arguments } | Op::Fork { callee, arguments } => self.call(callee, arguments),
            Op::Sync { operands, .. } => self.all(operands),
            Op::Check { condition, .. } => self.all(&[*condition]),
            Op::Opaque { what, operands, .. } => {
                put!(self, " {}", Quoted(what));
                self.list("(", ")", operands, |p, operand| p.operand(operand));
            }
        }
    }

    fn terminator(&mut self, function: &Function, terminator: &Terminator) {
        match terminator {
            Terminator::Jump(to) => {
                put!(self, "jump {}", BlockName(*to));
            }
            Terminator::Branch { condition, then, otherwise } => {
                self.out.push_str("branch");
                self.all(&[*condition]);
                put!(self, ", {}, {}", BlockName(*then), BlockName(*otherwise));
            }
            Terminator::Switch { value, cases, default } => {
                self.out.push_str("switch");
                self.all(&[*value]);
                self.list(" [", "]", cases, |p, (case, to)| {
                    put!(p, "{case}: {}", BlockName(*to));
                });
                put!(self, " {}", BlockName(*default));
            }
            Terminator::IndirectJump { address, targets } => {
                self.out.push_str("indirect_jump");
                self.all(&[*address]);
                self.list(" [", "]", targets, |p, to| {
                    put!(p, "{}", BlockName(*to));
                });
            }
            Terminator::Invoke { callee, arguments, results, normal, unwind } => {
                self.results(function, results);
                self.out.push_str("invoke");
                self.result_types(function, results);
                self.call(callee, arguments);
                put!(self, " to {} unwind {}", BlockName(*normal), BlockName(*unwind));
            }
            Terminator::Return(values) => {
                self.out.push_str("return");
                self.all(values);
            }
            Terminator::Resume => self.out.push_str("resume"),
            Terminator::Unreachable => self.out.push_str("unreachable"),
        }
    }

    fn call(&mut self, callee: &Callee, arguments: &[Operand]) {
        match callee {
            Callee::Function(function) => {
                self.out.push(' ');
                self.function_name(*function);
            }
            Callee::Indirect(operand) => {
                self.out.push_str(" indirect");
                self.all(&[*operand]);
            }
            Callee::External(symbol) => {
                put!(self, " external {}", Quoted(symbol));
            }
        }
        self.list("(", ")", arguments, |p, operand| p.operand(operand));
    }

    /// ` a, b, c`
    fn all(&mut self, operands: &[Operand]) {
        self.list(if operands.is_empty() { "" } else { " " }, "", operands, |p, operand| p.operand(operand));
    }

    /// `%1:a, %2 = `
    fn results(&mut self, function: &Function, results: &[ValueId]) {
        if !results.is_empty() {
            self.list("", " = ", results, |p, value| p.definition(function, *value));
        }
    }

    /// ` i32` or ` (i32, i1)`
    fn result_types(&mut self, function: &Function, results: &[ValueId]) {
        match results {
            [] => {}
            [value] => {
                self.out.push(' ');
                self.type_of(function, *value);
            }
            _ => self.list(" (", ")", results, |p, value| p.type_of(function, *value)),
        }
    }

    fn definition(&mut self, function: &Function, value: ValueId) {
        put!(self, "%{}", value.0);
        let Some(info) = function.values.get(value.index()) else { return };
        if let Some(name) = &info.name {
            put!(self, ":{}", Name(name));
        }
        if let Some(shape) = info.pointee {
            put!(self, " {}", ShapeName(shape));
        }
    }

    fn type_of(&mut self, function: &Function, value: ValueId) {
        match function.values.get(value.index()) {
            Some(info) => {
                put!(self, "{}", info.ty);
            }
            None => self.out.push('?'),
        }
    }

    fn order(&mut self, order: Option<Order>) {
        if let Some(order) = order {
            put!(self, " {}", word(ORDERS, order));
        }
    }
}
