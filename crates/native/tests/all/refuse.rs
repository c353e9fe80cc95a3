//! What is no binary of ours is refused with a message that says what to do.

use crate::common::{elf, module, packed, record};
use native::{NativeError, program_in, read_program};
use proptest::prelude::*;

fn sample() -> Vec<u8> {
    record(&module("function $main() {\nb0:\n  return\n}\n", &[], &[]))
}

fn refused(binary: &[u8]) -> String {
    program_in(binary, "x").expect_err("it is not to be read").to_string()
}

#[test]
fn a_binary_without_the_section_was_not_built_with_threadbare() {
    let text = refused(&elf(".other", b"content"));
    assert_eq!(text, "it was not built with Threadbare; `threadbare cc` or `threadbare c++` builds it");
}

#[test]
fn other_files_are_no_binaries() {
    for file in [&b""[..], b"#!/bin/sh\n", b"\x7fELF", b"\x7fELF\x01\x01\x01"] {
        assert!(refused(file).starts_with("not a 64-bit ELF file"), "{file:?}");
    }
}

#[test]
fn a_file_that_is_not_there_is_unreadable() {
    let error = read_program("/nowhere/at/all".as_ref()).expect_err("no such file");
    assert!(matches!(error, NativeError::Unreadable(_)), "{error}");
}

#[test]
fn another_version_is_named() {
    let mut content = sample();
    content[8] = 200;
    let text = refused(&elf(abi::SECTION, &content));
    assert!(text.contains(&format!("format 200, this one reads {}", abi::VERSION)), "{text}");
}

#[test]
fn a_changed_byte_is_noticed() {
    let content = sample();
    for at in 0..content.len() {
        let mut changed = content.clone();
        changed[at] ^= 1;
        // All bytes count; none may be wrong without an error.
        assert!(program_in(&elf(abi::SECTION, &changed), "x").is_err(), "byte {at}");
    }
}

#[test]
fn a_cut_section_is_noticed() {
    let content = sample();
    for length in 1..content.len() {
        assert!(program_in(&elf(abi::SECTION, &content[..length]), "x").is_err(), "{length} bytes");
    }
}

#[test]
fn padding_between_records_is_skipped() {
    let mut content = sample();
    content.extend([0; 13]);
    content.extend(record(&module("function $f() {\nb0:\n  return\n}\n", &[], &[])));
    let linked = program_in(&elf(abi::SECTION, &content), "x").expect("two modules");
    assert_eq!(linked.program.functions.len(), 2);
}

#[test]
fn a_record_that_unpacks_to_more_than_it_says_is_refused() {
    let mut content = packed(&vec![0; 1 << 20]);
    content[24..32].copy_from_slice(&100u64.to_le_bytes());
    assert!(refused(&elf(abi::SECTION, &content)).contains("has not the size that it says"));
}

#[test]
fn a_record_that_promises_too_much_is_refused() {
    let mut content = sample();
    content[24..32].copy_from_slice(&u64::MAX.to_le_bytes());
    let error = program_in(&elf(abi::SECTION, &content), "x").expect_err("too large");
    assert!(matches!(error, NativeError::TooLarge { .. }), "{error}");
}

#[test]
fn a_module_that_is_not_well_formed_is_refused() {
    let mut broken = module("function $main() {\nb0:\n  return\n}\n", &[], &[]);
    broken.program.functions[0].blocks[0].terminator = ir::Terminator::Jump(ir::BlockId(9));
    assert!(refused(&elf(abi::SECTION, &record(&broken))).contains("there is no block b9"));
    let mut broken = module("function $main() {\nb0:\n  return\n}\n", &[], &[]);
    broken.functions.clear();
    assert!(refused(&elf(abi::SECTION, &record(&broken))).contains("linkage table"));
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        let _ = program_in(&bytes, "x");
        let _ = program_in(&elf(abi::SECTION, &bytes), "x");
        let _ = program_in(&elf(abi::SECTION, &packed(&bytes)), "x");
    }

    #[test]
    fn any_change_of_a_binary_is_read_or_refused(changes in prop::collection::vec((any::<u16>(), any::<u8>()), 1..5)) {
        let mut binary = elf(abi::SECTION, &sample());
        for (at, byte) in changes {
            let at = usize::from(at) % binary.len();
            binary[at] = byte;
        }
        let _ = program_in(&binary, "x");
    }
}
