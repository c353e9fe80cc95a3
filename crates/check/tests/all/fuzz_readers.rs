//! Fuzz targets: everything that reads a model file or a litmus test.
//!
//! On the stable toolchain bolero replays the corpus and then makes random inputs. They are not guided by coverage, so an
//! input that starts with an odd byte is a list of edits of a text that has every construct.

use check::cat::Model;
use check::litmus;
use lang::random::edited;
use std::time::Duration;

const MODEL: &str = include_str!("../../models/rc11.cat");
const X86: &str = include_str!("../../../../examples/litmus/SB.litmus");
const JUMPS: &str = include_str!("../../../../examples/litmus/spinlock.litmus");
const C: &str = include_str!("../../../../examples/litmus/MP+rel+acq.litmus");
const LOOPS: &str = include_str!("../../../../examples/litmus/spin+cas.litmus");

fn fuzz(name: &'static str, samples: &[&str], target: impl Fn(&str) + std::panic::RefUnwindSafe) {
    bolero::check!(name = name)
        .with_max_len(512)
        .with_iterations(10_000)
        .with_test_time(Duration::from_secs(1))
        .for_each(|input: &[u8]| match input.split_first() {
            Some((first, edits)) if first % 2 == 1 => {
                let sample = samples[usize::from(first / 2) % samples.len()];
                target(&edited(sample, edits, 1 + usize::from(first / 8 % 4)));
            }
            _ => target(&String::from_utf8_lossy(input)),
        });
}

#[test]
fn any_model_is_read_or_refused() {
    fuzz("cat_model", &[MODEL], |source| {
        if let Err(error) = Model::parse("fuzz.cat", source, &mut |_| None) {
            assert!(!error.errors.is_empty());
            let shown = error.errors.iter().map(|e| lang::render(e, &error.path, &error.source, false));
            assert!(shown.into_iter().all(|text| !text.is_empty()));
        }
    });
}

#[test]
fn any_litmus_test_is_read_or_refused() {
    fuzz("litmus_test", &[X86, JUMPS, C, LOOPS], |source| match litmus::program(source, "fuzz.litmus", 3) {
        Ok(program) => assert_eq!(ir::verify(&program), Ok(())),
        Err(errors) => {
            assert!(!errors.is_empty());
            assert!(errors.iter().all(|e| !lang::render(e, "fuzz.litmus", source, false).is_empty()));
        }
    });
}
