//! Fuzz target: everything that reads a source text.
//!
//! On the stable toolchain bolero replays `__fuzz__/tb_source/corpus` and then makes random inputs. They are not
//! guided by coverage, so an input that starts with an odd byte is a list of edits of a program that has every
//! construct.

use lang::random::edited;
use lang::{LowerOptions, compile, format, parse, render};
use std::time::Duration;

const SAMPLE: &str = include_str!("../format/everything.tb");

#[test]
fn the_sample_compiles() {
    let errors = compile(SAMPLE, &LowerOptions::default()).err().unwrap_or_default();
    let shown: Vec<String> =
        errors.iter().map(|error| render(error, "everything.tb", SAMPLE, false)).collect();
    assert!(shown.is_empty(), "{}", shown.join("\n"));
}

#[test]
fn any_text_is_compiled_or_refused() {
    bolero::check!(name = "tb_source")
        .with_max_len(512)
        .with_iterations(20_000)
        .with_test_time(Duration::from_secs(2))
        .for_each(|input: &[u8]| match input.split_first() {
            Some((first, edits)) if first % 2 == 1 => {
                target(&edited(SAMPLE, edits, 1 + usize::from(first / 2 % 4)))
            }
            _ => target(&String::from_utf8_lossy(input)),
        });
}

fn target(source: &str) {
    match compile(source, &LowerOptions::default()) {
        Ok(program) => assert_eq!(ir::verify(&program), Ok(())),
        Err(errors) => {
            assert!(!errors.is_empty());
            assert!(errors.iter().all(|error| !render(error, "fuzz.tb", source, false).is_empty()));
        }
    }
    if let Ok(formatted) = format(source) {
        let reason = "what is formatted can be read";
        assert_eq!(parse(&formatted).expect(reason), parse(source).expect(reason));
        assert_eq!(format(&formatted).expect(reason), formatted);
    }
}
