//! A little colour for C, C++ and the model language: comments, strings, numbers and keywords, found without parsing.

use std::ops::Range;

/// What a piece of source is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    Comment,
    Text,
    Number,
    Keyword,
}

impl Class {
    /// Its class in the page.
    pub(super) fn name(self) -> &'static str {
        match self {
            Class::Comment => "c",
            Class::Text => "s",
            Class::Number => "n",
            Class::Keyword => "k",
        }
    }
}

const KEYWORDS: &[&str] = &[
    "assert",
    "assume",
    "atomic",
    "auto",
    "bool",
    "bound",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "constexpr",
    "continue",
    "default",
    "delete",
    "do",
    "double",
    "else",
    "enum",
    "exclusive",
    "exists",
    "extern",
    "false",
    "float",
    "for",
    "forall",
    "fork",
    "if",
    "inline",
    "int",
    "join",
    "lock",
    "long",
    "mutex",
    "namespace",
    "new",
    "nullptr",
    "private",
    "public",
    "return",
    "short",
    "signal",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "template",
    "thread",
    "throw",
    "true",
    "try",
    "typedef",
    "union",
    "unlock",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wait",
    "while",
];

/// The pieces of a text that have a colour, in their order.
pub(super) fn pieces(text: &str) -> Vec<(Range<usize>, Class)> {
    let mut found = vec![];
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let (length, class) = match first {
            _ if rest.starts_with("//") => (rest.find('\n').unwrap_or(rest.len()), Some(Class::Comment)),
            _ if rest.starts_with("/*") => {
                (rest[2..].find("*/").map_or(rest.len(), |end| end + 4), Some(Class::Comment))
            }
            '"' | '\'' => (quoted(rest, first), Some(Class::Text)),
            '0'..='9' => (word(rest), Some(Class::Number)),
            _ if first.is_alphabetic() || first == '_' => {
                let length = word(rest);
                (length, KEYWORDS.contains(&&rest[..length]).then_some(Class::Keyword))
            }
            _ => (first.len_utf8(), None),
        };
        if let Some(class) = class {
            found.push((at..at + length, class));
        }
        at += length;
    }
    found
}

fn word(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
}

/// How long a text in quotes is; one that does not end, ends with its line.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            '\n' => return at,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_texts_numbers_and_keywords_are_told_apart() {
        let text = "int x = 0x1f; // if\nf(\"a\\\"b\", 'c'); /* while\n */ whiled();";
        let found: Vec<(&str, &str)> =
            pieces(text).into_iter().map(|(at, class)| (class.name(), &text[at])).collect();
        let expected = [
            ("k", "int"),
            ("n", "0x1f"),
            ("c", "// if"),
            ("s", "\"a\\\"b\""),
            ("s", "'c'"),
            ("c", "/* while\n */"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_does_not_end_ends_with_the_text() {
        for text in ["/*", "/* é", "\"é", "'", "/*/", "é", ""] {
            assert!(pieces(text).iter().all(|(at, _)| text.get(at.clone()).is_some()), "{text}");
        }
    }
}
