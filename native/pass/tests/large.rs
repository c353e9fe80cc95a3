//! A large module of real code: SQLite's amalgamation, as the crate `libsqlite3-sys` carries it.
//!
//! Not part of the usual tests, because it is fetched and takes a minute:
//! `cargo test --release -p threadbare-pass --test large -- --ignored --nocapture`.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const MANIFEST: &str = "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[lib]\npath = \"lib.rs\"\n\n[dependencies]\nlibsqlite3-sys = \"0.35\"\n\n[workspace]\n";

/// Where cargo has put the source.
fn sqlite(directory: &Path) -> PathBuf {
    std::fs::write(directory.join("Cargo.toml"), MANIFEST).expect("space");
    std::fs::write(directory.join("lib.rs"), "").expect("space");
    let mut command = Command::new("cargo");
    let output = common::run(command.current_dir(directory).args(["metadata", "--format-version", "1"]));
    let text = String::from_utf8(output.stdout).expect("JSON");
    let manifests = text.split("\"manifest_path\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    let manifest = manifests.filter(|path| path.contains("libsqlite3-sys")).map(PathBuf::from).next();
    manifest.expect("the crate").with_file_name("sqlite3").join("sqlite3.c")
}

#[test]
#[ignore = "fetches SQLite and compiles it six times"]
fn sqlite_goes_through() {
    let directory = tempfile::tempdir().expect("a directory");
    let source = sqlite(directory.path());
    let plugin = common::plugin();
    for level in [&["-O0"][..], &["-O2"], &["-O2", "-g"]] {
        let mut seconds = vec![];
        for flags in [vec![], common::flags(&plugin)] {
            let object = directory.path().join("sqlite3.o");
            let mut command = Command::new("clang-22");
            command.args(["-c", "-w"]).args(level).args(&flags).arg(&source).arg("-o").arg(&object);
            let start = Instant::now();
            let output = common::run(&mut command);
            seconds.push(start.elapsed().as_secs_f64());
            assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        let object = directory.path().join("sqlite3.o");
        let start = Instant::now();
        let program = native::read_program(&object).expect("its IR").program;
        let reading = start.elapsed().as_secs_f64();
        let instructions: usize =
            program.functions.iter().flat_map(|f| &f.blocks).map(|b| b.instructions.len() + 1).sum();
        let bytes = std::fs::read(&object).expect("the object file").len();
        println!(
            "{level:?}: plain {:.1} s, with the pass {:.1} s; {} functions, {instructions} sites; object file \
             {bytes} bytes; read in {reading:.2} s",
            seconds[0],
            seconds[1],
            program.functions.len()
        );
        let mut command = Command::new("readelf");
        let sections = common::run(command.arg("-SW").arg(&object));
        let text = String::from_utf8_lossy(&sections.stdout).into_owned();
        println!("{}", text.lines().find(|line| line.contains(abi::SECTION)).unwrap_or("no section"));
        assert!(program.functions.len() > 2000);
    }
}
