//! The question at the end of a litmus test.

use super::Outcome;
use super::token::{Token, Tokens};
use lang::Span;
use std::collections::BTreeSet;

/// A question in the words of the model language.
#[derive(Default)]
pub struct Question {
    pub text: Option<String>,
    pub span: Span,
    /// The shared variables that it speaks of.
    pub shared: BTreeSet<String>,
    /// The registers that it speaks of, with their threads.
    pub registers: BTreeSet<(usize, String)>,
}

/// `exists (0:r0=1 /\ x=2)`, `~exists …`, `forall …`, or nothing.
pub fn question(tokens: &mut Tokens) -> Outcome<Question> {
    let mut question = Question { span: tokens.span(), ..Question::default() };
    // `locations [x; 0:r1]` says what herd prints.
    if tokens.is_word("locations") {
        while !tokens.take("]") {
            if *tokens.token() == Token::End {
                return Err(tokens.wrong("expected `]`"));
            }
            tokens.next();
        }
    }
    if *tokens.token() == Token::End {
        return Ok(question);
    }
    question.span = tokens.span();
    let negated = tokens.take("~");
    let word = match tokens.word("exists, ~exists or forall")? {
        (word, _) if word == "exists" => {
            if negated {
                "~exists"
            } else {
                "exists"
            }
        }
        (word, _) if word == "forall" && !negated => "forall",
        (_, span) => {
            let error = lang::Diagnostic::new(span, "expected exists, ~exists or forall");
            return Err(Box::new(error));
        }
    };
    // The parentheses around the whole condition are the model language's own.
    let whole = tokens.take("(");
    let mut condition = either(tokens, &mut question, 0)?;
    if whole {
        tokens.expect(")")?;
        if *tokens.token() != Token::End {
            condition = rest(format!("({condition})"), tokens, &mut question)?;
        }
    }
    question.text = Some(format!("{word} ({condition})"));
    Ok(question)
}

/// What follows the first part of a condition.
fn rest(mut text: String, tokens: &mut Tokens, question: &mut Question) -> Outcome<String> {
    while tokens.take("/\\") {
        text = format!("{text} && {}", single(tokens, question, 0)?);
    }
    while tokens.take("\\/") {
        text = format!("{text} || {}", both(tokens, question, 0)?);
    }
    match tokens.token() {
        Token::End => Ok(text),
        _ => Err(tokens.wrong("expected the end of the condition")),
    }
}

/// Deepest nesting.
const MAX_DEPTH: u32 = 100;

fn either(tokens: &mut Tokens, question: &mut Question, depth: u32) -> Outcome<String> {
    let mut text = both(tokens, question, depth)?;
    while tokens.take("\\/") {
        text = format!("{text} || {}", both(tokens, question, depth)?);
    }
    Ok(text)
}

fn both(tokens: &mut Tokens, question: &mut Question, depth: u32) -> Outcome<String> {
    let mut text = single(tokens, question, depth)?;
    while tokens.take("/\\") {
        text = format!("{text} && {}", single(tokens, question, depth)?);
    }
    Ok(text)
}

fn single(tokens: &mut Tokens, question: &mut Question, depth: u32) -> Outcome<String> {
    if depth > MAX_DEPTH {
        return Err(tokens.wrong("this is nested too deeply"));
    }
    if tokens.take("~") {
        return Ok(format!("!({})", single(tokens, question, depth + 1)?));
    }
    if tokens.take("(") {
        let inner = either(tokens, question, depth + 1)?;
        tokens.expect(")")?;
        return Ok(format!("({inner})"));
    }
    if tokens.is_word("true") || tokens.is_word("false") {
        let (word, _) = tokens.word("a truth value")?;
        return Ok(if word == "true" { "1 == 1" } else { "1 == 0" }.to_owned());
    }
    let name = match tokens.token().clone() {
        Token::Number(thread) => {
            tokens.next();
            tokens.expect(":")?;
            let (register, _) = tokens.word("a register")?;
            question.registers.insert((thread as usize, register.clone()));
            format!("P{thread}.{register}")
        }
        _ => {
            let bracket = tokens.take("[");
            let (name, _) = tokens.word("a variable or a register")?;
            if bracket {
                tokens.expect("]")?;
            }
            question.shared.insert(name.clone());
            name
        }
    };
    let sign = match tokens.next() {
        (Token::Sign("=" | "=="), _) => "==",
        (Token::Sign("!="), _) => "!=",
        (_, span) => return Err(Box::new(lang::Diagnostic::new(span, "expected `=`"))),
    };
    Ok(format!("{name} {sign} {}", tokens.signed_number()?))
}
