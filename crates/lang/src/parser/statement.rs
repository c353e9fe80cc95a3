//! Statements and blocks.

use super::{Parsed, Parser};
use crate::Diagnostic;
use crate::ast::{BinaryOp, Block, Expr, ExprKind, Name, Statement, StatementKind, TypeWord};
use crate::lexer::TokenKind;

/// Keywords that begin a statement.
const STATEMENT_WORDS: [&str; 10] =
    ["if", "while", "break", "continue", "return", "atomic", "skip", "fork", "local", "thread"];

/// Keywords that begin an item and never a statement: a `}` is missing before them.
const OUTSIDE_WORDS: [&str; 4] = ["fn", "main", "exists", "forall"];

impl Parser<'_> {
    pub(super) fn block(&mut self, what: &str) -> Parsed<Block> {
        let start = self.expect("{", &format!("before {what}"))?;
        let mut statements = vec![];
        loop {
            if self.is("}") {
                break;
            }
            if self.at_end() || self.begins_item() {
                let error = Diagnostic::new(self.span(), format!("expected `}}`, found {}", self.found()))
                    .label(start, "this `{` is not closed");
                let reported = self.report(error);
                if self.at_end() {
                    return Err(reported);
                }
                return Ok(Block { statements, span: start.to(self.last()), end: self.last() });
            }
            let before = self.at;
            match self.statement() {
                Ok(statement) => statements.push(statement),
                Err(_) => self.skip_statement(before),
            }
        }
        let end = self.advance().span;
        Ok(Block { statements, span: start.to(end), end })
    }

    /// Whether an item begins here that cannot be a statement.
    fn begins_item(&self) -> bool {
        let thread = self.is("thread") && self.ahead(1).kind == TokenKind::Name && self.is_ahead(2, "{");
        thread || OUTSIDE_WORDS.iter().any(|w| self.is(w))
    }

    /// Goes on behind a broken statement: behind its `;`, before the `}` that ends its block, or before a word
    /// that begins another statement.
    fn skip_statement(&mut self, before: usize) {
        if self.at == before {
            self.advance();
        }
        let mut open = 0_usize;
        while !self.at_end() {
            let first_on_line = self.span().line > self.last().line;
            if open == 0 && (STATEMENT_WORDS.iter().any(|w| self.is(w)) && first_on_line || self.is("}")) {
                return;
            }
            if self.begins_item() {
                return;
            }
            if self.is("{") {
                open += 1;
            } else if self.is("}") {
                open -= 1;
            } else if self.is(";") && open == 0 {
                self.advance();
                return;
            }
            self.advance();
        }
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let label = if self.token().kind == TokenKind::Name && self.is_ahead(1, ":") {
            let name = self.name("a label")?;
            self.advance();
            Some(name)
        } else {
            None
        };
        if label.is_some() && self.token().kind == TokenKind::Name && self.is_ahead(1, ":") {
            let error = Diagnostic::new(self.span(), "a statement can have one label only");
            self.report(error);
            return self.deeper(Parser::statement);
        }
        let start = self.span();
        let kind = self.deeper(Parser::statement_kind)?;
        Ok(Statement { label, kind, span: start.to(self.last()) })
    }

    fn statement_kind(&mut self) -> Parsed<StatementKind> {
        let TokenKind::Fixed(word) = self.token().kind else { return self.simple_statement() };
        match word {
            "{" => Ok(StatementKind::Block(self.block("a block")?)),
            "atomic" => {
                self.advance();
                if self.type_word().is_some() {
                    let error = Diagnostic::new(self.last(), "a local cannot be atomic")
                        .help("declare a shared variable, `atomic int x;`, outside the thread");
                    return Err(self.report(error));
                }
                Ok(StatementKind::Atomic(self.block("the transaction")?))
            }
            "if" => self.if_statement(),
            "while" => self.while_statement(),
            "break" | "continue" | "skip" => {
                self.advance();
                self.semicolon(&format!("`{word}`"))?;
                Ok(match word {
                    "break" => StatementKind::Break,
                    "continue" => StatementKind::Continue,
                    _ => StatementKind::Skip,
                })
            }
            ";" => {
                self.advance();
                Ok(StatementKind::Skip)
            }
            "return" => {
                self.advance();
                let value = if self.is(";") || self.is("}") { None } else { Some(self.expression()?) };
                self.semicolon("`return`")?;
                Ok(StatementKind::Return(value))
            }
            "local" | "thread" => {
                self.advance();
                let word = if word == "local" { TypeWord::Local } else { TypeWord::Thread };
                Ok(StatementKind::Local { word, declarators: self.declarators("the declaration")? })
            }
            "mutex" | "recursive" | "rwlock" | "cond" | "semaphore" | "barrier" => {
                let error = Diagnostic::new(
                    self.span(),
                    format!("a `{word}` is declared inside a thread or function"),
                )
                .help("synchronisation objects are shared: declare them at top level");
                Err(self.report(error))
            }
            "for" => self.for_statement(),
            "else" => {
                let error = Diagnostic::new(self.span(), "`else` without an `if` before it");
                Err(self.report(error))
            }
            _ => match self.type_word() {
                Some(word) => {
                    self.advance();
                    Ok(StatementKind::Local { word, declarators: self.declarators("the declaration")? })
                }
                None => self.simple_statement(),
            },
        }
    }

    fn if_statement(&mut self) -> Parsed<StatementKind> {
        self.expect("if", "")?;
        let condition = self.condition("if")?;
        let then = Box::new(self.statement()?);
        let otherwise = if self.eat("else") { Some(Box::new(self.statement()?)) } else { None };
        Ok(StatementKind::If { condition, then, otherwise })
    }

    /// There is none; its parts are skipped, so that they give no errors of their own.
    fn for_statement(&mut self) -> Parsed<StatementKind> {
        let span = self.expect("for", "")?;
        let error = Diagnostic::new(span, "there is no `for`").help("use `while (condition) { … }`");
        self.report(error);
        let mut open = 0_usize;
        while !self.at_end() {
            if self.is("(") {
                open += 1;
            } else if self.is(")") {
                open = open.saturating_sub(1);
            }
            if open == 0 && !self.is(")") {
                break;
            }
            self.advance();
        }
        Ok(self.statement()?.kind)
    }

    fn while_statement(&mut self) -> Parsed<StatementKind> {
        self.expect("while", "")?;
        let condition = self.condition("while")?;
        // `bound` is no keyword: a statement cannot begin with a name and a number.
        let bound = if self.is_name("bound") && matches!(self.ahead(1).kind, TokenKind::Number { .. }) {
            self.advance();
            self.literal()
        } else {
            None
        };
        let body = Box::new(self.statement()?);
        Ok(StatementKind::While { condition, bound, body })
    }

    fn condition(&mut self, word: &str) -> Parsed<Expr> {
        self.expect("(", &format!("after `{word}`"))?;
        let condition = self.expression()?;
        self.expect(")", "after the condition")?;
        Ok(condition)
    }

    /// An assignment, a step or a call.
    fn simple_statement(&mut self) -> Parsed<StatementKind> {
        if self.is("++") || self.is("--") {
            let up = self.is("++");
            self.advance();
            let target = self.unary()?;
            self.semicolon("this statement")?;
            return Ok(StatementKind::Step { target, up });
        }
        if let Some(kind) = self.lock_without_parentheses()? {
            return Ok(kind);
        }
        let target = self.unary()?;
        if self.is("++") || self.is("--") {
            let up = self.is("++");
            self.advance();
            self.semicolon("this statement")?;
            return Ok(StatementKind::Step { target, up });
        }
        if self.eat("=") || self.eat(":=") {
            let value = self.expression()?;
            self.semicolon("this assignment")?;
            return Ok(StatementKind::Assign { target, op: None, value });
        }
        let compound = BinaryOp::ALL.into_iter().find(|(op, sign, tightness)| {
            let assigns =
                *tightness >= 8 || matches!(op, BinaryOp::BitAnd | BinaryOp::BitXor | BinaryOp::BitOr);
            assigns && matches!(self.token().kind, TokenKind::Fixed(f) if f.strip_suffix('=') == Some(*sign))
        });
        if let Some((op, ..)) = compound {
            self.advance();
            let value = self.expression()?;
            self.semicolon("this assignment")?;
            return Ok(StatementKind::Assign { target, op: Some(op), value });
        }
        if matches!(target.kind, ExprKind::Call { .. } | ExprKind::Fork { .. } | ExprKind::Alloc { .. }) {
            self.semicolon("this call")?;
            return Ok(StatementKind::Call(target));
        }
        let error = if self.is(";") {
            Diagnostic::new(target.span, "this expression does nothing as a statement")
                .help("assign it to something, or call a function")
        } else {
            Diagnostic::new(
                self.span(),
                format!("expected `=` or another assignment, found {}", self.found()),
            )
        };
        Err(self.report(error))
    }

    /// `Lock m;`, as papers write it.
    fn lock_without_parentheses(&mut self) -> Parsed<Option<StatementKind>> {
        let word = self.token();
        let followed_by_name =
            self.ahead(1).kind == TokenKind::Name && self.ahead(1).span.line == word.span.line;
        let function = match self.text(word) {
            "lock" | "Lock" => "lock",
            "unlock" | "Unlock" => "unlock",
            _ => return Ok(None),
        };
        if word.kind != TokenKind::Name || !followed_by_name {
            return Ok(None);
        }
        self.advance();
        let object = self.unary()?;
        let span = word.span.to(object.span);
        let function = Name { text: function.to_owned(), span: word.span };
        self.semicolon(&format!("`{}`", function.text))?;
        let kind = ExprKind::Call { function, arguments: vec![object] };
        Ok(Some(StatementKind::Call(Expr { kind, span })))
    }
}
