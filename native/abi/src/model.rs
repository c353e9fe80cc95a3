//! Functions of the C library of which it is known what memory they read.
//!
//! They are not instrumented, but what they read is an event of the call like any other access: the pass lets the runtime know that
//! such a call was made, with which arguments and which result, and the runtime notes the bytes
//! ([`crate::page::function::TOUCHED`]). Nobody else runs between the call and the note, so that what is there then is what was read.
//! What functions write is found out by the next load that sees it.

/// How many bytes are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// As many as this argument says.
    Bytes(usize),
    /// Up to the zero byte, and with it.
    Text,
    /// The same, but at most as many as this argument says.
    TextUpTo(usize),
    /// One more than the result says.
    Counted,
    /// Up to where the result points, and with that byte; if it is null, as many as this argument says.
    FoundIn(usize),
    /// Up to where the result points, and with that byte; if it is null, all of the text.
    FoundInText,
    /// Up to the first byte in which the texts that the first two arguments point to differ, or to their end.
    Common {
        /// Letters differ that are the same but for their case.
        case: bool,
        /// At most as many as this argument says.
        up_to: Option<usize>,
    },
}

/// A function, and the arguments that point to what it reads, in the order of the notes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Model {
    /// Its name.
    pub name: &'static str,
    /// What it reads: the argument that points there, and how far it reaches.
    pub reads: &'static [(usize, Extent)],
}

/// Arguments of a function behind these are not handed on.
pub const ARGUMENTS: usize = 3;

const fn model(name: &'static str, reads: &'static [(usize, Extent)]) -> Model {
    Model { name, reads }
}

use Extent::{Bytes, Common, Counted, FoundIn, FoundInText, Text, TextUpTo};

const COMMON: Extent = Common { case: true, up_to: None };
const ANY_CASE: Extent = Common { case: false, up_to: None };
const COMMON_UP_TO: Extent = Common { case: true, up_to: Some(2) };
const ANY_CASE_UP_TO: Extent = Common { case: false, up_to: Some(2) };

/// All of them, by name.
pub const MODELS: [Model; 26] = [
    model("bcmp", &[(0, Bytes(2)), (1, Bytes(2))]),
    model("fputs", &[(0, Text)]),
    model("memchr", &[(0, FoundIn(2))]),
    model("memcmp", &[(0, Bytes(2)), (1, Bytes(2))]),
    model("memcpy", &[(1, Bytes(2))]),
    model("puts", &[(0, Text)]),
    model("rawmemchr", &[(0, FoundInText)]),
    model("stpcpy", &[(1, Text)]),
    model("strcasecmp", &[(0, ANY_CASE), (1, ANY_CASE)]),
    model("strcat", &[(1, Text)]),
    model("strchr", &[(0, FoundInText)]),
    model("strchrnul", &[(0, FoundInText)]),
    model("strcmp", &[(0, COMMON), (1, COMMON)]),
    model("strcpy", &[(1, Text)]),
    model("strcspn", &[(0, Counted), (1, Text)]),
    model("strdup", &[(0, Text)]),
    model("strlen", &[(0, Counted)]),
    model("strncasecmp", &[(0, ANY_CASE_UP_TO), (1, ANY_CASE_UP_TO)]),
    model("strncmp", &[(0, COMMON_UP_TO), (1, COMMON_UP_TO)]),
    model("strncpy", &[(1, TextUpTo(2))]),
    model("strndup", &[(0, TextUpTo(1))]),
    model("strnlen", &[(0, TextUpTo(1))]),
    model("strpbrk", &[(0, FoundInText), (1, Text)]),
    model("strrchr", &[(0, Text)]),
    model("strspn", &[(0, Counted), (1, Text)]),
    model("strstr", &[(1, Text)]),
];

/// The number of a function in [`MODELS`].
#[must_use]
pub fn number(name: &str) -> Option<usize> {
    MODELS.binary_search_by(|model| model.name.cmp(name)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_asks_for_arguments_that_are_handed_on() {
        assert!(MODELS.is_sorted_by(|one, next| one.name < next.name));
        for model in MODELS {
            assert!(model.reads.iter().all(|&(argument, _)| argument < ARGUMENTS), "{}", model.name);
        }
        assert_eq!(number("strlen").map(|at| MODELS[at].name), Some("strlen"));
        assert_eq!(number("read"), None);
    }
}
