//! Packing a module's IR into its object file, and then instrumenting it: the IR is that of the code without our own.
//!
//! LLVM gives a section that a variable asks for the flags of that variable's kind: loaded with the program, or (with
//! `!exclude`) dropped by the linker. Module-level assembly is the way to a section that is neither.

use crate::instrument;
use crate::llvm::Module;
use crate::module::{Translated, translate};
use abi::Header;
use rustc_hash::FxHashSet;
use std::fmt::Write;

/// zstd's level; higher ones cost more time than their bytes are worth.
const LEVEL: i32 = 3;

/// Translates a module and adds its record to it.
pub fn run(module: &Module) -> Result<(), String> {
    // Bitcode that went through the pass already has its record.
    if module.assembly().contains(abi::SECTION) {
        return Ok(());
    }
    if !module.layout().is_supported() {
        return Err("its target is not 64-bit and little-endian".to_owned());
    }
    module.drop_copies();
    let translated = well_formed(module)?;
    let bytes = postcard::to_stdvec(&translated.module).map_err(|error| error.to_string())?;
    let packed = zstd::bulk::compress(&bytes, LEVEL).map_err(|error| error.to_string())?;
    let header = Header {
        version: abi::VERSION,
        crc: crc32fast::hash(&packed),
        packed: packed.len() as u64,
        unpacked: bytes.len() as u64,
        id: abi::hash(&packed),
    };
    module.append_assembly(&assembly(&[&header.to_bytes()[..], &packed].concat()));
    match module.is_for_linux_x86_64() {
        true => instrument::instrument(module, &translated, header.id),
        false => module.warn("threadbare: this module is not recorded: its target is not x86-64 Linux"),
    }
    Ok(())
}

/// The module's IR without the functions that make it ill-formed, each with a warning.
fn well_formed(module: &Module) -> Result<Translated, String> {
    let mut excluded = FxHashSet::default();
    loop {
        let failed = match translate(module, &excluded) {
            Err(failed) => failed,
            Ok(translated) => match ir::verify(&translated.module.program) {
                Ok(()) => return Ok(translated),
                Err(errors) => {
                    let named = |error: &ir::VerifyError| {
                        let functions = translated.module.program.functions.iter();
                        let place = error.place.strip_prefix("function $")?;
                        let name = |name: &str| place == name || place.starts_with(&format!("{name}, block"));
                        let function = functions.map(|f| &f.name).find(|f| name(f))?;
                        Some((function.clone(), format!("by a fault of Threadbare: {error}")))
                    };
                    let failed: Vec<_> = errors.iter().filter_map(named).collect();
                    if failed.is_empty() {
                        return Err(format!("by a fault of Threadbare: {}", errors[0]));
                    }
                    failed
                }
            },
        };
        let before = excluded.len();
        for (name, reason) in failed {
            if excluded.insert(name.clone()) {
                module.warn(&format!("threadbare: function '{name}' is taken as external code: {reason}"));
            }
        }
        if excluded.len() == before {
            return Err("by a fault of Threadbare: functions that are left out stay".to_owned());
        }
    }
}

/// Assembly that puts bytes into the section.
fn assembly(bytes: &[u8]) -> String {
    let mut text = format!(".pushsection {},\"\",@progbits\n", abi::SECTION);
    text.reserve(bytes.len() * 4);
    for line in bytes.chunks(1024) {
        text.push_str(".ascii \"");
        for &byte in line {
            match byte {
                b'"' | b'\\' => {
                    text.push('\\');
                    text.push(char::from(byte));
                }
                b' '..=b'~' => text.push(char::from(byte)),
                // Three digits, so that a digit behind it is not taken for its part.
                _ => {
                    let _ = write!(text, "\\{byte:03o}");
                }
            }
        }
        text.push_str("\"\n");
    }
    text.push_str(".popsection\n");
    text
}
