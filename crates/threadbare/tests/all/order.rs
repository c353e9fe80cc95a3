//! The order of the crates: a crate knows only those below it, and the runtime brings little into programs.
//!
//! The list is in the root `Cargo.toml`, at the top of `[workspace.dependencies]`; ARCHITECTURE.md has it as
//! its table of rooms. The tests of a crate may know any other, so `[dev-dependencies]` are not looked at.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Crates that are not built on others although these stand below them, directly or by way of others.
const APART: [(&str, &[&str]); 6] = [
    // What users are told is about data, whoever found it.
    ("report", &["explore", "predict", "native", "machine"]),
    // Both search the schedules of any subject: neither knows the other, nor what the subject is.
    ("explore", &["predict", "foreign", "native", "machine", "lang"]),
    ("predict", &["explore", "foreign", "native", "machine", "lang"]),
    // An engine of its own, to which the other one is compared.
    ("plan", &["encode", "solver"]),
    // It checks what they find, so it shares nothing with them.
    ("witness", &["predict", "plan", "encode", "ctp", "solver"]),
    // Constraints, whatever they stand for.
    ("solver", &["trace", "ir"]),
];

/// The crates that a package in `native/` may be built on, directly or by way of others. `suite` consists of
/// tests and may know all of them.
const NATIVE: [(&str, &[&str]); 3] = [
    // Both ends of what passes between a compiled program and its reader are built on it.
    ("abi", &[]),
    ("pass", &["abi", "ir"]),
    // It is linked into every compiled program. Never `trace`: with it comes its file format.
    ("runtime", &["abi", "ir", "schedule"]),
];

/// What the runtime and the crates below it may take from the registry.
const OF_THE_RUNTIME: [&str; 5] = ["libc", "postcard", "rustc-hash", "serde", "thiserror"];

#[test]
fn a_crate_knows_only_those_below_it() {
    let listed = listed();
    let mut above = BTreeSet::from(["threadbare"]);
    for one in &listed {
        above.insert(&one.name);
        for dependency in dependencies(&one.manifest()) {
            assert!(
                !above.contains(&*dependency),
                "`{}` depends on `{dependency}`, which is not below it in the list of crates in Cargo.toml: \
                 move what both need to a crate below both, or, if the list is wrong, the crate in the list",
                one.name
            );
        }
    }
}

#[test]
fn crates_that_are_meant_to_be_apart_are() {
    for (name, others) in APART {
        let known = built_on(&format!("crates/{name}")).ours;
        for other in others {
            assert!(
                !known.contains(*other),
                "`{name}` is built on `{other}`, directly or by way of others; `APART` says why not"
            );
        }
    }
}

#[test]
fn the_table_of_rooms_is_the_list_of_crates() {
    let (native, rooms): (Vec<String>, Vec<String>) =
        rooms().into_iter().partition(|room| room.starts_with("native/"));
    let listed = listed().into_iter().filter(|one| one.path.starts_with("crates")).map(|one| one.name);
    let expected: Vec<String> = std::iter::once("threadbare".to_owned()).chain(listed).collect();
    assert_eq!(
        rooms, expected,
        "write the crates in ARCHITECTURE.md (left) in the order of the list in Cargo.toml (right)"
    );
    let native = native.iter().map(|room| room.trim_start_matches("native/").to_owned()).collect();
    for (directory, rooms) in [("crates", BTreeSet::from_iter(rooms)), ("native", native)] {
        assert_eq!(
            rooms,
            packages(directory),
            "give each package in {directory}/ (right) a row in ARCHITECTURE.md (left)"
        );
    }
}

#[test]
fn what_goes_into_compiled_programs_knows_little() {
    let others: BTreeSet<String> = packages("native").into_iter().filter(|name| name != "suite").collect();
    assert_eq!(
        others,
        NATIVE.iter().map(|(name, _)| (*name).to_owned()).collect(),
        "say in `NATIVE` what each package in native/ may know"
    );
    for (name, allowed) in NATIVE {
        for known in built_on(&format!("native/{name}")).ours {
            assert!(
                allowed.contains(&&*known),
                "native/{name} is built on `{known}`, and may be on {allowed:?} only: \
                 move what it needs to one of these, or allow `{known}` in `NATIVE`"
            );
        }
    }
}

#[test]
fn the_runtime_takes_little_from_the_registry() {
    for dependency in built_on("native/runtime").others {
        assert!(
            OF_THE_RUNTIME.contains(&&*dependency),
            "`{dependency}` would be linked into every compiled program: do without it in native/runtime \
             and the crates that it is built on, or allow it in `OF_THE_RUNTIME`"
        );
    }
}

/// A crate in the list.
struct Listed {
    name: String,
    path: PathBuf,
}

impl Listed {
    fn manifest(&self) -> String {
        manifest(&self.path)
    }
}

/// The list of crates, top to bottom.
fn listed() -> Vec<Listed> {
    let listed: Vec<Listed> = entries(&manifest(Path::new("")), "workspace.dependencies")
        .filter_map(|(name, value)| {
            let (_, path) = value.split_once("path = \"")?;
            let (path, _) = path.split_once('"')?;
            Some(Listed { name: name.to_owned(), path: path.into() })
        })
        .collect();
    assert!(listed.len() > 10, "[workspace.dependencies] of Cargo.toml lists the crates by their paths");
    listed
}

/// The first column of the tables of rooms in ARCHITECTURE.md.
fn rooms() -> Vec<String> {
    let page = read(Path::new("ARCHITECTURE.md"));
    let (_, rooms) = page.split_once("\n## The rooms\n").expect("ARCHITECTURE.md has a section `The rooms`");
    let (rooms, _) = rooms.split_once("\n## ").expect("another section follows");
    rooms
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name.to_owned())
        .collect()
}

/// The names of the packages in a directory.
fn packages(directory: &str) -> BTreeSet<String> {
    std::fs::read_dir(root().join(directory))
        .expect("the directory is part of the workspace")
        .map(|entry| entry.expect("it can be listed").path())
        .filter(|path| path.join("Cargo.toml").exists())
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .collect()
}

/// All that a package is built on.
#[derive(Default)]
struct BuiltOn {
    /// Of our crates, also by way of others.
    ours: BTreeSet<String>,
    /// What it and they take from the registry.
    others: BTreeSet<String>,
}

fn built_on(directory: &str) -> BuiltOn {
    let listed = listed();
    let mut found = BuiltOn::default();
    let mut left = vec![manifest(Path::new(directory))];
    while let Some(manifest) = left.pop() {
        for dependency in dependencies(&manifest) {
            let Some(one) = listed.iter().find(|one| one.name == dependency) else {
                found.others.insert(dependency);
                continue;
            };
            if found.ours.insert(dependency) {
                left.push(one.manifest());
            }
        }
    }
    found
}

/// What a package needs to be built, its tests apart.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let read = ["[dependencies]", "[build-dependencies]", "[dev-dependencies]"];
    for header in manifest.lines().filter(|line| line.starts_with('[') && line.contains("dependencies")) {
        assert!(
            read.contains(&header),
            "write what is under {header} into one of {read:?}, which this test reads"
        );
    }
    let of_table = |table| entries(manifest, table).map(|(name, _)| name.to_owned());
    of_table("dependencies").chain(of_table("build-dependencies")).collect()
}

/// The names and values in a table of a manifest; each stands on a line of its own.
fn entries<'m>(manifest: &'m str, table: &str) -> impl Iterator<Item = (&'m str, &'m str)> {
    let header = format!("[{table}]");
    manifest
        .lines()
        .skip_while(move |line| *line != header)
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('='))
        .map(|(key, value)| (key.split('.').next().unwrap_or(key).trim(), value.trim()))
}

/// The `Cargo.toml` in a directory of the workspace.
fn manifest(directory: &Path) -> String {
    read(&directory.join("Cargo.toml"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
