//! Litmus tests in herd's format, for C and for x86, as model programs.
//!
//! A test is translated to the model language, line for line, compiled by `lang`, and its positions are put back: so there is one
//! front end, and messages still point into the litmus file. Shared variables are 32-bit integers; registers are locals of
//! their thread, which is called `P0`, `P1` and so on.

mod c;
mod condition;
mod jumps;
mod token;
mod x86;

use ir::{Position, Program};
use lang::{Diagnostic, Span};
use std::collections::{BTreeMap, BTreeSet};
use token::{Token, Tokens};

/// Reads a litmus test; its loops go round so often.
///
/// # Errors
/// With all that is not understood, at its place.
pub fn program(source: &str, path: &str, loop_bound: u32) -> Result<Program, Vec<Diagnostic>> {
    let test = read(source).map_err(|error| vec![*error])?;
    let text: String = test.lines.iter().map(|(line, _)| format!("{line}\n")).collect();
    let options = lang::LowerOptions { name: path.to_owned(), path: path.to_owned(), loop_bound };
    let mut program = lang::compile(&text, &options).map_err(|errors| {
        // The translation is well formed unless the test itself is not: two declarations of a name, a value that does not fit.
        errors.into_iter().map(|error| test.back(error)).collect::<Vec<_>>()
    })?;
    for block in program.functions.iter_mut().flat_map(|function| &mut function.blocks) {
        block.position = block.position.and_then(|at| test.position(at));
        for instruction in &mut block.instructions {
            instruction.position = instruction.position.and_then(|at| test.position(at));
        }
    }
    Ok(program)
}

type Outcome<T> = Result<T, Box<Diagnostic>>;

/// A line of the model language, with the place that it comes from; none if it stands nowhere in the test.
type Line = (String, Span);

/// A test as a model program.
#[derive(Default)]
struct Test {
    lines: Vec<Line>,
}

impl Test {
    fn line(&mut self, text: impl Into<String>, span: Span) {
        self.lines.push((text.into(), span));
    }

    fn span(&self, line: u32) -> Span {
        self.lines.get((line as usize).saturating_sub(1)).map_or(Span::default(), |(_, span)| *span)
    }

    fn position(&self, at: Position) -> Option<Position> {
        let span = self.span(at.line);
        (span.line != 0).then_some(Position { line: span.line, column: span.column, ..at })
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
    lines: Vec<Line>,
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
    let syntax = match &*word {
        "C" => None,
        "X86" | "x86" => Some(x86::Syntax::Intel),
        "X86_64" | "x86_64" => Some(x86::Syntax::Att),
        other => {
            let message = format!("litmus tests for `{other}` are not read; those for C, X86 and X86_64 are");
            return Err(Box::new(Diagnostic::new(span, message)));
        }
    };
    // A register has several names, and here one.
    let named = |name: String| match syntax {
        None => name,
        Some(syntax) => x86::register(&name, syntax).unwrap_or(name),
    };
    let header = header(&mut tokens, &named)?;
    let (threads, shared) = match syntax {
        None => c::threads(&mut tokens)?,
        Some(syntax) => x86::threads(&mut tokens, syntax)?,
    };
    let question = condition::question(&mut tokens, &named)?;
    Ok(assemble(&header, threads, shared, question, span))
}

/// `{ x=1; 0:EAX=2; int y = 0; atomic_int z = ATOMIC_INIT(3); }`
fn header(tokens: &mut Tokens, named: &dyn Fn(String) -> String) -> Outcome<Header> {
    let mut header = Header::default();
    tokens.expect("{")?;
    while !tokens.take("}") {
        if tokens.take(";") {
            continue;
        }
        let (mut name, mut thread, mut bracket) = (None, None, false);
        // A type may stand before the name.
        loop {
            match tokens.token().clone() {
                Token::Word(word) => {
                    tokens.next();
                    name = Some(word);
                }
                Token::Number(number) if tokens.follows(":") => {
                    tokens.next();
                    tokens.next();
                    thread = Some(number as usize);
                }
                Token::Sign("[") if !bracket => {
                    tokens.next();
                    bracket = true;
                }
                _ => break,
            }
        }
        let Some(name) = name else { return Err(tokens.wrong("expected a variable")) };
        if bracket {
            tokens.expect("]")?;
        }
        let value = match tokens.take("=") {
            true => initial(tokens)?,
            false => 0,
        };
        match thread {
            Some(thread) => header.registers.insert((thread, named(name)), value),
            None => header.shared.insert(name, value),
        };
        if !tokens.is("}") {
            tokens.expect(";")?;
        }
    }
    Ok(header)
}

/// A number, perhaps as `ATOMIC_INIT(1)`.
fn initial(tokens: &mut Tokens) -> Outcome<i64> {
    if !matches!(tokens.token(), Token::Word(_)) || !tokens.follows("(") {
        return tokens.signed_number();
    }
    tokens.next();
    tokens.next();
    let number = tokens.signed_number()?;
    tokens.expect(")")?;
    Ok(number)
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
