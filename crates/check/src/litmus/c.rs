//! Threads of C tests: functions with C11 atomics.

use super::token::{Token, Tokens};
use super::{Outcome, Thread};
use lang::Diagnostic;
use std::collections::BTreeSet;

/// Deepest nesting of statements and expressions.
const MAX_DEPTH: u32 = 100;

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

/// The threads and the shared variables that they name.
pub fn threads(tokens: &mut Tokens) -> Outcome<(Vec<Thread>, BTreeSet<String>)> {
    let (mut threads, mut shared) = (vec![], BTreeSet::new());
    while matches!(tokens.token(), Token::Word(word) if word.starts_with('P') && word[1..].parse::<usize>().is_ok())
    {
        let (name, span) = tokens.word("the name of a thread")?;
        if name != format!("P{}", threads.len()) {
            return Err(Box::new(Diagnostic::new(span, format!("expected P{}", threads.len()))));
        }
        let pointers = parameters(tokens)?;
        shared.extend(pointers.iter().cloned());
        let mut reader = Reader { tokens, pointers, thread: Thread::default(), depth: 0 };
        reader.tokens.expect("{")?;
        while !reader.tokens.take("}") {
            reader.statement()?;
        }
        threads.push(reader.thread);
    }
    if threads.is_empty() {
        return Err(tokens.wrong("expected a thread: P0 (…) { … }"));
    }
    Ok((threads, shared))
}

/// `(atomic_int* x, volatile int *y)`: the names.
fn parameters(tokens: &mut Tokens) -> Outcome<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    tokens.expect("(")?;
    let mut last = None;
    loop {
        match tokens.next() {
            (Token::Word(word), _) => last = Some(word),
            (Token::Sign("*"), _) => {}
            (Token::Sign(","), _) => names.extend(last.take()),
            (Token::Sign(")"), _) => {
                names.extend(last.take());
                names.remove("void");
                return Ok(names);
            }
            (_, span) => return Err(Box::new(Diagnostic::new(span, "expected a parameter"))),
        }
    }
}

struct Reader<'t> {
    tokens: &'t mut Tokens,
    /// The parameters: pointers to shared variables.
    pointers: BTreeSet<String>,
    thread: Thread,
    depth: u32,
}

impl Reader<'_> {
    fn statement(&mut self) -> Outcome<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.tokens.wrong("this is nested too deeply"));
        }
        let span = self.tokens.span();
        if self.tokens.take(";") {
            self.depth -= 1;
            return Ok(());
        }
        if self.tokens.take("{") {
            self.thread.lines.push(("{".to_owned(), span));
            while !self.tokens.take("}") {
                self.statement()?;
            }
            self.thread.lines.push(("}".to_owned(), span));
            self.depth -= 1;
            return Ok(());
        }
        match self.tokens.token().clone() {
            Token::Word(word) if word == "if" => {
                self.tokens.next();
                self.tokens.expect("(")?;
                let condition = self.expression()?;
                self.tokens.expect(")")?;
                self.thread.lines.push((format!("if ({condition})"), span));
                self.thread.lines.push(("{".to_owned(), span));
                self.statement()?;
                self.thread.lines.push(("}".to_owned(), span));
                if self.tokens.is_word("else") {
                    self.tokens.next();
                    self.thread.lines.push(("else {".to_owned(), span));
                    self.statement()?;
                    self.thread.lines.push(("}".to_owned(), span));
                }
            }
            Token::Word(word) if ["while", "for", "do", "goto", "switch", "return"].contains(&&*word) => {
                return Err(self.tokens.wrong(format!("`{word}` is not supported in litmus tests")));
            }
            Token::Word(word) if ["int", "atomic_int", "unsigned", "long"].contains(&&*word) => {
                self.tokens.next();
                let (name, _) = self.tokens.word("the name of a local")?;
                self.thread.registers.insert(name.clone());
                if self.tokens.take("=") {
                    let value = self.expression()?;
                    self.thread.lines.push((format!("{name} = {value};"), span));
                }
                self.tokens.expect(";")?;
            }
            Token::Sign("*") => {
                self.tokens.next();
                let name = self.location()?;
                self.tokens.expect("=")?;
                let value = self.expression()?;
                self.thread.lines.push((format!("{name} = {value};"), span));
                self.tokens.expect(";")?;
            }
            Token::Word(name) if self.tokens.follows("=") => {
                self.tokens.next();
                self.tokens.next();
                if self.pointers.contains(&name) {
                    let message = format!("`{name}` is a pointer: write `*{name} = …`");
                    return Err(Box::new(Diagnostic::new(span, message)));
                }
                self.thread.registers.insert(name.clone());
                let value = self.expression()?;
                self.thread.lines.push((format!("{name} = {value};"), span));
                self.tokens.expect(";")?;
            }
            _ => {
                let value = self.expression()?;
                self.thread.lines.push((format!("{value};"), span));
                self.tokens.expect(";")?;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn expression(&mut self) -> Outcome<String> {
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
            text = format!("{text} {sign} {}", self.operand()?);
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
    fn location(&mut self) -> Outcome<String> {
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

    /// A call of an atomic function, behind its parenthesis.
    fn call(&mut self, name: &str) -> Outcome<String> {
        let (base, explicit) = match name.strip_suffix("_explicit") {
            Some(base) => (base, true),
            None => (name, false),
        };
        let order = |reader: &mut Self| -> Outcome<&'static str> {
            if !explicit {
                return Ok("seq_cst");
            }
            reader.tokens.expect(",")?;
            reader.order()
        };
        let text = match base {
            "atomic_thread_fence" => format!("fence({})", self.order()?),
            "atomic_load" => {
                let location = self.location()?;
                format!("load({location}, {})", order(self)?)
            }
            "atomic_store" => {
                let location = self.location()?;
                self.tokens.expect(",")?;
                let value = self.expression()?;
                format!("store({location}, {value}, {})", order(self)?)
            }
            _ => {
                let Some((_, word)) = UPDATES.iter().find(|(known, _)| *known == base) else {
                    let message = format!("the function `{name}` is not known");
                    return Err(Box::new(Diagnostic::new(self.tokens.span(), message).help(
                        "atomic_load, atomic_store, atomic_exchange, atomic_fetch_*, all also with _explicit, and atomic_thread_fence are",
                    )));
                };
                let location = self.location()?;
                self.tokens.expect(",")?;
                let value = self.expression()?;
                format!("{word}({location}, {value}, {})", order(self)?)
            }
        };
        self.tokens.expect(")")?;
        Ok(text)
    }
}
