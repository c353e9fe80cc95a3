//! Statements.

use super::lines::Lines;
use super::{LeftOut, Result, words};
use ir::CheckKind;
use lang::Span;
use lang::typed::{Expr, Function, LocalId, Program, Statement, StatementKind};

/// A function that is being written.
pub struct Body<'p> {
    pub program: &'p Program,
    pub function: &'p Function,
    pub lines: Lines,
    /// The value that a compound assignment has read.
    pub old: Option<String>,
    /// How many transactions are open here, and how many were where the innermost loop began.
    transactions: usize,
    outside_loop: usize,
}

impl<'p> Body<'p> {
    pub fn new(program: &'p Program, function: &'p Function) -> Body<'p> {
        Body { program, function, lines: Lines::default(), old: None, transactions: 0, outside_loop: 0 }
    }

    /// A local's name; scopes may have used the same word for several.
    pub fn local(&self, local: LocalId) -> String {
        format!("{}_{}", self.function.locals[local.index()].name, local.0)
    }

    /// What `write` writes, apart.
    pub fn apart<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> (Vec<String>, T) {
        let mut lines = std::mem::take(&mut self.lines);
        let (apart, made) = lines.apart(|lines| {
            std::mem::swap(&mut self.lines, lines);
            let made = write(self);
            std::mem::swap(&mut self.lines, lines);
            made
        });
        self.lines = lines;
        (apart, made)
    }

    pub fn statements(&mut self, statements: &[Statement]) -> Result<()> {
        statements.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Statement) -> Result<()> {
        let at = statement.span;
        match &statement.kind {
            StatementKind::Assign(local, value) => {
                let value = self.value(value)?;
                let local = self.local(*local);
                self.lines.push(&format!("{local} = {value};"));
            }
            StatementKind::Store { place, value, order } => {
                let (place, value) = (self.place(place)?, self.value(value)?);
                self.store(&place, &value, *order, at);
            }
            StatementKind::Modify { place, value } => {
                let target = self.place(place)?;
                self.old = Some(self.load(&target, place.ty, None, place.span));
                let value = self.value(value)?;
                self.old = None;
                self.store(&target, &value, None, at);
            }
            StatementKind::Evaluate(value) => _ = self.value(value)?,
            StatementKind::Call(function, arguments) => {
                let call = self.call(*function, arguments)?;
                self.lines.push(&format!("{call};"));
            }
            StatementKind::Sync(op, operands) => self.operate(*op, operands, at)?,
            StatementKind::Fence(order) => {
                self.lines.event(&format!("__atomic_thread_fence({});", words::order(*order)), at);
            }
            StatementKind::Free(pointer) => {
                let pointer = self.value(pointer)?;
                self.lines.event(&format!("free({pointer});"), at);
            }
            StatementKind::Check(CheckKind::Assert, condition) => {
                let condition = self.value(condition)?;
                self.lines.event(&format!("assert({condition});"), at);
            }
            StatementKind::Check(..) => return Err(LeftOut("an assumption")),
            StatementKind::If { condition, then, otherwise } => self.two_ways(condition, then, otherwise)?,
            StatementKind::While { condition, body, .. } => self.rounds(condition, body)?,
            StatementKind::Break => self.leave("break;", self.outside_loop, at),
            StatementKind::Continue => self.leave("continue;", self.outside_loop, at),
            StatementKind::Return(value) => {
                let value = value.as_ref().map(|value| self.value(value)).transpose()?;
                self.leave(&format!("return {};", value.unwrap_or_default()), 0, at);
            }
            StatementKind::Block(block) => {
                self.lines.open("");
                self.statements(block)?;
                self.lines.close();
            }
            StatementKind::Atomic(block, end) => {
                self.lines.event("TB_ATOMIC_BEGIN;", at);
                self.transactions += 1;
                self.statements(block)?;
                self.transactions -= 1;
                self.lines.event("TB_ATOMIC_END;", *end);
            }
        }
        Ok(())
    }

    fn two_ways(&mut self, condition: &Expr, then: &[Statement], otherwise: &[Statement]) -> Result<()> {
        let condition = self.condition(condition)?;
        self.lines.open(&format!("if ({condition})"));
        self.statements(inner(then))?;
        if !otherwise.is_empty() {
            self.lines.otherwise();
            self.statements(inner(otherwise))?;
        }
        self.lines.close();
        Ok(())
    }

    fn rounds(&mut self, condition: &Expr, body: &[Statement]) -> Result<()> {
        let condition = self.inside(condition)?;
        self.lines.open(&format!("while ({condition})"));
        let outside = std::mem::replace(&mut self.outside_loop, self.transactions);
        self.statements(inner(body))?;
        self.outside_loop = outside;
        self.lines.close();
        Ok(())
    }

    /// Ends the transactions that a jump leaves, and jumps.
    fn leave(&mut self, jump: &str, remaining: usize, at: Span) {
        for _ in remaining..self.transactions {
            self.lines.event("TB_ATOMIC_END;", at);
        }
        self.lines.push(jump);
    }
}

/// The statements of a branch, without the braces that are all of it.
fn inner(statements: &[Statement]) -> &[Statement] {
    match statements {
        [Statement { kind: StatementKind::Block(block), .. }] => inner(block),
        statements => statements,
    }
}
