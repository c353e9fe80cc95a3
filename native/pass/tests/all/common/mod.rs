//! Building programs with the plugin.

pub mod random_c;
pub mod units;
pub mod walk;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The plugin that cargo has built for this test.
pub fn plugin() -> PathBuf {
    let test = std::env::current_exe().expect("the test's own path");
    let deps = test.parent().expect("a directory");
    let name = "libthreadbare_pass.so";
    let found = [deps.join(name), deps.with_file_name(name)].into_iter().filter(|path| path.exists());
    let newest = found.max_by_key(|path| path.metadata().and_then(|m| m.modified()).expect("a file's time"));
    newest.expect("cargo builds the plugin before its tests")
}

/// The compiler for a source file.
pub fn compiler(source: &Path) -> &'static str {
    if source.extension() == Some(OsStr::new("cc")) { "clang++-22" } else { "clang-22" }
}

/// Runs a command; its output if it succeeds.
pub fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{text}", output.status);
    output
}

/// What makes clang load the plugin. At `-O0` clang would mark all functions as not to be touched.
pub fn flags(plugin: &Path) -> Vec<String> {
    let load = format!("-fpass-plugin={}", plugin.display());
    vec![load, "-Xclang".to_owned(), "-disable-O0-optnone".to_owned()]
}

/// The object file of the smallest runtime, compiled once for each test program.
pub fn runtime() -> &'static Path {
    static OBJECT: OnceLock<PathBuf> = OnceLock::new();
    OBJECT.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/runtime.c");
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let name =
            std::env::current_exe().expect("the test's own path").file_name().expect("a name").to_owned();
        let object = directory.join(name).with_extension("o");
        run(Command::new("clang-22").args(["-O2", "-w", "-fPIC", "-c"]).arg(source).arg("-o").arg(&object));
        object
    })
}

/// Compiles sources with the plugin, links them and reads the program back; it must not warn.
pub fn build(sources: &[PathBuf], arguments: &[&str], to: &Path) -> ir::Program {
    build_in(Path::new("."), sources, arguments, to)
}

/// As `build`, with a directory in which the compiler is started.
pub fn build_in(directory: &Path, sources: &[PathBuf], arguments: &[&str], to: &Path) -> ir::Program {
    let mut command = Command::new(compiler(&sources[0]));
    command.current_dir(directory).args(flags(&plugin())).arg("-w");
    if !arguments.contains(&"-c") {
        command.arg(runtime());
    }
    let output = run(command.args(sources).args(arguments).arg("-o").arg(to));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.is_empty(), "{command:?} says\n{text}");
    let linked = native::read_program(to);
    linked.unwrap_or_else(|error| panic!("{}: {error}", to.display())).program
}
