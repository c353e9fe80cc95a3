//! Words and signs of litmus tests.

use super::Outcome;
use lang::{Diagnostic, Span};

/// A token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Token {
    Word(String),
    Number(i64),
    Text(String),
    Sign(&'static str),
    End,
}

/// Longest source that is read.
const MAX_SOURCE: usize = 1 << 20;

const SIGNS: [&str; 38] = [
    "/\\", "\\/", "++", "--", "+=", "-=", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", "(", ")", "{", "}",
    "[", "]", ";", ":", ",", "=", "*", "&", "|", "$", "~", "+", "-", "<", ">", "!", "^", "%", "/", "?",
];

/// The tokens of a test.
pub struct Tokens {
    tokens: Vec<(Token, Span)>,
    at: usize,
}

impl Tokens {
    pub fn new(source: &str) -> Outcome<Tokens> {
        if source.len() > MAX_SOURCE {
            return Err(Box::new(Diagnostic::new(Span::default(), "a litmus test has at most 1 MiB")));
        }
        let mut tokens = vec![];
        let (mut at, mut line, mut line_start) = (0, 1_u32, 0);
        while let Some(c) = source[at..].chars().next() {
            let rest = &source[at..];
            let span = |length: usize| Span {
                start: at as u32,
                end: (at + length) as u32,
                line,
                column: source[line_start..at].chars().count() as u32 + 1,
                end_line: line,
            };
            let comment = [("(*", "*)"), ("/*", "*/"), ("//", "\n")]
                .into_iter()
                .find(|(open, _)| rest.starts_with(open));
            let (token, length) = if c.is_whitespace() {
                (None, c.len_utf8())
            } else if let Some((_, close)) = comment {
                match rest[2..].find(close) {
                    // The line's end is counted below.
                    Some(end) => (None, end + 2 + if close == "\n" { 0 } else { 2 }),
                    None if close == "\n" => (None, rest.len()),
                    None => return Err(Box::new(Diagnostic::new(span(2), "this comment has no end"))),
                }
            } else if c == '"' {
                let Some(end) = rest[1..].find('"') else {
                    return Err(Box::new(Diagnostic::new(span(1), "this text has no end")));
                };
                (Some(Token::Text(rest[1..=end].to_owned())), end + 2)
            } else if c.is_ascii_digit() {
                let length = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
                let word = &rest[..length];
                let number = match word.strip_prefix("0x") {
                    Some(digits) => i64::from_str_radix(digits, 16),
                    None => word.parse(),
                };
                match number {
                    Ok(number) => (Some(Token::Number(number)), length),
                    Err(_) => {
                        return Err(Box::new(Diagnostic::new(
                            span(length),
                            format!("`{word}` is no number"),
                        )));
                    }
                }
            } else if c.is_alphabetic() || c == '_' {
                let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                (Some(Token::Word(rest[..length].to_owned())), length)
            } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                (Some(Token::Sign(sign)), sign.len())
            } else {
                // Names of tests and lines of generators have all kinds of signs; elsewhere they are refused by who meets them.
                (Some(Token::Word(c.to_string())), c.len_utf8())
            };
            if let Some(token) = token {
                tokens.push((token, span(length)));
            }
            for (offset, _) in rest[..length].match_indices('\n') {
                line += 1;
                line_start = at + offset + 1;
            }
            at += length;
        }
        let end = Span { start: at as u32, end: at as u32, line, column: 1, end_line: line };
        tokens.push((Token::End, end));
        Ok(Tokens { tokens, at: 0 })
    }

    pub fn token(&self) -> &Token {
        &self.tokens[self.at].0
    }

    pub fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    pub fn next(&mut self) -> (Token, Span) {
        let token = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    pub fn is(&self, sign: &str) -> bool {
        matches!(self.token(), Token::Sign(s) if *s == sign)
    }

    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.token(), Token::Word(w) if w == word)
    }

    /// Whether a sign comes after the next token.
    pub fn follows(&self, sign: &str) -> bool {
        matches!(self.tokens.get(self.at + 1), Some((Token::Sign(s), _)) if *s == sign)
    }

    pub fn take(&mut self, sign: &str) -> bool {
        let is = self.is(sign);
        if is {
            self.next();
        }
        is
    }

    pub fn wrong(&self, message: impl Into<String>) -> Box<Diagnostic> {
        Box::new(Diagnostic::new(self.span(), message))
    }

    pub fn expect(&mut self, sign: &str) -> Outcome<()> {
        if self.take(sign) { Ok(()) } else { Err(self.wrong(format!("expected `{sign}`"))) }
    }

    pub fn word(&mut self, what: &str) -> Outcome<(String, Span)> {
        match self.token().clone() {
            Token::Word(word) => {
                let span = self.span();
                self.next();
                Ok((word, span))
            }
            _ => Err(self.wrong(format!("expected {what}"))),
        }
    }

    pub fn signed_number(&mut self) -> Outcome<i64> {
        let negative = self.take("-");
        match self.token().clone() {
            Token::Number(number) => {
                self.next();
                Ok(if negative { -number } else { number })
            }
            _ => Err(self.wrong("expected a number")),
        }
    }

    /// Goes to the first token behind a line.
    pub fn skip_line(&mut self, line: u32) {
        while *self.token() != Token::End && self.span().line == line {
            self.next();
        }
    }
}
