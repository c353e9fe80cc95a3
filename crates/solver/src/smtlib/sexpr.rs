//! S-expressions with line numbers.

use crate::error::{Error, Result};

/// An atom or a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sexpr {
    pub(super) line: usize,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Atom(String),
    List(Vec<Sexpr>),
}

impl Sexpr {
    pub(super) fn atom(&self) -> Option<&str> {
        match &self.kind {
            Kind::Atom(text) => Some(text),
            Kind::List(_) => None,
        }
    }

    pub(super) fn list(&self) -> Option<&[Sexpr]> {
        match &self.kind {
            Kind::List(items) => Some(items),
            Kind::Atom(_) => None,
        }
    }

    pub(super) fn error<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(Error::Parse { line: self.line, message: message.into() })
    }
}

/// Lists nested deeper than this are refused: readers of terms recurse.
const DEPTH: usize = 2000;

/// Splits a text into its top-level expressions.
pub(super) fn parse(text: &str) -> Result<Vec<Sexpr>> {
    let mut open: Vec<(usize, Vec<Sexpr>)> = Vec::new();
    let mut top = Vec::new();
    let mut line = 1;
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        let mut done = None;
        match c {
            '\n' => line += 1,
            c if c.is_whitespace() => {}
            ';' => while chars.next_if(|&(_, c)| c != '\n').is_some() {},
            '(' => {
                if open.len() >= DEPTH {
                    return Err(Error::Parse { line, message: "nested too deeply".into() });
                }
                open.push((line, Vec::new()));
            }
            ')' => match open.pop() {
                Some((line, items)) => done = Some(Sexpr { line, kind: Kind::List(items) }),
                None => return Err(Error::Parse { line, message: "a closing parenthesis too many".into() }),
            },
            '|' | '"' => {
                let begin = line;
                let mut end = None;
                for (i, d) in chars.by_ref() {
                    line += usize::from(d == '\n');
                    if d == c {
                        end = Some(i);
                        break;
                    }
                }
                let Some(end) = end else {
                    return Err(Error::Parse { line: begin, message: format!("no closing {c}") });
                };
                done = Some(Sexpr { line: begin, kind: Kind::Atom(text[start + 1..end].to_string()) });
            }
            _ => {
                let mut end = start + c.len_utf8();
                while let Some((i, d)) = chars.next_if(|&(_, d)| !d.is_whitespace() && !"();|\"".contains(d))
                {
                    end = i + d.len_utf8();
                }
                done = Some(Sexpr { line, kind: Kind::Atom(text[start..end].to_string()) });
            }
        }
        if let Some(item) = done {
            match open.last_mut() {
                Some((_, items)) => items.push(item),
                None => top.push(item),
            }
        }
    }
    match open.pop() {
        Some((line, _)) => Err(Error::Parse { line, message: "no closing parenthesis".into() }),
        None => Ok(top),
    }
}
