//! Writing the text form.
//!
//! Total: a program that [`verify`](fn@crate::verify) refuses is printed too (with `?` for what is not
//! there), because that is when one wants to look at it. Everything goes into one string.

mod function;

use super::name::{Name, Quoted, ShapeName};
use super::words::{QUANTIFIERS, word};
use crate::{
    FunctionId, Global, GlobalId, Initial, Operand, Position, Program, RelocationTarget, Shape, eval,
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

use put;

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
                        match relocation.target {
                            RelocationTarget::Global(global) => p.global_name(global),
                            RelocationTarget::Function(function) => p.function_name(function),
                        }
                        if relocation.addend != 0 {
                            put!(p, " + {}", relocation.addend);
                        }
                    });
                }
            }
        }
        self.end_of_line(None, global.position);
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
