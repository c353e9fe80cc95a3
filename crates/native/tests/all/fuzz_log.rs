//! Fuzz target: the reader of logs.
//!
//! A program that writes through a wild pointer may write into its log. By its first byte an input is a log as it is, or edits of
//! a good one: of bytes, of whole units, of notes encoded anew. What is read must be a trace that can be written and that
//! belongs to the program. `tests/__fuzz__/native_log/corpus/` holds inputs that every run starts with.
//! A longer run: `BOLERO_RANDOM_ITERATIONS=1000000 cargo test --release -p threadbare-native --test all fuzz_log`.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::common::log::{origin, program, sample};
use native::Linked;
use native::log::read;
use std::time::Duration;

#[test]
fn any_log_is_read() {
    let linked = program();
    let whole = sample(&linked).bytes;
    bolero::check!(name = "native_log")
        .with_max_len(128)
        .with_iterations(20_000)
        .with_test_time(Duration::from_secs(2))
        .for_each(|input: &[u8]| check(&linked, &whole, input));
}

#[test]
fn the_corpus_is_read() {
    let linked = program();
    let whole = sample(&linked).bytes;
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/__fuzz__/native_log/corpus");
    let mut inputs = 0;
    for file in std::fs::read_dir(corpus).unwrap() {
        check(&linked, &whole, &std::fs::read(file.unwrap().path()).unwrap());
        inputs += 1;
    }
    assert!(inputs >= 4, "the corpus is not there");
}

fn check(linked: &Linked, whole: &[u8], input: &[u8]) {
    let Some((first, rest)) = input.split_first() else { return };
    let log = match first % 3 {
        0 => rest.to_vec(),
        1 => edited(whole, rest, 1),
        _ => edited(whole, rest, 16),
    };
    let reading = read(linked, &log, origin(linked), None);
    reading.trace.check_fits(&linked.program).unwrap();
    let events = reading.trace.events.len();
    assert!(events <= log.len() / 16, "{events} events from {} bytes", log.len());
}

/// Edits of four bytes each: where (in steps), what, with which.
fn edited(whole: &[u8], edits: &[u8], step: usize) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for edit in edits.chunks_exact(4).take(8) {
        let at = usize::from(u16::from_le_bytes([edit[0], edit[1]])) * step % bytes.len();
        match edit[2] % 4 {
            0 => bytes[at] = edit[3],
            1 => bytes[at] ^= 1 << (edit[3] % 8),
            2 => {
                let piece = bytes[at..(at + step * usize::from(edit[3])).min(bytes.len())].to_vec();
                bytes.splice(at..at, piece);
            }
            _ => {
                bytes.drain(at..(at + step * usize::from(edit[3] % 4)).min(bytes.len()));
            }
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}
