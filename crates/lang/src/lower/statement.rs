//! Statements.

use super::{FunctionLowering, Loop, position};
use crate::Span;
use crate::typed::{Expr, Statement, StatementKind};
use ir::{BinaryOp, CheckKind, Op, Operand, Predicate, SyncOp, Terminator, Type, Width};

impl FunctionLowering<'_> {
    pub(super) fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            // What control cannot reach is checked but not lowered.
            if !self.builder.reachable() {
                return;
            }
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        self.builder.label = statement.label.as_deref().map(Into::into);
        let span = statement.span;
        match &statement.kind {
            StatementKind::Assign(local, value) => {
                let value = self.value(value);
                self.builder.write(self.variables[local.index()], value);
            }
            StatementKind::Store { place, value, order } => {
                let pointer = self.address(place);
                let value = self.value(value);
                self.builder.emit(Op::Store { pointer, value, order: *order }, &[], position(span));
            }
            StatementKind::Modify { place, value } => self.modify(place, value, span),
            StatementKind::Evaluate(value) => {
                self.value(value);
            }
            StatementKind::Call(function, arguments) => {
                self.call(*function, arguments, span);
            }
            StatementKind::Sync(op, operands) => {
                self.sync(*op, operands, span);
            }
            StatementKind::Fence(order) => {
                self.builder.emit(Op::Fence { order: *order }, &[], position(span));
            }
            StatementKind::Free(pointer) => {
                let pointer = self.value(pointer);
                self.builder.emit(Op::Free { pointer }, &[], position(span));
            }
            StatementKind::Check(kind, condition) => {
                let condition = self.truth(condition);
                self.builder.emit(Op::Check { kind: *kind, condition }, &[], position(span));
            }
            StatementKind::If { condition, then, otherwise } => self.if_statement(condition, then, otherwise),
            StatementKind::While { condition, bound, body } => {
                self.while_statement(condition, *bound, body, span)
            }
            StatementKind::Break | StatementKind::Continue => self.leave_round(&statement.kind, span),
            StatementKind::Return(value) => {
                let value = value.as_ref().map(|value| self.value(value));
                self.end_transactions(0, span);
                self.leave(value, position(span));
            }
            StatementKind::Block(block) => self.statements(block),
            StatementKind::Atomic(block, end) => {
                let label = self.builder.label.clone();
                self.transaction_event(SyncOp::TransactionBegin, span);
                self.transactions += 1;
                self.statements(block);
                self.transactions -= 1;
                self.builder.label = label;
                self.transaction_event(SyncOp::TransactionEnd, *end);
            }
        }
    }

    fn if_statement(&mut self, condition: &Expr, then: &[Statement], otherwise: &[Statement]) {
        let (then_block, join) = (self.builder.block(), self.builder.block());
        let else_block = if otherwise.is_empty() { join } else { self.builder.block() };
        self.branch(condition, then_block, else_block);
        self.builder.seal(then_block);
        self.builder.begin(then_block);
        self.statements(then);
        self.builder.end(Terminator::Jump(join), None, false);
        if !otherwise.is_empty() {
            self.builder.seal(else_block);
            self.builder.begin(else_block);
            self.statements(otherwise);
            self.builder.end(Terminator::Jump(join), None, false);
        }
        self.builder.seal(join);
        self.builder.begin(join);
    }

    /// A loop counts its rounds in a value of its own. The count is checked where the body begins, after the
    /// condition has held, so a loop that ends by itself after exactly `bound` rounds is not cut.
    fn while_statement(&mut self, condition: &Expr, bound: Option<u32>, body: &[Statement], span: Span) {
        let place = position(span);
        let rounds = self.builder.variable(Type::Int(Width::W32), None);
        self.builder.write(rounds, Operand::int(Width::W32, 0));
        let (head, start, exit) = (self.builder.block(), self.builder.block(), self.builder.block());
        self.builder.end(Terminator::Jump(head), place, false);
        self.builder.begin(head);
        self.branch(condition, start, exit);
        self.builder.seal(start);
        self.builder.begin(start);
        if self.builder.reachable() {
            let bound = Operand::int(Width::W32, i128::from(bound.unwrap_or(self.options.loop_bound)));
            let count = self.builder.read(rounds);
            let condition = self.compare(Predicate::Ult, count, bound, place);
            self.builder.emit(Op::Check { kind: CheckKind::Bound, condition }, &[], place);
            let next = self.arithmetic(BinaryOp::Add, count, Operand::int(Width::W32, 1), place);
            self.builder.write(rounds, next);
            self.loops.push(Loop { head, exit, transactions: self.transactions });
            self.statements(body);
            self.loops.pop();
            self.builder.end(Terminator::Jump(head), place, false);
        }
        self.builder.seal(head);
        self.builder.seal(exit);
        self.builder.begin(exit);
    }

    fn leave_round(&mut self, kind: &StatementKind, span: Span) {
        let Some(Loop { head, exit, transactions }) = self.loops.last() else { return };
        let to = if matches!(kind, StatementKind::Break) { *exit } else { *head };
        self.end_transactions(*transactions, span);
        self.builder.end(Terminator::Jump(to), position(span), false);
    }

    /// Ends the transactions that a jump leaves.
    fn end_transactions(&mut self, remaining: usize, span: Span) {
        for _ in remaining..self.transactions {
            self.transaction_event(SyncOp::TransactionEnd, span);
        }
    }

    fn transaction_event(&mut self, op: SyncOp, span: Span) {
        self.builder.emit(Op::Sync { op, operands: vec![] }, &[], position(span));
    }

    /// Returns from the function: what it is declared to return, or the locals that are observed.
    pub(super) fn leave(&mut self, value: Option<Operand>, place: Option<ir::Position>) {
        if !self.builder.reachable() {
            return;
        }
        let mut values = vec![];
        if let Some(ty) = self.returns {
            values.push(value.unwrap_or(match ty.lowered() {
                Type::Int(width) => Operand::int(width, 0),
                _ => Operand::Null,
            }));
        }
        for variable in self.observed.clone() {
            values.push(self.builder.read(variable));
        }
        self.builder.end(Terminator::Return(values), place, false);
    }
}
