//! Excerpts of the source, drawn as rustc draws them.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use ir::{Op, Position, Program, SiteId, SiteIndex};

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
            None => format!("instruction {}", site.0),
        }
    }

    /// The bytes of what an instruction is in the source: the place that is read, or the statement up to its end on that
    /// line.
    fn span(&self, site: SiteId) -> Option<std::ops::Range<usize>> {
        let at = self.position(site)?;
        let text = self.texts.get(at.file.index())?.as_deref()?;
        let line_start: usize = text.split_inclusive('\n').take(at.line as usize - 1).map(str::len).sum();
        let line = text.get(line_start..)?.lines().next()?;
        let start = line.char_indices().nth(at.column as usize - 1).map_or(line.len(), |(byte, _)| byte);
        let rest = &line[start..];
        let length = match self.sites.op(self.program, site) {
            Some(Op::Load { .. }) => place_length(rest),
            _ => statement_length(rest),
        };
        Some(line_start + start..line_start + start + length.max(1).min(rest.len()))
    }

    /// An error with the source lines that it is about, and notes below.
    #[must_use]
    pub fn message(&self, title: &str, marks: &[Mark], notes: &[String]) -> String {
        self.draw(Level::ERROR, title, marks, notes)
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
    let name = text[start..].find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len() - start);
    if name == 0 {
        return statement_length(text);
    }
    let mut end = start + name;
    while text[end..].starts_with('[') {
        let Some(length) = text[end..].find(']') else { break };
        end += length + 1;
    }
    // A call such as `load(x)` is shown whole.
    if text[end..].starts_with('(') { statement_length(text) } else { end }
}
