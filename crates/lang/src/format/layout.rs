//! Lines, indentation, comments and blank lines.
//!
//! Each comment is written once, at the first of these places that comes: before the part of an expression that
//! it stands before; behind the statement or `{` on whose line it stands, or inside which it was left over; on a line
//! of its own before the next statement, item or `}`. Written there, it is found there again, so that formatting
//! twice changes nothing.

use crate::Span;
use crate::lexer::{Comment, Token};

/// Text that is written line by line, with the comments of the source put in where they belong.
pub(super) struct Printer<'c> {
    out: String,
    indent: usize,
    tokens: &'c [Token],
    /// Comments that are not written yet.
    comments: &'c [Comment],
    /// The source line on which the last thing ended that was written; 0 at the start of a block, where no
    /// blank line belongs.
    last_line: u32,
    /// The text ends in a line comment, behind which nothing can stand on its line.
    broken: bool,
}

impl<'c> Printer<'c> {
    pub(super) fn new(tokens: &'c [Token], comments: &'c [Comment]) -> Printer<'c> {
        Printer { out: String::new(), indent: 0, tokens, comments, last_line: 0, broken: false }
    }

    pub(super) fn finish(mut self) -> String {
        self.comments_between(u32::MAX);
        self.out
    }

    /// Adds to the line.
    pub(super) fn write(&mut self, text: &str) {
        if !self.broken {
            self.out.push_str(text);
            return;
        }
        // A comment inside a statement has ended the line: go on one level deeper.
        self.broken = false;
        self.out.push('\n');
        self.spaces(self.indent + 1);
        self.out.push_str(text.trim_start());
    }

    fn spaces(&mut self, levels: usize) {
        self.out.extend(std::iter::repeat_n("    ", levels));
    }

    /// Begins a line for something that stands at `span`: first the comments before it, then a blank line if the
    /// source has one.
    pub(super) fn start_line(&mut self, span: Span) {
        self.comments_between(span.start);
        self.blank_line(span.line);
        self.spaces(self.indent);
    }

    /// Begins a line without looking at the source.
    pub(super) fn fresh_line(&mut self) {
        self.spaces(self.indent);
    }

    /// Ends the line of something that ends with `span`, with the comments that stand behind it on that line
    /// and those that were left over inside it.
    pub(super) fn end_line(&mut self, span: Span) {
        self.last_line = span.end_line;
        let next = self.tokens.partition_point(|token| token.span.start < span.end);
        let next = self.tokens.get(next).map_or(u32::MAX, |token| token.span.start);
        while let Some(comment) = self.comments.first() {
            let behind = comment.span.line == self.last_line && comment.span.start < next;
            if comment.span.start >= span.end && !behind {
                break;
            }
            self.comments = &self.comments[1..];
            // Behind a line comment there is no room: from there on each comment has its own line.
            let own_line = self.out.ends_with('\n');
            if own_line {
                self.spaces(self.indent);
            } else {
                self.out.push(' ');
            }
            self.out.push_str(&comment.text);
            if own_line || comment.text.starts_with("//") {
                self.out.push('\n');
            }
            self.last_line = self.last_line.max(comment.span.end_line);
        }
        self.new_line();
    }

    /// Ends the line, unless it has ended.
    pub(super) fn new_line(&mut self) {
        self.broken = false;
        while self.out.ends_with(' ') {
            self.out.pop();
        }
        if !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    /// Whether comments stand before `span` that are not written yet.
    pub(super) fn has_comments_before(&self, span: Span) -> bool {
        self.comments.first().is_some_and(|comment| comment.span.start < span.start)
    }

    /// Comments inside a statement, before the part that stands at `span`.
    pub(super) fn comments_before(&mut self, span: Span) {
        while let Some(comment) = self.comments.first().filter(|c| c.span.start < span.start) {
            self.comments = &self.comments[1..];
            if self.broken || !self.out.ends_with([' ', '(', '[', '{', '\n']) {
                self.write(" ");
            }
            self.out.push_str(&comment.text);
            if comment.text.starts_with("//") {
                self.broken = true;
            } else {
                self.out.push(' ');
            }
        }
    }

    /// Comments on lines of their own, before byte `start`.
    fn comments_between(&mut self, start: u32) {
        while let Some(comment) = self.comments.first().filter(|c| c.span.start < start) {
            self.comments = &self.comments[1..];
            self.blank_line(comment.span.line);
            self.spaces(self.indent);
            self.out.push_str(&comment.text);
            self.out.push('\n');
            self.last_line = comment.span.end_line;
        }
    }

    fn blank_line(&mut self, line: u32) {
        if self.last_line > 0 && line > self.last_line + 1 {
            self.out.push('\n');
        }
    }

    /// An empty line between two items of a tree that comes from no text.
    pub(super) fn separate(&mut self) {
        self.out.push('\n');
    }

    /// Opens a block behind the `{` that stands at `span`; at its start no blank line belongs.
    pub(super) fn open(&mut self, span: Span) {
        self.indent += 1;
        self.end_line(span);
        self.last_line = 0;
    }

    /// Closes a block before the `}` that stands at `span`: writes the comments before it.
    pub(super) fn close(&mut self, span: Span) {
        self.comments_between(span.start);
        self.indent -= 1;
        self.spaces(self.indent);
    }

    /// One level deeper, for a statement without braces on the next line.
    pub(super) fn deeper(&mut self, write: impl FnOnce(&mut Self)) {
        self.new_line();
        self.indent += 1;
        self.last_line = 0;
        write(self);
        self.indent -= 1;
    }
}
