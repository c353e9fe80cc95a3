//! The programs of the suite, and what they say about themselves in their first comment.
//!
//! | line | meaning |
//! |---|---|
//! | `// prints: TEXT` | what it prints, line by line; in a program with a bug, what it should |
//! | `// bug: TEXT` | it has one, so that other schedules may print something else |
//! | `// library: FILE` | a shared library beside it, which it loads by its own name with `.so` behind |
//! | `// libraries: NAME …` | what it is linked with |
//! | `// outside: TEXT` | what it reads differs from run to run, and why: numbers of processes, for example |

use crate::directory;
use std::path::{Path, PathBuf};

/// What a program is written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// C
    C,
    /// C++
    Cxx,
}

/// A program of one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// Its source.
    pub path: PathBuf,
    /// In which language.
    pub language: Language,
    /// What it prints, or should; for the programs of the coverage table that is `ok`.
    pub prints: String,
    /// Whether it has a bug that other schedules show.
    pub has_bug: bool,
    /// The source of the library that it loads.
    pub library: Option<PathBuf>,
    /// Names of libraries to link.
    pub libraries: Vec<String>,
    /// Whether values that it reads differ from run to run.
    pub reads_outside: bool,
}

impl Program {
    /// One in C of which no more is known.
    #[must_use]
    pub fn in_c(path: PathBuf) -> Program {
        Program {
            path,
            language: Language::C,
            prints: String::new(),
            has_bug: false,
            library: None,
            libraries: vec![],
            reads_outside: false,
        }
    }

    /// The name of its file.
    #[must_use]
    pub fn name(&self) -> String {
        file_name(&self.path)
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The programs in a directory of `programs/`, by name.
///
/// # Panics
/// If it cannot be read.
#[must_use]
pub fn programs(below: &str) -> Vec<Program> {
    let directory = directory().join("programs").join(below);
    let entries = std::fs::read_dir(&directory).expect("the directory of programs");
    let mut found: Vec<Program> = (entries.map(|entry| entry.expect("an entry of it").path()))
        .filter(|path| !file_name(path).contains("_library."))
        .filter_map(|path| read(&path))
        .collect();
    found.sort_by_key(Program::name);
    found
}

fn read(path: &Path) -> Option<Program> {
    let language = match path.extension()?.to_str()? {
        "c" => Language::C,
        "cc" => Language::Cxx,
        _ => return None,
    };
    let text = std::fs::read_to_string(path).expect("a program's source");
    let lines = |key: &str| -> Vec<String> {
        let comment = text.lines().take_while(|line| line.starts_with("//"));
        comment.filter_map(|line| line.strip_prefix(&format!("// {key}: "))).map(str::to_owned).collect()
    };
    let mut prints = lines("prints").iter().map(|line| format!("{line}\n")).collect::<String>();
    if prints.is_empty() {
        prints = "ok\n".to_owned();
    }
    Some(Program {
        path: path.to_owned(),
        language,
        prints,
        has_bug: !lines("bug").is_empty(),
        library: lines("library").first().map(|name| path.with_file_name(name)),
        libraries: lines("libraries")
            .iter()
            .flat_map(|line| line.split_whitespace())
            .map(str::to_owned)
            .collect(),
        reads_outside: !lines("outside").is_empty(),
    })
}
