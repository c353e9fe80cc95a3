//! Litmus tests in herd's format, for C and for x86, as model programs.
//!
//! A test is translated to the model language, line for line, compiled by `lang`, and its positions are put back: so there is one
//! front end, and messages still point into the litmus file. Shared variables are 32-bit integers; registers are locals of
//! their thread, which is called `P0`, `P1` and so on.

mod c;
mod condition;
mod token;
mod x86;

use ir::{Position, Program};
use lang::{Diagnostic, Span};
use std::collections::{BTreeMap, BTreeSet};
use token::{Token, Tokens};

/// Reads a litmus test.
///
/// # Errors
/// With all that is not understood, at its place.
pub fn program(source: &str, path: &str) -> Result<Program, Vec<Diagnostic>> {
    let test = read(source).map_err(|error| vec![*error])?;
    let text: String = test.lines.iter().map(|(line, _)| format!("{line}\n")).collect();
    let options = lang::LowerOptions { name: path.to_owned(), path: path.to_owned(), ..Default::default() };
    let mut program = lang::compile(&text, &options).map_err(|errors| {
        // The translation is well formed unless the test itself is not: two declarations of a name, a value that does not fit.
        errors.into_iter().map(|error| test.back(error)).collect::<Vec<_>>()
    })?;
    for block in program.functions.iter_mut().flat_map(|function| &mut function.blocks) {
        block.position = block.position.map(|at| test.position(at));
        for instruction in &mut block.instructions {
            instruction.position = instruction.position.map(|at| test.position(at));
        }
    }
    Ok(program)
}

type Outcome<T> = Result<T, Box<Diagnostic>>;

/// A test as a model program: each line with the place that it comes from.
#[derive(Default)]
struct Test {
    lines: Vec<(String, Span)>,
}

impl Test {
    fn line(&mut self, text: impl Into<String>, span: Span) {
        self.lines.push((text.into(), span));
    }

    fn span(&self, line: u32) -> Span {
        self.lines.get((line as usize).saturating_sub(1)).map_or(Span::default(), |(_, span)| *span)
    }

    fn position(&self, at: Position) -> Position {
        let span = self.span(at.line);
        Position { line: span.line, column: span.column, ..at }
    }

    fn back(&self, error: Diagnostic) -> Diagnostic {
        Diagnostic::new(self.span(error.span.line), error.message)
    }
}

/// What stands before the threads: initial values.
#[derive(Default)]
struct Header {
    /// Of shared variables.
    shared: BTreeMap<String, i64>,
    /// Of registers, by thread.
    registers: BTreeMap<(usize, String), i64>,
}

/// What a thread has been translated to.
#[derive(Default)]
struct Thread {
    lines: Vec<(String, Span)>,
    registers: BTreeSet<String>,
}

fn read(source: &str) -> Outcome<Test> {
    let mut tokens = Tokens::new(source)?;
    let (word, span) = tokens.word("the architecture: C or X86")?;
    // The name of the test is the rest of the line, and a comment in quotes may follow.
    tokens.skip_line(span.line);
    while matches!(tokens.token(), Token::Text(_)) {
        tokens.next();
    }
    while !tokens.is("{") {
        // Lines such as `Cycle=…` that generators write.
        if *tokens.token() == Token::End {
            return Err(tokens.wrong("expected the initial state in braces"));
        }
        let line = tokens.span().line;
        tokens.skip_line(line);
    }
    let header = header(&mut tokens)?;
    let (threads, shared) = match &*word {
        "C" => c::threads(&mut tokens)?,
        "X86" | "X86_64" | "x86" => x86::threads(&mut tokens)?,
        other => {
            let error = Diagnostic::new(
                span,
                format!("litmus tests for `{other}` are not read; those for C and X86 are"),
            );
            return Err(Box::new(error));
        }
    };
    let question = condition::question(&mut tokens)?;
    Ok(assemble(&header, threads, shared, question, span))
}

/// `{ x=1; 0:EAX=2; int y = 0; }`
fn header(tokens: &mut Tokens) -> Outcome<Header> {
    let mut header = Header::default();
    tokens.expect("{")?;
    while !tokens.take("}") {
        if tokens.take(";") {
            continue;
        }
        let thread = match tokens.token().clone() {
            Token::Number(number) if tokens.follows(":") => {
                tokens.next();
                tokens.next();
                Some(number as usize)
            }
            _ => None,
        };
        let bracket = tokens.take("[");
        let (mut name, _) = tokens.word("a variable")?;
        // A type may stand before the name.
        while let Token::Word(next) = tokens.token().clone() {
            tokens.next();
            name = next;
        }
        if bracket {
            tokens.expect("]")?;
        }
        let value = if tokens.take("=") { tokens.signed_number()? } else { 0 };
        match thread {
            Some(thread) => header.registers.insert((thread, name), value),
            None => header.shared.insert(name, value),
        };
        if !tokens.is("}") {
            tokens.expect(";")?;
        }
    }
    Ok(header)
}

fn assemble(
    header: &Header,
    threads: Vec<Thread>,
    shared: BTreeSet<String>,
    question: condition::Question,
    span: Span,
) -> Test {
    let mut test = Test::default();
    let mut names: BTreeSet<&str> = shared.iter().map(|name| &**name).collect();
    names.extend(header.shared.keys().map(|name| &**name));
    names.extend(question.shared.iter().map(|name| &**name));
    for name in names {
        let value = header.shared.get(name).copied().unwrap_or(0);
        test.line(format!("int {name} = {value};"), span);
    }
    for (t, thread) in threads.into_iter().enumerate() {
        test.line(format!("thread P{t} {{"), span);
        let asked = question.registers.iter().filter(|(own, _)| *own == t).map(|(_, name)| name.clone());
        let registers: BTreeSet<String> = thread.registers.into_iter().chain(asked).collect();
        for register in registers {
            let value = header.registers.get(&(t, register.clone())).copied().unwrap_or(0);
            test.line(format!("int {register} = {value};"), span);
        }
        for (line, span) in thread.lines {
            test.line(line, span);
        }
        test.line("}", span);
    }
    if let Some(text) = question.text {
        test.line(text, question.span);
    }
    test
}
