//! `threadbare cc` and `threadbare c++`: in place of the compiler.
//!
//! Their words are the compiler's, `--help` and `--` included, so they are taken before anything else looks at them. A link to
//! this program that is called `threadbare-cc` or `threadbare-c++` does the same, for build systems that want one word.

use crate::exit::Exit;
use anyhow::Context as _;
use native::Toolchain;
use native::cc::{Language, command};
use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::Path;

/// The compiler that the command line asks for, and its arguments.
pub fn asked(arguments: &[OsString]) -> Option<(Language, &[OsString])> {
    let (program, rest) = arguments.split_first()?;
    match Path::new(program).file_name()?.to_str()? {
        "threadbare-cc" => return Some((Language::C, rest)),
        "threadbare-c++" => return Some((Language::Cxx, rest)),
        _ => {}
    }
    let (command, rest) = rest.split_first()?;
    match command.to_str()? {
        "cc" => Some((Language::C, rest)),
        "c++" => Some((Language::Cxx, rest)),
        _ => None,
    }
}

/// Becomes the compiler; comes back only if that fails.
pub fn compile(language: Language, arguments: &[OsString]) -> anyhow::Result<Exit> {
    let mut command = command(language, &Toolchain::find(), arguments)?;
    let program = command.get_program().to_string_lossy().into_owned();
    let error = command.exec();
    Err(error).with_context(|| format!("cannot run {program}"))
}
