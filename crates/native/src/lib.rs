//! Compiled subjects: the compiler wrapper ([`cc`]), runs of a program under a plan ([`Compiled`], [`launch`]), their logs as
//! traces ([`log`], [`mod@rebuild`]), and the program IR that travels in a binary, read back as one program.
//!
//! The compiler pass (`native/pass`) writes one record per module into the section [`abi::SECTION`] of each object file,
//! and the linker sets them one behind the other. [`read_program`] finds the section (`section`), unpacks and checks each
//! record (`record`), and joins the modules by the rules of the linker (`names`, `link`, `rewrite`, `shapes`). It needs no LLVM, and trusts
//! nothing: any file is read or refused. [`Linked`] is the program together with the way from the modules' numbers, which a
//! run uses, to the program's.
//!
//! The program has no [`ir::ThreadStart`]: the main thread of a compiled program does not begin in `main`, which takes
//! arguments besides, but in start-up code that runs constructors first. `main` is the function of that name.

pub mod cc;
mod compiled;
mod demangle;
pub mod doctor;
pub mod launch;
mod link;
mod linked;
pub mod log;
mod names;
pub mod rebuild;
mod record;
mod rewrite;
mod section;
mod servers;
mod shapes;
mod toolchain;

use std::path::Path;

pub use compiled::{About, Compiled, CompiledError, Recorded};
pub use linked::{Linked, LinkedModule};
pub use toolchain::{LLVM, Toolchain, ToolchainError, clang};

/// Why no program could be read.
#[derive(Debug, thiserror::Error)]
pub enum NativeError {
    /// The file could not be read.
    #[error("cannot read it: {0}")]
    Unreadable(#[from] std::io::Error),
    /// It is no binary.
    #[error("not a 64-bit ELF file: {0}")]
    NotElf(String),
    /// It has no program IR.
    #[error("it was not built with Threadbare; `threadbare cc` or `threadbare c++` builds it")]
    NotOurs,
    /// It has the program IR of another version.
    #[error(
        "built by another version of Threadbare (format {found}, this one reads {expected}); build it again"
    )]
    OtherVersion {
        /// The format that it has.
        found: u32,
        /// The format that is read.
        expected: u32,
    },
    /// What it has makes no sense.
    #[error("its program IR is damaged (module {module}): {what}; build it again")]
    Damaged {
        /// Which module, counted from 0.
        module: usize,
        /// What is wrong.
        what: String,
    },
    /// Its modules do not make a program.
    #[error("its modules do not fit together: {0}; build it again")]
    Mismatch(String),
    /// It has more than fits.
    #[error("its program IR is larger than {limit} bytes when unpacked")]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// It has more sites than the log can number.
    #[error("it has more than {limit} instructions, which is as many as the log can number")]
    TooManySites {
        /// The limit.
        limit: u32,
    },
}

/// Reads the program IR of a binary that was built with Threadbare; also of an object file or a shared library.
///
/// # Errors
/// If the file cannot be read, is no ELF file, or has no intact program IR of this version.
pub fn read_program(path: &Path) -> Result<Linked, NativeError> {
    let bytes = std::fs::read(path)?;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    program_in(&bytes, &name)
}

/// Reads the program IR of a binary that is in memory; `name` is what the program is called.
///
/// # Errors
/// As [`read_program`].
pub fn program_in(binary: &[u8], name: &str) -> Result<Linked, NativeError> {
    let section = section::find(binary)?;
    let (ids, modules) = record::modules(&section)?;
    let (program, links) = link::link(&modules, name)?;
    Linked::new(program, &ids, &modules, links)
}
