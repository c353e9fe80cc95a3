//! Response files: `@file` on a command line stands for the words in the file, quoted as GNU's tools have it.

use std::path::Path;

/// Files in files go so deep and no deeper; a file that names itself would have no end.
const MOST_DEPTH: usize = 8;

/// The words of a response file, with those of files that it names in their place; `None` if it cannot be read, and then the
/// word stands for itself.
pub fn words(path: &Path) -> Option<Vec<String>> {
    expand(path, 0)
}

fn expand(path: &Path, depth: usize) -> Option<Vec<String>> {
    if depth >= MOST_DEPTH {
        return None;
    }
    let text = std::fs::read_to_string(path).ok()?;
    let mut words = vec![];
    for word in split(&text) {
        match word.strip_prefix('@').and_then(|inner| expand(Path::new(inner), depth + 1)) {
            Some(inner) => words.extend(inner),
            None => words.push(word),
        }
    }
    Some(words)
}

/// Splits at blanks; quotes keep them, a backslash keeps the next character.
fn split(text: &str) -> Vec<String> {
    let mut words = vec![];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match (quote, c) {
            (_, '\\') => word.get_or_insert_default().extend(characters.next()),
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn words_are_split_as_gnu_splits_them() {
        assert_eq!(
            split("-c a.c\n-o\t'x y' \"z\\\"\" a\\ b ''"),
            ["-c", "a.c", "-o", "x y", "z\"", "a b", ""]
        );
    }
}
