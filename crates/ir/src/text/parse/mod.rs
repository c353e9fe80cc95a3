//! Reading the text form, line by line.
//!
//! The reader checks only what it needs to build a program; whether the program is well formed is the
//! [verifier](fn@crate::verify)'s business. It never recurses, and it never makes room for more than the text
//! holds: numbers in the text choose among things that stand in the text, nothing else.

mod function;
mod op;
mod tables;

use super::ParseError;
use super::lex::{Line, Token};
use super::words::{Words, item};
use crate::{FileId, FunctionId, GlobalId, Position, Program, ShapeId, Symbol, Type, Width};
use std::borrow::Cow;
use std::collections::HashMap;

/// Reads the text form.
pub fn parse(text: &str) -> Result<Program, ParseError> {
    let names = Names::find(text)?;
    let mut reader = Reader { lines: Lines::new(text), names, program: Program::default() };
    reader.program()?;
    Ok(reader.program)
}

/// The lines of the text that are not empty, with their numbers.
struct Lines<'t> {
    lines: std::iter::Enumerate<std::str::Split<'t, char>>,
    last: u32,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Lines<'t> {
        Lines { lines: text.split('\n').enumerate(), last: 1 }
    }

    /// The next line that holds anything.
    fn next(&mut self) -> Result<Option<Line<'t>>, ParseError> {
        for (index, text) in self.lines.by_ref() {
            self.last = u32::try_from(index + 1).unwrap_or(u32::MAX);
            let line = Line::new(text, self.last)?;
            if *line.peek() != Token::End {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }

    /// An error at the end of the text.
    fn ended(&self, expected: &str) -> ParseError {
        let message = format!("expected {expected}, found the end of the text");
        ParseError { line: self.last, column: 1, message }
    }
}

/// The names of all globals and functions: they may be used before they are defined.
struct Names<'t> {
    globals: Table<'t>,
    functions: Table<'t>,
}

#[derive(Default)]
struct Table<'t> {
    /// By number.
    names: Vec<Cow<'t, str>>,
    /// By name; `None` if several have it.
    by_name: HashMap<Cow<'t, str>, Option<u32>>,
}

impl<'t> Table<'t> {
    fn push(&mut self, name: Cow<'t, str>) {
        let number = self.names.len() as u32;
        self.by_name.entry(name.clone()).and_modify(|other| *other = None).or_insert(Some(number));
        self.names.push(name);
    }
}

impl<'t> Names<'t> {
    /// Looks at the beginnings of lines only: a definition starts its line.
    fn find(text: &'t str) -> Result<Names<'t>, ParseError> {
        let mut names = Names { globals: Table::default(), functions: Table::default() };
        for (index, text) in text.split('\n').enumerate() {
            let start = text.trim_start();
            if !(start.starts_with("global") || start.starts_with("function")) {
                continue;
            }
            let mut line = Line::new(text, u32::try_from(index + 1).unwrap_or(u32::MAX))?;
            match (line.take()?, line.peek().clone()) {
                (Token::Word("global"), Token::Global(name, None)) => names.globals.push(name),
                (Token::Word("function"), Token::Function(name, None)) => names.functions.push(name),
                _ => {} // the reader will say what is wrong with it
            }
        }
        Ok(names)
    }
}

/// The reader: the text that is left, and the program so far.
struct Reader<'t> {
    lines: Lines<'t>,
    names: Names<'t>,
    program: Program,
}

impl<'t> Reader<'t> {
    fn global(&self, line: &mut Line<'t>) -> Result<GlobalId, ParseError> {
        let Token::Global(name, which) = line.peek() else { return Err(line.expected("a global, as in @x")) };
        let number = resolve(&self.names.globals, name, *which, line, "global @")?;
        line.take()?;
        Ok(GlobalId(number))
    }

    fn function_name(&self, line: &mut Line<'t>) -> Result<FunctionId, ParseError> {
        let Token::Function(name, which) = line.peek() else {
            return Err(line.expected("a function, as in $f"));
        };
        let number = resolve(&self.names.functions, name, *which, line, "function $")?;
        line.take()?;
        Ok(FunctionId(number))
    }
}

fn resolve(
    table: &Table<'_>,
    name: &str,
    which: Option<u32>,
    line: &Line<'_>,
    kind: &str,
) -> Result<u32, ParseError> {
    match (table.by_name.get(name), which) {
        (None, _) => Err(line.error(format!("there is no {kind}{name}"))),
        (Some(None), None) => {
            Err(line.error(format!("several are called {kind}{name}; expected `#` and a number behind it")))
        }
        (Some(Some(number)), None) => Ok(*number),
        (_, Some(number)) => match table.names.get(number as usize) {
            Some(other) if other == name => Ok(number),
            _ => Err(line.error(format!("number {number} is not {kind}{name}"))),
        },
    }
}

// What many constructs have in common.
impl<'t> Line<'t> {
    fn is_mark(&self, mark: char) -> bool {
        *self.peek() == Token::Mark(mark)
    }

    fn mark(&mut self, mark: char) -> Result<(), ParseError> {
        if !self.is_mark(mark) {
            let what = if mark == '>' { "`->`".to_owned() } else { format!("`{mark}`") };
            return Err(self.expected(&what));
        }
        self.take().map(drop)
    }

    /// Takes a mark or a word if it comes next.
    fn accept_mark(&mut self, mark: char) -> Result<bool, ParseError> {
        let found = self.is_mark(mark);
        if found {
            self.take()?;
        }
        Ok(found)
    }

    fn accept_word(&mut self, word: &str) -> Result<bool, ParseError> {
        let found = *self.peek() == Token::Word(word);
        if found {
            self.take()?;
        }
        Ok(found)
    }

    fn keyword(&mut self, word: &str) -> Result<(), ParseError> {
        if self.accept_word(word)? { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    /// A word of a table.
    fn word_of<T: Copy>(&mut self, table: &Words<T>, what: &str) -> Result<T, ParseError> {
        if let Token::Word(word) = self.peek()
            && let Some(item) = item(table, word)
        {
            self.take()?;
            return Ok(item);
        }
        let words: Vec<&str> = table.iter().map(|(_, word)| *word).collect();
        Err(self.expected(&format!("{what}: one of {}", words.join(", "))))
    }

    /// `close`-ended list with commas; the opening mark is taken already.
    fn list<T>(
        &mut self,
        close: char,
        mut each: impl FnMut(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        let mut items = vec![];
        if self.accept_mark(close)? {
            return Ok(items);
        }
        loop {
            items.push(each(self)?);
            if self.accept_mark(close)? {
                return Ok(items);
            }
            if !self.accept_mark(',')? {
                return Err(self.expected(&format!("`,` or `{close}`")));
            }
        }
    }

    fn text(&mut self, what: &str) -> Result<String, ParseError> {
        match self.peek() {
            Token::Text(text) => {
                let text = text.clone().into_owned();
                self.take()?;
                Ok(text)
            }
            _ => Err(self.expected(&format!("{what} in quotes"))),
        }
    }

    fn name(&mut self, what: &str) -> Result<Symbol, ParseError> {
        match self.peek() {
            Token::Text(text) => {
                let name = Symbol::from(&**text);
                self.take()?;
                Ok(name)
            }
            Token::Word(word) => {
                let name = Symbol::from(*word);
                self.take()?;
                Ok(name)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// A number without width, 0 or more.
    fn unsigned<T: TryFrom<u128>>(&mut self, what: &str) -> Result<T, ParseError> {
        if let Token::Number(number) = self.peek()
            && !number.negative
            && number.width.is_none()
            && let Ok(value) = T::try_from(number.magnitude)
        {
            self.take()?;
            return Ok(value);
        }
        let bits = 8 * size_of::<T>();
        Err(self.expected(&format!("{what} (a number of at most {bits} bits)")))
    }

    fn signed(&mut self, what: &str) -> Result<i64, ParseError> {
        if let Token::Number(number) = self.peek()
            && number.width.is_none()
            && let Ok(magnitude) = i128::try_from(number.magnitude)
            && let Ok(value) = i64::try_from(if number.negative { -magnitude } else { magnitude })
        {
            self.take()?;
            return Ok(value);
        }
        Err(self.expected(&format!("{what} (a number of at most 64 bits)")))
    }

    fn shape(&mut self) -> Result<ShapeId, ParseError> {
        let Token::Shape(number) = *self.peek() else { return Err(self.expected("a shape, as in #0")) };
        self.take()?;
        Ok(ShapeId(number))
    }

    fn ty(&mut self) -> Result<Type, ParseError> {
        if let Token::Word(word) = *self.peek()
            && let Some(ty) = type_of(word)
        {
            self.take()?;
            return Ok(ty);
        }
        Err(self.expected("a type: i1 to i128, ptr, or opaque and a number of bytes"))
    }

    /// What may stand at the end of a line: a label, a position.
    fn end(&mut self) -> Result<(Option<Symbol>, Option<Position>), ParseError> {
        let mut label = None;
        if let Token::Label(name) = self.peek() {
            label = Some(Symbol::from(&**name));
            self.take()?;
        }
        let mut position = None;
        if let Token::Position(file, line, column) = *self.peek() {
            position = Some(Position { file: FileId(file), line, column });
            self.take()?;
        }
        if *self.peek() != Token::End {
            return Err(self.expected("the end of the line"));
        }
        Ok((label, position))
    }

    /// The end of a line that can have a position but no label.
    fn end_without_label(&mut self) -> Result<Option<Position>, ParseError> {
        if let Token::Label(_) = self.peek() {
            return Err(self.expected("a position (file, line, column), as in !0:4:5"));
        }
        Ok(self.end()?.1)
    }
}

fn type_of(word: &str) -> Option<Type> {
    if word == "ptr" {
        return Some(Type::Ptr);
    }
    if let Some(bytes) = word.strip_prefix("opaque") {
        return bytes.parse().ok().map(Type::Opaque);
    }
    let bits: u8 = word.strip_prefix('i')?.parse().ok()?;
    Width::new(bits).map(Type::Int)
}
