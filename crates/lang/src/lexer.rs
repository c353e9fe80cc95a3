//! Source text to tokens.
//!
//! The lexer never stops: what it cannot read becomes an error, and it goes on behind it. Comments are kept
//! apart, for the formatter.

use crate::{Diagnostic, Span};

/// The words that cannot be names.
pub const KEYWORDS: [&str; 32] = [
    "int",
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u16",
    "u32",
    "u64",
    "atomic",
    "mutex",
    "recursive",
    "rwlock",
    "cond",
    "semaphore",
    "barrier",
    "fn",
    "thread",
    "main",
    "exists",
    "forall",
    "if",
    "else",
    "while",
    "break",
    "continue",
    "return",
    "local",
    "fork",
    "skip",
    "null",
    "for",
];

/// Signs, the longer ones first.
const SIGNS: [&str; 46] = [
    "<<=", ">>=", ":=", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", "+=", "-=", "*=", "/=", "%=", "&=",
    "|=", "^=", "++", "--", "->", "(", ")", "{", "}", "[", "]", ";", ",", ":", "?", "=", "<", ">", "+", "-",
    "*", "/", "%", "&", "|", "^", "~", "!", ".",
];

/// Signs of mathematics, and what they are read as.
const MATHEMATICAL: [(char, &str); 3] = [('≥', ">="), ('≤', "<="), ('≠', "!=")];

/// The largest source text that is read, in bytes.
pub const MAX_SOURCE: usize = 16 << 20;

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenKind {
    /// A name; its text is that of the span.
    Name,
    /// A keyword or a sign.
    Fixed(&'static str),
    /// An integer or character literal.
    Number {
        /// Its value.
        value: u64,
        /// Whether it ends in `u`.
        unsigned: bool,
    },
    /// A character that cannot be read; an error has been reported for it.
    Bad,
    /// The end of the text.
    End,
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands.
    pub span: Span,
}

/// A comment, without the white space around it.
#[derive(Clone, Debug)]
pub struct Comment {
    /// Its text, with `//` or `/*` and `*/`.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// Everything that was found in a text.
#[derive(Debug, Default)]
pub struct Lexed {
    /// The tokens; the last is [`TokenKind::End`].
    pub tokens: Vec<Token>,
    /// The comments.
    pub comments: Vec<Comment>,
    /// What could not be read.
    pub errors: Vec<Diagnostic>,
    /// The text ends inside a comment, so that it is no wonder when something is missing at its end.
    pub cut: bool,
}

/// Splits a text into tokens.
#[must_use]
pub fn lex(source: &str) -> Lexed {
    let mut lexer = Lexer { source, at: 0, line: 1, column: 1, out: Lexed::default() };
    if source.len() > MAX_SOURCE {
        let message = format!("the program has {} bytes, more than the limit of {MAX_SOURCE}", source.len());
        lexer.out.errors.push(Diagnostic::new(lexer.from(0, 1, 1), message));
        lexer.at = source.len();
    } else if source.starts_with('\u{feff}') {
        lexer.at = '\u{feff}'.len_utf8();
    }
    while lexer.token() {}
    let span = lexer.from(lexer.at, lexer.line, lexer.column);
    lexer.out.tokens.push(Token { kind: TokenKind::End, span });
    lexer.out
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
    line: u32,
    column: u32,
    out: Lexed,
}

impl<'s> Lexer<'s> {
    fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        if c == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(c)
    }

    fn skip(&mut self, characters: usize) {
        for _ in 0..characters {
            self.bump();
        }
    }

    /// The span from a remembered place to here.
    fn from(&self, start: usize, line: u32, column: u32) -> Span {
        Span { start: start as u32, end: self.at as u32, line, column, end_line: self.line }
    }

    /// Reads one token, comment or stretch of white space; false at the end.
    fn token(&mut self) -> bool {
        let (start, line, column) = (self.at, self.line, self.column);
        let Some(c) = self.peek() else { return false };
        if c.is_whitespace() {
            self.bump();
            return true;
        }
        if self.rest().starts_with("//") {
            while self.peek().is_some_and(|c| c != '\n') {
                self.bump();
            }
            self.comment(start, line, column);
            return true;
        }
        if self.rest().starts_with("/*") {
            self.skip(2);
            while !self.rest().starts_with("*/") {
                if self.bump().is_none() {
                    let span = Span { end: start as u32 + 2, ..self.from(start, line, column) };
                    let error = Diagnostic::new(span, "this comment has no end").help("end it with `*/`");
                    self.out.errors.push(error);
                    self.out.cut = true;
                    return true;
                }
            }
            self.skip(2);
            self.comment(start, line, column);
            return true;
        }
        let kind = if c.is_ascii_digit() {
            self.number()
        } else if c == '\'' {
            self.character()
        } else if c.is_alphabetic() || c == '_' {
            while self.peek().is_some_and(|c| c.is_alphanumeric() || c == '_') {
                self.bump();
            }
            let word = &self.source[start..self.at];
            KEYWORDS.iter().find(|k| **k == word).map_or(TokenKind::Name, |k| TokenKind::Fixed(k))
        } else if let Some((_, sign)) = MATHEMATICAL.iter().find(|(m, _)| *m == c) {
            self.bump();
            TokenKind::Fixed(sign)
        } else if let Some(sign) = SIGNS.iter().find(|s| self.rest().starts_with(**s)) {
            self.skip(sign.len());
            TokenKind::Fixed(sign)
        } else {
            self.bump();
            let shown = c.escape_debug();
            let span = self.from(start, line, column);
            self.out.errors.push(Diagnostic::new(span, format!("unexpected character `{shown}`")));
            TokenKind::Bad
        };
        let span = self.from(start, line, column);
        self.out.tokens.push(Token { kind, span });
        true
    }

    fn comment(&mut self, start: usize, line: u32, column: u32) {
        let text = self.source[start..self.at].trim_end().to_owned();
        self.out.comments.push(Comment { text, span: self.from(start, line, column) });
    }

    /// Reads an integer literal. An error is reported and the literal counts as 0.
    fn number(&mut self) -> TokenKind {
        let (start, line, column) = (self.at, self.line, self.column);
        while self.peek().is_some_and(|c| c.is_alphanumeric() || c == '_') {
            self.bump();
        }
        let span = self.from(start, line, column);
        let text = &self.source[start..self.at];
        let (digits, unsigned) = match text.strip_suffix(['u', 'U']) {
            Some(digits) => (digits, true),
            None => (text, false),
        };
        let (radix, digits) = match digits.get(..2) {
            Some("0x" | "0X") => (16, &digits[2..]),
            Some("0b" | "0B") => (2, &digits[2..]),
            _ => (10, digits),
        };
        let digits: String = digits.chars().filter(|&c| c != '_').collect();
        let value = match u64::from_str_radix(&digits, radix) {
            Ok(value) => value,
            Err(_) if !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix)) => {
                let error = Diagnostic::new(span, format!("the literal `{text}` is too large"))
                    .help("the largest integer is 18446744073709551615, of type u64");
                self.out.errors.push(error);
                0
            }
            Err(_) => {
                let error = Diagnostic::new(span, format!("`{text}` is not a number"))
                    .help("write 10, 0x1f or 0b101, with `_` between digits where you like, and `u` behind an unsigned one");
                self.out.errors.push(error);
                0
            }
        };
        TokenKind::Number { value, unsigned }
    }

    /// Reads a character literal, which is an integer. An error is reported and the literal counts as 0.
    fn character(&mut self) -> TokenKind {
        let (start, line, column) = (self.at, self.line, self.column);
        self.bump();
        let value = match self.peek() {
            Some('\\') => {
                self.bump();
                match self.peek().filter(|&c| c != '\n') {
                    Some('x') => {
                        self.bump();
                        let digits = self.rest().bytes().take(2).take_while(u8::is_ascii_hexdigit).count();
                        let value = u64::from_str_radix(&self.rest()[..digits], 16).ok();
                        self.skip(digits);
                        value
                    }
                    Some(c) => {
                        self.bump();
                        let escapes =
                            [('n', 10), ('t', 9), ('r', 13), ('0', 0), ('\\', 92), ('\'', 39), ('"', 34)];
                        escapes.iter().find(|e| e.0 == c).map(|e| e.1)
                    }
                    None => None,
                }
            }
            Some(c) if c.is_ascii() && c != '\n' && c != '\'' => {
                self.bump();
                Some(u64::from(u32::from(c)))
            }
            _ => None,
        };
        if let (Some(value), Some('\'')) = (value, self.peek()) {
            self.bump();
            return TokenKind::Number { value, unsigned: false };
        }
        // Go on behind the closing quote if the line has one.
        let line_end = self.rest().find('\n').unwrap_or(self.rest().len());
        if let Some(quote) = self.rest()[..line_end].find('\'') {
            let characters = self.rest()[..=quote].chars().count();
            self.skip(characters);
        }
        let error = Diagnostic::new(self.from(start, line, column), "this is not a character literal")
            .help("write one ASCII character or an escape between quotes: 'a', '\\n', '\\0', '\\x1b'");
        self.out.errors.push(error);
        TokenKind::Number { value: 0, unsigned: false }
    }
}
