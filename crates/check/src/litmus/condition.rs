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

/// Deepest nesting.
const MAX_DEPTH: u32 = 100;

/// `exists (0:r0=1 /\ x=2)`, `~exists …`, `forall …`, or nothing. `named` gives the one name of a register.
pub fn question(tokens: &mut Tokens, named: &dyn Fn(String) -> String) -> Outcome<Question> {
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
    let word = quantifier(tokens)?;
    let mut reader = Reader { tokens, named, question };
    // The parentheses around the whole condition are the model language's own.
    let whole = reader.tokens.take("(");
    let mut condition = reader.either(0)?;
    if whole {
        reader.tokens.expect(")")?;
        condition = reader.rest(condition)?;
    }
    let mut question = reader.question;
    question.text = Some(format!("{word} ({condition})"));
    Ok(question)
}

fn quantifier(tokens: &mut Tokens) -> Outcome<&'static str> {
    let negated = tokens.take("~");
    match tokens.word("exists, ~exists or forall")? {
        (word, _) if word == "exists" => Ok(if negated { "~exists" } else { "exists" }),
        (word, _) if word == "forall" && !negated => Ok("forall"),
        (_, span) => Err(Box::new(lang::Diagnostic::new(span, "expected exists, ~exists or forall"))),
    }
}

struct Reader<'t> {
    tokens: &'t mut Tokens,
    named: &'t dyn Fn(String) -> String,
    question: Question,
}

impl Reader<'_> {
    /// A condition whose first part stood in parentheses.
    fn rest(&mut self, first: String) -> Outcome<String> {
        if *self.tokens.token() == Token::End {
            return Ok(first);
        }
        let mut text = format!("({first})");
        while self.tokens.take("/\\") {
            text = format!("{text} && {}", self.single(0)?);
        }
        while self.tokens.take("\\/") {
            text = format!("{text} || {}", self.both(0)?);
        }
        match self.tokens.token() {
            Token::End => Ok(text),
            _ => Err(self.tokens.wrong("expected the end of the condition")),
        }
    }

    fn either(&mut self, depth: u32) -> Outcome<String> {
        let mut text = self.both(depth)?;
        while self.tokens.take("\\/") {
            text = format!("{text} || {}", self.both(depth)?);
        }
        Ok(text)
    }

    fn both(&mut self, depth: u32) -> Outcome<String> {
        let mut text = self.single(depth)?;
        while self.tokens.take("/\\") {
            text = format!("{text} && {}", self.single(depth)?);
        }
        Ok(text)
    }

    fn single(&mut self, depth: u32) -> Outcome<String> {
        if depth > MAX_DEPTH {
            return Err(self.tokens.wrong("this is nested too deeply"));
        }
        if self.tokens.take("~") {
            return Ok(format!("!({})", self.single(depth + 1)?));
        }
        if self.tokens.take("(") {
            let inner = self.either(depth + 1)?;
            self.tokens.expect(")")?;
            return Ok(format!("({inner})"));
        }
        if self.tokens.is_word("true") || self.tokens.is_word("false") {
            let (word, _) = self.tokens.word("a truth value")?;
            return Ok(if word == "true" { "1 == 1" } else { "1 == 0" }.to_owned());
        }
        let name = self.name()?;
        let sign = match self.tokens.next() {
            (Token::Sign("=" | "=="), _) => "==",
            (Token::Sign("!="), _) => "!=",
            (_, span) => return Err(Box::new(lang::Diagnostic::new(span, "expected `=`"))),
        };
        Ok(format!("{name} {sign} {}", self.tokens.signed_number()?))
    }

    /// `0:r1`, `x` or `[x]`
    fn name(&mut self) -> Outcome<String> {
        if let Token::Number(thread) = *self.tokens.token() {
            self.tokens.next();
            self.tokens.expect(":")?;
            let register = (self.named)(self.tokens.word("a register")?.0);
            self.question.registers.insert((thread as usize, register.clone()));
            return Ok(format!("P{thread}.{register}"));
        }
        let bracket = self.tokens.take("[");
        let (name, _) = self.tokens.word("a variable or a register")?;
        if bracket {
            self.tokens.expect("]")?;
        }
        self.question.shared.insert(name.clone());
        Ok(name)
    }
}
