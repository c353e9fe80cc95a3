//! Expressions: values and addresses.

use super::{FunctionLowering, position};
use crate::Span;
use crate::typed::{Expr, ExprKind, Place, PlaceBase};
use ir::{BinaryOp, Callee, CastKind, FunctionId, Op, Operand, Position, Predicate, Type, Width, eval};

impl FunctionLowering<'_> {
    /// The value of an expression, of the expression's type.
    pub(super) fn value(&mut self, expr: &Expr) -> Operand {
        let place = position(expr.span);
        let ty = expr.ty.lowered();
        match &expr.kind {
            ExprKind::Int(value) => match ty {
                Type::Int(width) => Operand::int(width, *value),
                _ => Operand::Null,
            },
            ExprKind::Null => Operand::Null,
            ExprKind::Local(local) => self.builder.read(self.variables[local.index()]),
            ExprKind::Old => self.old.unwrap_or(Operand::Unknown(ty)),
            ExprKind::Load(from, order) => {
                let pointer = self.address(from);
                self.emit_one(Op::Load { pointer, order: *order }, ty, place)
            }
            ExprKind::AddressOf(of) => self.address(of),
            ExprKind::Negate(operand) => {
                let operand = self.value(operand);
                let zero = Operand::int(width(ty), 0);
                self.arithmetic(BinaryOp::Sub, zero, operand, place)
            }
            ExprKind::Complement(operand) => {
                let operand = self.value(operand);
                let ones = Operand::int(width(ty), -1);
                self.arithmetic(BinaryOp::Xor, operand, ones, place)
            }
            ExprKind::Binary(op, lhs, rhs) => {
                let (lhs, rhs) = (self.value(lhs), self.value(rhs));
                self.arithmetic(*op, lhs, rhs, place)
            }
            ExprKind::Shift(op, lhs, rhs) => {
                let signed = rhs.ty.signed();
                let (lhs, count) = (self.value(lhs), self.value(rhs));
                let count = self.shift_count(count, signed, width(ty), place);
                self.arithmetic(*op, lhs, count, place)
            }
            ExprKind::Not(_) | ExprKind::Compare(..) | ExprKind::And(..) | ExprKind::Or(..) => {
                let bit = self.truth(expr);
                self.cast(CastKind::Zext, bit, width(ty), place)
            }
            ExprKind::CompareExchange { .. } => {
                let bit = self.compare_exchange(expr);
                self.cast(CastKind::Zext, bit, width(ty), place)
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                self.conditional(condition, then, otherwise, expr)
            }
            ExprKind::Convert(operand) => {
                let signed = operand.ty.signed();
                let value = self.value(operand);
                self.resize(value, signed, width(ty), place)
            }
            ExprKind::Offset { pointer, index, back } => self.offset(pointer, index, *back, expr),
            ExprKind::Call(function, arguments) => {
                let results = self.call(*function, arguments, expr.span);
                results.first().map_or(Operand::Unknown(ty), |value| Operand::Value(*value))
            }
            ExprKind::Fork(function, arguments) => {
                let arguments = arguments.iter().map(|argument| self.value(argument)).collect();
                self.emit_one(Op::Fork { callee: Callee::Function(*function), arguments }, ty, place)
            }
            ExprKind::Alloc(element, count) => {
                let signed = count.ty.signed();
                let count = self.value(count);
                let count = self.resize(count, signed, Width::W64, place);
                let shape = self.shapes.of_type(*element);
                self.emit_one(Op::HeapAlloc { shape, count }, ty, place)
            }
            ExprKind::Sync(op, operands) => {
                let results = self.sync(*op, operands, expr.span);
                results.first().map_or(Operand::Unknown(ty), |value| Operand::Value(*value))
            }
            ExprKind::Update { .. } => self.update(expr),
        }
    }

    pub(super) fn call(&mut self, function: FunctionId, arguments: &[Expr], span: Span) -> Vec<ir::ValueId> {
        let arguments = arguments.iter().map(|argument| self.value(argument)).collect();
        let returns = self.program.functions[function.index()].returns;
        let results: Vec<Type> = returns.iter().map(|ty| ty.lowered()).collect();
        self.builder.emit(
            Op::Call { callee: Callee::Function(function), arguments },
            &results,
            position(span),
        )
    }

    /// Evaluates what a place's address depends on, and gives the address.
    pub(super) fn address(&mut self, place: &Place) -> Operand {
        let base = match &place.base {
            PlaceBase::Global(global) => Operand::Global(*global),
            PlaceBase::Pointer(pointer) => self.value(pointer),
        };
        let Some(index) = &place.index else { return base };
        let signed = index.ty.signed();
        let index = self.value(index);
        self.element(base, index, signed, place.ty.bytes() as i64, position(place.span))
    }

    /// `pointer + index`, the two evaluated in the order in which they are written.
    fn offset(&mut self, pointer: &Expr, index: &Expr, back: bool, expr: &Expr) -> Operand {
        let (base, at) = if index.span.start < pointer.span.start {
            let at = self.value(index);
            (self.value(pointer), at)
        } else {
            let base = self.value(pointer);
            (base, self.value(index))
        };
        let stride = expr.ty.pointee().map_or(1, |ty| ty.bytes() as i64);
        let stride = if back { -stride } else { stride };
        self.element(base, at, index.ty.signed(), stride, position(expr.span))
    }

    /// `base + index · stride`
    pub(super) fn element(
        &mut self,
        base: Operand,
        index: Operand,
        signed: bool,
        stride: i64,
        place: Option<Position>,
    ) -> Operand {
        let op = match index {
            Operand::Const { width, bits } => {
                let index = if signed { eval::signed(width, bits) } else { bits as i128 };
                match i64::try_from(index.saturating_mul(i128::from(stride))) {
                    Ok(0) => return base,
                    Ok(offset) => Op::Address { base, offset, terms: vec![] },
                    Err(_) => Op::Address { base, offset: 0, terms: vec![(index_64(index), stride)] },
                }
            }
            index => {
                // The IR extends indices with their sign.
                let index = if signed { index } else { self.resize(index, false, Width::W64, place) };
                Op::Address { base, offset: 0, terms: vec![(index, stride)] }
            }
        };
        self.emit_one(op, Type::Ptr, place)
    }

    /// An instruction with one result.
    pub(super) fn emit_one(&mut self, op: Op, ty: Type, place: Option<Position>) -> Operand {
        let results = self.builder.emit(op, &[ty], place);
        results.first().map_or(Operand::Unknown(ty), |value| Operand::Value(*value))
    }

    /// Arithmetic; constants are folded, except division by zero, which faults when the program gets there.
    pub(super) fn arithmetic(
        &mut self,
        op: BinaryOp,
        lhs: Operand,
        rhs: Operand,
        place: Option<Position>,
    ) -> Operand {
        if let (Operand::Const { width, bits: a }, Operand::Const { bits: b, .. }) = (lhs, rhs)
            && let Some(bits) = eval::binary(op, width, a, b)
        {
            return Operand::Const { width, bits };
        }
        let ty = self.builder.type_of(lhs);
        self.emit_one(Op::Binary { op, lhs, rhs }, ty, place)
    }

    pub(super) fn compare(
        &mut self,
        predicate: Predicate,
        lhs: Operand,
        rhs: Operand,
        place: Option<Position>,
    ) -> Operand {
        if let (Operand::Const { width, bits: a }, Operand::Const { bits: b, .. }) = (lhs, rhs) {
            return Operand::int(Width::W1, i128::from(eval::compare(predicate, width, a, b)));
        }
        self.emit_one(Op::Compare { predicate, lhs, rhs }, Type::BOOL, place)
    }

    fn cast(&mut self, kind: CastKind, value: Operand, to: Width, place: Option<Position>) -> Operand {
        if let Operand::Const { width, bits } = value
            && let Some(bits) = eval::cast(kind, width, to, bits)
        {
            return Operand::Const { width: to, bits };
        }
        self.emit_one(Op::Cast { kind, value }, Type::Int(to), place)
    }

    /// An integer cut or widened to another width.
    pub(super) fn resize(
        &mut self,
        value: Operand,
        signed: bool,
        to: Width,
        place: Option<Position>,
    ) -> Operand {
        let from = width(self.builder.type_of(value));
        let kind = match from.cmp(&to) {
            std::cmp::Ordering::Equal => return value,
            std::cmp::Ordering::Greater => CastKind::Trunc,
            std::cmp::Ordering::Less if signed => CastKind::Sext,
            std::cmp::Ordering::Less => CastKind::Zext,
        };
        self.cast(kind, value, to, place)
    }

    /// The count of a shift at the width of its left operand. A wider count must not lose high bits: what is
    /// at least the width stays so.
    fn shift_count(&mut self, count: Operand, signed: bool, to: Width, place: Option<Position>) -> Operand {
        let from = width(self.builder.type_of(count));
        if from <= to {
            return self.resize(count, signed, to, place);
        }
        let limit = i128::from(to.bits());
        let small = self.compare(Predicate::Ult, count, Operand::int(from, limit), place);
        let cut = self.resize(count, signed, to, place);
        match small {
            Operand::Const { bits: 0, .. } => Operand::int(to, limit),
            Operand::Const { .. } => cut,
            condition => {
                let op = Op::Select { condition, then: cut, otherwise: Operand::int(to, limit) };
                self.emit_one(op, Type::Int(to), place)
            }
        }
    }
}

/// The width of an integer type; addresses count 64.
fn width(ty: Type) -> Width {
    ty.width().unwrap_or(Width::W64)
}

fn index_64(index: i128) -> Operand {
    Operand::int(Width::W64, index)
}
