//! Operations and operands.

use super::super::lex::{Line, Number, Token};
use super::super::words::{BINARY, CASTS, CHECKS, ORDERS, PREDICATES, UPDATES, item};
use super::function::{Defined, Values, block, result_types};
use super::{ParseError, Reader};
use crate::{Callee, Op, Operand, Order, SyncOp, ValueId, Width, eval};

impl<'t> Reader<'t> {
    /// An operation: its word, the types of what it defines, its operands.
    pub(super) fn op(
        &self,
        line: &mut Line<'t>,
        values: &mut Values,
        defining: Vec<Defined>,
    ) -> Result<(Vec<ValueId>, Op), ParseError> {
        let Token::Word(word) = *line.peek() else { return Err(line.expected("an operation")) };
        let mut defining = Some(defining);
        // Called exactly once on each way: the types stand behind the operation's own words.
        let mut types = |line: &mut Line<'t>| result_types(line, values, defining.take().unwrap_or_default());
        // The order of the fields below is the order in the text.
        Ok(match word {
            "cmp" => {
                line.take()?;
                let predicate = line.word_of(PREDICATES, "a comparison")?;
                (types(line)?, Op::Compare { predicate, lhs: self.operand(line)?, rhs: self.next(line)? })
            }
            "rmw" => {
                line.take()?;
                let op = line.word_of(UPDATES, "a read-modify-write")?;
                let results = types(line)?;
                let (pointer, value) = (self.operand(line)?, self.next(line)?);
                (results, Op::Update { op, pointer, value, order: order(line)? })
            }
            "cmpxchg" => {
                line.take()?;
                let weak = line.accept_word("weak")?;
                let results = types(line)?;
                let (pointer, expected, new) = (self.operand(line)?, self.next(line)?, self.next(line)?);
                let (success, failure) = (order(line)?, order(line)?);
                (results, Op::CompareExchange { pointer, expected, new, success, failure, weak })
            }
            "opaque" => {
                line.take()?;
                let memory = line.accept_word("memory")?;
                let results = types(line)?;
                let what = line.text("what it is")?.into();
                line.mark('(')?;
                (results, Op::Opaque { what, operands: line.list(')', |line| self.operand(line))?, memory })
            }
            _ if !is_simple(word) => return Err(line.expected("an operation")),
            _ => {
                line.take()?;
                (types(line)?, self.simple(line, word)?)
            }
        })
    }

    /// An operation of one word; it and the types are taken already.
    fn simple(&self, line: &mut Line<'t>, word: &str) -> Result<Op, ParseError> {
        if let Some(op) = item(BINARY, word) {
            return Ok(Op::Binary { op, lhs: self.operand(line)?, rhs: self.next(line)? });
        }
        if let Some(kind) = item(CASTS, word) {
            return Ok(Op::Cast { kind, value: self.operand(line)? });
        }
        if let Some(kind) = item(CHECKS, word) {
            return Ok(Op::Check { kind, condition: self.operand(line)? });
        }
        if let Some(op) = item(&SyncOp::ALL, word) {
            return Ok(Op::Sync { op, operands: self.operands(line)? });
        }
        Ok(match word {
            "select" => Op::Select {
                condition: self.operand(line)?,
                then: self.next(line)?,
                otherwise: self.next(line)?,
            },
            "phi" => {
                line.mark('[')?;
                let incoming = line.list(']', |line| {
                    let from = block(line)?;
                    line.mark(':')?;
                    Ok((from, self.operand(line)?))
                })?;
                Op::Phi { incoming }
            }
            "address" => self.address(line)?,
            "load" => Op::Load { pointer: self.operand(line)?, order: optional_order(line)? },
            "store" => {
                let value = self.operand(line)?;
                Op::Store { value, pointer: self.next(line)?, order: optional_order(line)? }
            }
            "fence" => Op::Fence { order: order(line)? },
            "stack_alloc" => Op::StackAlloc { shape: line.shape()?, count: self.next(line)? },
            "heap_alloc" => Op::HeapAlloc { shape: line.shape()?, count: self.next(line)? },
            "free" => Op::Free { pointer: self.operand(line)? },
            "memcpy" | "memmove" => {
                let (to, from, bytes) = (self.operand(line)?, self.next(line)?, self.next(line)?);
                Op::MemoryCopy { to, from, bytes, overlap: word == "memmove" }
            }
            "memset" => {
                Op::MemorySet { to: self.operand(line)?, byte: self.next(line)?, bytes: self.next(line)? }
            }
            "call" => {
                let (callee, arguments) = self.call(line)?;
                Op::Call { callee, arguments }
            }
            "fork" => {
                let (callee, arguments) = self.call(line)?;
                Op::Fork { callee, arguments }
            }
            _ => return Err(line.expected("an operation")), // not reached: `is_simple` knows them all
        })
    }

    fn address(&self, line: &mut Line<'t>) -> Result<Op, ParseError> {
        let base = self.operand(line)?;
        let (mut offset, mut terms) = (0, vec![]);
        let mut first = true;
        while line.accept_mark('+')? {
            if first && matches!(line.peek(), Token::Number(number) if number.width.is_none()) {
                offset = line.signed("an offset")?;
            } else {
                let index = self.operand(line)?;
                line.mark('*')?;
                terms.push((index, line.signed("a stride")?));
            }
            first = false;
        }
        Ok(Op::Address { base, offset, terms })
    }

    /// Whom a call is for, and the arguments.
    pub(super) fn call(&self, line: &mut Line<'t>) -> Result<(Callee, Vec<Operand>), ParseError> {
        let callee = if line.accept_word("indirect")? {
            Callee::Indirect(self.operand(line)?)
        } else if line.accept_word("external")? {
            Callee::External(line.text("a symbol")?.into())
        } else if matches!(line.peek(), Token::Function(..)) {
            Callee::Function(self.function_name(line)?)
        } else {
            return Err(line.expected("a function as in $f, `indirect` or `external`"));
        };
        line.mark('(')?;
        Ok((callee, line.list(')', |line| self.operand(line))?))
    }

    /// Operands up to the end of the line, with commas between them.
    pub(super) fn operands(&self, line: &mut Line<'t>) -> Result<Vec<Operand>, ParseError> {
        let mut operands = vec![];
        if matches!(line.peek(), Token::End | Token::Label(_) | Token::Position(..)) {
            return Ok(operands);
        }
        operands.push(self.operand(line)?);
        while line.is_mark(',') {
            operands.push(self.next(line)?);
        }
        Ok(operands)
    }

    /// A comma and an operand.
    fn next(&self, line: &mut Line<'t>) -> Result<Operand, ParseError> {
        line.mark(',')?;
        self.operand(line)
    }

    /// An operand.
    pub(super) fn operand(&self, line: &mut Line<'t>) -> Result<Operand, ParseError> {
        let operand = match line.peek() {
            Token::Value(number, None) => Operand::Value(ValueId(*number)),
            Token::Value(_, Some(_)) => {
                return Err(line.expected("a value without a name; names stand where values are defined"));
            }
            Token::Number(number) => constant(*number)
                .ok_or_else(|| line.expected("a constant that fits its width, as in 5i32"))?,
            Token::Word("true") => Operand::int(Width::W1, 1),
            Token::Word("false") => Operand::int(Width::W1, 0),
            Token::Word("null") => Operand::Null,
            Token::Word("unknown") => {
                line.take()?;
                return Ok(Operand::Unknown(line.ty()?));
            }
            Token::Global(..) => return Ok(Operand::Global(self.global(line)?)),
            Token::Function(..) => return Ok(Operand::Function(self.function_name(line)?)),
            _ => return Err(line.expected("an operand: a value, a constant, `null`, a global or a function")),
        };
        line.take()?;
        Ok(operand)
    }
}

/// Whether `simple` knows the word.
fn is_simple(word: &str) -> bool {
    const WORDS: [&str; 14] = [
        "select",
        "phi",
        "address",
        "load",
        "store",
        "fence",
        "stack_alloc",
        "heap_alloc",
        "free",
        "memcpy",
        "memmove",
        "memset",
        "call",
        "fork",
    ];
    WORDS.contains(&word)
        || item(BINARY, word).is_some()
        || item(CASTS, word).is_some()
        || item(CHECKS, word).is_some()
        || item(&SyncOp::ALL, word).is_some()
}

/// A constant. Hexadecimal ones are taken as they are, so that the verifier can be shown wrong ones.
fn constant(number: Number) -> Option<Operand> {
    let Number { negative, magnitude, width, hex } = number;
    let width = width?;
    let bits = match (hex, negative) {
        (true, false) => magnitude,
        (true, true) => return None,
        (false, false) if magnitude <= width.mask() => magnitude,
        (false, true) if magnitude <= 1 << (width.bits() - 1) => magnitude.wrapping_neg() & width.mask(),
        _ => return None,
    };
    debug_assert!(hex || !negative || magnitude == 0 || eval::signed(width, bits) < 0);
    Some(Operand::Const { width, bits })
}

fn order(line: &mut Line<'_>) -> Result<Order, ParseError> {
    line.word_of(ORDERS, "a memory order")
}

fn optional_order(line: &mut Line<'_>) -> Result<Option<Order>, ParseError> {
    if let Token::Word(_) = line.peek() { order(line).map(Some) } else { Ok(None) }
}
