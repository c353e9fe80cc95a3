//! The installed compiler wrappers in build systems that want the compiler as one word.
//!
//! Each test installs what was built into a directory of its own, so these also test `scripts/install.sh` and that the tool finds
//! its parts from wherever it was installed.

use super::{said, write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// An installation, and a project with a library in C and a program in C++ in which two threads lose an update.
struct Place {
    directory: tempfile::TempDir,
}

const COUNTER_H: &str = "#ifdef __cplusplus\nextern \"C\" {\n#endif\nvoid add(int *counter);\n\
    #ifdef __cplusplus\n}\n#endif\n";

const COUNTER_C: &str = "#include \"counter.h\"\n#ifndef __THREADBARE__\n#error not compiled for Threadbare\n#endif\n\
    void add(int *counter) { *counter = *counter + 1; }\n";

const MAIN_CC: &str = "#include \"counter.h\"\n#include <cassert>\n#include <thread>\nint counter;\n\
    int main() {\n  std::thread other([] { add(&counter); });\n  add(&counter);\n  other.join();\n  assert(counter == 2);\n}\n";

impl Place {
    fn new() -> Place {
        let directory = tempfile::tempdir().unwrap();
        let place = Place { directory };
        let installed = place.install(&[]);
        assert!(installed.status.success(), "{}", said(&installed));
        std::fs::create_dir(place.project()).unwrap();
        for (name, text) in [("counter.h", COUNTER_H), ("counter.c", COUNTER_C), ("main.cc", MAIN_CC)] {
            write(&place.project(), name, text);
        }
        place
    }

    fn prefix(&self) -> PathBuf {
        self.directory.path().join("a prefix")
    }

    fn project(&self) -> PathBuf {
        self.directory.path().join("project")
    }

    fn bin(&self, name: &str) -> String {
        self.prefix().join("bin").join(name).to_str().unwrap().to_owned()
    }

    fn install(&self, words: &[&str]) -> Output {
        let built = Path::new(env!("CARGO_BIN_EXE_threadbare")).parent().unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut command = Command::new("sh");
        command.arg("scripts/install.sh").args(words).current_dir(root);
        command.env("PREFIX", self.prefix()).env("BUILT", built).env_remove("DESTDIR");
        command.env("LIB", native::Toolchain::find().lib());
        command.output().unwrap()
    }

    /// Runs a command in the project. It must find Threadbare's parts beside the tool that was installed.
    fn does(&self, words: &[&str]) {
        let output = self.command(words);
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{words:?}: {printed}{}", said(&output));
    }

    fn command(&self, words: &[&str]) -> Output {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(self.project()).env_remove("THREADBARE_LIB");
        for variable in ["CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS"] {
            command.env_remove(variable);
        }
        command
            .output()
            .unwrap_or_else(|error| panic!("{}: {error}; `make setup-test` installs it", words[0]))
    }

    /// The program that was built has the bug, and the tool that was installed finds it.
    fn finds_the_bug_in(&self, program: &str) {
        let run = self.command(&[&self.bin("threadbare"), "run", "--no-keep", program]);
        assert_eq!(run.status.code(), Some(1), "{}", said(&run));
        assert!(said(&run).contains("assertion can fail"), "{}", said(&run));
        assert!(said(&run).contains("counter.c:5"), "{}", said(&run));
    }
}

#[test]
fn a_cmake_project_in_c_and_cxx_builds_with_the_wrappers() {
    let place = Place::new();
    write(
        &place.project(),
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.16)\nproject(lost C CXX)\nfind_package(Threads REQUIRED)\n\
         add_library(counter STATIC counter.c)\nadd_executable(lost main.cc)\n\
         target_link_libraries(lost PRIVATE counter Threads::Threads)\n",
    );
    let c = format!("-DCMAKE_C_COMPILER={}", place.bin("threadbare-cc"));
    let cxx = format!("-DCMAKE_CXX_COMPILER={}", place.bin("threadbare-c++"));
    place.does(&["cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Debug", &c, &cxx]);
    place.does(&["cmake", "--build", "build"]);
    place.finds_the_bug_in("build/lost");
}

#[test]
fn a_meson_project_in_c_and_cxx_builds_with_the_wrappers() {
    let place = Place::new();
    write(
        &place.project(),
        "meson.build",
        "project('lost', 'c', 'cpp', default_options: ['buildtype=debug'])\n\
         counter = static_library('counter', 'counter.c')\n\
         executable('lost', 'main.cc', link_with: counter, dependencies: dependency('threads'))\n",
    );
    let wrappers = format!(
        "[binaries]\nc = '{}'\ncpp = '{}'\n",
        place.bin("threadbare-cc"),
        place.bin("threadbare-c++")
    );
    write(&place.project(), "threadbare.ini", &wrappers);
    place.does(&["meson", "setup", "build", "--native-file", "threadbare.ini"]);
    place.does(&["ninja", "-C", "build"]);
    place.finds_the_bug_in("build/lost");
}

#[test]
fn what_was_installed_is_complete_and_can_be_removed() {
    let place = Place::new();
    let wanted = [
        "bin/threadbare",
        "bin/threadbare-c++",
        "bin/threadbare-cc",
        "lib/threadbare/include/threadbare.h",
        "lib/threadbare/libthreadbare_pass.so",
        "lib/threadbare/libthreadbare_runtime.so",
        "share/bash-completion/completions/threadbare",
        "share/doc/threadbare/THIRD-PARTY.md",
        "share/fish/vendor_completions.d/threadbare.fish",
        "share/man/man1/threadbare-run.1",
        "share/man/man1/threadbare.1",
        "share/zsh/site-functions/_threadbare",
    ];
    for file in wanted {
        assert!(place.prefix().join(file).is_file(), "{file} was not installed");
    }
    place.does(&[&place.bin("threadbare"), "doctor"]);
    let removed = place.install(&["remove"]);
    assert!(removed.status.success(), "{}", said(&removed));
    assert_eq!(files(&place.prefix()), Vec::<PathBuf>::new());
}

/// All files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = vec![];
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found
}
