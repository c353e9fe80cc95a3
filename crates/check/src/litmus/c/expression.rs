//! Expressions of C tests, as text of the model language, which has C's operators with C's precedence.

use super::{MAX_DEPTH, Reader};
use crate::litmus::Outcome;
use crate::litmus::token::Token;
use lang::{Diagnostic, Span};

/// C's names of memory orders, and ours.
const ORDERS: [(&str, &str); 6] = [
    ("memory_order_relaxed", "relaxed"),
    ("memory_order_acquire", "acquire"),
    ("memory_order_consume", "acquire"),
    ("memory_order_release", "release"),
    ("memory_order_acq_rel", "acq_rel"),
    ("memory_order_seq_cst", "seq_cst"),
];

/// Atomic functions that take a location, a value and an order, with the word of the model language.
const UPDATES: [(&str, &str); 6] = [
    ("atomic_exchange", "exchange"),
    ("atomic_fetch_add", "fetch_add"),
    ("atomic_fetch_sub", "fetch_sub"),
    ("atomic_fetch_and", "fetch_and"),
    ("atomic_fetch_or", "fetch_or"),
    ("atomic_fetch_xor", "fetch_xor"),
];

impl Reader<'_> {
    pub(super) fn expression(&mut self) -> Outcome<String> {
        let mut text = self.operand()?;
        loop {
            let sign = match self.tokens.token() {
                Token::Sign(
                    sign @ ("+" | "-" | "*" | "/" | "%" | "==" | "!=" | "<" | ">" | "<=" | ">=" | "&&" | "||"
                    | "&" | "|" | "^" | "<<" | ">>"),
                ) => *sign,
                _ => return Ok(text),
            };
            self.tokens.next();
            let (span, before) = (self.tokens.span(), self.first.len());
            text = format!("{text} {sign} {}", self.operand()?);
            if ["&&", "||"].contains(&sign) && self.first.len() > before {
                return Err(not_here(span));
            }
        }
    }

    fn operand(&mut self) -> Outcome<String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.tokens.wrong("this is nested too deeply"));
        }
        let text = match self.tokens.token().clone() {
            Token::Number(number) => {
                self.tokens.next();
                number.to_string()
            }
            Token::Sign("(") => {
                self.tokens.next();
                let inner = self.expression()?;
                self.tokens.expect(")")?;
                format!("({inner})")
            }
            Token::Sign(sign @ ("-" | "!" | "~")) => {
                self.tokens.next();
                format!("{sign}{}", self.operand()?)
            }
            Token::Sign("*") => {
                self.tokens.next();
                self.location()?
            }
            Token::Word(word) if self.tokens.follows("(") => {
                self.tokens.next();
                self.tokens.next();
                self.call(&word)?
            }
            Token::Word(word) => {
                if self.pointers.contains(&word) {
                    return Err(self
                        .tokens
                        .wrong(format!("`{word}` is a pointer: write `*{word}` for what it points to")));
                }
                self.tokens.next();
                self.thread.registers.insert(word.clone());
                word
            }
            _ => return Err(self.tokens.wrong("expected an expression")),
        };
        self.depth -= 1;
        Ok(text)
    }

    /// A shared variable, by its pointer.
    pub(super) fn location(&mut self) -> Outcome<String> {
        let bracket = self.tokens.take("(");
        let _ = self.tokens.take("&");
        let (name, span) = self.tokens.word("a shared variable")?;
        if bracket {
            self.tokens.expect(")")?;
        }
        if !self.pointers.contains(&name) {
            let message = format!("`{name}` is no parameter of the thread");
            return Err(Box::new(Diagnostic::new(span, message)));
        }
        Ok(name)
    }

    fn order(&mut self) -> Outcome<&'static str> {
        let (word, span) = self.tokens.word("a memory order")?;
        match ORDERS.iter().find(|(name, _)| *name == word) {
            Some((_, order)) => Ok(order),
            None => Err(Box::new(Diagnostic::new(span, format!("`{word}` is no memory order")))),
        }
    }

    /// A comma and an order, if the function takes one.
    fn given_order(&mut self, explicit: bool) -> Outcome<&'static str> {
        if !explicit {
            return Ok("seq_cst");
        }
        self.tokens.expect(",")?;
        self.order()
    }

    /// A call of an atomic function, behind its parenthesis.
    fn call(&mut self, name: &str) -> Outcome<String> {
        let (base, explicit) = match name.strip_suffix("_explicit") {
            Some(base) => (base, true),
            None => (name, false),
        };
        let text = match base {
            "atomic_thread_fence" => match self.order()? {
                "relaxed" => String::new(),
                order => format!("fence({order})"),
            },
            "atomic_load" => {
                let location = self.location()?;
                format!("load({location}, {})", self.given_order(explicit)?)
            }
            "atomic_store" => {
                let (location, value) = self.location_and_value()?;
                format!("store({location}, {value}, {})", self.given_order(explicit)?)
            }
            "atomic_compare_exchange_strong" => self.compare_exchange("compare_exchange", explicit)?,
            "atomic_compare_exchange_weak" => self.compare_exchange("compare_exchange_weak", explicit)?,
            _ => {
                let Some((_, word)) = UPDATES.iter().find(|(known, _)| *known == base) else {
                    let message = format!("the function `{name}` is not known");
                    return Err(Box::new(Diagnostic::new(self.tokens.span(), message).help(
                        "atomic_load, atomic_store, atomic_exchange, atomic_compare_exchange_strong and _weak, atomic_fetch_*, all also with \
                         _explicit, and atomic_thread_fence are",
                    )));
                };
                let (location, value) = self.location_and_value()?;
                format!("{word}({location}, {value}, {})", self.given_order(explicit)?)
            }
        };
        self.tokens.expect(")")?;
        Ok(text)
    }

    fn location_and_value(&mut self) -> Outcome<(String, String)> {
        let location = self.location()?;
        self.tokens.expect(",")?;
        Ok((location, self.expression()?))
    }

    /// `x, &local, new` or, as herd has it, `x, y, new`, where y is shared: it is read before, and written if the exchange fails, both
    /// without atomicity.
    fn compare_exchange(&mut self, word: &str, explicit: bool) -> Outcome<String> {
        let span = self.tokens.span();
        let location = self.location()?;
        self.tokens.expect(",")?;
        let is_local = self.tokens.take("&");
        let (expected, at) = self.tokens.word("what is expected: `&local`, or a shared variable")?;
        let is_shared = self.pointers.contains(&expected);
        if !is_local && !is_shared {
            let message =
                format!("`{expected}` is no parameter of the thread; a local is written `&{expected}`");
            return Err(Box::new(Diagnostic::new(at, message)));
        }
        self.tokens.expect(",")?;
        let new = self.expression()?;
        let success = self.given_order(explicit)?;
        let failure = self.given_order(explicit)?;
        let call = |local: &str| format!("{word}({location}, {local}, {new}, {success}, {failure})");
        if !is_shared {
            self.thread.registers.insert(expected.clone());
            return Ok(call(&expected));
        }
        let (seen, done) = (format!("expected{}", self.helpers), format!("exchanged{}", self.helpers));
        self.helpers += 1;
        self.thread.registers.extend([seen.clone(), done.clone()]);
        let lines = [
            format!("{seen} = {expected};"),
            format!("{done} = {};", call(&seen)),
            // It is no branch of the test.
            format!("if (!{done})"),
        ];
        let [read, exchange, if_failed] = lines;
        self.first.extend([
            (read, span),
            (exchange, span),
            (if_failed, Span::default()),
            (format!("{expected} = {seen};"), span),
        ]);
        Ok(done)
    }

    /// Where nothing can be put first, nothing may have to be.
    pub(super) fn nothing_first(&mut self, span: Span) -> Outcome<()> {
        if self.first.is_empty() { Ok(()) } else { Err(not_here(span)) }
    }
}

fn not_here(span: Span) -> Box<Diagnostic> {
    let message = "a compare-and-exchange whose expected value is shared is not supported here";
    let help = "do it in a statement of its own before, or give it a local: `&expected`";
    Box::new(Diagnostic::new(span, message).help(help))
}
