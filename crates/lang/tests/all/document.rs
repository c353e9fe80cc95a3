//! The programs in docs/language.md: each compiles, or is refused with the words that the block names. Those marked
//! `run` are run by the machine's tests.

use lang::LowerOptions;

/// Each block with the words behind ```` ```tb ````, and the line on which it begins.
fn blocks(document: &str) -> Vec<(usize, &str, String)> {
    let mut blocks = vec![];
    let mut lines = document.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        // The convention itself is described in an indented comment.
        let Some(info) = line.strip_prefix("```tb") else { continue };
        let body: Vec<&str> =
            lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
        blocks.push((number + 1, info.trim(), body.join("\n") + "\n"));
    }
    blocks
}

#[test]
fn every_program_of_the_document_is_as_it_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/language.md");
    let document = std::fs::read_to_string(path).unwrap();
    let blocks = blocks(&document);
    assert!(blocks.len() > 30, "only {} blocks were found", blocks.len());
    for (line, info, source) in blocks {
        let result = lang::compile(&source, &LowerOptions::default());
        match (info.strip_prefix("error: "), result) {
            (None, Ok(program)) => {
                assert!(info.is_empty() || info.starts_with("run: "), "line {line}: what is `{info}`?");
                assert_eq!(ir::verify(&program), Ok(()), "line {line}");
                assert!(lang::format(&source).is_ok());
            }
            (Some(words), Err(errors)) => {
                let shown: Vec<String> = errors.iter().map(|e| lang::render(e, "", &source, false)).collect();
                assert!(shown.join("\n").contains(words), "line {line}: {}", shown.join("\n"));
            }
            (Some(_), Ok(_)) => panic!("line {line}: this was to be refused"),
            (None, Err(errors)) => panic!("line {line}: {}", lang::render(&errors[0], "", &source, false)),
        }
    }
}
