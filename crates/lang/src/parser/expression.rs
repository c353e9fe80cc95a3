//! Expressions, by precedence climbing.
//!
//! A chain such as `a + b + c` makes a tree that is deep on the left without any recursion here, so the
//! height of each tree is counted as it grows.

use super::{MAX_DEPTH, Parsed, Parser};
use crate::Diagnostic;
use crate::ast::{BinaryOp, Expr, ExprKind, Literal, Name, UnaryOp};
use crate::lexer::TokenKind;

/// An expression and the height of its tree.
type Tall = (Expr, u32);

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        Ok(self.conditional()?.0)
    }

    /// An operand with its prefixes and suffixes, which is also what can be assigned to.
    pub(super) fn unary(&mut self) -> Parsed<Expr> {
        Ok(self.prefixed()?.0)
    }

    fn conditional(&mut self) -> Parsed<Tall> {
        self.deeper(|p| {
            let (condition, h0) = p.binary(1)?;
            if !p.eat("?") {
                return Ok((condition, h0));
            }
            let (then, h1) = p.conditional()?;
            p.expect(":", "between the two values of `?`")?;
            let (otherwise, h2) = p.conditional()?;
            let span = condition.span.to(otherwise.span);
            let (condition, then, otherwise) = (Box::new(condition), Box::new(then), Box::new(otherwise));
            p.grown(ExprKind::Conditional { condition, then, otherwise }, span, h0.max(h1).max(h2))
        })
    }

    /// Operators that bind at least as tightly as `least`, left to right.
    fn binary(&mut self, least: u8) -> Parsed<Tall> {
        let (mut lhs, mut height) = self.prefixed()?;
        while let Some((op, tightness)) = self.operator().filter(|(_, t)| *t >= least) {
            self.advance();
            let (rhs, h) = self.deeper(|p| p.binary(tightness + 1))?;
            let span = lhs.span.to(rhs.span);
            let kind = ExprKind::Binary { op, lhs: Box::new(lhs), rhs: Box::new(rhs) };
            (lhs, height) = self.grown(kind, span, height.max(h))?;
        }
        Ok((lhs, height))
    }

    /// The operator that stands here. A single `=` compares: an assignment is no expression.
    fn operator(&self) -> Option<(BinaryOp, u8)> {
        let TokenKind::Fixed(sign) = self.token().kind else { return None };
        let sign = if sign == "=" { "==" } else { sign };
        BinaryOp::ALL.into_iter().find(|(_, s, _)| *s == sign).map(|(op, _, tightness)| (op, tightness))
    }

    fn prefixed(&mut self) -> Parsed<Tall> {
        let start = self.span();
        if let TokenKind::Fixed(sign) = self.token().kind {
            if let Some((op, _)) = UnaryOp::ALL.into_iter().find(|(_, s)| *s == sign) {
                self.advance();
                let (operand, height) = self.deeper(Parser::prefixed)?;
                let span = start.to(operand.span);
                return self.grown(ExprKind::Unary { op, operand: Box::new(operand) }, span, height);
            }
            if sign == "&&" || sign == "++" || sign == "--" {
                let error = Diagnostic::new(start, format!("expected an expression, found `{sign}`"));
                let error = match sign {
                    "&&" => error.help("an address has no address"),
                    _ => error.help(super::step_help(sign)),
                };
                return Err(self.report(error));
            }
        }
        let cast = self.is("(") && {
            let inside = &Parser { at: self.at + 1, errors: vec![], ..*self };
            inside.type_word().is_some() || inside.is("thread")
        };
        if cast {
            self.advance();
            let Some(ty) = self.type_name() else { return Err(self.expected("a type")) };
            self.expect(")", "after the type")?;
            let (operand, height) = self.deeper(Parser::prefixed)?;
            let span = start.to(operand.span);
            return self.grown(ExprKind::Cast { ty, operand: Box::new(operand) }, span, height);
        }
        self.suffixed()
    }

    fn suffixed(&mut self) -> Parsed<Tall> {
        let (mut base, mut height) = self.primary()?;
        while self.is("[") {
            self.advance();
            let (index, h) = self.conditional()?;
            let end = self.expect("]", "after the index")?;
            let span = base.span.to(end);
            let kind = ExprKind::Index { base: Box::new(base), index: Box::new(index) };
            (base, height) = self.grown(kind, span, height.max(h))?;
        }
        Ok((base, height))
    }

    fn primary(&mut self) -> Parsed<Tall> {
        let start = self.span();
        let leaf = |kind| Ok((Expr { kind, span: start }, 1));
        match self.token().kind {
            TokenKind::Number { .. } => match self.literal() {
                Some(literal) => leaf(ExprKind::Literal(literal)),
                None => Err(self.expected("a number")),
            },
            TokenKind::Fixed("null") => {
                self.advance();
                leaf(ExprKind::Null)
            }
            TokenKind::Fixed("(") => {
                self.advance();
                let (inner, height) = self.conditional()?;
                let end = self.expect(")", "to close the parenthesis")?;
                self.grown(ExprKind::Paren(Box::new(inner)), start.to(end), height)
            }
            TokenKind::Fixed("fork") => {
                self.advance();
                let function = self.name("the function that the new thread runs")?;
                self.expect("(", "after the function's name")?;
                let (arguments, height) = self.arguments()?;
                self.grown(ExprKind::Fork { function, arguments }, start.to(self.last()), height)
            }
            TokenKind::Fixed("main") if self.is_ahead(1, ".") => {
                let thread = Name { text: "main".to_owned(), span: self.advance().span };
                self.observed(thread)
            }
            TokenKind::Name => {
                let mut name = self.name("a name")?;
                if self.is(".") {
                    return self.observed(name);
                }
                if !self.is("(") {
                    return leaf(ExprKind::Name(name.text));
                }
                self.advance();
                if name.text == "alloc" {
                    return self.alloc(start);
                }
                match name.text.as_str() {
                    "Lock" => name.text = "lock".to_owned(),
                    "Unlock" => name.text = "unlock".to_owned(),
                    _ => {}
                }
                let (arguments, height) = self.arguments()?;
                self.grown(ExprKind::Call { function: name, arguments }, start.to(self.last()), height)
            }
            _ => Err(self.expected("an expression")),
        }
    }

    /// `T1.r1`, from the `.` on.
    fn observed(&mut self, thread: Name) -> Parsed<Tall> {
        self.expect(".", "after the thread's name")?;
        let local = self.name("the name of the thread's local")?;
        let span = thread.span.to(local.span);
        Ok((Expr { kind: ExprKind::Observed { thread, local }, span }, 1))
    }

    /// `alloc(int, n)`, from behind the parenthesis on.
    fn alloc(&mut self, start: crate::Span) -> Parsed<Tall> {
        let Some(ty) = self.type_name() else {
            let error = Diagnostic::new(self.span(), format!("expected a type, found {}", self.found()))
                .help("`alloc(int)` gives one int, `alloc(int, n)` gives n");
            return Err(self.report(error));
        };
        let (count, height) = if self.eat(",") {
            let (count, height) = self.conditional()?;
            (Some(Box::new(count)), height)
        } else {
            (None, 1)
        };
        let end = self.expect(")", "after the number of elements")?;
        self.grown(ExprKind::Alloc { ty, count }, start.to(end), height)
    }

    /// Arguments up to and with the closing parenthesis; the height of the tallest.
    fn arguments(&mut self) -> Parsed<(Vec<Expr>, u32)> {
        let (mut arguments, mut height) = (vec![], 0);
        while !self.is(")") {
            let (argument, h) = self.conditional()?;
            arguments.push(argument);
            height = height.max(h);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")", "after the arguments")?;
        Ok((arguments, height))
    }

    /// Takes a number, if one stands here.
    pub(super) fn literal(&mut self) -> Option<Literal> {
        let token = self.token();
        let TokenKind::Number { value, unsigned } = token.kind else { return None };
        self.advance();
        Some(Literal { text: self.text(token).to_owned(), value, unsigned, span: token.span })
    }

    /// A tree on top of others, the tallest of which has this height.
    fn grown(&mut self, kind: ExprKind, span: crate::Span, height: u32) -> Parsed<Tall> {
        if height >= MAX_DEPTH {
            let message = format!("this expression is nested more than {MAX_DEPTH} levels deep");
            let help = "a chain of operators nests to the left; keep a part of it in a local";
            return Err(self.report(Diagnostic::new(span, message).help(help)));
        }
        Ok((Expr { kind, span }, height + 1))
    }
}
