//! The log is enough to follow a run: from its units and the program alone, a walk finds every step of the real one.

use crate::common;
use crate::common::random_c::{self, Random};
use crate::common::units::Log;
use crate::common::walk::walk;
use std::path::{Path, PathBuf};

#[test]
fn logs_of_all_programs_can_be_followed() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let files = std::fs::read_dir(&directory).expect("the programs").map(|file| file.expect("a file").path());
    let mut programs: Vec<PathBuf> = files.collect();
    programs.sort();
    let temporary = tempfile::tempdir().expect("a directory");
    let (mut followed, mut failed) = (0, vec![]);
    for program in programs {
        let text = std::fs::read_to_string(&program).expect("a program");
        let threads = ["pthread_create", "std::thread", "std::jthread", "std::async"];
        if text.starts_with("// part of") || threads.iter().any(|word| text.contains(word)) {
            continue;
        }
        let asked = |what: &str| -> Vec<&str> {
            let line = text.lines().take(4).find_map(|line| line.strip_prefix(what));
            line.unwrap_or("").split_whitespace().collect()
        };
        let mut sources = vec![program.clone()];
        sources.extend(asked("// with:").iter().map(|name| directory.join(name)));
        for level in ["-O0", "-O2"] {
            let mut flags = [asked("// flags:"), asked("// link:"), vec!["-lm", "-pthread"]].concat();
            flags.push(level);
            let binary = temporary.path().join("binary");
            common::build(&sources, &flags, &binary);
            let log = Log::of(&binary, None);
            let result = std::panic::catch_unwind(|| walk(&log));
            let name = program.file_name().expect("a name").to_string_lossy().into_owned();
            match result {
                Ok((computed, compared)) => println!(
                    "{name} at {level}: {} entries, {computed} branches computed, {compared} compared",
                    log.entries.len()
                ),
                Err(_) => failed.push(format!("{name} at {level}")),
            }
            followed += 1;
        }
    }
    assert!(followed >= 40, "{followed}");
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn logs_of_random_programs_can_be_followed() {
    let temporary = tempfile::tempdir().expect("a directory");
    let source = temporary.path().join("random.c");
    for seed in 1..6u64 {
        let mut random = Random((seed * 77).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let text = random_c::module(&mut random, 40);
        std::fs::write(&source, format!("{text}\nint main(void) {{ run_all(); return 0; }}\n"))
            .expect("space");
        for flags in [["-O0", "-fwrapv"], ["-O2", "-fwrapv"], ["-O2", "-fno-wrapv"]] {
            let binary = temporary.path().join("binary");
            common::build(std::slice::from_ref(&source), &flags, &binary);
            let log = Log::of(&binary, None);
            let (computed, compared) = walk(&log);
            let entries = log.entries.len();
            println!("{seed} at {flags:?}: {entries} entries, {computed} computed, {compared} compared");
            assert!(computed > 100 && compared > 100, "{computed} {compared}");
        }
    }
}
