//! Threads of x86 tests: a table, one column for each thread.

use super::token::{Token, Tokens};
use super::{Outcome, Thread};
use lang::{Diagnostic, Span};
use std::collections::BTreeSet;

/// An operand of an instruction.
enum Operand {
    Register(String),
    Memory(String),
    Number(i64),
}

/// The threads and the shared variables that they name.
pub fn threads(tokens: &mut Tokens) -> Outcome<(Vec<Thread>, BTreeSet<String>)> {
    let mut threads = vec![];
    loop {
        let (name, span) = tokens.word("the name of a thread")?;
        if name != format!("P{}", threads.len()) {
            return Err(Box::new(Diagnostic::new(span, format!("expected P{}", threads.len()))));
        }
        threads.push(Thread::default());
        if !tokens.take("|") {
            break;
        }
    }
    tokens.expect(";")?;
    let mut shared = BTreeSet::new();
    while !matches!(tokens.token(), Token::End) && !tokens.is("~") && !begins_question(tokens) {
        let count = threads.len();
        for (t, thread) in threads.iter_mut().enumerate() {
            if !tokens.is("|") && !tokens.is(";") {
                instruction(tokens, thread, &mut shared)?;
            }
            tokens.expect(if t + 1 == count { ";" } else { "|" })?;
        }
    }
    Ok((threads, shared))
}

fn begins_question(tokens: &Tokens) -> bool {
    ["exists", "forall", "locations"].iter().any(|word| tokens.is_word(word))
}

fn instruction(tokens: &mut Tokens, thread: &mut Thread, shared: &mut BTreeSet<String>) -> Outcome<()> {
    let (mut word, span) = tokens.word("an instruction")?;
    if word == "LOCK" {
        word = tokens.word("an instruction")?.0;
    }
    let text = match &*word.to_uppercase() {
        "MFENCE" => "fence(seq_cst);".to_owned(),
        "SFENCE" => "fence(release);".to_owned(),
        "LFENCE" => "fence(acquire);".to_owned(),
        "MOV" | "MOVL" | "MOVQ" => {
            let (to, from) = pair(tokens, thread, shared)?;
            match (to, from) {
                (Operand::Memory(x), Operand::Number(n)) => format!("{x} = {n};"),
                (Operand::Memory(x), Operand::Register(r)) => format!("{x} = {r};"),
                (Operand::Register(r), Operand::Memory(x)) => format!("{r} = {x};"),
                (Operand::Register(r), Operand::Number(n)) => format!("{r} = {n};"),
                (Operand::Register(r), Operand::Register(s)) => format!("{r} = {s};"),
                _ => {
                    return Err(wrong(
                        span,
                        "MOV",
                        "moves between memory and memory, or to a number, do not exist",
                    ));
                }
            }
        }
        "XCHG" => match pair(tokens, thread, shared)? {
            (Operand::Memory(x), Operand::Register(r)) | (Operand::Register(r), Operand::Memory(x)) => {
                format!("{r} = exchange({x}, {r});")
            }
            _ => return Err(wrong(span, "XCHG", "one operand is memory, the other a register")),
        },
        "XADD" => match pair(tokens, thread, shared)? {
            (Operand::Memory(x), Operand::Register(r)) => format!("{r} = fetch_add({x}, {r});"),
            _ => return Err(wrong(span, "XADD", "the first operand is memory, the second a register")),
        },
        "INC" | "DEC" => match operand(tokens, thread, shared)? {
            Operand::Register(r) if word.eq_ignore_ascii_case("INC") => format!("{r} = {r} + 1;"),
            Operand::Register(r) => format!("{r} = {r} - 1;"),
            _ => return Err(wrong(span, &word, "only registers can be counted up and down")),
        },
        "ADD" | "XOR" => match pair(tokens, thread, shared)? {
            (Operand::Register(r), from @ (Operand::Register(_) | Operand::Number(_))) => {
                let sign = if word.eq_ignore_ascii_case("ADD") { "+" } else { "^" };
                let from = match from {
                    Operand::Number(n) => n.to_string(),
                    Operand::Register(s) | Operand::Memory(s) => s,
                };
                format!("{r} = {r} {sign} {from};")
            }
            _ => return Err(wrong(span, &word, "both operands are registers, or the second is a number")),
        },
        _ => {
            let error = Diagnostic::new(span, format!("the instruction `{word}` is not known"))
                .help("MOV, XCHG, XADD, ADD, XOR, INC, DEC, MFENCE, SFENCE and LFENCE are");
            return Err(Box::new(error));
        }
    };
    thread.lines.push((text, span));
    Ok(())
}

fn wrong(span: Span, word: &str, message: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::new(span, format!("{word}: {message}")))
}

fn pair(
    tokens: &mut Tokens,
    thread: &mut Thread,
    shared: &mut BTreeSet<String>,
) -> Outcome<(Operand, Operand)> {
    let first = operand(tokens, thread, shared)?;
    tokens.expect(",")?;
    Ok((first, operand(tokens, thread, shared)?))
}

fn operand(tokens: &mut Tokens, thread: &mut Thread, shared: &mut BTreeSet<String>) -> Outcome<Operand> {
    if tokens.take("$") {
        return Ok(Operand::Number(tokens.signed_number()?));
    }
    if tokens.take("[") {
        let (name, _) = tokens.word("a variable")?;
        tokens.expect("]")?;
        shared.insert(name.clone());
        return Ok(Operand::Memory(name));
    }
    let _ = tokens.take("%");
    let (name, span) = tokens.word("an operand")?;
    let upper = name.to_uppercase();
    let is_register = ["AX", "BX", "CX", "DX", "SI", "DI"]
        .iter()
        .any(|r| upper == format!("E{r}") || upper == format!("R{r}"))
        || (upper.starts_with('R') && upper[1..].parse::<u8>().is_ok_and(|n| (8..16).contains(&n)));
    if !is_register {
        let error = Diagnostic::new(span, format!("`{name}` is no register"))
            .help("memory is written in brackets: [x]");
        return Err(Box::new(error));
    }
    thread.registers.insert(name.clone());
    Ok(Operand::Register(name))
}
