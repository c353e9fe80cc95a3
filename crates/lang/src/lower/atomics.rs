//! Atomic operations, compound assignments and synchronisation.

use super::{FunctionLowering, position};
use crate::Span;
use crate::typed::{Expr, ExprKind, Place, SyncOperand};
use ir::{Op, Operand, SyncOp, Type, Width};

impl FunctionLowering<'_> {
    /// `x op= e` on plain memory: a read and a write.
    pub(super) fn modify(&mut self, place: &Place, value: &Expr, span: Span) {
        let pointer = self.address(place);
        let old = self.emit_one(Op::Load { pointer, order: None }, place.ty.lowered(), position(place.span));
        self.old = Some(old);
        let value = self.value(value);
        self.old = None;
        self.builder.emit(Op::Store { pointer, value, order: None }, &[], position(span));
    }

    /// An atomic read-modify-write; the old value.
    pub(super) fn update(&mut self, expr: &Expr) -> Operand {
        let ty = expr.ty.lowered();
        let ExprKind::Update { op, place, value, order } = &expr.kind else { return Operand::Unknown(ty) };
        let pointer = self.address(place);
        let value = self.value(value);
        self.emit_one(Op::Update { op: *op, pointer, value, order: *order }, ty, position(expr.span))
    }

    /// Compare-and-swap; one bit for success.
    pub(super) fn compare_exchange(&mut self, expr: &Expr) -> Operand {
        let ExprKind::CompareExchange { place, expected, new, success, failure, found, weak } = &expr.kind
        else {
            return Operand::Unknown(Type::BOOL);
        };
        let pointer = self.address(place);
        let (expected, new) = (self.value(expected), self.value(new));
        let (success, failure, weak, at) = (*success, *failure, *weak, position(expr.span));
        let op = Op::CompareExchange { pointer, expected, new, success, failure, weak };
        let ty = place.ty.lowered();
        let results = self.builder.emit(op, &[ty, Type::BOOL], at);
        let [old, done] = results[..] else { return Operand::Unknown(Type::BOOL) };
        let (old, done) = (Operand::Value(old), Operand::Value(done));
        if let Some(local) = found {
            let op = Op::Select { condition: done, then: expected, otherwise: old };
            let kept = self.emit_one(op, ty, at);
            self.builder.write(self.variables[local.index()], kept);
        }
        done
    }

    /// A synchronisation operation; its result, if it has one.
    pub(super) fn sync(&mut self, op: SyncOp, operands: &[SyncOperand], span: Span) -> Vec<ir::ValueId> {
        let operands = operands.iter().map(|operand| self.sync_operand(operand)).collect();
        let results: &[Type] = if op.has_result() { &[Type::Int(Width::W32)] } else { &[] };
        self.builder.emit(Op::Sync { op, operands }, results, position(span))
    }

    fn sync_operand(&mut self, operand: &SyncOperand) -> Operand {
        match operand {
            SyncOperand::Handle(handle) => self.value(handle),
            SyncOperand::Object { global, index: None, .. } => Operand::Global(*global),
            SyncOperand::Object { global, index: Some(index), span } => {
                let signed = index.ty.signed();
                let index = self.value(index);
                let stride = self.element_bytes(*global);
                self.element(Operand::Global(*global), index, signed, stride, position(*span))
            }
        }
    }
}
