//! Types and widths: what each operation takes and gives.

use super::function::Checked;
use super::{Verifier, fail};
use crate::{Callee, CastKind, Instruction, Op, Operand, Order, SyncOp, Type, UpdateOp, ValueId, Width};

const I8: Type = Type::Int(Width::W8);
const I32: Type = Type::Int(Width::W32);
const I64: Type = Type::Int(Width::W64);

impl Verifier<'_> {
    /// Operands and results of one instruction.
    pub(super) fn op(&mut self, checked: &Checked<'_>, instruction: &Instruction) {
        let results = &instruction.results[..];
        match &instruction.op {
            Op::Binary { lhs, rhs, .. } => {
                self.same(checked, lhs, rhs);
                self.int(checked, "operand", lhs);
                self.gives(checked, results, &[checked.type_of(lhs)]);
            }
            Op::Compare { lhs, rhs, .. } => {
                self.same(checked, lhs, rhs);
                if let Some(ty @ Type::Opaque(_)) = checked.type_of(lhs) {
                    fail!(self, "compares {ty}, expected integers or addresses");
                }
                self.gives(checked, results, &[Some(Type::BOOL)]);
            }
            Op::Cast { kind, value } => self.cast(checked, *kind, value, results),
            Op::Select { condition, then, otherwise } => {
                self.expect(checked, "condition", condition, Type::BOOL);
                self.same(checked, then, otherwise);
                self.gives(checked, results, &[checked.type_of(then)]);
            }
            Op::Phi { incoming } => {
                self.gives(checked, results, &[None]);
                let ty = results.first().and_then(|&value| checked.value_type(value));
                for (_, operand) in incoming {
                    if let Some(ty) = ty {
                        self.expect(checked, "value", operand, ty);
                    }
                }
            }
            Op::Address { base, terms, .. } => {
                self.expect(checked, "base", base, Type::Ptr);
                for (index, _) in terms {
                    if let Some(width) = self.int(checked, "index", index)
                        && width > Width::W64
                    {
                        fail!(self, "the index is i{}, wider than an address", width.bits());
                    }
                }
                self.gives(checked, results, &[Some(Type::Ptr)]);
            }
            Op::Load { pointer, order } => {
                self.expect(checked, "pointer", pointer, Type::Ptr);
                self.order("load", *order, &[Order::Release, Order::AcqRel]);
                self.gives(checked, results, &[None]);
            }
            Op::Store { pointer, order, .. } => {
                self.expect(checked, "pointer", pointer, Type::Ptr);
                self.order("store", *order, &[Order::Acquire, Order::AcqRel]);
                self.gives(checked, results, &[]);
            }
            Op::Update { op, pointer, value, .. } => {
                self.expect(checked, "pointer", pointer, Type::Ptr);
                if *op != UpdateOp::Exchange {
                    self.int(checked, "operand", value);
                }
                self.gives(checked, results, &[checked.type_of(value)]);
            }
            Op::CompareExchange { pointer, expected, new, failure, .. } => {
                self.expect(checked, "pointer", pointer, Type::Ptr);
                self.same(checked, expected, new);
                if let Some(ty @ Type::Opaque(_)) = checked.type_of(expected) {
                    fail!(self, "compares {ty}, expected an integer or an address");
                }
                self.order("failing compare-and-exchange", Some(*failure), &[Order::Release, Order::AcqRel]);
                self.gives(checked, results, &[checked.type_of(expected), Some(Type::BOOL)]);
            }
            Op::Fence { .. } => self.gives(checked, results, &[]),
            Op::StackAlloc { shape, count } | Op::HeapAlloc { shape, count } => {
                self.shape_exists(*shape);
                self.int(checked, "count", count);
                self.gives(checked, results, &[Some(Type::Ptr)]);
            }
            Op::Free { pointer } => {
                self.expect(checked, "pointer", pointer, Type::Ptr);
                self.gives(checked, results, &[]);
            }
            Op::MemoryCopy { to, from, bytes, .. } => {
                self.expect(checked, "target", to, Type::Ptr);
                self.expect(checked, "source", from, Type::Ptr);
                self.int(checked, "number of bytes", bytes);
                self.gives(checked, results, &[]);
            }
            Op::MemorySet { to, byte, bytes } => {
                self.expect(checked, "target", to, Type::Ptr);
                self.expect(checked, "byte", byte, I8);
                self.int(checked, "number of bytes", bytes);
                self.gives(checked, results, &[]);
            }
            Op::Call { callee, arguments } => self.call(checked, callee, arguments, Some(results)),
            Op::Fork { callee, arguments } => {
                // What the thread's function returns is given to nobody.
                self.call(checked, callee, arguments, None);
                self.gives(checked, results, &[Some(I64)]);
            }
            Op::Sync { op, operands } => self.sync(checked, *op, operands, results),
            Op::Check { condition, .. } => {
                self.expect(checked, "condition", condition, Type::BOOL);
                self.gives(checked, results, &[]);
            }
            Op::Opaque { .. } => self.at_most_one(results),
        }
    }

    fn cast(&mut self, checked: &Checked<'_>, kind: CastKind, value: &Operand, results: &[ValueId]) {
        self.gives(checked, results, &[None]);
        let to = results.first().and_then(|&value| checked.value_type(value));
        let (Some(from), Some(to)) = (checked.type_of(value), to) else { return };
        let expected = match (kind, from, to) {
            (CastKind::Trunc, Type::Int(from), Type::Int(to)) if to < from => return,
            (CastKind::Zext | CastKind::Sext, Type::Int(from), Type::Int(to)) if to > from => return,
            (CastKind::PtrToInt, Type::Ptr, Type::Int(_)) => return,
            (CastKind::IntToPtr, Type::Int(_), Type::Ptr) => return,
            (CastKind::Reinterpret, from, to)
                if from.bytes() == to.bytes()
                    && (matches!(from, Type::Opaque(_)) || matches!(to, Type::Opaque(_))) =>
            {
                return;
            }
            (CastKind::Trunc, ..) => "a wider integer to a narrower one",
            (CastKind::Zext | CastKind::Sext, ..) => "a narrower integer to a wider one",
            (CastKind::PtrToInt, ..) => "an address to an integer",
            (CastKind::IntToPtr, ..) => "an integer to an address",
            (CastKind::Reinterpret, ..) => "one type to another of the same size, one of them opaque",
        };
        fail!(self, "casts {from} to {to}, expected {expected}");
    }

    fn sync(&mut self, checked: &Checked<'_>, op: SyncOp, operands: &[Operand], results: &[ValueId]) {
        let (least, most) = op.arity();
        if !(least..=most).contains(&operands.len()) {
            let range = if least == most { least.to_string() } else { format!("{least} or {most}") };
            fail!(self, "{} operands, expected {range}", operands.len());
        }
        for operand in operands {
            match op {
                SyncOp::Join => self.expect(checked, "thread", operand, I64),
                _ => self.expect(checked, "object", operand, Type::Ptr),
            }
        }
        self.gives(checked, results, if op.has_result() { &[Some(I32)] } else { &[] });
    }

    /// A call, or with `results` = `None` the start of a thread.
    pub(super) fn call(
        &mut self,
        checked: &Checked<'_>,
        callee: &Callee,
        arguments: &[Operand],
        results: Option<&[ValueId]>,
    ) {
        let program = self.program;
        match callee {
            Callee::Function(id) => {
                if !self.function_exists(*id) {
                    return;
                }
                let callee = program.function(*id);
                if arguments.len() != callee.parameters.len() {
                    let (given, taken) = (arguments.len(), callee.parameters.len());
                    fail!(self, "{given} arguments for ${}, which has {taken} parameters", callee.name);
                }
                for (number, (argument, parameter)) in arguments.iter().zip(&callee.parameters).enumerate() {
                    if let Some(info) = callee.values.get(parameter.value.index()) {
                        self.expect(checked, &format!("argument {number}"), argument, info.ty);
                    }
                }
                if let Some(results) = results {
                    // No more types than are compared: a program of many calls must not take long.
                    let types = callee.results.iter().map(|result| Some(result.ty)).take(results.len());
                    self.gives(checked, results, &types.collect::<Vec<_>>());
                    if results.len() < callee.results.len() {
                        let (defined, given) = (results.len(), callee.results.len());
                        fail!(self, "defines {defined} values, but ${} has {given} results", callee.name);
                    }
                }
            }
            Callee::Indirect(operand) => {
                self.expect(checked, "callee", operand, Type::Ptr);
                self.at_most_one(results.unwrap_or_default());
            }
            Callee::External(_) => self.at_most_one(results.unwrap_or_default()),
        }
    }

    /// The results are these, by number and type; `None` is any type.
    fn gives(&mut self, checked: &Checked<'_>, results: &[ValueId], types: &[Option<Type>]) {
        if results.len() != types.len() {
            fail!(self, "defines {} values, expected {}", results.len(), types.len());
        }
        for (value, expected) in results.iter().zip(types) {
            if let (Some(ty), Some(expected)) = (checked.value_type(*value), expected)
                && ty != *expected
            {
                fail!(self, "defines %{} as {ty}, expected {expected}", value.0);
            }
        }
    }

    fn at_most_one(&mut self, results: &[ValueId]) {
        if results.len() > 1 {
            fail!(self, "defines {} values, expected at most 1", results.len());
        }
    }

    /// `operand` has this type.
    pub(super) fn expect(&mut self, checked: &Checked<'_>, what: &str, operand: &Operand, expected: Type) {
        if let Some(ty) = checked.type_of(operand)
            && ty != expected
        {
            fail!(self, "its {what} is {ty}, expected {expected}");
        }
    }

    /// `operand` is an integer; its width.
    fn int(&mut self, checked: &Checked<'_>, what: &str, operand: &Operand) -> Option<Width> {
        match checked.type_of(operand)? {
            Type::Int(width) => Some(width),
            other => {
                fail!(self, "its {what} is {other}, expected an integer");
                None
            }
        }
    }

    fn same(&mut self, checked: &Checked<'_>, lhs: &Operand, rhs: &Operand) {
        if let (Some(lhs), Some(rhs)) = (checked.type_of(lhs), checked.type_of(rhs))
            && lhs != rhs
        {
            fail!(self, "operands of different types, {lhs} and {rhs}");
        }
    }

    fn order(&mut self, what: &str, order: Option<Order>, never: &[Order]) {
        if let Some(order) = order
            && never.contains(&order)
        {
            fail!(self, "the order of a {what} cannot be {order:?}");
        }
    }
}
