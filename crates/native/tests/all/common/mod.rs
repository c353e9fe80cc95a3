//! Sections and binaries made by hand.
#![allow(dead_code, reason = "each test uses a part of it")]

pub mod log;

use abi::{Alias, Header, Linkage, Module};
use ir::Program;

/// A module from the text form of its program. Functions and globals are strong, but those in `weak` and `local` are
/// that.
pub fn module(text: &str, weak: &[&str], local: &[&str]) -> Module<Program> {
    let program = ir::parse(&format!("program \"m\"\n{text}")).expect("a program");
    let linkage = |name: &str| match () {
        () if local.contains(&name) => Linkage::Local,
        () if weak.contains(&name) => Linkage::Weak,
        () => Linkage::Strong,
    };
    let functions = program.functions.iter().map(|function| linkage(&function.name)).collect();
    let globals = program.globals.iter().map(|global| linkage(&global.name)).collect();
    Module { functions, globals, aliases: vec![], program }
}

/// Adds a second name.
pub fn with_alias(mut module: Module<Program>, alias: Alias) -> Module<Program> {
    module.aliases.push(alias);
    module
}

/// A record as the pass writes it.
pub fn record(module: &Module<Program>) -> Vec<u8> {
    packed(&postcard::to_stdvec(module).expect("memory"))
}

/// A record around any bytes.
pub fn packed(bytes: &[u8]) -> Vec<u8> {
    let packed = zstd::bulk::compress(bytes, 1).expect("memory");
    let header = Header {
        version: abi::VERSION,
        crc: crc32fast::hash(&packed),
        packed: packed.len() as u64,
        unpacked: bytes.len() as u64,
        id: abi::hash(&packed),
    };
    [&header.to_bytes()[..], &packed].concat()
}

/// An ELF file with such a section.
pub fn elf(name: &str, content: &[u8]) -> Vec<u8> {
    use object::write::Object;
    use object::{Architecture, BinaryFormat, Endianness, SectionKind};
    let mut file = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    let section = file.add_section(vec![], name.as_bytes().to_vec(), SectionKind::Other);
    file.set_section_data(section, content.to_vec(), 1);
    file.write().expect("memory")
}

/// The program of a binary with these modules.
pub fn link(modules: &[Module<Program>]) -> Result<Program, native::NativeError> {
    Ok(link_all(modules)?.program)
}

/// The same, with what became of the modules.
pub fn link_all(modules: &[Module<Program>]) -> Result<native::Linked, native::NativeError> {
    let content: Vec<u8> = modules.iter().flat_map(record).collect();
    native::program_in(&elf(abi::SECTION, &content), "binary")
}

/// The text form of a linked program, which must be well formed.
pub fn linked(modules: &[Module<Program>]) -> String {
    let program = link(modules).expect("a program");
    ir::verify(&program).expect("well formed");
    ir::print(&program)
}
