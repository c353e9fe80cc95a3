//! The program IR in an object file.
//!
//! The pass puts one *record* per module into the section [`SECTION`]; the linker sets the records of all modules one
//! behind the other. A record is a [`Header`] and the [`Module`], encoded by postcard and packed by zstd. Everything is
//! little-endian and without alignment, so that no padding comes between records.

use alloc::{boxed::Box, vec::Vec};
use serde::{Deserialize, Serialize};

/// The section that holds the records; it is not loaded when the program runs.
pub const SECTION: &str = ".threadbare.ir";

/// What each record begins with.
pub const MAGIC: [u8; 8] = *b"\x7ftb-ir\r\n";

/// The bytes of a header.
pub const HEADER_BYTES: usize = 40;

/// What stands before each packed module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// [`VERSION`](crate::VERSION) of the pass that wrote it.
    pub version: u32,
    /// The CRC-32 of the packed module.
    pub crc: u32,
    /// The bytes of the packed module, which follows.
    pub packed: u64,
    /// Its bytes when unpacked.
    pub unpacked: u64,
    /// The name of the module: a hash of its content. The program's code names itself by it when it starts.
    pub id: u64,
}

impl Header {
    /// The header as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&self.version.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.crc.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.packed.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.unpacked.to_le_bytes());
        bytes[32..].copy_from_slice(&self.id.to_le_bytes());
        bytes
    }

    /// The header in `bytes`, unless they do not begin with [`MAGIC`].
    #[must_use]
    pub fn from_bytes(bytes: &[u8; HEADER_BYTES]) -> Option<Header> {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        (bytes[..8] == MAGIC).then(|| Header {
            version: word(8),
            crc: word(12),
            packed: long(16),
            unpacked: long(24),
            id: long(32),
        })
    }
}

/// How far a name reaches, and which definition the linker takes where there are several.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Linkage {
    /// Known to all modules; the only one of its name.
    Strong,
    /// Known to all modules; gives way to a strong one, and the first of several is taken.
    Weak,
    /// Known to this module only (`static`); another module's of the same name is another thing.
    Local,
}

/// What another name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum AliasTarget {
    /// The function of this number in the module's program.
    Function(u32),
    /// The global of this number in the module's program.
    Global(u32),
}

/// A second name of a function or global.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Alias {
    /// The name.
    pub name: Box<str>,
    /// How far it reaches.
    pub linkage: Linkage,
    /// What it names.
    pub target: AliasTarget,
}

/// One module: its program IR, and what the linker needs to know beyond it. `P` is `ir::Program`.
///
/// In the program, what the module only declares is `Callee::External` where it is called and a global with
/// `Initial::External` where its address is taken, functions included.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Module<P> {
    /// The linkage of each function of the program.
    pub functions: Vec<Linkage>,
    /// The linkage of each global of the program.
    pub globals: Vec<Linkage>,
    /// Second names.
    pub aliases: Vec<Alias>,
    /// The program.
    pub program: P,
}
