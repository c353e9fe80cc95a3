//! Compiled programs are kept from one run of the tests to the next: compiling them takes longer than running them.
//!
//! A program is known by what it was made from: the words of the compiler, every source and header that they name, the compiler pass and
//! the runtime. Headers of the system are taken to stay as they are; `rm -r target/programs` forgets everything.

use crate::{Program, directory};
use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

/// What was compiled with other parts of Threadbare goes when it is so old: by then nobody runs it any more.
const OLD: Duration = Duration::from_secs(24 * 60 * 60);

/// Stands for the directory of what is made, in the command that a program is known by.
const SOMEWHERE: &str = "/somewhere";

/// Whether a program is one that will be compiled again: those that tests write for themselves are not.
pub(crate) fn keeps(program: &Program) -> bool {
    program.path.starts_with(directory())
}

/// The directory with what `make` has put into it, now or at another time: it is called if there is none yet. `commands` are those that it
/// would run, for a given directory.
pub(crate) fn kept(commands: impl Fn(&Path) -> Vec<Command>, make: impl FnOnce(&Path)) -> PathBuf {
    let all = place();
    let mut key = DefaultHasher::new();
    for command in commands(Path::new(SOMEWHERE)) {
        hash_command(&command, &mut key);
    }
    let kept = all.join(format!("{:016x}", key.finish()));
    if !kept.exists() {
        // Made aside: another test may want the same, and the first who is done with it gives the name.
        let aside = tempfile::tempdir_in(all).expect("a directory for compiled programs");
        make(aside.path());
        let aside = aside.keep();
        if std::fs::rename(&aside, &kept).is_err() {
            assert!(kept.exists(), "{} cannot be given its name", aside.display());
            let _ = std::fs::remove_dir_all(aside);
        }
    }
    kept
}

/// `programs/` in cargo's target directory, and there a directory for the pass and the runtime of today.
fn place() -> &'static Path {
    static PLACE: OnceLock<PathBuf> = OnceLock::new();
    PLACE.get_or_init(|| {
        // This program is in `<target>/<profile>/deps` or `<target>/<profile>/examples`.
        let program = std::env::current_exe().expect("the path of this program");
        let programs = program.ancestors().nth(3).expect("cargo's target directory").join("programs");
        let toolchain = native::Toolchain::find();
        let mut key = DefaultHasher::new();
        hash_file(&toolchain.plugin(), &mut key);
        hash_file(&toolchain.runtime(), &mut key);
        hash_directory(&toolchain.include(), &mut key);
        hash_directory(&directory().join("programs"), &mut key);
        let name = format!("{:016x}", key.finish());
        let today = programs.join(&name);
        std::fs::create_dir_all(&today).expect("a directory for compiled programs");
        forget_old(&programs, &name);
        today
    })
}

fn forget_old(programs: &Path, but: &str) {
    for entry in std::fs::read_dir(programs).into_iter().flatten().flatten() {
        let age =
            entry.metadata().and_then(|about| about.modified()).ok().and_then(|time| time.elapsed().ok());
        if entry.file_name() != but && age.is_some_and(|age| age > OLD) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

fn hash_command(command: &Command, key: &mut DefaultHasher) {
    command.get_program().hash(key);
    let mut words = command.get_args().peekable();
    while let Some(word) = words.next() {
        word.hash(key);
        if word == "-I"
            && let Some(included) = words.peek()
        {
            hash_directory(Path::new(included), key);
        } else if is_source(word) {
            hash_file(Path::new(word), key);
            if let Some(beside) = Path::new(word).parent() {
                hash_directory(beside, key);
            }
        }
    }
}

fn is_source(word: &OsStr) -> bool {
    let extension = Path::new(word).extension().and_then(OsStr::to_str);
    matches!(extension, Some("c" | "cc" | "cpp" | "h" | "S")) && Path::new(word).is_file()
}

fn hash_file(path: &Path, key: &mut DefaultHasher) {
    path.hash(key);
    std::fs::read(path).ok().hash(key);
}

/// The headers in a directory.
fn hash_directory(directory: &Path, key: &mut DefaultHasher) {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut headers: Vec<PathBuf> = (entries.map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "h" || extension == "hpp"))
        .collect();
    headers.sort();
    for header in headers {
        hash_file(&header, key);
    }
}
