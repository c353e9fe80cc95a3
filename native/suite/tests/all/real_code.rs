//! Code that nobody here wrote builds with `threadbare cc`, and its multithreaded mode does under Threadbare what it does without.
//!
//! SQLite and zstd come with crates, as C sources. pigz and pbzip2 are Debian's source packages, which `scripts/sources.sh` fetches.

use native::{Compiled, Toolchain, cc};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use subject::Strategy;
use suite::{Build, Language, Program, build, c_files, directory, open, programs, record};
use trace::Logging;

fn program(name: &str) -> Program {
    let mut all = programs("real");
    let at = all.iter().position(|program| program.name() == name).expect("the program");
    all.swap_remove(at)
}

/// Opens a program that does a lot.
fn open_large(path: &Path) -> Compiled {
    let mut compiled = open(path);
    let mut options = compiled.options().clone();
    options.most_events = u64::MAX;
    options.timeout = Some(Duration::from_secs(300));
    compiled.set_options(options);
    compiled
}

/// Some schedules; each hand-over counts, so not many.
fn strategies() -> Vec<Strategy> {
    let mut strategies = vec![Strategy::RunToBlock];
    strategies.extend((0..3).map(|seed| Strategy::Random { seed }));
    strategies
}

/// It does the same under some schedules, and each run can be repeated by its schedule.
fn holds(program: &Program, how: &Build) {
    let built = build(program, how);
    let compiled = open_large(&built.path);
    for strategy in strategies() {
        let recorded = record(&compiled, &strategy, &Logging::Synchronisation, &program.prints);
        assert!(recorded.run.trace.threads.len() >= 4, "{strategy}: {:?}", recorded.run.trace.threads);
        let schedule = recorded.run.trace.schedule();
        let again =
            record(&compiled, &Strategy::follow(schedule), &Logging::Synchronisation, &program.prints);
        assert_eq!(again.run.departure, None, "{strategy}, followed");
        assert_eq!(again.about.events, recorded.about.events, "{strategy}, followed");
    }
}

fn including(directory: &Path, more: &[&str], sources: &[PathBuf]) -> Vec<OsString> {
    let mut flags: Vec<OsString> = vec!["-w".into(), "-I".into(), directory.into()];
    flags.extend(more.iter().map(OsString::from));
    flags.extend(sources.iter().map(OsString::from));
    flags
}

#[test]
fn sqlite_serves_four_threads() {
    let source = suite::sqlite();
    let options = ["-DSQLITE_THREADSAFE=1", "-DSQLITE_OMIT_LOAD_EXTENSION"];
    let flags = including(&source, &options, &[source.join("sqlite3.c")]);
    holds(&program("sqlite_threads.c"), &Build { flags, ..Build::at("-O1") });
}

#[test]
fn zstd_packs_with_four_workers() {
    let source = suite::zstd();
    let parts = ["common", "compress", "decompress"];
    let files: Vec<PathBuf> = parts.iter().flat_map(|part| c_files(&source.join(part))).collect();
    let flags = including(&source, &["-DZSTD_MULTITHREAD", "-DZSTD_DISABLE_ASM"], &files);
    holds(&program("zstd_threads.c"), &Build { flags, ..Build::at("-O1") });
}

/// The original source of a Debian package, where the set-up has put it.
fn debian_source(package: &str) -> PathBuf {
    let source = directory().join("../../target/tools/sources").join(package);
    assert!(
        source.join(".fetched").exists(),
        "{package}: sh scripts/sources.sh {package} fetches its source"
    );
    source
}

/// Packs a text with four threads and unpacks it again, under some schedules.
fn packs_and_unpacks(tool: &Path, packs: &[&str], unpacks: &[&str]) {
    let directory = tool.parent().expect("its directory");
    let text = directory.join("text");
    let words: String = (0..60_000u32).map(|i| format!("{} ", i.wrapping_mul(2_654_435_761) >> 20)).collect();
    std::fs::write(&text, words).expect("space");
    let mut compiled = open_large(tool);
    for strategy in strategies() {
        let mut options = compiled.options().clone();
        options.arguments = packs.iter().map(OsString::from).collect();
        options.arguments.push(text.clone().into());
        compiled.set_options(options);
        let recorded = compiled.record(&strategy, &Logging::Synchronisation).expect("it runs");
        assert!(recorded.status.success(), "{strategy}: {}", recorded.status);
        assert!(recorded.run.trace.threads.len() > 4, "{strategy}: {:?}", recorded.run.trace.threads);
        let packed = directory.join("packed");
        std::fs::write(&packed, &recorded.output.expect("its output").0).expect("space");
        let back = Command::new(tool).args(unpacks).arg(&packed).output().expect("it runs");
        assert!(
            back.stdout == std::fs::read(&text).expect("the text"),
            "{strategy}: something else came back"
        );
    }
}

/// Compiles and links sources to a tool.
fn tool(language: Language, output: PathBuf, files: &[PathBuf], library: &str) -> PathBuf {
    let mut words: Vec<OsString> = vec!["-O1".into(), "-w".into(), "-o".into(), output.clone().into()];
    words.extend(files.iter().map(OsString::from));
    words.extend([format!("-l{library}").into(), "-lm".into()]);
    let language = match language {
        Language::C => cc::Language::C,
        Language::Cxx => cc::Language::Cxx,
    };
    if language == cc::Language::Cxx {
        // What pbzip2 is written in.
        words.push("-std=gnu++98".into());
    }
    let mut command = cc::command(language, &Toolchain::find(), &words).expect("a command line that works");
    let result = command.output().expect("the compiler runs");
    assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
    output
}

#[test]
fn pigz_packs_with_four_threads() {
    let source = debian_source("pigz");
    let mut files: Vec<PathBuf> = ["pigz.c", "yarn.c", "try.c"].map(|name| source.join(name)).to_vec();
    files.extend(
        c_files(&source.join("zopfli/src/zopfli")).into_iter().filter(|path| !path.ends_with("zopfli_bin.c")),
    );
    let directory = tempfile::tempdir().expect("a directory");
    let tool = tool(Language::C, directory.path().join("pigz"), &files, "z");
    packs_and_unpacks(&tool, &["-p4", "-b128", "-n", "-T", "-c"], &["-d", "-c"]);
}

#[test]
fn pbzip2_packs_with_four_threads() {
    let source = debian_source("pbzip2");
    let entries = std::fs::read_dir(&source).expect("the directory").filter_map(Result::ok);
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "cpp"));
    let directory = tempfile::tempdir().expect("a directory");
    let tool = tool(Language::Cxx, directory.path().join("pbzip2"), &files, "bz2");
    packs_and_unpacks(&tool, &["-p4", "-b1", "-1", "-q", "-c"], &["-d", "-c"]);
}
