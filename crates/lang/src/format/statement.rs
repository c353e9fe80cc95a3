//! Statements and blocks in canonical form.

use super::Printer;
use crate::Span;
use crate::ast::{Block, Declarator, Initial, Statement, StatementKind, TypeWord};

impl Printer<'_> {
    /// A statement on lines of its own.
    pub(super) fn statement(&mut self, statement: &Statement) {
        let start = match (&statement.label, &statement.kind) {
            (Some(label), _) => label.span,
            // `++x` is written `x++`: a comment before the `x` comes before the statement.
            (None, StatementKind::Step { target, .. }) => {
                Span { start: target.span.start.max(statement.span.start), ..statement.span }
            }
            (None, _) => statement.span,
        };
        self.start_line(start);
        if let Some(label) = &statement.label {
            self.write(&label.text);
            self.write(": ");
            self.comments_before(statement.span);
        }
        match &statement.kind {
            StatementKind::If { .. } => self.if_statement(statement),
            StatementKind::While { condition, bound, body } => {
                self.write("while (");
                self.expression(condition);
                self.write(")");
                if let Some(bound) = bound {
                    self.write(" bound ");
                    self.comments_before(bound.span);
                    self.write(&bound.text);
                }
                self.body(body);
                self.end_body(body);
            }
            StatementKind::Block(block) => {
                self.block(block);
                self.end_line(block.span);
            }
            StatementKind::Atomic(block) => {
                self.write("atomic ");
                self.block(block);
                self.end_line(block.span);
            }
            simple => {
                self.simple(simple);
                self.write(";");
                self.end_line(statement.span);
            }
        }
    }

    fn simple(&mut self, kind: &StatementKind) {
        match kind {
            StatementKind::Local { word, declarators } => self.declaration(*word, declarators),
            StatementKind::Assign { target, op, value } => {
                self.expression(target);
                self.write(" ");
                if let Some(op) = op {
                    self.write(op.sign());
                }
                self.write("= ");
                self.expression(value);
            }
            StatementKind::Step { target, up } => {
                self.expression(target);
                self.write(if *up { "++" } else { "--" });
            }
            StatementKind::Call(call) => self.expression(call),
            StatementKind::Break => self.write("break"),
            StatementKind::Continue => self.write("continue"),
            StatementKind::Return(None) => self.write("return"),
            StatementKind::Return(Some(value)) => {
                self.write("return ");
                self.expression(value);
            }
            _ => self.write("skip"),
        }
    }

    fn if_statement(&mut self, statement: &Statement) {
        let StatementKind::If { condition, then, otherwise } = &statement.kind else { return };
        self.write("if (");
        self.expression(condition);
        self.write(")");
        self.body(then);
        let Some(otherwise) = otherwise else { return self.end_body(then) };
        if is_block(then) {
            self.write(" ");
        } else {
            self.fresh_line();
        }
        self.write("else");
        if otherwise.label.is_none() && matches!(otherwise.kind, StatementKind::If { .. }) {
            self.write(" ");
            self.comments_before(otherwise.span);
            self.if_statement(otherwise);
        } else {
            self.body(otherwise);
            self.end_body(otherwise);
        }
    }

    /// The statement that an `if` or `while` governs: a block on the same line, anything else on the next.
    fn body(&mut self, body: &Statement) {
        match &body.kind {
            StatementKind::Block(block) if is_block(body) => {
                self.write(" ");
                self.block(block);
            }
            _ => {
                self.comments_before(body.label.as_ref().map_or(body.span, |label| label.span));
                self.deeper(|p| p.statement(body));
            }
        }
    }

    /// Ends the line behind a body; what is no block has ended it already.
    fn end_body(&mut self, body: &Statement) {
        if is_block(body) {
            self.end_line(body.span);
        }
    }

    /// From `{` to `}`, without the end of the line. Comments before the `{` come behind it.
    pub(super) fn block(&mut self, block: &Block) {
        self.write("{");
        if block.statements.is_empty() && !self.has_comments_before(block.end) {
            self.write("}");
            return;
        }
        self.open(Span { end: block.span.start + 1, end_line: block.span.line, ..block.span });
        for statement in &block.statements {
            self.statement(statement);
        }
        self.close(block.end);
        self.write("}");
    }

    pub(super) fn declaration(&mut self, word: TypeWord, declarators: &[Declarator]) {
        self.write(word.word());
        self.write(" ");
        self.declarators(declarators);
    }

    pub(super) fn declarators(&mut self, declarators: &[Declarator]) {
        for (n, declarator) in declarators.iter().enumerate() {
            if n > 0 {
                self.write(", ");
            }
            self.comments_before(declarator.name.span);
            // The stars belong to the name; a comment that ends the line must not part them.
            self.write(&"*".repeat(usize::from(declarator.stars)));
            self.write(&declarator.name.text);
            if let Some(array) = &declarator.array {
                self.write("[");
                if let Some(count) = &array.count {
                    self.expression(count);
                }
                self.write("]");
            }
            match &declarator.initial {
                None => {}
                Some(Initial::Value(value)) => {
                    self.write(" = ");
                    self.expression(value);
                }
                Some(Initial::List { values, .. }) => {
                    self.write(" = {");
                    self.list(values);
                    self.write("}");
                }
            }
        }
    }
}

/// Whether this is a block that can stand behind `if (…)` on the same line.
fn is_block(statement: &Statement) -> bool {
    statement.label.is_none() && matches!(statement.kind, StatementKind::Block(_))
}
