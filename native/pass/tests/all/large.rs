//! A large module of real code: SQLite's amalgamation, as the crate `libsqlite3-sys` carries it. It compiles, runs as without
//! the pass, and its log can be followed from the first unit to the last.
//!
//! Not part of the usual tests, because it is fetched and takes a minute:
//! `cargo test --release -p threadbare-pass --test all -- large:: --ignored --nocapture`.

use crate::common::{self, units, walk};
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

const MAIN: &str = r#"
#include "sqlite3.h"
#include <stdio.h>
static int row(void *data, int n, char **values, char **names) { printf("%s %s\n", values[0], values[1]); return 0; }
int main(void) {
  sqlite3 *db;
  sqlite3_open(":memory:", &db);
  sqlite3_exec(db, "create table t(a int, b text); create index i on t(b); begin", 0, 0, 0);
  for (int i = 0; i < 50; i++) {
    char text[120];
    snprintf(text, 120, "insert into t values(%d, 'x%d')", i, i * 7919 % 50);
    sqlite3_exec(db, text, 0, 0, 0);
  }
  sqlite3_exec(db, "commit; select count(*), sum(a) from t where b > 'x2'", row, 0, 0);
  sqlite3_exec(db, "select b, avg(a) from t group by a % 3 order by 2 desc", row, 0, 0);
  return sqlite3_close(db);
}
"#;

#[test]
#[ignore = "fetches SQLite and compiles it twice"]
fn a_log_of_sqlite_can_be_followed() {
    let directory = tempfile::tempdir().expect("a directory");
    let source = sqlite(directory.path());
    let main = directory.path().join("main.c");
    std::fs::write(&main, MAIN).expect("space");
    let include = format!("-I{}", source.parent().expect("a directory").display());
    for level in ["-O0", "-O2"] {
        let binary = directory.path().join("binary");
        let flags = [&include, level, "-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION", "-lm"];
        common::build(&[main.clone(), source.clone()], &flags, &binary);
        let output = common::run(&mut Command::new(&binary)).stdout;
        let lines = String::from_utf8(output).expect("text");
        assert_eq!(lines.lines().next(), Some("37 933"), "{lines}");
        let log = units::Log::of(&binary, None);
        let (computed, compared) = walk::walk(&log);
        let entries = log.entries.len();
        println!("{level}: {entries} entries, {computed} branches computed, {compared} values compared");
    }
}
