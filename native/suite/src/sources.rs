//! Code that nobody here wrote: C sources that travel in crates. Cargo has fetched them, and knows where they are.

use crate::directory;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The directory of SQLite's amalgamation: `sqlite3.c` and `sqlite3.h`.
#[must_use]
pub fn sqlite() -> PathBuf {
    package("libsqlite3-sys").join("sqlite3")
}

/// The directory of zstd's library, with its parts in `common`, `compress` and `decompress`.
#[must_use]
pub fn zstd() -> PathBuf {
    package("zstd-sys").join("zstd/lib")
}

/// The directory of bzip2's library and program.
#[must_use]
pub fn bzip2() -> PathBuf {
    package("bzip2-sys").join("bzip2-1.0.8")
}

/// The C files in a directory, sorted.
///
/// # Panics
/// If it cannot be read.
#[must_use]
pub fn c_files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("a directory of sources");
    let mut files: Vec<PathBuf> = (entries.map(|entry| entry.expect("an entry of it").path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    files.sort();
    files
}

/// Where cargo has put a package that this one names.
fn package(name: &str) -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--format-version", "1", "--locked", "--manifest-path"]);
    let output = command.arg(directory().join("Cargo.toml")).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
    // The only thing wanted of the JSON: paths, which need no unescaping on the systems that this runs on.
    let manifests = text.split("\"manifest_path\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    let mut directories = manifests.filter_map(|path| Path::new(path).parent());
    let versioned = format!("{name}-");
    let found = directories.find(|path| {
        let last = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        last.strip_prefix(&versioned).is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
    });
    found.unwrap_or_else(|| panic!("cargo knows no package {name}")).to_owned()
}
