//! One line of the text form, as tokens on demand, with one token of look-ahead.
//!
//! Nothing here depends on more than the line, so memory is bounded by its length, whatever it holds.

use super::ParseError;
use super::name::{is_name, is_name_start};
use crate::Width;
use std::borrow::Cow;

/// A piece of a line.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token<'t> {
    /// A bare word.
    Word(&'t str),
    /// A quoted text, without quotes and escapes.
    Text(Cow<'t, str>),
    /// `%3`, or `%3:a` where it is defined.
    Value(u32, Option<Cow<'t, str>>),
    /// `@x` or `@x#3`.
    Global(Cow<'t, str>, Option<u32>),
    /// `$f` or `$f#3`.
    Function(Cow<'t, str>, Option<u32>),
    /// `#3`.
    Shape(u32),
    /// `!0`.
    File(u32),
    /// `!0:4:5`.
    Position(u32, u32, u32),
    /// `!t1`.
    Label(Cow<'t, str>),
    /// `5`, `-5`, `5i32`, `0x1fi8`.
    Number(Number),
    /// Anything that stands for itself; `->` is `>`.
    Mark(char),
    /// Nothing more on this line.
    End,
}

/// A number, perhaps with a width.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Number {
    pub(super) negative: bool,
    pub(super) magnitude: u128,
    pub(super) width: Option<Width>,
    pub(super) hex: bool,
}

/// A line that is being read.
pub(super) struct Line<'t> {
    text: &'t str,
    number: u32,
    /// Where the next character stands, in bytes.
    at: usize,
    /// The next token and where it starts.
    token: Token<'t>,
    start: usize,
}

impl<'t> Line<'t> {
    pub(super) fn new(text: &'t str, number: u32) -> Result<Line<'t>, ParseError> {
        let mut line = Line { text, number, at: 0, token: Token::End, start: 0 };
        line.advance()?;
        Ok(line)
    }

    /// The next token.
    pub(super) fn peek(&self) -> &Token<'t> {
        &self.token
    }

    /// Takes the next token.
    pub(super) fn take(&mut self) -> Result<Token<'t>, ParseError> {
        let token = self.token.clone();
        self.advance()?;
        Ok(token)
    }

    /// An error at the next token: `what` should stand there.
    pub(super) fn expected(&self, what: &str) -> ParseError {
        let found = match &self.text[self.start..self.at] {
            "" => "the end of the line".to_owned(),
            found if found.chars().count() > 40 => {
                format!("`{}…`", found.chars().take(40).collect::<String>())
            }
            found => format!("`{found}`"),
        };
        self.error_at(self.start, format!("expected {what}, found {found}"))
    }

    /// An error at the next token.
    pub(super) fn error(&self, message: String) -> ParseError {
        self.error_at(self.start, message)
    }

    fn error_at(&self, at: usize, message: String) -> ParseError {
        let column = self.text[..at].chars().count() as u32 + 1;
        ParseError { line: self.number, column, message }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Takes `mark` if it comes next.
    fn accept(&mut self, mark: char) -> bool {
        let found = self.rest().starts_with(mark);
        if found {
            self.at += mark.len_utf8();
        }
        found
    }

    fn advance(&mut self) -> Result<(), ParseError> {
        self.at += self.rest().len() - self.rest().trim_start().len();
        self.start = self.at;
        let Some(first) = self.rest().chars().next() else {
            self.token = Token::End;
            return Ok(());
        };
        self.token = match first {
            ';' => {
                self.at = self.text.len();
                self.start = self.at;
                Token::End
            }
            '"' => Token::Text(self.quoted()?),
            '%' => {
                self.at += 1;
                let number = self.small("the number of a value")?;
                let name = if self.accept(':') { Some(self.sigil_name()?) } else { None };
                Token::Value(number, name)
            }
            '@' => {
                self.at += 1;
                Token::Global(self.sigil_name()?, self.which()?)
            }
            '$' => {
                self.at += 1;
                Token::Function(self.sigil_name()?, self.which()?)
            }
            '#' => {
                self.at += 1;
                Token::Shape(self.small("the number of a shape")?)
            }
            '!' => self.label_or_position()?,
            '-' if self.rest().starts_with("->") => {
                self.at += 2;
                Token::Mark('>')
            }
            '-' | '0'..='9' => Token::Number(self.number()?),
            c if is_name_start(c) => Token::Word(self.word()),
            c => {
                self.at += c.len_utf8();
                Token::Mark(c)
            }
        };
        Ok(())
    }

    fn word(&mut self) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// A name behind a sigil.
    fn sigil_name(&mut self) -> Result<Cow<'t, str>, ParseError> {
        match self.rest().chars().next() {
            Some('"') => self.quoted(),
            Some(c) if is_name_start(c) => Ok(Cow::Borrowed(self.word())),
            _ => Err(self.error_at(self.at, "expected a name, or a name in quotes".into())),
        }
    }

    /// `#3` behind a name that is not the only one of its kind.
    fn which(&mut self) -> Result<Option<u32>, ParseError> {
        if self.accept('#') { self.small("a number").map(Some) } else { Ok(None) }
    }

    fn label_or_position(&mut self) -> Result<Token<'t>, ParseError> {
        self.at += 1;
        if !self.rest().starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(Token::Label(self.sigil_name()?));
        }
        let file = self.small("a file's number")?;
        if !self.accept(':') {
            return Ok(Token::File(file));
        }
        let line = self.small("a line")?;
        if !self.accept(':') {
            return Err(self.error_at(self.at, "expected `:` and a column".into()));
        }
        Ok(Token::Position(file, line, self.small("a column")?))
    }

    /// Digits that make a `u32`.
    fn small(&mut self, what: &str) -> Result<u32, ParseError> {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let number = rest[..end]
            .parse()
            .map_err(|_| self.error_at(self.at, format!("expected {what} (digits, less than 4294967296)")))?;
        self.at += end;
        Ok(number)
    }

    fn number(&mut self) -> Result<Number, ParseError> {
        let negative = self.accept('-');
        let hex = self.rest().starts_with("0x");
        let radix = if hex { 16 } else { 10 };
        self.at += if hex { 2 } else { 0 };
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_digit(radix)).unwrap_or(rest.len());
        let magnitude = u128::from_str_radix(&rest[..end], radix)
            .map_err(|_| self.error_at(self.start, "expected a number of at most 128 bits".into()))?;
        self.at += end;
        let mut width = None;
        if self.accept('i') {
            let at = self.at;
            let bits = self.small("a width")?;
            width = u8::try_from(bits).ok().and_then(Width::new);
            if width.is_none() {
                return Err(self.error_at(at, format!("an integer of {bits} bits; widths are 1 to 128")));
            }
        }
        Ok(Number { negative, magnitude, width, hex })
    }

    /// A text in quotes; copied only if it has escapes.
    fn quoted(&mut self) -> Result<Cow<'t, str>, ParseError> {
        self.at += 1;
        let open = self.at;
        let mut unescaped: Option<String> = None;
        loop {
            let rest = self.rest();
            let Some(special) = rest.find(['"', '\\']) else {
                return Err(self.error_at(open - 1, "this quote is never closed".into()));
            };
            if let Some(text) = &mut unescaped {
                text.push_str(&rest[..special]);
            }
            self.at += special + 1;
            if rest.as_bytes()[special] == b'"' {
                let plain = &self.text[open..self.at - 1];
                return Ok(unescaped.map_or(Cow::Borrowed(plain), Cow::Owned));
            }
            let text = unescaped.get_or_insert_with(|| self.text[open..self.at - 1].to_owned());
            let escape = self.rest().chars().next();
            let character = match escape {
                Some('n') => Some('\n'),
                Some('t') => Some('\t'),
                Some(c @ ('"' | '\\')) => Some(c),
                Some('u') => unicode(self.rest()),
                _ => None,
            };
            let Some(character) = character else {
                return Err(self.error_at(self.at - 1, "expected \\n, \\t, \\\", \\\\ or \\u{…}".into()));
            };
            text.push(character);
            self.at += 1;
            if escape == Some('u') {
                // `unicode` has seen the closing brace.
                self.at += self.rest().find('}').map_or(0, |end| end + 1);
            }
        }
    }
}

/// The character of `u{1f}…`.
fn unicode(rest: &str) -> Option<char> {
    let digits = rest.strip_prefix("u{")?;
    // Not further: a line of many escapes that are never closed must not take long.
    let end = digits.bytes().take(9).position(|byte| byte == b'}')?;
    char::from_u32(u32::from_str_radix(&digits[..end], 16).ok()?)
}
