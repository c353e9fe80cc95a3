//! The parser of models: recursive descent, herd's precedences.

use super::ast::{Binding, CheckKind, Expr, ExprKind, Statement};
use super::lexer::{Token, tokens};
use lang::{Diagnostic, Span};

/// Deepest nesting of expressions.
const MAX_DEPTH: u32 = 200;

/// Statements of cat that are not part of the subset.
const UNSUPPORTED: [&str; 9] =
    ["procedure", "call", "enum", "forall", "with", "instructions", "match", "fun", "debug"];

/// A parsed file.
pub struct Parsed {
    pub name: Option<String>,
    pub statements: Vec<Statement>,
}

/// Parses a model.
pub fn parse(source: &str) -> Result<Parsed, Vec<Diagnostic>> {
    let mut parser = Parser { tokens: tokens(source)?, at: 0, depth: 0, unnamed: 0 };
    parser.file().map_err(|error| vec![*error])
}

struct Parser {
    tokens: Vec<(Token, Span)>,
    at: usize,
    depth: u32,
    unnamed: usize,
}

type Outcome<T> = Result<T, Box<Diagnostic>>;

impl Parser {
    fn token(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    fn next(&mut self) -> (Token, Span) {
        let token = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.token(), Token::Sign(s) if *s == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.token(), Token::Word(w) if w == word)
    }

    fn take(&mut self, sign: &str) -> bool {
        let is = self.is(sign);
        if is {
            self.next();
        }
        is
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        if is {
            self.next();
        }
        is
    }

    fn wrong<T>(&self, message: impl Into<String>) -> Outcome<T> {
        Err(Box::new(Diagnostic::new(self.span(), message)))
    }

    fn expect(&mut self, sign: &str) -> Outcome<()> {
        if self.take(sign) { Ok(()) } else { self.wrong(format!("expected `{sign}`")) }
    }

    fn name(&mut self) -> Outcome<String> {
        match self.next() {
            (Token::Word(word), _) => Ok(word),
            (_, span) => Err(Box::new(Diagnostic::new(span, "expected a name"))),
        }
    }

    fn file(&mut self) -> Outcome<Parsed> {
        let mut parsed = Parsed { name: None, statements: vec![] };
        // herd's files may begin with the name of the model, quoted or not.
        if let Token::Text(name) = self.token().clone() {
            parsed.name = Some(name);
            self.next();
        }
        while *self.token() != Token::End {
            parsed.statements.extend(self.statement()?);
        }
        Ok(parsed)
    }

    fn statement(&mut self) -> Outcome<Option<Statement>> {
        let span = self.span();
        let Token::Word(word) = self.token().clone() else { return self.wrong("expected a statement") };
        match &*word {
            "let" => {
                self.next();
                let recursive = self.take_word("rec");
                let mut bindings = vec![self.binding()?];
                while self.take_word("and") {
                    bindings.push(self.binding()?);
                }
                Ok(Some(Statement::Let { recursive, bindings }))
            }
            "include" => {
                self.next();
                match self.next() {
                    (Token::Text(name), _) => Ok(Some(Statement::Include { name, span })),
                    (_, span) => {
                        Err(Box::new(Diagnostic::new(span, "expected the name of a file in quotes")))
                    }
                }
            }
            "acyclic" | "irreflexive" | "empty" | "flag" => self.check().map(Some),
            "show" | "unshow" => {
                // What herd's pictures show is no part of the model.
                self.next();
                self.name()?;
                while self.take(",") {
                    self.name()?;
                }
                if self.take_word("as") {
                    self.name()?;
                }
                Ok(None)
            }
            "views" => {
                self.next();
                let respecting = self.expr()?;
                let agreeing = if self.take_word("agreeing") { Some(self.expr()?) } else { None };
                let name = self.check_name("views")?;
                Ok(Some(Statement::Views { respecting, agreeing, name }))
            }
            other if UNSUPPORTED.contains(&other) => Err(Box::new(
                Diagnostic::new(span, format!("`{other}` is a part of cat that is not supported here"))
                    .help("docs/memory-models.md lists what is"),
            )),
            other => Err(Box::new(Diagnostic::new(span, format!("`{other}` begins no statement")).help(
                "a statement begins with let, include, acyclic, irreflexive, empty, flag, views or show",
            ))),
        }
    }

    fn binding(&mut self) -> Outcome<Binding> {
        let name = self.name()?;
        let mut parameters = vec![];
        if self.take("(") {
            while !self.take(")") {
                parameters.push(self.name()?);
                if !self.take(",") && !self.is(")") {
                    return self.wrong("expected `,` or `)`");
                }
            }
        }
        self.expect("=")?;
        Ok(Binding { name, parameters, expr: self.expr()? })
    }

    fn check(&mut self) -> Outcome<Statement> {
        let flag = self.take_word("flag");
        let mut negated = self.take("~");
        let kind = match self.next() {
            (Token::Word(word), _) if word == "acyclic" => CheckKind::Acyclic,
            (Token::Word(word), _) if word == "irreflexive" => CheckKind::Irreflexive,
            (Token::Word(word), _) if word == "empty" => CheckKind::Empty,
            (_, span) => {
                return Err(Box::new(Diagnostic::new(span, "expected acyclic, irreflexive or empty")));
            }
        };
        if !negated && self.is("~") {
            // `flag empty ~e` is the complement; `~empty` was taken above.
            negated = false;
        }
        let span = self.span();
        if negated && !flag {
            return Err(Box::new(
                Diagnostic::new(span, "a negated check can only be a flag").help("write `flag ~empty …`"),
            ));
        }
        let expr = self.expr()?;
        let word = match kind {
            CheckKind::Acyclic => "acyclic",
            CheckKind::Irreflexive => "irreflexive",
            CheckKind::Empty => "empty",
        };
        let name = self.check_name(word)?;
        Ok(Statement::Check { kind, negated, flag, expr, name })
    }

    fn check_name(&mut self, word: &str) -> Outcome<String> {
        if self.take_word("as") {
            return self.name();
        }
        self.unnamed += 1;
        Ok(format!("{word}-{}", self.unnamed))
    }

    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.wrong("this is nested too deeply");
        }
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn expr(&mut self) -> Outcome<Expr> {
        self.deeper(|parser| parser.binary(0))
    }

    /// Infix operators, the loosest first.
    fn binary(&mut self, level: usize) -> Outcome<Expr> {
        type Make = fn(Box<Expr>, Box<Expr>) -> ExprKind;
        const LEVELS: [(&str, Make); 5] = [
            ("|", ExprKind::Union),
            (";", ExprKind::Sequence),
            ("\\", ExprKind::Difference),
            ("&", ExprKind::Intersection),
            ("*", ExprKind::Product),
        ];
        let Some(&(sign, make)) = LEVELS.get(level) else { return self.postfix() };
        let mut left = self.binary(level + 1)?;
        while self.is(sign) {
            self.next();
            let right = self.binary(level + 1)?;
            let span = left.span.to(right.span);
            left = Expr { kind: make(Box::new(left), Box::new(right)), span };
        }
        Ok(left)
    }

    fn postfix(&mut self) -> Outcome<Expr> {
        let mut expr = self.primary()?;
        loop {
            let end = self.span();
            let span = expr.span.to(end);
            let kind: fn(Box<Expr>) -> ExprKind = match self.token() {
                Token::Sign("^-1") => ExprKind::Inverse,
                Token::Sign("+" | "^+") => ExprKind::Plus,
                Token::Sign("^*") => ExprKind::Star,
                // A star is the closure, unless something follows that it could be the product with.
                Token::Sign("*") if !self.begins_expression(self.at + 1) => ExprKind::Star,
                Token::Sign("?") => ExprKind::Optional,
                _ => return Ok(expr),
            };
            self.next();
            expr = Expr { kind: kind(Box::new(expr)), span };
        }
    }

    fn begins_expression(&self, at: usize) -> bool {
        match self.tokens.get(at).map(|(token, _)| token) {
            Some(Token::Sign(sign)) => matches!(*sign, "(" | "[" | "~" | "_"),
            Some(Token::Word(word)) => {
                let statements =
                    ["let", "include", "acyclic", "irreflexive", "empty", "flag", "views", "show", "unshow"];
                let others = ["as", "and", "agreeing"];
                !statements.contains(&&**word) && !others.contains(&&**word)
            }
            _ => false,
        }
    }

    fn primary(&mut self) -> Outcome<Expr> {
        let (token, span) = self.next();
        let kind = match token {
            Token::Sign("(") => {
                let inner = self.expr()?;
                self.expect(")")?;
                return Ok(inner);
            }
            Token::Sign("[") => {
                let inner = self.expr()?;
                self.expect("]")?;
                ExprKind::Identity(Box::new(inner))
            }
            Token::Sign("~") => {
                let inner = self.deeper(Parser::postfix)?;
                ExprKind::Complement(Box::new(inner))
            }
            Token::Sign("_") => ExprKind::All,
            Token::Word(word) if word == "0" || word == "emptyset" => ExprKind::Nothing,
            Token::Word(word) if self.is("(") => {
                self.next();
                let mut arguments = vec![];
                while !self.take(")") {
                    arguments.push(self.expr()?);
                    if !self.take(",") && !self.is(")") {
                        return self.wrong("expected `,` or `)`");
                    }
                }
                ExprKind::Call(word, arguments)
            }
            Token::Word(word) => ExprKind::Name(word),
            _ => return Err(Box::new(Diagnostic::new(span, "expected a relation or a set"))),
        };
        Ok(Expr { kind, span })
    }
}
