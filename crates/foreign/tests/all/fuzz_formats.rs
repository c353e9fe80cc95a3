//! Fuzz target: the readers of all formats, and what stands in for the program. On the stable toolchain bolero replays
//! `__fuzz__/formats/corpus` and then makes random inputs: by its first byte an input is a file as it stands, or words that files are
//! made of.

use foreign::{Format, StandIn};
use std::time::Duration;

const FORMATS: [Format; 3] = [Format::Std, Format::RapidCsv, Format::Csv];

/// Words that files are made of.
const WORDS: [&str; 32] = [
    "T0|",
    "T1|",
    "T2|",
    "r(x)",
    "w(x)",
    "acq(l)",
    "rel(l)",
    "fork(T1)",
    "join(T1)",
    "begin",
    "end",
    "|1",
    "|a.c:7",
    "\n",
    ",",
    ",,",
    "start(T1)",
    "sync(x)",
    "enter(m)",
    "exit(m)",
    "thread,operation,object,place\n",
    "T0,",
    "T1,",
    "read,",
    "write,",
    "update,",
    "acquire,",
    "release,",
    "fork,",
    "join,",
    "x,",
    "\"",
];

#[test]
fn any_file_is_read_or_refused() {
    bolero::check!(name = "formats")
        .with_max_len(512)
        .with_iterations(20_000)
        .with_test_time(Duration::from_secs(2))
        .for_each(|input: &[u8]| match input.split_first() {
            Some((first, rest)) if first % 2 == 1 => {
                let words: String = rest.iter().map(|&byte| WORDS[usize::from(byte) % WORDS.len()]).collect();
                target(words.as_bytes());
            }
            _ => target(input),
        });
}

fn target(input: &[u8]) {
    for format in FORMATS {
        let Ok(recording) = format.read(input) else { continue };
        for other in FORMATS {
            let text = other.write(&recording);
            if let Err(wrong) = other.read(text.as_bytes()) {
                panic!("{wrong:?} in {text:?}");
            }
        }
        let Ok(stand_in) = StandIn::new(&recording, "fuzz") else { continue };
        let (program, trace) = stand_in.into_parts();
        assert_eq!(ir::verify(&program), Ok(()));
        assert_eq!(trace.check_fits(&program), Ok(()));
    }
}
