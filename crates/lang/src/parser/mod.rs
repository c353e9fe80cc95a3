//! Tokens to a syntax tree, by recursive descent.
//!
//! After an error the parser skips to a place where something new can begin (a `;`, a `}`, a keyword that
//! begins an item) and goes on, so that one file shows several errors. Nesting is limited, since trees are walked by
//! recursion everywhere else.

mod declaration;
mod expression;
mod statement;

use crate::ast::{File, Name};
use crate::diagnostic::{MAX_ERRORS, finish};
use crate::lexer::{Lexed, Token, TokenKind, lex};
use crate::{Diagnostic, Span};

/// How deep statements and expressions may be nested.
pub const MAX_DEPTH: u32 = 200;

/// Reads a program.
pub fn parse(source: &str) -> Result<File, Vec<Diagnostic>> {
    let lexed = lex(source);
    parse_tokens(source, &lexed)
}

/// Reads a program from its tokens.
pub(crate) fn parse_tokens(source: &str, lexed: &Lexed) -> Result<File, Vec<Diagnostic>> {
    let mut parser = Parser {
        source,
        tokens: &lexed.tokens,
        at: 0,
        depth: 0,
        errors: lexed.errors.clone(),
        cut: lexed.cut,
    };
    let file = parser.file();
    if parser.errors.is_empty() { Ok(file) } else { Err(finish(parser.errors)) }
}

/// An error has been reported; the caller gives up too, or skips to where it can go on.
pub(crate) struct Reported;

type Parsed<T> = Result<T, Reported>;

struct Parser<'s> {
    source: &'s str,
    /// Never empty: the last token is `End`.
    tokens: &'s [Token],
    at: usize,
    depth: u32,
    errors: Vec<Diagnostic>,
    /// The end of the text is not where it seems; what is missing there is not reported.
    cut: bool,
}

impl<'s> Parser<'s> {
    fn token(&self) -> Token {
        self.ahead(0)
    }

    fn ahead(&self, n: usize) -> Token {
        self.tokens[(self.at + n).min(self.tokens.len() - 1)]
    }

    fn span(&self) -> Span {
        self.token().span
    }

    /// The span of the last token that was taken.
    fn last(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    fn text(&self, token: Token) -> &'s str {
        &self.source[token.span.range()]
    }

    fn is(&self, fixed: &str) -> bool {
        self.is_ahead(0, fixed)
    }

    fn is_ahead(&self, n: usize, fixed: &str) -> bool {
        matches!(self.ahead(n).kind, TokenKind::Fixed(f) if f == fixed)
    }

    fn is_name(&self, text: &str) -> bool {
        self.token().kind == TokenKind::Name && self.text(self.token()) == text
    }

    fn at_end(&self) -> bool {
        self.token().kind == TokenKind::End
    }

    /// Takes the next token.
    fn advance(&mut self) -> Token {
        let token = self.token();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn eat(&mut self, fixed: &str) -> bool {
        let there = self.is(fixed);
        if there {
            self.advance();
        }
        there
    }

    /// Takes `fixed`, or reports that it was expected `context`.
    fn expect(&mut self, fixed: &str, context: &str) -> Parsed<Span> {
        if self.is(fixed) {
            return Ok(self.advance().span);
        }
        Err(self.expected(&format!("`{fixed}` {context}")))
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        let token = self.token();
        match token.kind {
            TokenKind::Name => {
                self.advance();
                Ok(Name { text: self.text(token).to_owned(), span: token.span })
            }
            TokenKind::Fixed(word) if word.starts_with(char::is_alphabetic) => {
                let error =
                    Diagnostic::new(token.span, format!("expected {what}, found the keyword `{word}`"))
                        .help("keywords cannot be names");
                Err(self.report(error))
            }
            _ => Err(self.expected(what)),
        }
    }

    fn report(&mut self, error: Diagnostic) -> Reported {
        let follows = self.token().kind == TokenKind::Bad || self.cut && self.at_end();
        let again =
            self.errors.iter().any(|e| e.span.start == error.span.start && e.message == error.message);
        // Far more errors than are shown help nobody; a token soup must not fill the memory.
        if !follows && !again && self.errors.len() < 10 * MAX_ERRORS {
            self.errors.push(error);
        }
        Reported
    }

    /// Reports that something else was expected here.
    fn expected(&mut self, what: &str) -> Reported {
        let error = Diagnostic::new(self.span(), format!("expected {what}, found {}", self.found()));
        self.report(error)
    }

    /// The next token in words.
    fn found(&self) -> String {
        match self.token().kind {
            TokenKind::End => "the end of the file".to_owned(),
            _ => format!("`{}`", self.text(self.token())),
        }
    }

    /// Takes the `;` behind a statement or declaration. A missing one is pointed at where it belongs; if what
    /// follows can begin something new, parsing goes on as though it were there.
    fn semicolon(&mut self, what: &str) -> Parsed<()> {
        if self.eat(";") {
            return Ok(());
        }
        let last = self.last();
        let next = self.token();
        let behind = Span { start: last.end, ..last };
        let found = self.found();
        let error = Diagnostic::new(behind, format!("expected `;` after {what}, found {found}"))
            .here("add `;` here")
            .label(next.span, "unexpected here");
        let error = match next.kind {
            TokenKind::End => Diagnostic { labels: vec![], ..error },
            TokenKind::Fixed(sign @ ("++" | "--")) => error.help(step_help(sign)),
            _ => error,
        };
        let reported = self.report(error);
        let new_line = next.span.line > last.line;
        if new_line || self.is("}") || self.at_end() { Ok(()) } else { Err(reported) }
    }

    /// Runs `parse` one level deeper, unless that is too deep.
    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn too_deep(&mut self) -> Reported {
        let error = Diagnostic::new(self.span(), format!("this is nested more than {MAX_DEPTH} levels deep"));
        let reported = self.report(error);
        // Whatever follows is inside; reading it again from the middle would only give noise.
        self.at = self.tokens.len() - 1;
        self.cut = true;
        reported
    }
}

/// Where `++` and `--` can stand.
fn step_help(sign: &str) -> String {
    format!("`{sign}` stands in statements of its own: `x{sign};`")
}
