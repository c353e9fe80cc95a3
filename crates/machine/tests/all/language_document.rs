//! The programs in docs/language.md that say what comes out: the oracle must see exactly that. The convention is
//! described at the top of that file.

use machine::oracle::{Question, ask};
use machine::{Machine, Options};
use std::collections::BTreeSet;

/// Each block with the words behind ```` ```tb ````, and the line on which it begins.
fn blocks(document: &str) -> Vec<(usize, &str, String)> {
    let mut blocks = vec![];
    let mut lines = document.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```tb") else { continue };
        let body: Vec<&str> =
            lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
        blocks.push((number + 1, info.trim(), body.join("\n") + "\n"));
    }
    blocks
}

/// All outcomes of a program; of final states only these names.
fn outcomes(source: &str, names: &[&str]) -> BTreeSet<String> {
    let program =
        lang::compile(source, &lang::LowerOptions::default()).expect("the document's programs compile");
    let machine = Machine::new(program, Options::default()).expect("the machine runs what `lang` lowers");
    let answers = ask(&machine, &Question { history: false, ..Question::default() });
    assert!(answers.limit.is_none());
    let mut seen = BTreeSet::new();
    for state in answers.final_states.keys() {
        let value = |name: &str| state.values.iter().find(|(n, _)| n == name).map_or("?", |(_, value)| value);
        let values: Vec<String> = names.iter().map(|name| format!("{name} = {}", value(name))).collect();
        seen.insert(format!("completed {}", values.join(", ")).trim_end().to_owned());
    }
    for failure in answers.failures.keys() {
        let words =
            failure.fault.map_or("assertion failed".to_owned(), |fault| format!("fault: {}", fault.words()));
        seen.insert(words);
    }
    for (is, word) in [
        (!answers.deadlocks.is_empty(), "deadlock"),
        (!answers.bounds.is_empty(), "bound exceeded"),
        (answers.schedules.discarded > 0, "discarded"),
    ] {
        if is {
            seen.insert(word.to_owned());
        }
    }
    seen
}

#[test]
fn every_program_of_the_document_comes_out_as_it_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/language.md");
    let document = std::fs::read_to_string(path).expect("the document is part of the repository");
    let mut run = 0;
    for (line, info, source) in blocks(&document) {
        let Some(expected) = info.strip_prefix("run: ") else { continue };
        let values =
            expected.split(" | ").find_map(|outcome| outcome.strip_prefix("completed ")).unwrap_or_default();
        let names: Vec<&str> =
            values.split(", ").filter_map(|value| Some(value.split_once(" = ")?.0)).collect();
        let expected: BTreeSet<String> = expected.split(" | ").map(str::to_owned).collect();
        assert_eq!(outcomes(&source, &names), expected, "line {line}");
        run += 1;
    }
    assert!(run > 25, "only {run} programs were found");
}
