//! What is wrong with a source text, and how it is shown.
//!
//! Diagnostics are plain data; [`render`] turns one into text with the source line and a caret, by
//! annotate-snippets, which draws rustc's messages too.

use crate::Span;
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// At most this many errors are shown for one file.
pub const MAX_ERRORS: usize = 20;

/// One error.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}:{}: {message}", .span.line, .span.column)]
pub struct Diagnostic {
    /// Where it is.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// What is to be said at `span`; may be empty.
    pub here: String,
    /// Other places that explain it: "declared here".
    pub labels: Vec<(Span, String)>,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at a place.
    #[must_use]
    pub fn new(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { span, message: message.into(), here: String::new(), labels: vec![], help: None }
    }

    /// Says something at the place itself.
    #[must_use]
    pub fn here(mut self, text: impl Into<String>) -> Diagnostic {
        self.here = text.into();
        self
    }

    /// Shows another place.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push((span, text.into()));
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }
}

/// Orders errors as the source has them and keeps the first [`MAX_ERRORS`].
pub(crate) fn finish(mut errors: Vec<Diagnostic>) -> Vec<Diagnostic> {
    errors.sort_by_key(|e| (e.span.start, e.span.end));
    errors.truncate(MAX_ERRORS);
    errors
}

/// The error as text, with the source lines that it is about. `source` is the text that was parsed.
#[must_use]
pub fn render(diagnostic: &Diagnostic, path: &str, source: &str, color: bool) -> String {
    let range = |span: Span| {
        // Spans come from this source; a caller may still hand over another one.
        let floor = |mut at: usize| {
            at = at.min(source.len());
            while !source.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        floor(span.start as usize)..floor(span.end as usize)
    };
    let primary = AnnotationKind::Primary.span(range(diagnostic.span));
    let primary = if diagnostic.here.is_empty() { primary } else { primary.label(diagnostic.here.as_str()) };
    let mut snippet = Snippet::source(source).path(path).annotation(primary);
    for (span, text) in &diagnostic.labels {
        snippet = snippet.annotation(AnnotationKind::Context.span(range(*span)).label(text.as_str()));
    }
    let mut group = Level::ERROR.primary_title(diagnostic.message.as_str()).element(snippet);
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    renderer.decor_style(DecorStyle::Ascii).render(&[group]).to_string()
}
