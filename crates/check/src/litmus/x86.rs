//! Threads of x86 tests: a table, one column for each thread.
//!
//! X86 tests write the target first and memory in brackets; those for X86_64 write it last and memory in parentheses, as
//! herd has it. What arithmetic and comparison leave behind for jumps is one number, `flags`: the exact result, whose sign is what
//! signed conditions ask (the processor's SF ≠ OF) and whose lower half being zero is the zero flag.

use super::jumps::{self, Instruction, Jump};
use super::token::{Token, Tokens};
use super::{Outcome, Thread};
use lang::{Diagnostic, Span};
use std::collections::BTreeSet;

/// How instructions are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// X86: the target first.
    Intel,
    /// X86_64: the target last.
    Att,
}

/// An operand of an instruction.
enum Operand {
    Register(String),
    Memory(String),
    Number(i64),
}

/// Conditional jumps, each with what it asks of the flags.
const CONDITIONS: [(&[&str], &str); 8] = [
    (&["JE", "JZ"], "(int) flags == 0"),
    (&["JNE", "JNZ"], "(int) flags != 0"),
    (&["JL", "JLT", "JNGE"], "flags < 0"),
    (&["JGE", "JNL"], "flags >= 0"),
    (&["JLE", "JNG"], "flags <= 0 || (int) flags == 0"),
    (&["JG", "JGT", "JNLE"], "flags > 0 && (int) flags != 0"),
    (&["JS"], "(int) flags < 0"),
    (&["JNS"], "(int) flags >= 0"),
];

/// Arithmetic: the instruction, its sign in the model language, and its locked form there.
const ARITHMETIC: [(&str, &str, &str); 5] = [
    ("ADD", "+", "fetch_add"),
    ("SUB", "-", "fetch_sub"),
    ("AND", "&", "fetch_and"),
    ("OR", "|", "fetch_or"),
    ("XOR", "^", "fetch_xor"),
];

/// The threads and the shared variables that they name.
pub fn threads(tokens: &mut Tokens, syntax: Syntax) -> Outcome<(Vec<Thread>, BTreeSet<String>)> {
    let mut threads = 0;
    loop {
        let (name, span) = tokens.word("the name of a thread")?;
        if name != format!("P{threads}") {
            return Err(Box::new(Diagnostic::new(span, format!("expected P{threads}"))));
        }
        threads += 1;
        if !tokens.take("|") {
            break;
        }
    }
    tokens.expect(";")?;
    let mut readers: Vec<Reader> = (0..threads).map(|_| Reader::new(syntax)).collect();
    let mut shared = BTreeSet::new();
    while !matches!(tokens.token(), Token::End) && !tokens.is("~") && !begins_question(tokens) {
        for (t, reader) in readers.iter_mut().enumerate() {
            reader.cell(tokens)?;
            tokens.expect(if t + 1 == threads { ";" } else { "|" })?;
        }
    }
    let mut done = vec![];
    for reader in readers {
        let mut lines = vec![("i64 flags = 0;".to_owned(), Span::default())];
        lines.extend(jumps::lines(&reader.instructions)?);
        shared.extend(reader.shared);
        done.push(Thread { lines, registers: reader.registers });
    }
    Ok((done, shared))
}

fn begins_question(tokens: &Tokens) -> bool {
    ["exists", "forall", "locations"].iter().any(|word| tokens.is_word(word))
}

/// A register by the one name that all its names stand for: `eax` is EAX, and in 64-bit tests RAX.
pub fn register(name: &str, syntax: Syntax) -> Option<String> {
    let upper = name.to_uppercase();
    let (first, rest) = upper.split_at_checked(1)?;
    if ["AX", "BX", "CX", "DX", "SI", "DI", "BP"].contains(&rest) && ["E", "R"].contains(&first) {
        return Some(format!("{}{rest}", if syntax == Syntax::Att { "R" } else { "E" }));
    }
    let number = rest.strip_suffix('D').unwrap_or(rest);
    let is_numbered = first == "R" && number.parse::<u8>().is_ok_and(|n| (8..16).contains(&n));
    is_numbered.then(|| format!("R{number}"))
}

/// Reads one thread.
struct Reader {
    syntax: Syntax,
    instructions: Vec<Instruction>,
    registers: BTreeSet<String>,
    shared: BTreeSet<String>,
}

impl Reader {
    fn new(syntax: Syntax) -> Reader {
        let (instructions, registers, shared) = (vec![], BTreeSet::new(), BTreeSet::new());
        Reader { syntax, instructions, registers, shared }
    }

    /// One cell of the table: labels, and perhaps an instruction.
    fn cell(&mut self, tokens: &mut Tokens) -> Outcome<()> {
        let mut made = Instruction::default();
        while matches!(tokens.token(), Token::Word(_)) && tokens.follows(":") {
            made.labels.push(tokens.word("a label")?);
            tokens.expect(":")?;
        }
        if !tokens.is("|") && !tokens.is(";") {
            made.span = tokens.span();
            self.instruction(tokens, &mut made)?;
        }
        self.instructions.push(made);
        Ok(())
    }

    fn instruction(&mut self, tokens: &mut Tokens, made: &mut Instruction) -> Outcome<()> {
        let (mut word, span) = tokens.word("an instruction")?;
        let locked = word.eq_ignore_ascii_case("LOCK");
        if locked {
            word = tokens.word("an instruction")?.0;
        }
        let upper = word.to_uppercase();
        // 32 and 64 bits may be said; there is no difference here.
        let name = match upper.strip_suffix(['L', 'Q']) {
            Some(name) if name == "MOV" || lockable(name) || ["CMP", "TEST"].contains(&name) => name,
            _ => &upper,
        };
        if locked && !lockable(name) {
            return Err(wrong(span, &word, "this cannot be locked"));
        }
        if let Some((_, condition)) = CONDITIONS.iter().find(|(names, _)| names.contains(&name)) {
            made.jump = Some(Jump { condition: Some(condition), to: tokens.word("a label")?.0 });
            return Ok(());
        }
        made.text = match name {
            "JMP" => {
                made.jump = Some(Jump { condition: None, to: tokens.word("a label")?.0 });
                vec![]
            }
            "NOP" | "ENDBR64" => vec![],
            "MFENCE" => vec!["fence(seq_cst);".to_owned()],
            "SFENCE" => vec!["fence(release);".to_owned()],
            "LFENCE" => vec!["fence(acquire);".to_owned()],
            "MOV" => {
                let (to, from) = self.target_and_source(tokens, span, &word)?;
                vec![format!("{to} = {from};")]
            }
            "CMP" => {
                let (a, b) = self.pair(tokens)?;
                vec![format!("flags = (i64) {} - {};", a.text(), b.text())]
            }
            "TEST" => {
                let (a, b) = self.pair(tokens)?;
                vec![format!("flags = {} & {};", a.text(), b.text())]
            }
            "INC" | "DEC" => {
                let operand = self.operand(tokens)?;
                let sign = if name == "INC" { ("+", "fetch_add") } else { ("-", "fetch_sub") };
                arithmetic(sign, &operand, "1", locked, span, &word)?
            }
            "XCHG" | "XADD" | "CMPXCHG" => {
                let (a, b) = self.pair(tokens)?;
                let (Operand::Memory(x), Operand::Register(r)) =
                    (if matches!(a, Operand::Register(_)) { (b, a) } else { (a, b) })
                else {
                    return Err(wrong(span, &word, "one operand is memory, the other a register"));
                };
                self.exchange(name, &x, &r, locked)
            }
            _ => match ARITHMETIC.iter().find(|(known, ..)| *known == name) {
                Some((_, sign, update)) => {
                    let (to, from) = self.pair(tokens)?;
                    if matches!((&to, &from), (Operand::Memory(_), Operand::Memory(_))) {
                        return Err(wrong(span, &word, "one operand at most is memory"));
                    }
                    arithmetic((sign, update), &to, &from.text(), locked, span, &word)?
                }
                None => {
                    let error = Diagnostic::new(span, format!("the instruction `{word}` is not known"))
                        .help(
                            "MOV, ADD, SUB, AND, OR, XOR, INC, DEC, CMP, TEST, XCHG, XADD, CMPXCHG (all also with L or Q), LOCK, \
                             JMP, JE, JNE, JL, JLE, JG, JGE, JS, JNS, NOP, MFENCE, SFENCE and LFENCE are",
                        );
                    return Err(Box::new(error));
                }
            },
        };
        Ok(())
    }

    /// Exchanges with memory. XCHG locks by itself.
    fn exchange(&mut self, name: &str, x: &str, r: &str, locked: bool) -> Vec<String> {
        if name == "XCHG" {
            return vec![format!("{r} = exchange({x}, {r});")];
        }
        self.registers.insert("swapped".to_owned());
        match (name, locked) {
            ("XADD", true) => vec![
                format!("swapped = {r};"),
                format!("{r} = fetch_add({x}, {r});"),
                format!("flags = (i64) {r} + swapped;"),
            ],
            ("XADD", false) => vec![
                format!("swapped = {x};"),
                format!("flags = (i64) swapped + {r};"),
                format!("{x} = (int) flags;"),
                format!("{r} = swapped;"),
            ],
            _ => {
                let accumulator = if self.syntax == Syntax::Att { "RAX" } else { "EAX" };
                self.registers.insert(accumulator.to_owned());
                let mut lines = vec![format!("swapped = {accumulator};")];
                match locked {
                    true => lines.push(format!("compare_exchange({x}, {accumulator}, {r});")),
                    false => lines.push(format!("{accumulator} = {x};")),
                }
                lines.push(format!("flags = (i64) swapped - {accumulator};"));
                if !locked {
                    lines.push(format!("if (flags == 0) {x} = {r};"));
                }
                lines
            }
        }
    }

    fn target_and_source(
        &mut self,
        tokens: &mut Tokens,
        span: Span,
        word: &str,
    ) -> Outcome<(String, String)> {
        match self.pair(tokens)? {
            (Operand::Number(_), _) | (Operand::Memory(_), Operand::Memory(_)) => {
                Err(wrong(span, word, "moves between memory and memory, or to a number, do not exist"))
            }
            (to, from) => Ok((to.text(), from.text())),
        }
    }

    /// Two operands, the target first.
    fn pair(&mut self, tokens: &mut Tokens) -> Outcome<(Operand, Operand)> {
        let first = self.operand(tokens)?;
        tokens.expect(",")?;
        let second = self.operand(tokens)?;
        Ok(if self.syntax == Syntax::Att { (second, first) } else { (first, second) })
    }

    fn operand(&mut self, tokens: &mut Tokens) -> Outcome<Operand> {
        if tokens.take("$") || tokens.is("-") || matches!(tokens.token(), Token::Number(_)) {
            return Ok(Operand::Number(tokens.signed_number()?));
        }
        let close = if tokens.take("[") {
            Some("]")
        } else if tokens.take("(") {
            Some(")")
        } else {
            None
        };
        let is_register = tokens.take("%");
        let (name, span) = tokens.word("an operand")?;
        let register = register(&name, self.syntax);
        match (close, register) {
            (Some(_), Some(_)) => {
                Err(wrong(span, &name, "addresses in registers are not read: write the variable's name"))
            }
            (Some(close), None) => {
                tokens.expect(close)?;
                self.shared.insert(name.clone());
                Ok(Operand::Memory(name))
            }
            (None, Some(register)) => {
                self.registers.insert(register.clone());
                Ok(Operand::Register(register))
            }
            (None, None) => {
                let error = Diagnostic::new(span, format!("`{name}` is no register"));
                let help = "memory is written in brackets: [x]";
                Err(Box::new(if is_register { error } else { error.help(help) }))
            }
        }
    }
}

impl Operand {
    fn text(&self) -> String {
        match self {
            Operand::Register(name) | Operand::Memory(name) => name.clone(),
            Operand::Number(number) => number.to_string(),
        }
    }
}

/// Whether an instruction can have the prefix LOCK.
fn lockable(name: &str) -> bool {
    ["INC", "DEC", "XCHG", "XADD", "CMPXCHG"].contains(&name)
        || ARITHMETIC.iter().any(|(known, ..)| *known == name)
}

/// Target and source combined, into the target and the flags.
fn arithmetic(
    (sign, update): (&str, &str),
    to: &Operand,
    from: &str,
    locked: bool,
    span: Span,
    word: &str,
) -> Outcome<Vec<String>> {
    Ok(match (to, locked) {
        (Operand::Number(_), _) => return Err(wrong(span, word, "the target is memory or a register")),
        (Operand::Memory(x), true) => vec![format!("flags = (i64) {update}({x}, {from}) {sign} {from};")],
        (Operand::Register(_), true) => {
            return Err(wrong(span, word, "only operations on memory are locked"));
        }
        (Operand::Memory(x) | Operand::Register(x), false) => {
            vec![format!("flags = (i64) {x} {sign} {from};"), format!("{x} = (int) flags;")]
        }
    })
}

fn wrong(span: Span, word: &str, message: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::new(span, format!("{word}: {message}")))
}
