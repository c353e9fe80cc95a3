//! What random tests here and in the crates above have in common: how many cases, from program to IR, texts that are nearly right.

use crate::ast::File;
use proptest::prelude::ProptestConfig;
use proptest::test_runner::FileFailurePersistence;

/// How random tests draw their cases: so many, unless `PROPTEST_CASES` says how many; what fails is kept beside the test.
#[must_use]
pub fn config(cases: u32) -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(cases);
    let persistence = FileFailurePersistence::WithSource("regressions");
    ProptestConfig {
        cases,
        max_shrink_iters: 20_000,
        failure_persistence: Some(Box::new(persistence)),
        ..ProptestConfig::default()
    }
}

/// A random program as program IR.
///
/// # Panics
/// If the program is not well formed, which is a mistake in the generator.
#[must_use]
pub fn lowered(file: &File) -> ir::Program {
    let checked = crate::check(file).expect("random programs are well formed");
    let options =
        crate::LowerOptions { name: "random.tb".into(), path: "random.tb".into(), ..Default::default() };
    crate::lower(&checked, &options)
}

/// A sample after edits of four bytes each: what, where (two), and with which.
#[must_use]
pub fn edited(sample: &str, edits: &[u8], count: usize) -> String {
    let mut text: Vec<char> = sample.chars().collect();
    let words: Vec<&str> = sample.split_inclusive(|c: char| !c.is_alphanumeric()).collect();
    for edit in edits.chunks_exact(4).take(count) {
        let at = (usize::from(edit[1]) << 8 | usize::from(edit[2])) % text.len().max(1);
        let which = usize::from(edit[3]);
        match edit[0] % 4 {
            0 => text.truncate(at.max(1)),
            1 => drop(text.splice(at..(at + which % 16).min(text.len()), [])),
            2 => text.insert(at.min(text.len()), char::from(edit[3])),
            _ => {
                let word = words[(which * 7 + at) % words.len()];
                drop(text.splice(at..at.min(text.len()), word.chars()));
            }
        }
    }
    text.into_iter().collect()
}
