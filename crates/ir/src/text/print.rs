//! Writing the text form.
//!
//! Total: a program that [`verify`](fn@crate::verify) refuses is printed too (with `?` for what is not
//! there), because that is when one wants to look at it. Everything goes into one string.

use super::name::{BlockName, Name, OpWord, Quoted, ShapeName};
use super::words::{ORDERS, QUANTIFIERS, word};
use crate::{
    Block, Callee, Function, FunctionId, Global, GlobalId, Initial, Instruction, Op, Operand, Order,
    Position, Program, Shape, Terminator, ValueId, eval,
};
use std::collections::HashMap;
use std::fmt::Write;

/// The text form of a program.
#[must_use]
pub fn print(program: &Program) -> String {
    let instructions: usize =
        program.functions.iter().flat_map(|f| &f.blocks).map(|b| b.instructions.len() + 2).sum();
    let mut printer = Printer {
        out: String::with_capacity(256 + 48 * instructions),
        program,
        globals: unique(program.globals.iter().map(|g| &*g.name)),
        functions: unique(program.functions.iter().map(|f| &*f.name)),
    };
    printer.program();
    printer.out
}

/// For each name whether it is the only one of its kind.
fn unique<'p>(names: impl Iterator<Item = &'p str> + Clone) -> Vec<bool> {
    let mut count: HashMap<&str, u32> = HashMap::new();
    for name in names.clone() {
        *count.entry(name).or_default() += 1;
    }
    names.map(|name| count[name] == 1).collect()
}

struct Printer<'p> {
    out: String,
    program: &'p Program,
    /// For each global whether its name is enough to tell which it is.
    globals: Vec<bool>,
    /// The same for functions.
    functions: Vec<bool>,
}

/// Writes formatted text; writing into a `String` cannot fail.
macro_rules! put {
    ($printer:expr, $($arguments:tt)*) => {
        let _ = write!($printer.out, $($arguments)*);
    };
}

impl Printer<'_> {
    fn program(&mut self) {
        let program = self.program;
        put!(self, "program {}\n", Quoted(&program.name));
        for (number, file) in program.files.iter().enumerate() {
            put!(self, "file !{number} = {}\n", Quoted(&file.path));
        }
        for (number, shape) in program.shapes.iter().enumerate() {
            put!(self, "shape #{number} = ");
            self.shape(shape);
            self.out.push('\n');
        }
        for global in &program.globals {
            self.global(global);
        }
        for function in &program.functions {
            self.function(function);
        }
        if !program.threads.is_empty() {
            self.out.push('\n');
        }
        for thread in &program.threads {
            put!(self, "thread {} = ", Name(&thread.name));
            self.function_name(thread.function);
            self.out.push_str(if thread.main { " main\n" } else { "\n" });
        }
        if let Some(condition) = &program.final_condition {
            put!(self, "\nfinal {} ", word(QUANTIFIERS, condition.quantifier));
            self.function_name(condition.function);
            self.list("(", ")", &condition.observed, |p, o| {
                put!(p, "{}:{}", o.thread, o.result);
            });
            put!(self, " {}\n", Quoted(&condition.text));
        }
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Int { bytes, signed } => {
                put!(self, "int {bytes} {}", if *signed { "signed" } else { "unsigned" });
            }
            Shape::Pointer { to: Some(to) } => {
                put!(self, "pointer {}", ShapeName(*to));
            }
            Shape::Pointer { to: None } => self.out.push_str("pointer"),
            Shape::Float { bytes } => {
                put!(self, "float {bytes}");
            }
            Shape::Array { element, count } => {
                put!(self, "array {count} {}", ShapeName(*element));
            }
            Shape::Record { name, bytes, fields } => {
                put!(self, "record {} {bytes} ", Quoted(name));
                self.list("{", "}", fields, |p, field| {
                    put!(p, "{}: {} {}", field.offset, ShapeName(field.shape), Quoted(&field.name));
                });
            }
            Shape::Sync(kind) => self.out.push_str(kind.word()),
            Shape::Opaque { bytes } => {
                put!(self, "opaque {bytes}");
            }
        }
    }

    fn global(&mut self, global: &Global) {
        put!(self, "global @{} {}", Name(&global.name), ShapeName(global.shape));
        if global.thread_local {
            self.out.push_str(" thread_local");
        }
        if global.constant {
            self.out.push_str(" constant");
        }
        self.out.push_str(" = ");
        match &global.initial {
            Initial::Zero => self.out.push_str("zero"),
            Initial::External => self.out.push_str("external"),
            Initial::Sync { kind, count } => {
                put!(self, "{} {count}", kind.word());
            }
            Initial::Bytes { bytes, relocations } => {
                self.out.push_str("bytes \"");
                for byte in bytes {
                    let digit = |d: u8| char::from(b"0123456789abcdef"[usize::from(d)]);
                    self.out.push(digit(byte >> 4));
                    self.out.push(digit(byte & 15));
                }
                self.out.push('"');
                if !relocations.is_empty() {
                    self.list(" [", "]", relocations, |p, relocation| {
                        put!(p, "{}: ", relocation.offset);
                        p.global_name(relocation.target);
                        if relocation.addend != 0 {
                            put!(p, " + {}", relocation.addend);
                        }
                    });
                }
            }
        }
        self.end_of_line(None, global.position);
    }

    fn function(&mut self, function: &Function) {
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

    fn operand(&mut self, operand: &Operand) {
        match operand {
            Operand::Value(value) => {
                put!(self, "%{}", value.0);
            }
            Operand::Const { width, bits } if *bits > width.mask() => {
                put!(self, "{bits:#x}i{}", width.bits());
            }
            Operand::Const { width, bits } if width.bits() == 1 => {
                self.out.push_str(if *bits == 1 { "true" } else { "false" });
            }
            Operand::Const { width, bits } => {
                put!(self, "{}i{}", eval::signed(*width, *bits), width.bits());
            }
            Operand::Null => self.out.push_str("null"),
            Operand::Global(global) => self.global_name(*global),
            Operand::Function(function) => self.function_name(*function),
            Operand::Unknown(ty) => {
                put!(self, "unknown {ty}");
            }
        }
    }

    fn global_name(&mut self, id: GlobalId) {
        self.reference('@', id.0, self.program.globals.get(id.index()).map(|g| &*g.name), |p| &p.globals);
    }

    fn function_name(&mut self, id: FunctionId) {
        let name = self.program.functions.get(id.index()).map(|f| &*f.name);
        self.reference('$', id.0, name, |p| &p.functions);
    }

    /// `@x`, `@x#3` if there are several `x`, `@?#3` if there is no number 3.
    fn reference(&mut self, sigil: char, number: u32, name: Option<&str>, unique: fn(&Self) -> &Vec<bool>) {
        self.out.push(sigil);
        let alone = unique(self).get(number as usize) == Some(&true);
        match name {
            Some(name) if alone => {
                put!(self, "{}", Name(name));
            }
            Some(name) => {
                put!(self, "{}#{number}", Name(name));
            }
            None => {
                put!(self, "?#{number}");
            }
        }
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
        if let Some(name) = function.values.get(value.index()).and_then(|info| info.name.as_ref()) {
            put!(self, ":{}", Name(name));
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

    fn end_of_line(&mut self, label: Option<&str>, position: Option<Position>) {
        if label.is_some() || position.is_some() {
            self.out.push(' ');
        }
        if let Some(label) = label {
            put!(self, " !{}", Name(label));
        }
        if let Some(Position { file, line, column }) = position {
            put!(self, " !{}:{line}:{column}", file.0);
        }
        self.out.push('\n');
    }

    fn list<T>(&mut self, open: &str, close: &str, items: &[T], mut item: impl FnMut(&mut Self, &T)) {
        self.out.push_str(open);
        for (index, each) in items.iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            item(self, each);
        }
        self.out.push_str(close);
    }
}
