//! Compiling programs of the suite, with Threadbare and without.

use crate::{Language, Program, cache, directory};
use native::{Toolchain, cc};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The standard library of C++.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cxx {
    /// GNU's.
    LibStdCxx,
    /// LLVM's, from its archives: Debian's headers of version 22 come with the shared library of an older one.
    LibCxx,
}

impl Cxx {
    /// Both.
    pub const ALL: [Cxx; 2] = [Cxx::LibStdCxx, Cxx::LibCxx];
}

/// How a program is built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Build {
    /// `-O0` and the like.
    pub level: &'static str,
    /// With which library, if it is C++.
    pub cxx: Cxx,
    /// What else the compiler is told.
    pub flags: Vec<OsString>,
}

impl Build {
    /// At this level, with GNU's library and no other flags.
    #[must_use]
    pub fn at(level: &'static str) -> Build {
        Build { level, cxx: Cxx::LibStdCxx, flags: vec![] }
    }
}

/// A program that was built. One of the suite is kept for the next time; the file of another goes when this does.
#[derive(Debug)]
pub struct Built {
    _directory: Option<tempfile::TempDir>,
    /// The file.
    pub path: PathBuf,
}

/// Builds a program with `threadbare cc` or `threadbare c++`.
///
/// # Panics
/// With the compiler's messages, if it cannot be built.
#[must_use]
pub fn build(program: &Program, how: &Build) -> Built {
    let toolchain = Toolchain::find();
    if let Err(error) = toolchain.check() {
        panic!("{error}");
    }
    let language = match program.language {
        Language::C => cc::Language::C,
        Language::Cxx => cc::Language::Cxx,
    };
    compile(program, how, |words| {
        cc::command(language, &toolchain, words).expect("a command line that works")
    })
}

/// Builds a program with clang alone.
///
/// # Panics
/// With the compiler's messages, if it cannot be built.
#[must_use]
pub fn plain(program: &Program, how: &Build) -> Built {
    let clang = native::clang().expect("clang");
    compile(program, how, |words| {
        let mut command = Command::new(&clang);
        if program.language == Language::Cxx {
            command.arg("--driver-mode=g++");
        }
        command.arg("-I").arg(directory().join("../include")).args(words);
        command
    })
}

fn compile(program: &Program, how: &Build, command: impl Fn(&[OsString]) -> Command) -> Built {
    if program.language == Language::Cxx && how.cxx == Cxx::LibCxx {
        let archive = Path::new("/usr/lib/llvm-22/lib/libc++.a");
        assert!(
            archive.exists(),
            "{} is missing: install libc++-22-dev and libc++abi-22-dev",
            archive.display()
        );
    }
    let name = program.path.file_stem().expect("a name");
    let commands = |directory: &Path| {
        let path = directory.join(name);
        let mut commands = vec![command(&words(program, how, &program.path, &path, &[]))];
        if let Some(library) = &program.library {
            let beside = path.with_extension("so");
            commands.push(command(&words(program, how, library, &beside, &["-shared", "-fPIC"])));
        }
        commands
    };
    let make = |directory: &Path| commands(directory).into_iter().for_each(run);
    if cache::keeps(program) {
        let directory = cache::kept(commands, make);
        return Built { path: directory.join(name), _directory: None };
    }
    let directory = tempfile::tempdir().expect("a directory");
    make(directory.path());
    Built { path: directory.path().join(name), _directory: Some(directory) }
}

fn words(program: &Program, how: &Build, source: &Path, output: &Path, more: &[&str]) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec![how.level.into(), "-g".into(), "-pthread".into()];
    words.extend(more.iter().map(OsString::from));
    let other_library = program.language == Language::Cxx && how.cxx == Cxx::LibCxx;
    if program.language == Language::Cxx {
        words.push("-std=c++20".into());
    }
    if other_library {
        words.extend(["-stdlib=libc++", "-nostdlib++"].map(OsString::from));
    }
    words.extend(how.flags.iter().cloned());
    words.extend([source.into(), "-o".into(), output.into()]);
    if other_library {
        words.extend(["-l:libc++.a", "-l:libc++abi.a"].map(OsString::from));
    }
    words.extend(program.libraries.iter().map(|name| OsString::from(format!("-l{name}"))));
    words.push("-lm".into());
    words
}

fn run(mut command: Command) {
    let output = command.output().expect("the compiler runs");
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}
