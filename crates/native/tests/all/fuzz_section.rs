//! Fuzz target: the reader of binaries.
//!
//! Random bytes would not get past the checksum, so by its first byte an input is a binary, a section, or edits of good
//! modules, packed and summed anew. The modules are linked: two of them that share names.
//! A longer run: `BOLERO_RANDOM_ITERATIONS=1000000 cargo test --release -p threadbare-native --test all fuzz_section`.

use crate::common::{elf, module, packed};
use std::time::Duration;

const ONE: &str = "file !0 = \"a.c\"\nshape #0 = int 4 signed\nshape #1 = pointer #2\nshape #2 = record \"n\" 16 {0: #1 \"next\", 8: #0 \"v\"}\nglobal @x #0 = external\nglobal @g #1 = external\nglobal @list #2 = bytes \"0000000000000000\" [0: @g]\nfunction $f(%0:a i32) -> (i32) {  !0:1:1\nb0:\n  %1 = call i32 external \"g\"(%0)\n  %2 = address ptr @list + %1 * 4\n  store @g, %2\n  return %1\n}\n";
const TWO: &str = "shape #0 = int 4 signed\nglobal @x #0 = zero\nfunction $g(%0 i32) -> (i32) {\nb0:\n  %1 = cmp eq i1 %0, 0i32\n  branch %1, b1, b2\nb1:\n  return 1i32\nb2:\n  %2 = invoke i32 $f(%0) to b3 unwind b4\nb3:\n  return %2\nb4:\n  resume\n}\nfunction $f(%0 i32) -> (i32) {\nb0:\n  %1 = stack_alloc ptr #0, 1i32\n  return %0\n}\n";

#[test]
fn any_binary_is_read_or_refused() {
    let modules = [module(ONE, &[], &[]), module(TWO, &["f"], &["x"])];
    let modules = modules.map(|module| postcard::to_stdvec(&module).expect("memory"));
    native::program_in(&elf(abi::SECTION, &modules.iter().flat_map(|m| packed(m)).collect::<Vec<_>>()), "x")
        .expect("a good sample");
    bolero::check!(name = "native_section")
        .with_max_len(256)
        .with_iterations(20_000)
        .with_test_time(Duration::from_secs(2))
        .for_each(|input: &[u8]| {
            let Some((first, rest)) = input.split_first() else { return };
            let binary = match first % 4 {
                0 => rest.to_vec(),
                1 => elf(abi::SECTION, rest),
                _ => {
                    let [one, two] = &modules;
                    let (half, other) = rest.split_at(rest.len() / 2);
                    let content = [packed(&edited(one, half)), packed(&edited(two, other))].concat();
                    elf(abi::SECTION, &content)
                }
            };
            if let Ok(linked) = native::program_in(&binary, "x") {
                ir::verify(&linked.program).expect("what is read is well formed");
                for module in &linked.modules {
                    assert!((0..module.sites).all(|site| linked.site(module.first + site).is_some()));
                }
            }
        });
}

/// Edits of three bytes each: where, what, with which; few, or nothing good is left.
fn edited(bytes: &[u8], edits: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for edit in edits.chunks_exact(3).take(3) {
        let at = usize::from(edit[0]) * 3 % bytes.len();
        match edit[1] % 3 {
            0 => bytes[at] = edit[2],
            1 => bytes.insert(at, edit[2]),
            _ => bytes[at] ^= 1 << (edit[2] % 8),
        }
    }
    bytes
}
