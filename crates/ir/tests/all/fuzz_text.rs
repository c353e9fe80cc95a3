//! Fuzz target: the reader of the text form, and the verifier behind it.
//!
//! On the stable toolchain bolero replays `__fuzz__/ir_text/corpus` and then makes random inputs. They are not guided
//! by coverage, so random bytes alone would hardly get past the first line: an input that starts with an odd
//! byte is a list of edits of a program that has every construct.

use std::time::Duration;

const SAMPLE: &str = include_str!("../every_construct.tir");

#[test]
fn any_text_is_read_or_refused() {
    bolero::check!(name = "ir_text")
        .with_max_len(512)
        .with_iterations(20_000)
        .with_test_time(Duration::from_secs(2))
        .for_each(|input: &[u8]| match input.split_first() {
            Some((first, edits)) if first % 2 == 1 => target(edited(edits, few(*first)).as_bytes()),
            _ => target(input),
        });
}

fn target(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let Ok(program) = ir::parse(&text) else { return };
    let well_formed = ir::verify(&program).is_ok();
    let printed = ir::print(&program);
    if well_formed {
        assert_eq!(ir::parse(&printed).as_ref(), Ok(&program));
    }
}

/// How many edits: few, or nothing good is left.
fn few(first: u8) -> usize {
    1 + usize::from(first / 2 % 4)
}

/// The sample after edits of four bytes each: what, where (two), and with which.
fn edited(edits: &[u8], count: usize) -> String {
    let mut lines: Vec<Vec<u8>> = SAMPLE.lines().map(|line| line.as_bytes().to_vec()).collect();
    for edit in edits.chunks_exact(4).take(count) {
        let at = usize::from(edit[1]) % lines.len();
        let other = usize::from(edit[3]) % lines.len();
        let column = usize::from(edit[2]) % (lines[at].len() + 1);
        match edit[0] % 8 {
            0 => lines[at] = lines[other].clone(),
            1 => lines[at].insert(column, edit[3]),
            2 => lines[at].truncate(column),
            3 if column < lines[at].len() => lines[at][column] = edit[3],
            _ => exchange_word(&mut lines[at], column, usize::from(edit[3])),
        }
    }
    String::from_utf8_lossy(&lines.join(&b'\n')).into_owned()
}

/// Puts another word of the sample that starts alike in the place of the one at `column`: most of what comes out
/// still reads, and means something else.
fn exchange_word(line: &mut Vec<u8>, column: usize, which: usize) {
    let is_word = |byte: &u8| !b" ,()[]:".contains(byte);
    let start = line[..column].iter().rposition(|byte| !is_word(byte)).map_or(0, |before| before + 1);
    let end =
        line[start..].iter().position(|byte| !is_word(byte)).map_or(line.len(), |length| start + length);
    let Some(&first) = line[start..end].first() else { return };
    let words = SAMPLE.split([' ', ',', '(', ')', '[', ']', ':', '\n']);
    let alike: Vec<&str> = words.filter(|word| word.bytes().next() == Some(first)).collect();
    if let Some(word) = alike.get(which % alike.len().max(1)) {
        line.splice(start..end, word.bytes());
    }
}
