//! Lines of C, and the places in the model that they stand for.

use lang::Span;
use std::collections::BTreeMap;

/// The body of a function while it is written.
#[derive(Default)]
pub struct Lines {
    lines: Vec<String>,
    depth: usize,
    named: usize,
}

impl Lines {
    /// A line.
    pub fn push(&mut self, text: &str) {
        self.lines.push(format!("{:1$}{text}", "", 4 * (self.depth + 1)));
    }

    /// A line of one event of the model.
    pub fn event(&mut self, text: &str, at: Span) {
        self.push(&format!("{text} /* {}:{} */", at.line, at.column));
    }

    /// A name that no other local has.
    pub fn name(&mut self) -> String {
        self.named += 1;
        format!("v{}", self.named)
    }

    /// `head {`, and what is inside is indented.
    pub fn open(&mut self, head: &str) {
        self.push(format!("{head} {{").trim_start());
        self.depth += 1;
    }

    /// `} else {`
    pub fn otherwise(&mut self) {
        self.depth -= 1;
        self.open("} else");
    }

    /// `}`
    pub fn close(&mut self) {
        self.depth -= 1;
        self.push("}");
    }

    /// What `write` writes, apart: it stands inside an expression.
    pub fn apart<T>(&mut self, write: impl FnOnce(&mut Lines) -> T) -> (Vec<String>, T) {
        let before = std::mem::take(&mut self.lines);
        self.depth += 1;
        let made = write(self);
        self.depth -= 1;
        (std::mem::replace(&mut self.lines, before), made)
    }

    /// All of them.
    pub fn text(self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }
}

/// The line and column in the model of each line in C that is an event.
#[must_use]
pub fn places(c: &str) -> BTreeMap<u32, (u32, u32)> {
    let place = |line: &str| {
        let (line, column) = line.strip_suffix(" */")?.rsplit_once("/* ")?.1.split_once(':')?;
        Some((line.parse().ok()?, column.parse().ok()?))
    };
    (1..).zip(c.lines()).filter_map(|(n, line)| Some((n, place(line)?))).collect()
}
