//! Words and signs of models.

use lang::{Diagnostic, Span};

/// A token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Token {
    Word(String),
    Text(String),
    Sign(&'static str),
    End,
}

/// Longest source that is read.
const MAX_SOURCE: usize = 1 << 20;

const SIGNS: [&str; 18] =
    ["^-1", "^+", "^*", "++", "|", "&", "\\", ";", "*", "+", "?", "~", "(", ")", "[", "]", ",", "="];

/// Splits a source into tokens.
pub fn tokens(source: &str) -> Result<Vec<(Token, Span)>, Vec<Diagnostic>> {
    if source.len() > MAX_SOURCE {
        return Err(vec![Diagnostic::new(Span::default(), "a model has at most 1 MiB")]);
    }
    let mut tokens = vec![];
    let mut at = Cursor { source, at: 0, line: 1, column: 1 };
    loop {
        at.skip_blanks()?;
        let start = at.clone();
        let rest = at.rest();
        let Some(first) = rest.chars().next() else {
            tokens.push((Token::End, start.span(&at)));
            return Ok(tokens);
        };
        let token = if first == '"' {
            let Some(end) = rest[1..].find('"') else {
                at.advance(1);
                return Err(vec![Diagnostic::new(start.span(&at), "this text has no end")]);
            };
            at.advance(end + 2);
            Token::Text(rest[1..=end].to_owned())
        } else if first == '_' && !rest[1..].starts_with(is_part) {
            at.advance(1);
            Token::Sign("_")
        } else if first.is_alphabetic() || first == '_' || first.is_ascii_digit() {
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            at.advance(end);
            Token::Word(rest[..end].to_owned())
        } else if rest.starts_with('{') && rest[1..].trim_start().starts_with('}') {
            at.advance(rest.find('}').unwrap_or(0) + 1);
            Token::Word("0".to_owned())
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            at.advance(sign.len());
            Token::Sign(sign)
        } else {
            at.advance(first.len_utf8());
            return Err(vec![Diagnostic::new(start.span(&at), format!("`{first}` is not understood here"))]);
        };
        tokens.push((token, start.span(&at)));
    }
}

/// Whether a character is part of a name.
fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '\'')
}

#[derive(Clone)]
struct Cursor<'s> {
    source: &'s str,
    at: usize,
    line: u32,
    column: u32,
}

impl<'s> Cursor<'s> {
    fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    fn advance(&mut self, bytes: usize) {
        for c in self.source[self.at..self.at + bytes].chars() {
            match c {
                '\n' => (self.line, self.column) = (self.line + 1, 1),
                _ => self.column += 1,
            }
        }
        self.at += bytes;
    }

    fn span(&self, end: &Cursor<'_>) -> Span {
        Span {
            start: self.at as u32,
            end: end.at as u32,
            line: self.line,
            column: self.column,
            end_line: end.line,
        }
    }

    /// Blanks and comments, `(* … *)`, which nest, and `// …`.
    fn skip_blanks(&mut self) -> Result<(), Vec<Diagnostic>> {
        loop {
            let rest = self.rest();
            let blanks = rest.len() - rest.trim_start().len();
            if blanks > 0 {
                self.advance(blanks);
            } else if rest.starts_with("//") {
                self.advance(rest.find('\n').unwrap_or(rest.len()));
            } else if rest.starts_with("(*") {
                let start = self.clone();
                let mut depth = 0;
                loop {
                    let rest = self.rest();
                    if rest.starts_with("(*") {
                        depth += 1;
                        self.advance(2);
                    } else if rest.starts_with("*)") {
                        depth -= 1;
                        self.advance(2);
                        if depth == 0 {
                            break;
                        }
                    } else if let Some(c) = rest.chars().next() {
                        self.advance(c.len_utf8());
                    } else {
                        let mut end = start.clone();
                        end.advance(2);
                        return Err(vec![Diagnostic::new(start.span(&end), "this comment has no end")]);
                    }
                }
            } else {
                return Ok(());
            }
        }
    }
}
