//! Fuzz target: the reader of trace files, and everything that looks at what it gives.
//!
//! On the stable toolchain bolero replays `__fuzz__/trace_file/corpus` and then makes random inputs, which no checksum
//! would let in. So, by its first byte, an input is a file as it stands, edits of a good file, or edits of
//! the records inside a good file, packed and summed anew as `docs/trace-format.md` says.

use std::time::Duration;
use trace::{ShowOptions, file};

const SAMPLE: &[u8] = include_bytes!("__fuzz__/trace_file/corpus/complete.trace");
const PROGRAM: &str = "program \"p\"\nfile !0 = \"p\"\nshape #0 = int 4 signed\nshape #1 = array 3 #0\nglobal @x #1 = zero\nfunction $f() {\nb0:\n  %0 = load i32 @x  !t !0:1:1\n  return\n}\n";

#[test]
fn any_file_is_read_or_refused() {
    let program = ir::parse(PROGRAM).expect("a program");
    bolero::check!(name = "trace_file")
        .with_max_len(512)
        .with_iterations(20_000)
        .with_test_time(Duration::from_secs(2))
        .for_each(|input: &[u8]| match input.split_first() {
            Some((first, edits)) if first % 4 == 1 => {
                target(&edited(SAMPLE.to_vec(), edits, few(*first)), &program)
            }
            Some((first, edits)) if first % 4 == 3 => target(&repacked(edits, few(*first)), &program),
            _ => target(input, &program),
        });
}

fn target(input: &[u8], program: &ir::Program) {
    let Ok(read) = file::read_bytes(input) else { return };
    for program in [None, Some(program)] {
        let _ = trace::show(&read.trace, program, &ShowOptions::default());
        let _ = trace::to_json(&read.trace, program);
    }
    let _ = read.trace.check_fits(program);
    let written = file::write_bytes(&read.trace).expect("what was read is consistent");
    assert_eq!(file::read_bytes(&written).expect("what was just written").trace, read.trace);
}

/// How many edits: few, or nothing good is left.
fn few(first: u8) -> usize {
    1 + usize::from(first / 4 % 4)
}

/// Edits of four bytes each: what, where (two), with which.
fn edited(mut bytes: Vec<u8>, edits: &[u8], count: usize) -> Vec<u8> {
    for edit in edits.chunks_exact(4).take(count) {
        let at = usize::from(u16::from_le_bytes([edit[1], edit[2]])) % (bytes.len() + 1);
        match edit[0] % 4 {
            0 if at < bytes.len() => bytes[at] = edit[3],
            1 => bytes.insert(at, edit[3]),
            2 if at < bytes.len() => drop(bytes.remove(at)),
            3 if at < bytes.len() => bytes[at] ^= 1 << (edit[3] % 8),
            _ => {}
        }
    }
    bytes
}

/// The sample with edits of its records; a first byte of 0 changes the number of records.
fn repacked(edits: &[u8], few: usize) -> Vec<u8> {
    let field = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|n| SAMPLE[at + n]));
    // Magic and version are twelve bytes; then comes the block of the origin.
    let records = 12 + 20 + field(12 + 12) as usize;
    let behind = records + 20 + field(records + 12) as usize;
    let payload = zstd::bulk::decompress(&SAMPLE[records + 20..behind], 1 << 20).expect("a good sample");
    let (count, edits) = edits.split_first().map_or((false, edits), |(first, rest)| (*first == 0, rest));
    let payload = edited(payload, edits, few);
    let packed = zstd::bulk::compress(&payload, 1).expect("memory");
    let count = field(records + 4).wrapping_add(u32::from(count));
    let mut block = vec![];
    for number in [2, count, payload.len() as u32, packed.len() as u32] {
        block.extend_from_slice(&number.to_le_bytes());
    }
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&block);
    hasher.update(&packed);
    block.extend_from_slice(&hasher.finalize().to_le_bytes());
    [&SAMPLE[..records], &block, &packed, &SAMPLE[behind..]].concat()
}
