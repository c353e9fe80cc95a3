//! Finding the section in a binary.

use crate::NativeError;
use object::{Object, ObjectSection};
use std::borrow::Cow;

/// The content of all sections with our name: object files that were joined without a linker script may have several.
pub fn find(binary: &[u8]) -> Result<Cow<'_, [u8]>, NativeError> {
    let not_elf = |error: object::Error| NativeError::NotElf(error.to_string());
    let file = object::read::elf::ElfFile64::<object::Endianness>::parse(binary).map_err(not_elf)?;
    let mut content = Cow::Borrowed(&[][..]);
    let mut found = false;
    for section in file.sections().filter(|section| section.name() == Ok(abi::SECTION)) {
        let data = section.data().map_err(not_elf)?;
        match found {
            false => content = Cow::Borrowed(data),
            // Each copy is a section of its own in the file only if the file says so; it may say so very often.
            true if content.len() + data.len() > binary.len() => {
                return Err(NativeError::NotElf("its sections overlap".to_owned()));
            }
            true => content.to_mut().extend_from_slice(data),
        }
        found = true;
    }
    if found { Ok(content) } else { Err(NativeError::NotOurs) }
}
