//! Excerpts of the source, drawn as rustc draws them.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use ir::{Position, Program, SiteId, SiteIndex};

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

    /// The label that the source gives an instruction.
    #[must_use]
    pub fn label(&self, site: SiteId) -> Option<&str> {
        self.sites.source(self.program, site).1
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

    /// The source line of an instruction, trimmed.
    #[must_use]
    pub fn line(&self, site: SiteId) -> Option<&str> {
        let at = self.position(site)?;
        let text = self.texts.get(at.file.index())?.as_deref()?;
        text.lines().nth(at.line as usize - 1).map(str::trim)
    }

    /// The bytes of the statement at a position: up to the end of the statement on its line, or of the line.
    fn span(&self, at: Position) -> Option<std::ops::Range<usize>> {
        let text = self.texts.get(at.file.index())?.as_deref()?;
        let line_start: usize = text.split_inclusive('\n').take(at.line as usize - 1).map(str::len).sum();
        let line = text.get(line_start..)?.lines().next()?;
        let start = line.char_indices().nth(at.column as usize - 1).map_or(line.len(), |(byte, _)| byte);
        let rest = &line[start..];
        let length = statement_length(rest);
        Some(line_start + start..line_start + start + length.max(1).min(rest.len()))
    }

    /// A message with the source lines that it is about, and notes below.
    #[must_use]
    pub fn message(&self, title: &str, marks: &[Mark], notes: &[String]) -> String {
        let mut group = Group::with_title(Level::ERROR.primary_title(title));
        let mut missing = vec![];
        for (file, text) in self.texts.iter().enumerate() {
            let here: Vec<(&Mark, std::ops::Range<usize>)> = marks
                .iter()
                .filter_map(|mark| {
                    let at = self.position(mark.site).filter(|at| at.file.index() == file)?;
                    Some((mark, self.span(at)?))
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
            if self.position(mark.site).and_then(|at| self.span(at)).is_none() {
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
