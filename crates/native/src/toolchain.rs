//! What compiling and running need besides this program: clang 22, the plugin, the runtime, the header.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The version of LLVM that the plugin is made for.
pub const LLVM: u32 = 22;

/// Where the parts of Threadbare are that go into a compiled program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Toolchain {
    lib: PathBuf,
}

/// Why nothing can be compiled or run here.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ToolchainError {
    /// No clang.
    #[error(
        "clang {LLVM} is needed to compile for Threadbare and was not found: install the Debian packages clang-{LLVM} and \
         libclang-rt-{LLVM}-dev (or set THREADBARE_CLANG to the program)"
    )]
    NoClang,
    /// The clang that was asked for is no clang 22.
    #[error("THREADBARE_CLANG is {program}, which is {found}; Threadbare needs clang {LLVM}")]
    OtherClang {
        /// What it was set to.
        program: String,
        /// What it turned out to be.
        found: String,
    },
    /// A part of Threadbare is not installed.
    #[error(
        "{} is missing: it belongs to Threadbare; `make install` puts it in its place (`make native` in a checkout), \
             and THREADBARE_LIB names the directory where it is",
        path.display()
    )]
    NoPart {
        /// Which.
        path: PathBuf,
    },
}

impl Toolchain {
    /// The toolchain of this installation: `$THREADBARE_LIB`, else `../lib/threadbare` beside the running program.
    #[must_use]
    pub fn find() -> Toolchain {
        if let Some(lib) = std::env::var_os("THREADBARE_LIB").filter(|lib| !lib.is_empty()) {
            return Toolchain { lib: PathBuf::from(lib) };
        }
        let program = std::env::current_exe().and_then(std::fs::canonicalize).unwrap_or_default();
        let above = program.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
        // A build directory has the programs of each profile one level deeper than an installation.
        let beside = program.parent().unwrap_or(Path::new("/"));
        let places = [above, beside].map(|place| place.join("lib/threadbare"));
        let [first, second] = places;
        Toolchain { lib: if !first.exists() && second.exists() { second } else { first } }
    }

    /// The toolchain in a directory.
    #[must_use]
    pub fn at(lib: PathBuf) -> Toolchain {
        Toolchain { lib }
    }

    /// The directory.
    #[must_use]
    pub fn lib(&self) -> &Path {
        &self.lib
    }

    /// The compiler plugin.
    #[must_use]
    pub fn plugin(&self) -> PathBuf {
        self.lib.join("libthreadbare_pass.so")
    }

    /// The library that is linked into each program.
    #[must_use]
    pub fn runtime(&self) -> PathBuf {
        self.lib.join("libthreadbare_runtime.so")
    }

    /// The directory of `threadbare.h`.
    #[must_use]
    pub fn include(&self) -> PathBuf {
        self.lib.join("include")
    }

    /// Whether all parts are there.
    ///
    /// # Errors
    /// The first part that is missing.
    pub fn check(&self) -> Result<(), ToolchainError> {
        for path in [self.plugin(), self.runtime()] {
            if !path.is_file() {
                return Err(ToolchainError::NoPart { path });
            }
        }
        Ok(())
    }
}

/// The clang to compile with: `$THREADBARE_CLANG`, `clang-22`, or `clang` if that is version 22.
///
/// # Errors
/// If there is none.
pub fn clang() -> Result<OsString, ToolchainError> {
    if let Some(program) = std::env::var_os("THREADBARE_CLANG").filter(|program| !program.is_empty()) {
        return match version(&program) {
            Some(Ok(LLVM)) => Ok(program),
            Some(Ok(other)) => Err(other_clang(&program, format!("clang {other}"))),
            Some(Err(first_line)) => Err(other_clang(&program, first_line)),
            None => Err(other_clang(&program, "not a program that can be run".to_owned())),
        };
    }
    // By its name it is the right one: asking it each time would cost as much as a small compilation.
    let named = OsString::from(format!("clang-{LLVM}"));
    if is_on_path(&named) {
        return Ok(named);
    }
    let plain = OsString::from("clang");
    match version(&plain) {
        Some(Ok(LLVM)) => Ok(plain),
        _ => Err(ToolchainError::NoClang),
    }
}

fn other_clang(program: &OsString, found: String) -> ToolchainError {
    ToolchainError::OtherClang { program: program.to_string_lossy().into_owned(), found }
}

fn is_on_path(program: &OsString) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

/// The major version that a clang says it has, or what it says instead; `None` if it does not run.
fn version(program: &OsString) -> Option<Result<u32, String>> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let number = text.split("clang version ").nth(1).and_then(|rest| rest.split('.').next());
    match number.and_then(|number| number.trim().parse().ok()) {
        Some(number) => Some(Ok(number)),
        None => Some(Err(format!("not clang (it says `{}`)", text.lines().next().unwrap_or_default()))),
    }
}
