//! The section survives what build systems do to object files, and is not loaded; what cannot be translated becomes a
//! warning, never an error.

use crate::common::{flags, plugin, run, runtime};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const MAIN: &str = "int printf(const char *, ...);\nint other(int);\nint unused(void) { return 9; }\n\
                    int main(void) { printf(\"%d\\n\", other(20)); return 0; }\n";
const OTHER: &str = "static int twice(int x) { return x * 2; }\nint other(int x) { return twice(x) + 2; }\n";

/// Two object files, made with the plugin.
fn objects(directory: &Path, extra: &[&str]) -> [PathBuf; 2] {
    [("main", MAIN), ("other", OTHER)].map(|(name, text)| {
        let (source, object) = (directory.join(format!("{name}.c")), directory.join(format!("{name}.o")));
        std::fs::write(&source, text).expect("space");
        let mut command = Command::new("clang-22");
        run(command.args(flags(&plugin())).args(extra).arg("-c").arg(source).arg("-o").arg(&object));
        object
    })
}

/// The binary runs, and its IR has the functions of both modules, with the call between them resolved.
fn whole(binary: &Path) {
    let output = run(&mut Command::new(binary));
    assert_eq!(output.stdout, b"42\n");
    let text = ir::print(&native::read_program(binary).expect("its IR").program);
    for function in ["$main(", "$other(", "$twice(", "call i32 $other(20i32)"] {
        assert!(text.contains(function), "{function} is not in\n{text}");
    }
}

/// Runs the compiler, which links the runtime if it makes a program.
fn clang(arguments: &[&str], files: &[PathBuf], to: &Path) {
    let mut command = Command::new("clang-22");
    if !arguments.iter().any(|argument| ["-c", "-r", "-shared"].contains(argument)) {
        command.arg(runtime());
    }
    run(command.args(arguments).args(files).arg("-o").arg(to));
}

#[test]
fn it_is_not_loaded() {
    let directory = tempfile::tempdir().expect("a directory");
    let binary = directory.path().join("binary");
    clang(&[], &objects(directory.path(), &[]), &binary);
    whole(&binary);
    let output = run(Command::new("readelf").arg("-SW").arg(&binary));
    let text = String::from_utf8(output.stdout).expect("text");
    let line = text.lines().find(|line| line.contains(".threadbare.ir")).expect("the section");
    // Address 0, no flags (between the size of entries, 00, and the link, 0).
    assert!(line.contains("PROGBITS        0000000000000000") && line.contains(" 00      0 "), "{line}");
}

#[test]
fn it_survives_garbage_collection_and_stripping() {
    let directory = tempfile::tempdir().expect("a directory");
    let binary = directory.path().join("binary");
    let objects = objects(directory.path(), &["-O2", "-ffunction-sections", "-fdata-sections"]);
    clang(&["-Wl,--gc-sections", "-s"], &objects, &binary);
    run(Command::new("strip").arg(&binary));
    whole(&binary);
}

#[test]
fn it_survives_archives_relinking_and_static_linking() {
    let directory = tempfile::tempdir().expect("a directory");
    let [main, other] = objects(directory.path(), &["-g"]);
    let archive = directory.path().join("libother.a");
    run(Command::new("ar").arg("rcs").arg(&archive).arg(other));
    let joined = directory.path().join("joined.o");
    clang(&["-r", "-nostdlib"], &[main, archive], &joined);
    let binary = directory.path().join("binary");
    clang(&["-static"], &[joined], &binary);
    whole(&binary);
}

#[test]
fn a_shared_library_has_its_own() {
    let directory = tempfile::tempdir().expect("a directory");
    let [main, other] = objects(directory.path(), &["-fPIC"]);
    let library = directory.path().join("libother.so");
    clang(&["-shared"], &[other], &library);
    let program = native::read_program(&library).expect("its IR").program;
    assert!(program.functions.iter().any(|function| &*function.name == "other"));
    let binary = directory.path().join("binary");
    clang(&[], &[main, library], &binary);
    let text = ir::print(&native::read_program(&binary).expect("its IR").program);
    assert!(text.contains("call i32 external \"other\"(20i32)"), "{text}");
}

#[test]
fn bitcode_and_assembly_on_the_way_carry_it_once() {
    let directory = tempfile::tempdir().expect("a directory");
    let source = directory.path().join("all.c");
    std::fs::write(&source, format!("{MAIN}{OTHER}")).expect("space");
    let binary = directory.path().join("binary");
    for (kind, name) in [(&["-c", "-emit-llvm"][..], "all.bc"), (&["-S"], "all.s")] {
        let middle = directory.path().join(name);
        run(Command::new("clang-22").args(flags(&plugin())).args(kind).arg(&source).arg("-o").arg(&middle));
        let mut command = Command::new("clang-22");
        run(command.args(flags(&plugin())).arg(&middle).arg(runtime()).arg("-o").arg(&binary));
        whole(&binary);
    }
}

#[test]
fn opt_knows_the_pass_by_its_name() {
    let directory = tempfile::tempdir().expect("a directory");
    let (source, bitcode) = (directory.path().join("all.c"), directory.path().join("all.bc"));
    std::fs::write(&source, format!("{MAIN}{OTHER}")).expect("space");
    clang(&["-c", "-emit-llvm"], &[source], &bitcode);
    let load = format!("-load-pass-plugin={}", plugin().display());
    let changed = directory.path().join("changed.bc");
    run(Command::new("opt-22").arg(load).arg("-passes=threadbare").arg(bitcode).arg("-o").arg(&changed));
    let binary = directory.path().join("binary");
    clang(&[], &[changed], &binary);
    whole(&binary);
}

fn compile(text: &str, arguments: &[&str]) -> (Output, tempfile::TempDir) {
    let directory = tempfile::tempdir().expect("a directory");
    let source = directory.path().join("source.c");
    std::fs::write(&source, text).expect("space");
    let mut command = Command::new("clang-22");
    command.args(flags(&plugin())).args(arguments).arg("-c").arg(source);
    let output = run(command.arg("-o").arg(directory.path().join("object.o")));
    (output, directory)
}

#[test]
fn a_function_that_cannot_be_translated_is_external_with_a_warning() {
    let text = "__SVInt32_t same(__SVInt32_t a) { return a; }\nint one(void) { return 1; }\n\
                int main(void) { return one(); }\n";
    let target = ["--target=aarch64-linux-gnu", "-march=armv8-a+sve", "-ffreestanding"];
    let (output, directory) = compile(text, &target);
    let warning = String::from_utf8(output.stderr).expect("text");
    let expected = "warning: threadbare: function 'same' is taken as external code: scalable vectors";
    assert!(warning.contains(expected), "{warning}");
    let program = native::read_program(&directory.path().join("object.o")).expect("the rest").program;
    let names: Vec<&str> = program.functions.iter().map(|function| &*function.name).collect();
    assert_eq!(names, ["one", "main"]);
}

#[test]
fn another_kind_of_target_is_left_out_with_a_warning() {
    let (output, directory) = compile("int one(void) { return 1; }\n", &["-m32", "-ffreestanding"]);
    let warning = String::from_utf8(output.stderr).expect("text");
    let expected = "the program IR of this module is left out: its target is not 64-bit and little-endian";
    assert!(warning.contains(expected), "{warning}");
    assert!(native::read_program(&directory.path().join("object.o")).is_err());
}
