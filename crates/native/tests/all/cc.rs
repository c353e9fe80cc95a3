//! Command lines of compilers, and what clang gets of them.
#![allow(clippy::unwrap_used, reason = "tests")]

use native::Toolchain;
use native::cc::{CompileError, rewrite};
use std::ffi::OsString;
use std::path::PathBuf;

fn words(text: &str) -> Vec<OsString> {
    text.split_whitespace().map(OsString::from).collect()
}

fn rewritten(text: &str) -> Result<String, CompileError> {
    let words = rewrite(&Toolchain::at(PathBuf::from("/lib/tb")), &words(text))?;
    Ok(words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" "))
}

const COMPILE: &str = "--start-no-unused-arguments -fpass-plugin=/lib/tb/libthreadbare_pass.so -g -Xclang \
    -disable-O0-optnone -D__THREADBARE__=1 -Wno-unknown-warning-option -Wno-ignored-optimization-argument -isystem \
    /lib/tb/include";
const LINK: &str = "-pthread -Wl,--push-state,--no-as-needed /lib/tb/libthreadbare_runtime.so -Wl,--pop-state -Wl,-rpath,/lib/tb";
const END: &str = "--end-no-unused-arguments";

#[test]
fn compiling_adds_the_plugin_and_linking_the_runtime_before_all_libraries() {
    for (user, links) in [
        ("-c a.c", false),
        ("-O2 -std=c11 -Wall -Werror -c a.c -o a.o", false),
        ("-S a.c", false),
        ("-E a.c", false),
        ("-M a.c", false),
        ("-MD -MF a.d -c a.c", false),
        ("-MD -MF a.d a.c", true),
        ("-fsyntax-only a.c", false),
        ("-emit-llvm -c a.c", false),
        ("-r a.o b.o -o c.o", false),
        ("a.c", true),
        ("a.c b.c c.o d.a -o prog -lm", true),
        ("-shared -fPIC a.o -o liba.so", true),
        ("-x c - -o prog", true),
        ("-### a.c", true),
        ("-v a.c", true),
        ("a.o -Wl,--as-needed -lfoo", true),
        // What follows an option that takes a value is that value, whatever it looks like.
        ("-o -c a.c", true),
        ("-include -E a.c", true),
        ("-Xlinker -r a.c", true),
        ("-static-libgcc -static-libstdc++ a.o", true),
        ("-fopenmp-simd -fno-lto -fno-sanitize=all a.c", true),
        ("--target=x86_64-pc-linux-gnu a.c", true),
        // Nothing is linked: no harm in it.
        ("-static -c a.c", false),
    ] {
        let link = if links { format!(" {LINK}") } else { String::new() };
        assert_eq!(rewritten(user).unwrap(), format!("{COMPILE}{link} {END} {user}"), "{user}");
    }
}

#[test]
fn questions_about_the_compiler_are_clangs() {
    for user in [
        "--version",
        "-v",
        "-dumpversion",
        "-dumpmachine",
        "-print-search-dirs",
        "-print-file-name=libc.so",
        "--print-prog-name ld",
        "--help",
        "-Wl,--version",
        "",
    ] {
        assert_eq!(rewritten(user).unwrap(), user, "{user}");
    }
}

#[test]
fn what_gcc_alone_knows_and_too_little_debug_information_are_dropped() {
    for (user, kept) in [
        ("-g0 -c a.c", "-c a.c"),
        ("-gline-tables-only -c a.c", "-c a.c"),
        ("-g3 -gdwarf-4 -c a.c", "-g3 -gdwarf-4 -c a.c"),
        ("-fno-tree-pre -fconserve-stack -O3 -c a.c", "-O3 -c a.c"),
        ("-specs=/usr/lib/rpm/hardened -mpreferred-stack-boundary=4 -c a.c", "-c a.c"),
        ("-D -fipa-pta -c a.c", "-D -fipa-pta -c a.c"),
    ] {
        assert_eq!(rewritten(user).unwrap(), format!("{COMPILE} {END} {kept}"), "{user}");
    }
}

#[test]
fn what_cannot_work_is_refused_with_what_to_do() {
    for (user, option, advice) in [
        ("-O2 -flto -c a.c", "-flto", "-fno-lto"),
        ("-flto=thin a.o", "-flto=thin", "-fno-lto"),
        ("-static a.o", "-static", "shared library"),
        ("a.c -static-pie", "-static-pie", "shared library"),
        ("-m32 -c a.c", "-m32", "64-bit"),
        ("-fsanitize=thread -c a.c", "-fsanitize=thread", "plain clang"),
        ("-fsanitize=address,undefined a.c", "-fsanitize=address,undefined", "plain clang"),
        ("-fopenmp a.c", "-fopenmp", "-fopenmp-simd"),
        ("--target=aarch64-linux-gnu a.c", "--target=aarch64-linux-gnu", "x86_64"),
    ] {
        let message = rewritten(user).unwrap_err().to_string();
        assert!(
            message.starts_with(&format!("{option} cannot be used")) && message.contains(advice),
            "{message}"
        );
    }
}

#[test]
fn response_files_are_looked_into_and_kept_where_possible() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("words");
    let word = format!("@{}", path.display());
    std::fs::write(&path, "-c 'a b.c'").unwrap();
    assert_eq!(rewritten(&word).unwrap(), format!("{COMPILE} {END} {word}"));
    std::fs::write(&path, "a.o\n-static").unwrap();
    assert!(rewritten(&word).is_err());
    std::fs::write(&path, "-fno-tree-pre -c \"a.c\"").unwrap();
    assert_eq!(rewritten(&word).unwrap(), format!("{COMPILE} {END} -c a.c"));
    // A file that names itself has no end: the words in it stand for themselves at some depth.
    std::fs::write(&path, format!("-c {word}")).unwrap();
    assert!(rewritten(&word).is_ok());
}
