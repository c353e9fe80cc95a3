//! Fuzz target: reading patterns. On the stable toolchain bolero replays `__fuzz__/pattern/corpus` and then makes random inputs.

use predict::pattern::parse;
use std::time::Duration;

/// Words that patterns are made of: inputs that begin with an odd byte choose from them.
const WORDS: [&str; 16] =
    ["pattern", "order", "a", "b", ":", "<", ",", ";", "\n", "$t", "any", "read", "at", "7", "\"x y\"", "#"];

#[test]
fn any_text_is_read_or_refused() {
    bolero::check!(name = "pattern")
        .with_max_len(256)
        .with_iterations(50_000)
        .with_test_time(Duration::from_secs(2))
        .for_each(|input: &[u8]| match input.split_first() {
            Some((first, rest)) if first % 2 == 1 => {
                let words: Vec<&str> =
                    rest.iter().map(|&byte| WORDS[usize::from(byte) % WORDS.len()]).collect();
                target(&words.join(" "));
            }
            _ => target(&String::from_utf8_lossy(input)),
        });
}

fn target(text: &str) {
    if let Ok(patterns) = parse(text) {
        for pattern in patterns {
            assert!(!pattern.events.is_empty());
            assert!(pattern.order.iter().all(|&(a, b)| a.max(b) < pattern.events.len()));
        }
    }
}
