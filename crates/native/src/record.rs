//! Records: header, checks, unpacking.
//!
//! Nothing in a record is believed before it is checked: lengths against what is there, the checksum against the packed
//! bytes and their name, the unpacked size against the header and the limit, and the program by the IR's verifier.

use crate::NativeError;
use abi::{AliasTarget, HEADER_BYTES, Header};
use std::io::Read;

/// All modules of a binary together may have so many bytes when unpacked.
const MOST_BYTES: u64 = 1 << 30;

/// A module as the pass wrote it.
pub type Module = abi::Module<ir::Program>;

/// The names ([`Header::id`]) and contents of the modules in a section, in their order; the linker may have put zeros between
/// them.
pub fn modules(section: &[u8]) -> Result<(Vec<u64>, Vec<Module>), NativeError> {
    let (mut ids, mut modules) = (vec![], vec![]);
    let mut left = MOST_BYTES;
    let mut rest = section;
    loop {
        let padding = rest.iter().take_while(|&&byte| byte == 0).count();
        rest = &rest[padding..];
        if rest.is_empty() {
            return Ok((ids, modules));
        }
        let damaged = |what: &str| NativeError::Damaged { module: modules.len(), what: what.to_owned() };
        let Some((header, behind)) = rest.split_first_chunk::<HEADER_BYTES>() else {
            return Err(damaged("its last record is cut off"));
        };
        let header = Header::from_bytes(header).ok_or_else(|| damaged("a record does not begin as one"))?;
        if header.version != abi::VERSION {
            return Err(NativeError::OtherVersion { found: header.version, expected: abi::VERSION });
        }
        let length = usize::try_from(header.packed).ok().filter(|&length| length <= behind.len());
        let Some(length) = length else { return Err(damaged("a record is longer than the section")) };
        let (packed, next) = behind.split_at(length);
        if crc32fast::hash(packed) != header.crc {
            return Err(damaged("a checksum is wrong"));
        }
        if abi::hash(packed) != header.id {
            return Err(damaged("a record is not the one that its name says"));
        }
        left = left.checked_sub(header.unpacked).ok_or(NativeError::TooLarge { limit: MOST_BYTES })?;
        let module = unpack(packed, header.unpacked).map_err(|what| damaged(&what))?;
        check(&module).map_err(|what| damaged(&what))?;
        ids.push(header.id);
        modules.push(module);
        rest = next;
    }
}

/// Unpacks a module that has `size` bytes then; memory grows with what is there, not with what is promised.
fn unpack(packed: &[u8], size: u64) -> Result<Module, String> {
    let mut bytes = vec![];
    let decoder = zstd::stream::read::Decoder::with_buffer(packed).map_err(|error| error.to_string())?;
    decoder.take(size.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 != size {
        return Err("a record has not the size that it says".to_owned());
    }
    match postcard::take_from_bytes::<Module>(&bytes) {
        Ok((module, [])) => Ok(module),
        Ok(_) => Err("a record goes on behind its end".to_owned()),
        Err(error) => Err(format!("a record cannot be decoded: {error}")),
    }
}

/// What linking relies on.
fn check(module: &Module) -> Result<(), String> {
    let program = &module.program;
    if let Err(errors) = ir::verify(program) {
        return Err(errors.first().map_or_else(String::new, ToString::to_string));
    }
    if module.functions.len() != program.functions.len() || module.globals.len() != program.globals.len() {
        return Err("the linkage table does not fit".to_owned());
    }
    let exists = |target: AliasTarget| match target {
        AliasTarget::Function(function) => (function as usize) < program.functions.len(),
        AliasTarget::Global(global) => (global as usize) < program.globals.len(),
    };
    if !module.aliases.iter().all(|alias| exists(alias.target)) {
        return Err("an alias names nothing".to_owned());
    }
    if !program.threads.is_empty() || program.final_condition.is_some() {
        return Err("it is a model program".to_owned());
    }
    Ok(())
}
