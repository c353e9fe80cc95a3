//! Excerpts of the source, drawn as rustc draws them.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use ir::{Op, Position, Program, SiteId, SiteIndex};
use trace::{ExcerptRow, Trace};

/// A program with the text of its source files.
pub struct Sources<'p> {
    /// The program.
    pub program: &'p Program,
    sites: SiteIndex,
    texts: Vec<Option<String>>,
    color: bool,
}

/// A place in the source and what is to be said about it.
pub struct Mark {
    /// Which instruction.
    pub site: SiteId,
    /// What is to be said.
    pub label: String,
    /// Whether it is the place that the message is about.
    pub primary: bool,
}

impl<'p> Sources<'p> {
    /// A program and its sources; `read` gives the text of a file, if it can be had.
    pub fn new(program: &'p Program, color: bool, read: impl Fn(&str) -> Option<String>) -> Sources<'p> {
        let texts = program.files.iter().map(|file| read(&file.path)).collect();
        Sources { program, sites: SiteIndex::new(program), texts, color }
    }

    /// Some events of a run in words.
    pub(crate) fn excerpt(&self, run: &Trace, shown: &[usize], marked: &[usize]) -> Vec<ExcerptRow> {
        trace::excerpt(run, self.program, &self.sites, shown, marked)
    }

    fn position(&self, site: SiteId) -> Option<Position> {
        self.sites.source(self.program, site).0
    }

    /// What an instruction does to memory, as a verb.
    #[must_use]
    pub fn verb(&self, site: SiteId) -> &'static str {
        match self.sites.op(self.program, site) {
            Some(Op::Load { .. }) => "reads",
            Some(Op::Store { .. } | Op::MemorySet { .. }) => "writes",
            Some(Op::Free { .. }) => "frees",
            Some(Op::Update { .. } | Op::CompareExchange { .. }) => "updates",
            _ => "accesses",
        }
    }

    /// `file:line:column` of an instruction.
    #[must_use]
    pub fn place(&self, site: SiteId) -> String {
        match self.position(site) {
            Some(at) => {
                let path = self.program.files.get(at.file.index()).map_or("?", |file| &file.path);
                format!("{path}:{}:{}", at.line, at.column)
            }
            // Traces of other tools know places of which nothing is known but what they are called.
            None => match self.sites.source(self.program, site).1 {
                Some(label) => format!("place {label}"),
                None => format!("instruction {}", site.0),
            },
        }
    }

    /// The file, line and column of an instruction.
    #[must_use]
    pub fn file_and_position(&self, site: SiteId) -> Option<(&str, Position)> {
        let at = self.position(site)?;
        Some((&self.program.files.get(at.file.index())?.path, at))
    }

    /// The function that an instruction is in.
    pub(crate) fn function(&self, site: SiteId) -> String {
        let function = self.sites.place(site).and_then(|at| self.program.functions.get(at.function.index()));
        function.map_or_else(String::new, |function| function.name.to_string())
    }

    /// The line of the source that an instruction is on, if it can be read.
    pub(crate) fn line_text(&self, site: SiteId) -> &str {
        let line = self.position(site).and_then(|at| {
            let text = self.texts.get(at.file.index())?.as_deref()?;
            text.lines().nth(at.line.checked_sub(1)? as usize)
        });
        line.unwrap_or_default()
    }

    /// A line of a source file, counted from 1, if it can be read.
    pub(crate) fn line_of(&self, file: &str, line: u32) -> Option<&str> {
        let at = self.program.files.iter().position(|known| known.path == file)?;
        self.texts.get(at)?.as_deref()?.lines().nth(line.checked_sub(1)? as usize)
    }

    /// The file that an instruction is in, and its text.
    pub(crate) fn file_text(&self, site: SiteId) -> Option<(&str, &str)> {
        let file = self.position(site)?.file.index();
        Some((&self.program.files.get(file)?.path, self.texts.get(file)?.as_deref()?))
    }

    /// The bytes of what an instruction is in the source: the place that is read, or the statement up to its end on that
    /// line.
    pub(crate) fn span(&self, site: SiteId) -> Option<std::ops::Range<usize>> {
        let at = self.position(site)?;
        let text = self.texts.get(at.file.index())?.as_deref()?;
        let line_start: usize = text.split_inclusive('\n').take(at.line as usize - 1).map(str::len).sum();
        let line = text.get(line_start..)?.lines().next()?;
        let column = (at.column as usize).checked_sub(1)?;
        let start = line.char_indices().nth(column).map_or(line.len(), |(byte, _)| byte);
        let start = whole_start(line, start);
        // Who knows only the line gives its first column.
        let indent = line[start..].len() - line[start..].trim_start().len();
        let start = start + indent;
        let rest = &line[start..];
        let length = match self.sites.op(self.program, site) {
            Some(Op::Load { .. }) if indent == 0 => place_length(rest),
            _ => statement_length(rest),
        };
        Some(line_start + start..line_start + start + length.max(1).min(rest.len()))
    }

    /// An error with the source lines that it is about, and notes below.
    #[must_use]
    pub fn message(&self, title: &str, marks: &[Mark], notes: &[String]) -> String {
        self.draw(Level::ERROR, title, marks, notes)
    }

    /// The same for what is likely wrong.
    #[must_use]
    pub fn warning(&self, title: &str, marks: &[Mark], notes: &[String]) -> String {
        self.draw(Level::WARNING, title, marks, notes)
    }

    /// The same for what is no error.
    #[must_use]
    pub fn note(&self, title: &str, marks: &[Mark], notes: &[String]) -> String {
        self.draw(Level::NOTE, title, marks, notes)
    }

    fn draw(&self, level: Level<'_>, title: &str, marks: &[Mark], notes: &[String]) -> String {
        let mut group = Group::with_title(level.primary_title(title));
        let mut missing = vec![];
        for (file, text) in self.texts.iter().enumerate() {
            let here: Vec<(&Mark, std::ops::Range<usize>)> = marks
                .iter()
                .filter_map(|mark| {
                    self.position(mark.site).filter(|at| at.file.index() == file)?;
                    Some((mark, self.span(mark.site)?))
                })
                .collect();
            if let (Some(text), false) = (text, here.is_empty()) {
                let mut snippet = Snippet::source(text.as_str()).path(self.program.files[file].path.as_str());
                for (mark, span) in here {
                    let kind = if mark.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
                    let annotation = kind.span(span);
                    snippet = snippet.annotation(match mark.label.is_empty() {
                        true => annotation,
                        false => annotation.label(mark.label.as_str()),
                    });
                }
                group = group.element(snippet);
            }
        }
        for mark in marks {
            if self.span(mark.site).is_none() {
                missing.push(format!("{}: {}", self.place(mark.site), mark.label));
            }
        }
        for note in missing.iter().chain(notes) {
            group = group.element(Level::NOTE.message(note.as_str()));
        }
        let renderer = if self.color { Renderer::styled() } else { Renderer::plain() };
        renderer.decor_style(DecorStyle::Ascii).render(&[group]).to_string()
    }
}

/// Where what stands at `start` really begins: compilers give an assignment by its operator, and a member by its name.
fn whole_start(line: &str, start: usize) -> usize {
    let (before, rest) = line.split_at(start);
    let operators = ["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"];
    if operators.iter().any(|operator| rest.starts_with(operator)) && !rest.starts_with("==") {
        return place_start(before.trim_end());
    }
    if before.ends_with("->") || before.ends_with('.') {
        return place_start(before);
    }
    start
}

/// Where the place in memory begins that ends a text: `*p`, `a[f(i)].x`, `head->next`.
fn place_start(text: &str) -> usize {
    let mut start = text.len();
    let mut open = 0;
    for (at, character) in text.char_indices().rev() {
        match character {
            ')' | ']' => open += 1,
            '(' | '[' if open == 0 => break,
            '(' | '[' => open -= 1,
            _ if open > 0 || character.is_alphanumeric() || "_.*".contains(character) => {}
            '-' | '>' if text[at..].starts_with("->") || text[..at].ends_with('-') => {}
            _ => break,
        }
        start = at;
    }
    start
}

/// How far a statement or expression goes that starts a text: to a `;` or `{`, or to a bracket that it has not opened.
fn statement_length(text: &str) -> usize {
    let mut open = 0;
    for (at, character) in text.char_indices() {
        match character {
            ';' | '{' => return text[..at].trim_end().len(),
            '(' | '[' => open += 1,
            ')' | ']' if open == 0 => return at,
            ')' | ']' => open -= 1,
            _ => {}
        }
    }
    text.trim_end().len()
}

/// How far a place in memory goes that starts a text: `x`, `a[i + 1]`, `*p`; other things as far as a statement.
fn place_length(text: &str) -> usize {
    let start = text.len() - text.trim_start_matches(['*', '&', '(', ' ']).len();
    let name = identifier(&text[start..]);
    if name == 0 {
        return statement_length(text);
    }
    let mut end = start + name;
    loop {
        let rest = &text[end..];
        let length = match rest {
            _ if rest.starts_with('[') => rest.find(']').map(|at| at + 1),
            _ if rest.starts_with("->") => Some(2 + identifier(&rest[2..])),
            _ if rest.starts_with('.') => Some(1 + identifier(&rest[1..])),
            _ => None,
        };
        let Some(length) = length else { break };
        end += length;
    }
    // A call such as `load(x)` is shown whole.
    if text[end..].starts_with('(') { statement_length(text) } else { end }
}

/// How long the name is that starts a text.
fn identifier(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assignment_begins_before_its_operator_and_a_member_before_its_name() {
        let begins = |line: &str, at: &str| line[whole_start(line, line.find(at).unwrap())..].to_owned();
        assert_eq!(begins("    p->x = 1;", "= 1"), "p->x = 1;");
        assert_eq!(begins("  i++; a[i].x += f(y);", "+= f"), "a[i].x += f(y);");
        assert_eq!(begins("  for (n = 0; n < 3; n++)", "++)"), "n++)");
        assert_eq!(begins("  for (i = 0; i < 3; i++) counter++;", "++;"), "counter++;");
        assert_eq!(begins("  *p = a[f(i, j)]->x = 3;", "= 3"), "a[f(i, j)]->x = 3;");
        assert_eq!(begins("  if (a == b)", "== b"), "== b)");
        assert_eq!(begins("  int y = head->next->x + 1;", "x + 1"), "head->next->x + 1;");
        assert_eq!(begins("  int y = x + 1;", "x + 1"), "x + 1;");
        assert_eq!(place_length("head->next[3].x + 1"), "head->next[3].x".len());
    }
}
