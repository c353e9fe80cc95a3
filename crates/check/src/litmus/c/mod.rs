//! Threads of C tests: functions with C11 atomics.
//!
//! Statements become statements of the model language, expressions are in [`expression`]. Loops are followed as far as their bound; `do` and
//! `for` become `while`.

mod expression;

use super::token::{Token, Tokens};
use super::{Line, Outcome, Thread};
use lang::{Diagnostic, Span};
use std::collections::BTreeSet;

/// Deepest nesting of statements and expressions.
const MAX_DEPTH: u32 = 100;

/// Types of locals; all of them are 32-bit integers here.
const TYPES: [&str; 12] = [
    "int",
    "atomic_int",
    "unsigned",
    "signed",
    "long",
    "short",
    "const",
    "volatile",
    "bool",
    "_Bool",
    "int32_t",
    "uint32_t",
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
        let mut reader = Reader {
            tokens,
            pointers,
            thread: Thread::default(),
            first: vec![],
            helpers: 0,
            loops: vec![],
            depth: 0,
        };
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

/// What `continue` does in a loop.
enum Continue {
    /// Goes on behind these lines: the step of a `for`.
    After(Vec<Line>),
    /// In a `do` loop it would have to ask the condition first.
    Refused,
}

struct Reader<'t> {
    tokens: &'t mut Tokens,
    /// The parameters: pointers to shared variables.
    pointers: BTreeSet<String>,
    thread: Thread,
    /// What must be done before the statement that is being read.
    first: Vec<Line>,
    /// How many locals of our own there are.
    helpers: u32,
    /// The loops around the statement.
    loops: Vec<Continue>,
    depth: u32,
}

impl Reader<'_> {
    fn line(&mut self, text: impl Into<String>, span: Span) {
        self.thread.lines.push((text.into(), span));
    }

    /// Puts what has to come first, then the line.
    fn with_first(&mut self, text: impl Into<String>, span: Span) {
        self.thread.lines.append(&mut self.first);
        self.line(text, span);
    }

    /// The lines that something makes, not put anywhere.
    fn apart(&mut self, make: impl FnOnce(&mut Self) -> Outcome<()>) -> Outcome<Vec<Line>> {
        let outer = std::mem::take(&mut self.thread.lines);
        let made = make(self);
        let lines = std::mem::replace(&mut self.thread.lines, outer);
        made.map(|()| lines)
    }

    fn statement(&mut self) -> Outcome<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.tokens.wrong("this is nested too deeply"));
        }
        let span = self.tokens.span();
        if self.tokens.take("{") {
            self.line("{", span);
            while !self.tokens.take("}") {
                self.statement()?;
            }
            self.line("}", span);
        } else {
            let word = match self.tokens.token() {
                Token::Word(word) => word.clone(),
                _ => String::new(),
            };
            match &*word {
                "if" => self.if_statement(span)?,
                "while" => self.while_statement(span)?,
                "do" => self.do_statement(span)?,
                "for" => self.for_statement(span)?,
                "break" | "continue" => self.leave(&word, span)?,
                "goto" | "switch" | "return" => {
                    return Err(self.tokens.wrong(format!("`{word}` is not supported in litmus tests")));
                }
                _ => {
                    self.simple()?;
                    self.tokens.expect(";")?;
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// `(condition)`
    fn condition(&mut self) -> Outcome<String> {
        self.tokens.expect("(")?;
        let condition = self.expression()?;
        self.tokens.expect(")")?;
        Ok(condition)
    }

    /// A condition that is asked in every round.
    fn repeated(&mut self) -> Outcome<String> {
        let span = self.tokens.span();
        let condition = self.expression()?;
        self.nothing_first(span)?;
        Ok(condition)
    }

    fn if_statement(&mut self, span: Span) -> Outcome<()> {
        self.tokens.next();
        let condition = self.condition()?;
        self.with_first(format!("if ({condition})"), span);
        self.body(span)?;
        if self.tokens.is_word("else") {
            self.tokens.next();
            self.line("else", span);
            self.body(span)?;
        }
        Ok(())
    }

    fn body(&mut self, span: Span) -> Outcome<()> {
        self.line("{", span);
        self.statement()?;
        self.line("}", span);
        Ok(())
    }

    /// The body of a loop.
    fn rounds(&mut self, span: Span, goes_on: Continue) -> Outcome<()> {
        self.loops.push(goes_on);
        self.body(span)?;
        self.loops.pop();
        Ok(())
    }

    fn while_statement(&mut self, span: Span) -> Outcome<()> {
        self.tokens.next();
        self.tokens.expect("(")?;
        let condition = self.repeated()?;
        self.tokens.expect(")")?;
        self.line(format!("while ({condition})"), span);
        self.rounds(span, Continue::After(vec![]))
    }

    fn do_statement(&mut self, span: Span) -> Outcome<()> {
        self.tokens.next();
        self.line("while (1)", span);
        self.line("{", span);
        self.rounds(span, Continue::Refused)?;
        if !self.tokens.is_word("while") {
            return Err(self.tokens.wrong("expected `while`"));
        }
        let end = self.tokens.span();
        self.tokens.next();
        self.tokens.expect("(")?;
        let condition = self.repeated()?;
        self.tokens.expect(")")?;
        self.tokens.expect(";")?;
        self.line(format!("if (!({condition})) break;"), end);
        self.line("}", span);
        Ok(())
    }

    fn for_statement(&mut self, span: Span) -> Outcome<()> {
        self.tokens.next();
        self.tokens.expect("(")?;
        if !self.tokens.is(";") {
            self.simple()?;
        }
        self.tokens.expect(";")?;
        let condition = if self.tokens.is(";") { "1".to_owned() } else { self.repeated()? };
        self.tokens.expect(";")?;
        let step = match self.tokens.is(")") {
            true => vec![],
            false => self.apart(Reader::simple)?,
        };
        self.tokens.expect(")")?;
        self.line(format!("while ({condition})"), span);
        self.line("{", span);
        self.rounds(span, Continue::After(step.clone()))?;
        self.thread.lines.extend(step);
        self.line("}", span);
        Ok(())
    }

    fn leave(&mut self, word: &str, span: Span) -> Outcome<()> {
        let before = match (self.loops.last(), word) {
            (None, _) => return Err(self.tokens.wrong(format!("`{word}` stands in no loop"))),
            (Some(Continue::Refused), "continue") => {
                return Err(self.tokens.wrong("`continue` in a `do` loop is not supported in litmus tests"));
            }
            (Some(Continue::After(lines)), "continue") => lines.clone(),
            _ => vec![],
        };
        self.tokens.next();
        self.tokens.expect(";")?;
        self.thread.lines.extend(before);
        self.line(format!("{word};"), span);
        Ok(())
    }

    /// A declaration, an assignment, a step or a call, without its semicolon.
    fn simple(&mut self) -> Outcome<()> {
        let span = self.tokens.span();
        match self.tokens.token().clone() {
            Token::Sign(";") => {}
            Token::Word(word) if TYPES.contains(&&*word) => {
                while matches!(self.tokens.token(), Token::Word(word) if TYPES.contains(&&**word)) {
                    self.tokens.next();
                }
                self.declarators(span)?;
            }
            Token::Sign("*") => {
                self.tokens.next();
                let name = self.location()?;
                self.tokens.expect("=")?;
                let value = self.expression()?;
                self.with_first(format!("{name} = {value};"), span);
            }
            Token::Sign(sign @ ("++" | "--")) => {
                self.tokens.next();
                let name = self.local()?;
                self.line(format!("{name}{sign};"), span);
            }
            Token::Word(_) if ["=", "+=", "-=", "++", "--"].iter().any(|sign| self.tokens.follows(sign)) => {
                let name = self.local()?;
                match self.tokens.next() {
                    (Token::Sign(sign @ ("++" | "--")), _) => self.line(format!("{name}{sign};"), span),
                    (Token::Sign(sign), _) => {
                        let value = self.expression()?;
                        self.with_first(format!("{name} {sign} {value};"), span);
                    }
                    _ => {}
                }
            }
            _ => {
                let value = self.expression()?;
                // An exchange whose result is not wanted is done when what comes first is.
                let done = !self.first.is_empty() && self.thread.registers.contains(&value);
                if done {
                    self.thread.lines.append(&mut self.first);
                } else if !value.is_empty() {
                    self.with_first(format!("{value};"), span);
                }
            }
        }
        Ok(())
    }

    /// `r0, r1 = 2`
    fn declarators(&mut self, span: Span) -> Outcome<()> {
        loop {
            if self.tokens.is("*") {
                return Err(self.tokens.wrong("locals that are pointers are not supported in litmus tests"));
            }
            let name = self.local()?;
            if self.tokens.take("=") {
                let value = self.expression()?;
                self.with_first(format!("{name} = {value};"), span);
            }
            if !self.tokens.take(",") {
                return Ok(());
            }
        }
    }

    /// The name of a local.
    fn local(&mut self) -> Outcome<String> {
        let (name, span) = self.tokens.word("the name of a local")?;
        if self.pointers.contains(&name) {
            let message = format!("`{name}` is a pointer: write `*{name} = …`");
            return Err(Box::new(Diagnostic::new(span, message)));
        }
        self.thread.registers.insert(name.clone());
        Ok(name)
    }
}
