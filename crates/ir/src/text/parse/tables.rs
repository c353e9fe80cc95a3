//! Everything outside functions: files, shapes, globals, threads, the final condition.

use super::super::lex::{Line, Token};
use super::super::words::{QUANTIFIERS, SYNC_KINDS};
use super::{ParseError, Reader};
use crate::{
    Field, FinalCondition, Global, Initial, Observed, Relocation, RelocationTarget, Shape, SourceFile,
    Symbol, SyncKind, ThreadStart,
};

impl<'t> Reader<'t> {
    /// The whole text.
    pub(super) fn program(&mut self) -> Result<(), ParseError> {
        let Some(mut line) = self.lines.next()? else {
            return Err(self.lines.ended("`program` and its name"));
        };
        line.keyword("program")?;
        self.program.name = line.text("the program's name")?;
        line.end_of_line()?;
        while let Some(mut line) = self.lines.next()? {
            let Token::Word(word) = *line.peek() else { return Err(line.expected(DEFINITIONS)) };
            match word {
                "file" => {
                    line.take()?;
                    self.file(&mut line)?;
                }
                "shape" => {
                    line.take()?;
                    self.shape(&mut line)?;
                }
                "global" => {
                    line.take()?;
                    self.global_definition(&mut line)?;
                }
                "function" => {
                    line.take()?;
                    self.function(line)?;
                }
                "thread" => {
                    line.take()?;
                    self.thread(&mut line)?;
                }
                "final" => {
                    if self.program.final_condition.is_some() {
                        return Err(line.error("a second final condition; there can be one".into()));
                    }
                    line.take()?;
                    self.final_condition(&mut line)?;
                }
                _ => return Err(line.expected(DEFINITIONS)),
            }
        }
        Ok(())
    }

    fn file(&mut self, line: &mut Line<'t>) -> Result<(), ParseError> {
        let number = self.program.files.len();
        if *line.peek() != Token::File(number as u32) {
            return Err(line.expected(&format!("!{number}, the number of the next file")));
        }
        line.take()?;
        line.mark('=')?;
        let path = line.text("a path")?;
        self.program.files.push(SourceFile { path });
        line.end_of_line()
    }

    fn shape(&mut self, line: &mut Line<'t>) -> Result<(), ParseError> {
        let number = self.program.shapes.len();
        if *line.peek() != Token::Shape(number as u32) {
            return Err(line.expected(&format!("#{number}, the number of the next shape")));
        }
        line.take()?;
        line.mark('=')?;
        let Token::Word(word) = *line.peek() else { return Err(line.expected(SHAPES)) };
        let shape = match word {
            "int" => {
                line.take()?;
                let bytes = line.unsigned("a number of bytes")?;
                let signed = line.accept_word("signed")?;
                if !signed && !line.accept_word("unsigned")? {
                    return Err(line.expected("`signed` or `unsigned`"));
                }
                Shape::Int { bytes, signed }
            }
            "pointer" => {
                line.take()?;
                let to = if *line.peek() == Token::End { None } else { Some(line.shape()?) };
                Shape::Pointer { to }
            }
            "float" => {
                line.take()?;
                Shape::Float { bytes: line.unsigned("a number of bytes")? }
            }
            "array" => {
                line.take()?;
                let count = line.unsigned("a number of elements")?;
                Shape::Array { element: line.shape()?, count }
            }
            "record" => {
                line.take()?;
                let name = line.text("the record's name")?;
                let bytes = line.unsigned("a number of bytes")?;
                line.mark('{')?;
                let fields = line.list('}', |line| {
                    let offset = line.unsigned("an offset")?;
                    line.mark(':')?;
                    let shape = line.shape()?;
                    Ok(Field { name: line.text("the field's name")?, offset, shape })
                })?;
                Shape::Record { name, bytes, fields }
            }
            "opaque" => {
                line.take()?;
                Shape::Opaque { bytes: line.unsigned("a number of bytes")? }
            }
            _ => match sync_kind(word) {
                Some(kind) => {
                    line.take()?;
                    Shape::Sync(kind)
                }
                None => return Err(line.expected(SHAPES)),
            },
        };
        self.program.shapes.push(shape);
        line.end_of_line()
    }

    fn global_definition(&mut self, line: &mut Line<'t>) -> Result<(), ParseError> {
        let Token::Global(name, None) = line.peek() else { return Err(line.expected("a name, as in @x")) };
        let name = Symbol::from(&**name);
        line.take()?;
        let shape = line.shape()?;
        let thread_local = line.accept_word("thread_local")?;
        let constant = line.accept_word("constant")?;
        line.mark('=')?;
        let Token::Word(word) = *line.peek() else { return Err(line.expected(INITIALS)) };
        let initial = match word {
            "zero" => {
                line.take()?;
                Initial::Zero
            }
            "external" => {
                line.take()?;
                Initial::External
            }
            "bytes" => {
                line.take()?;
                let bytes = bytes(line)?;
                let mut relocations = vec![];
                if line.accept_mark('[')? {
                    relocations = line.list(']', |line| self.relocation(line))?;
                }
                Initial::Bytes { bytes, relocations }
            }
            _ => match sync_kind(word) {
                Some(kind) => {
                    line.take()?;
                    Initial::Sync { kind, count: line.unsigned("a count")? }
                }
                None => return Err(line.expected(INITIALS)),
            },
        };
        let position = line.end_without_label()?;
        self.program.globals.push(Global { name, shape, initial, thread_local, constant, position });
        Ok(())
    }

    fn relocation(&self, line: &mut Line<'t>) -> Result<Relocation, ParseError> {
        let offset = line.unsigned("an offset")?;
        line.mark(':')?;
        let target = match line.peek() {
            Token::Function(..) => RelocationTarget::Function(self.function_name(line)?),
            _ => RelocationTarget::Global(self.global(line)?),
        };
        let addend = if line.accept_mark('+')? { line.signed("what is added")? } else { 0 };
        Ok(Relocation { offset, target, addend })
    }

    fn thread(&mut self, line: &mut Line<'t>) -> Result<(), ParseError> {
        let name = line.name("the thread's name")?;
        line.mark('=')?;
        let function = self.function_name(line)?;
        let main = line.accept_word("main")?;
        self.program.threads.push(ThreadStart { name, function, main });
        line.end_of_line()
    }

    fn final_condition(&mut self, line: &mut Line<'t>) -> Result<(), ParseError> {
        let quantifier = line.word_of(QUANTIFIERS, "a quantifier")?;
        let function = self.function_name(line)?;
        line.mark('(')?;
        let observed = line.list(')', |line| {
            let thread = line.unsigned("a thread's number")?;
            line.mark(':')?;
            Ok(Observed { thread, result: line.unsigned("a result's number")? })
        })?;
        let text = line.text("the condition's text")?;
        self.program.final_condition = Some(FinalCondition { quantifier, function, observed, text });
        line.end_of_line()
    }
}

const DEFINITIONS: &str = "`file`, `shape`, `global`, `function`, `thread` or `final`";
const SHAPES: &str =
    "`int`, `pointer`, `float`, `array`, `record`, `opaque` or a kind of synchronisation object";
const INITIALS: &str = "`zero`, `external`, `bytes` or a kind of synchronisation object";

impl Line<'_> {
    fn end_of_line(&self) -> Result<(), ParseError> {
        if *self.peek() == Token::End { Ok(()) } else { Err(self.expected("the end of the line")) }
    }
}

fn sync_kind(word: &str) -> Option<SyncKind> {
    SYNC_KINDS.into_iter().find(|kind| kind.word() == word)
}

/// Bytes as hexadecimal digits in quotes.
fn bytes(line: &mut Line<'_>) -> Result<Vec<u8>, ParseError> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let bytes = match line.peek() {
        Token::Text(text) if text.len() % 2 == 0 => text
            .as_bytes()
            .chunks_exact(2)
            .map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?))
            .collect::<Option<Vec<u8>>>(),
        _ => None,
    };
    let bytes = bytes.ok_or_else(|| line.expected("bytes, two hexadecimal digits each, in quotes"))?;
    line.take()?;
    Ok(bytes)
}
